// RUN: uir-opt %s --lower-loops | filecheck %s

// A comparison that the ranges of floats decide is no test: a boolean is 0.0 or 1.0.
// CHECK-LABEL: func.func private @decided
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.cmpf olt, %[[X]]
// CHECK-NOT:     arith.cmpf
// CHECK-NOT:     arith.select
// CHECK:         memref.store
func.func private @decided(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [8]
    body #prog.program<(f32) {v0 = in 0, v1 = const 0.0 : f32, v2 = less v0 v1, v3 = cast v2 : f32, v4 = const 2.0 : f32, v5 = less v3 v4, v6 = where v5 v3 v0} -> (v6)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// It is decided in the epilogue of a fold too.
// CHECK-LABEL: func.func private @epilogue
// CHECK-COUNT-1: arith.cmpf olt
// CHECK-NOT:     arith.cmpf
// CHECK:         func.return
func.func private @epilogue(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [] reduction [3]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    epilogue #prog.program<(f32) {v0 = in 0, v1 = const 0.0 : f32, v2 = less v0 v1, v3 = cast v2 : f32, v4 = less v3 v1, v5 = where v4 v0 v3} -> (v5)>
    writes [#prog.access<1, affine_map<() -> (0)>>]
  func.return
}

// The bits of a positive float are a positive integer, which is divided without a sign, and so
// is a sum that doesn't wrap.
// CHECK-LABEL: func.func private @positive
// CHECK-NOT:     arith.divsi
// CHECK:         arith.divui
// CHECK:         arith.remui
// CHECK-NOT:     arith.remsi
// CHECK:         func.return
func.func private @positive(%a: memref<?xf32>, %o: memref<?xi32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xi32>) shape [8]
    body #prog.program<(f32) {v0 = in 0, v1 = const 0.0 : f32, v2 = const 1.0 : f32, v3 = less v1 v0, v4 = where v3 v0 v2, v5 = bitcast v4 : i32, v6 = const 8388608 : i32, v7 = idiv v5 v6, v8 = const 8388607 : i32, v9 = add v5 v8, v10 = mod v9 v6, v11 = add v7 v10} -> (v11)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// Those of a NaN, or of -0.0, may be negative.
// CHECK-LABEL: func.func private @not_positive
// CHECK:         arith.divsi
// CHECK:         arith.remsi
func.func private @not_positive(%a: memref<?xf32>, %o: memref<?xi32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xi32>) shape [8]
    body #prog.program<(f32) {v0 = in 0, v1 = const 0.0 : f32, v2 = const 1.0 : f32, v3 = less v0 v2, v4 = where v3 v2 v0, v5 = bitcast v4 : i32, v6 = less v1 v0, v7 = const -0.0 : f32, v8 = where v6 v0 v7, v9 = bitcast v8 : i32, v10 = const 8388608 : i32, v11 = idiv v5 v10, v12 = mod v9 v10, v13 = add v11 v12} -> (v13)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A sum that may wrap may be negative, and a remainder may be zero.
// CHECK-LABEL: func.func private @wraps
// CHECK:         arith.remsi
// CHECK:         arith.remui
// CHECK:         arith.remsi
// CHECK:         func.return
func.func private @wraps(%a: memref<?xf32>, %o: memref<?xi32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xi32>) shape [8]
    body #prog.program<(f32) {v0 = in 0, v1 = const 0.0 : f32, v2 = const 1.0 : f32, v3 = less v1 v0, v4 = where v3 v0 v2, v5 = bitcast v4 : i32, v6 = const 8388608 : i32, v7 = add v5 v6, v8 = mod v7 v6, v9 = mod v5 v6, v10 = mod v5 v9, v11 = add v8 v10} -> (v11)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
