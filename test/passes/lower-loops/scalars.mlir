// RUN: uir-opt %s --lower-loops | filecheck %s

// A cast to an integer converts only what is in range.
// CHECK-LABEL: func.func private @cast
// CHECK:         %[[LEAST:.*]] = arith.constant -2.14748365e+09 : f32
// CHECK:         %[[TOP:.*]] = arith.constant 2.14748365e+09 : f32
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.cmpf oge, %[[X]], %[[LEAST]]
// CHECK:         arith.cmpf olt, %[[X]], %[[TOP]]
// CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : f32
// CHECK:         arith.fptosi %[[SAFE]] : f32 to i32
// CHECK-COUNT-2: arith.select {{.*}} : i32
func.func private @cast(%a: memref<?xf32>, %o: memref<?xi32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xi32>) shape [8]
    body #prog.program<(f32) {v0 = in 0, v1 = cast v0 : i32} -> (v1)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A divisor that may be 0 or -1 is replaced by 1.
// CHECK-LABEL: func.func private @quotient
// CHECK:         %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y:.*]] : i32
// CHECK:         arith.divsi %{{.*}}, %[[SAFE]] : i32
func.func private @quotient(%a: memref<?xi32>, %b: memref<?xi32>) {
  prog.loop (%a, %b : memref<?xi32>, memref<?xi32>) shape [8]
    body #prog.program<(i32, i32) {v0 = in 0, v1 = in 1, v2 = idiv v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<1, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A constant divisor needs no care.
// CHECK-LABEL: func.func private @constant_divisor
// CHECK-NOT:     arith.select
// CHECK:         arith.remsi
// CHECK-NOT:     arith.select
// CHECK:         func.return
func.func private @constant_divisor(%a: memref<?xi32>) {
  prog.loop (%a : memref<?xi32>) shape [8]
    body #prog.program<(i32) {v0 = in 0, v1 = const 7 : i32, v2 = mod v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// Zeros of two signs are two constants.
// CHECK-LABEL: func.func private @zeros
// CHECK:         arith.constant 0.000000e+00 : f32
// CHECK:         arith.constant -0.000000e+00 : f32
func.func private @zeros(%o: memref<?xf32>) {
  prog.loop (%o : memref<?xf32>) shape [2]
    body #prog.program<() {v0 = const 0.0 : f32, v1 = const -0.0 : f32, v2 = add v0 v1} -> (v2)>
    writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}

// Booleans compare by logic: false < true.
// CHECK-LABEL: func.func private @less
// CHECK:         %[[TRUE:.*]] = arith.constant true
// CHECK:         %[[NOT:.*]] = arith.xori %[[X:.*]], %[[TRUE]] : i1
// CHECK:         arith.andi %[[NOT]], %{{.*}} : i1
func.func private @less(%a: memref<?xi1>, %b: memref<?xi1>) {
  prog.loop (%a, %b : memref<?xi1>, memref<?xi1>) shape [8]
    body #prog.program<(i1, i1) {v0 = in 0, v1 = in 1, v2 = less v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<1, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// An integer is equal to itself: C compilers warn of the comparison.
// CHECK-LABEL: func.func private @itself
// CHECK-NOT:     arith.cmpi
// CHECK:         arith.constant true
// CHECK-NOT:     arith.cmpi
// CHECK:         func.return
func.func private @itself(%a: memref<?xi32>, %o: memref<?xi1>) {
  prog.loop (%a, %o : memref<?xi32>, memref<?xi1>) shape [8]
    body #prog.program<(i32) {v0 = in 0, v1 = less_equal v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A float is not, if it is a NaN.
// CHECK-LABEL: func.func private @float_itself
// CHECK:         arith.cmpf ole
func.func private @float_itself(%a: memref<?xf64>, %o: memref<?xi1>) {
  prog.loop (%a, %o : memref<?xf64>, memref<?xi1>) shape [8]
    body #prog.program<(f64) {v0 = in 0, v1 = less_equal v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
