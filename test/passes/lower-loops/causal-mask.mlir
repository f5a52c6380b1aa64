// RUN: uir-opt %s --lower-loops | filecheck %s

// In tiles of 32 by 32: those before the diagonal are copied, those on it tested, and those behind it
// are filled without anything being read.
// CHECK-LABEL: func.func private @causal
// CHECK-SAME:    (%[[S:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>)
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           scf.for %[[COLUMN:.*]] = %{{.*}} to %[[ROW]] step
// CHECK-NOT:         arith.cmpi
// CHECK:             %[[X:.*]] = memref.load %[[S]]
// CHECK-NEXT:        memref.store %[[X]], %[[O]]
// CHECK:         scf.for %{{.*}} =
// CHECK:           arith.cmpi slt
// CHECK:           memref.load %[[S]]
// CHECK-NEXT:      arith.select
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NOT:       memref.load
// CHECK:           %[[BEFORE:.*]] = arith.muli %[[ROW]], %{{.*}}
// CHECK-NEXT:      %[[BEHIND:.*]] = arith.addi %{{.*}}, %[[BEFORE]]
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[BEHIND]] step
// CHECK-NOT:         memref.load
// CHECK:             memref.store %{{.*}}, %[[O]]
// CHECK:         func.return
func.func private @causal(%s: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%s, %o : memref<?xf32>, memref<?xf32>) shape [128, 128]
    body #prog.program<(f32) {v0 = coord 1, v1 = coord 0, v2 = less v1 v0, v3 = const -1000.0 : f32, v4 = in 0, v5 = where v2 v3 v4} -> (v5)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 128 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 128 + d1)>>]
  func.return
}
