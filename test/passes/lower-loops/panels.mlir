// RUN: uir-opt %s --lower-loops | filecheck %s

// What lies side by side along the reduction is transposed, 4x4 elements at a time, into a panel
// that all rows use.
// CHECK-LABEL: func.func private @transposed_operand
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load %b[%{{.*}}] : memref<?xf32>, vector<4xf32>
// CHECK-COUNT-8:   vector.shuffle
// CHECK-NOT:     vector.shuffle
// CHECK:         scf.for %{{.*}} iter_args(
// CHECK-NOT:     load %b
// CHECK:         vector.load %[[PANEL]]{{.*}} : memref<128xf32>, vector<[4]xf32>
// CHECK-NOT:     load %b
// CHECK:         func.return
func.func private @transposed_operand(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [4, 32] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>,
           #prog.access<1, affine_map<(d0, d1, d2) -> (d1 * 8 + d2)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 32 + d1)>>]
  func.return
}

// Ten lanes are filled up to sixteen with zeros, which stay as they are. Nothing is read beyond
// the ten, and only those are written.
// CHECK-LABEL: func.func private @narrow
// CHECK:         %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[ALL:.*]] = arith.constant 128 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[ALL]]
// CHECK-NEXT:      memref.store %[[ZERO]], %[[PANEL]][%[[I]]]
// CHECK:         %[[TEN:.*]] = arith.constant 10 : index
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[TEN]]
// CHECK:             %[[B:.*]] = memref.load %b
// CHECK:             memref.store %[[B]], %[[PANEL]]
// CHECK:         vector.load %[[PANEL]]
// CHECK-COUNT-4: vector.store %{{.*}}, %[[TILE:tile]]
// CHECK-NOT:     vector.store
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[TEN]]
// CHECK:           memref.load %[[TILE]]
// CHECK:           memref.store %{{.*}}, %o
func.func private @narrow(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [4, 10] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>,
           #prog.access<1, affine_map<(d0, d1, d2) -> (d2 * 10 + d1)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 10 + d1)>>]
  func.return
}

// The sums of sixteen rows take a block of columns at a time, between which they are in memory.
// CHECK-LABEL: func.func private @row_sums
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// CHECK:         vector.store %{{.*}}, %[[TILE:tile]]
// CHECK:         %[[BLOCK:.*]] = arith.constant 64 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[BLOCK]]
// CHECK:           vector.load %a{{.*}} : memref<?xf32>, vector<4xf32>
// CHECK:           %[[START:.*]] = vector.load %[[TILE]]
// CHECK:           %[[END:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK:             arith.addf %{{.*}} : vector<[4]xf32>
// CHECK:           vector.store %[[END]], %[[TILE]]
func.func private @row_sums(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [16] reduction [128]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 128 + d1)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
