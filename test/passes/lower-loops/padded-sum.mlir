// RUN: uir-opt %s --lower-loops | filecheck %s

// Columns 0, 1, 10 and 11 are padding alone, and sum to zero; in the others, rows 0 to 2 and 11 and
// 12 add nothing. What is left reads its elements without a test.
// CHECK-LABEL: func.func private @sum
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>)
// CHECK-NOT:     memref.load %[[A]][
// CHECK:         memref.store %{{.*}}, %[[O]]
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     arith.select
// CHECK:         %[[ROWS:.*]] = arith.constant 8 : index
// CHECK:         scf.for %k1 = %{{.*}} to %[[ROWS]] step
// CHECK:           %[[ROW:.*]] = arith.muli %k1, %[[ROWS]]
// CHECK:           scf.for %[[I:.*]] = %{{.*}} to %[[ROWS]] step
// CHECK:             %[[AT:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK-NEXT:        memref.load %[[A]][%[[AT]]]
// CHECK-NOT:     memref.load %[[A]][
// CHECK:         func.return
func.func private @sum(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [12] reduction [13]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 + d1 * 8 - 26)>, affine_set<(d0, d1) : (d1 - 3 >= 0, 10 - d1 >= 0, d0 - 2 >= 0, 9 - d0 >= 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// Padding counts in a maximum, once and after all elements.
// CHECK-LABEL: func.func private @max
// CHECK:         scf.for %k1
// CHECK:           arith.maximumf
// CHECK:         scf.for
// CHECK:           %[[MAX:.*]] = memref.load %acc
// CHECK-NEXT:      arith.maximumf %[[MAX]], %{{.*}} : f32
// CHECK:         func.return
func.func private @max(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [8] reduction [9]
    monoids [#prog.monoid<max>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 + d1 * 8 - 8)>, affine_set<(d0, d1) : (d1 - 1 >= 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
