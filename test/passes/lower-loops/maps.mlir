// RUN: uir-opt %s --lower-loops | filecheck %s

// Contiguous axes become one loop.
// CHECK-LABEL: func.func private @contiguous_axes
// CHECK:         %[[N:.*]] = arith.constant 32 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[N]]
// CHECK-NEXT:      %[[X:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK-NEXT:      %[[Y:.*]] = arith.addf %[[X]], %[[X]] : f32
// CHECK-NEXT:      memref.store %[[Y]], %{{.*}}[%[[I]]]
// CHECK-NEXT:    }
func.func private @contiguous_axes(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4, 8]
    body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
  func.return
}

// A row's part of an index is computed outside the loop over the row; extents of 1 are no loop.
// CHECK-LABEL: func.func private @row_base
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>, %[[AT:.*]]: index)
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK-NEXT:      %[[SCALED:.*]] = arith.muli %[[ROW]], %{{.*}}
// CHECK-NEXT:      %[[BASE:.*]] = arith.addi %[[AT]], %[[SCALED]]
// CHECK:           scf.for %[[COLUMN:.*]] =
// CHECK-NEXT:        %[[INDEX:.*]] = arith.addi %[[BASE]], %[[COLUMN]]
// CHECK-NEXT:        memref.load %[[A]][%[[INDEX]]]
// CHECK-NOT:         scf.for
func.func private @row_base(%a: memref<?xf32>, %o: memref<?xf32>, %at: index) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) symbols (%at) shape [4, 1, 8]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1, d2)[s0] -> (d0 * 10 + d2 + s0)>>]
    writes [#prog.access<1, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>]
  func.return
}

// What doesn't change along an axis is loaded and computed outside its loop.
// CHECK-LABEL: func.func private @invariant
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>)
// CHECK:         scf.for %[[ROW:.*]] =
// CHECK-NEXT:      %[[X:.*]] = memref.load %[[A]][%[[ROW]]]
// CHECK-NEXT:      %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[X]]
// CHECK:           scf.for
// CHECK-NEXT:        %[[INDEX:.*]] = arith.addi
// CHECK-NEXT:        memref.store %[[INVERSE]], %[[O]][%[[INDEX]]]
func.func private @invariant(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4, 8]
    body #prog.program<(f32) {v0 = in 0, v1 = recip v0 : f32} -> (v1)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
  func.return
}

// The loop with contiguous accesses goes innermost.
// CHECK-LABEL: func.func private @interchanged
// CHECK:         scf.for %[[OUTER:.*]] =
// CHECK:           scf.for %[[INNER:.*]] =
// CHECK-NEXT:        %[[INDEX:.*]] = arith.addi %{{.*}}, %[[INNER]]
// CHECK-NEXT:        memref.load %{{.*}}[%[[INDEX]]]
func.func private @interchanged(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4, 8]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 9 + d0)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d1 * 4 + d0)>>]
  func.return
}

// One point is no loop.
// CHECK-LABEL: func.func private @one_point
// CHECK-NOT:     scf.for
// CHECK:         memref.store
func.func private @one_point(%o: memref<?xi32>) {
  prog.loop (%o : memref<?xi32>) shape []
    body #prog.program<() {v0 = const 5 : i32} -> (v0)>
    writes [#prog.access<0, affine_map<() -> (3)>>]
  func.return
}

// Rows of 10 that lie one after another are one of 1000, and the compiler's vectors are full. What
// each of them reads in all of its lanes is copied beside them.
// CHECK-LABEL: func.func private @short_rows
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1000xf32>
// CHECK:         scf.for
// CHECK:           %[[Y:.*]] = memref.load %y
// CHECK:           scf.for
// CHECK:             memref.store %[[Y]], %[[PANEL]]
// CHECK:         %[[ALL:.*]] = arith.constant 1000 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[ALL]]
// CHECK-NEXT:      memref.load %x[%[[I]]]
// CHECK-NEXT:      memref.load %[[PANEL]][%[[I]]]
// CHECK:           memref.store %{{.*}}, %o[%[[I]]]
func.func private @short_rows(%x: memref<?xf32>, %y: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%x, %y, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [100, 10]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1, v3 = mul v2 v1, v4 = mul v3 v1, v5 = mul v4 v1, v6 = mul v5 v1, v7 = mul v6 v1, v8 = mul v7 v1, v9 = mul v8 v1, v10 = mul v9 v1, v11 = mul v10 v1, v12 = mul v11 v1, v13 = mul v12 v1, v14 = mul v13 v1, v15 = mul v14 v1} -> (v15)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 10 + d1)>>,
           #prog.access<1, affine_map<(d0, d1) -> (d0)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 10 + d1)>>]
  func.return
}
