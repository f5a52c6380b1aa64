// RUN: uir-opt %s --lower-loops | filecheck %s

// A quotient and a remainder that the ranges decide are plain strides.
// CHECK-LABEL: func.func private @decided
// CHECK-NOT:     arith.divsi
// CHECK-NOT:     arith.remsi
// CHECK:         func.return
func.func private @decided(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4, 8]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> ((d0 * 8 + d1) floordiv 8 + (d0 * 8 + d1) mod 8 * 4)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
  func.return
}

// What survives of a division of an index that is never negative is a plain one.
// CHECK-LABEL: func.func private @not_negative
// CHECK:         %[[Q:.*]] = arith.divsi %[[I:.*]], %[[C:.*]] : index
// CHECK:         %[[R:.*]] = arith.remsi %[[I]], %[[C]] : index
func.func private @not_negative(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [32]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0 floordiv 5 + d0 mod 5 * 10)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// One that may be negative is a whole number and the division of one that is not:
// -i floordiv 5 = 4*i floordiv 5 - i.
// CHECK-LABEL: func.func private @maybe_negative
// CHECK-NOT:     arith.floordivsi
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      arith.muli %[[I]], %{{.*}} : index
// CHECK-NEXT:      %[[FOUR:.*]] = arith.muli %[[I]], %{{.*}} : index
// CHECK-NEXT:      arith.divsi %[[FOUR]], %{{.*}} : index
func.func private @maybe_negative(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [32]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> ((d0 * -1) floordiv 5 + 7)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A coordinate is an i64.
// CHECK-LABEL: func.func private @coordinate
// CHECK:         scf.for %[[I:.*]] =
// CHECK-NEXT:      %[[X:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:      arith.trunci %[[X]] : i64 to i32
func.func private @coordinate(%o: memref<?xi32>) {
  prog.loop (%o : memref<?xi32>) shape [8]
    body #prog.program<() {v0 = coord 0, v1 = cast v0 : i32} -> (v1)>
    writes [#prog.access<0, affine_map<(d0) -> (d0)>>]
  func.return
}
