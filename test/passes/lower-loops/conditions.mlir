// RUN: uir-opt %s --lower-loops | filecheck %s

// Where a condition fails, a safe element is loaded, and zero is taken for it.
// CHECK-LABEL: func.func private @guarded
// CHECK-SAME:    (%[[A:.*]]: memref<?xf32>, %[[O:.*]]: memref<?xf32>, %[[AT:.*]]: index)
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:           %[[INSIDE:.*]] = arith.cmpi sge
// CHECK-NEXT:      %[[INDEX:.*]] = arith.select %[[INSIDE]], %{{.*}}, %[[FIRST]] : index
// CHECK-NEXT:      %[[X:.*]] = memref.load %[[A]][%[[INDEX]]]
// CHECK-NEXT:      arith.select %[[INSIDE]], %[[X]], %[[ZERO]] : f32
func.func private @guarded(%a: memref<?xf32>, %o: memref<?xf32>, %at: index) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) symbols (%at) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0)[s0] -> (d0 + s0 - 1)>, affine_set<(d0)[s0] : (d0 - 1 >= 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A condition that every point meets is not tested.
// CHECK-LABEL: func.func private @always
// CHECK-NOT:     arith.cmpi
// CHECK:         func.return
func.func private @always(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>, affine_set<(d0) : (d0 >= 0, d0 * -1 + 3 >= 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A condition that no point meets leaves nothing to load.
// CHECK-LABEL: func.func private @never
// CHECK-NOT:     memref.load
// CHECK:         func.return
func.func private @never(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>, affine_set<(d0) : (d0 - 4 == 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
