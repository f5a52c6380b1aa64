// RUN: uir-opt %s --lower-loops | filecheck %s

// A fold to one element is carried by its loop, from the identity, element on the right.
// CHECK-LABEL: func.func private @scalar
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         %[[R:.*]] = scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] = %[[ONE]]) -> (f32) {
// CHECK-NEXT:      %[[X:.*]] = memref.load %{{.*}}[%[[K]]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[ACC]], %[[X]] : f32
// CHECK-NEXT:      scf.yield %[[P]] : f32
// CHECK:         memref.store %[[R]]
func.func private @scalar(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [] reduction [8]
    monoids [#prog.monoid<product>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<() -> (0)>>]
  func.return
}

// Sums of columns stream the rows into an array of accumulators.
// CHECK-LABEL: func.func private @columns
// CHECK:         %[[ACC:.*]] = memref.alloca() : memref<100xf32>
// CHECK:         scf.for
// CHECK-NEXT:      memref.store %{{.*}}, %[[ACC]]
// CHECK:         scf.for %[[K:.*]] =
// CHECK-NEXT:      %[[ROW:.*]] = arith.muli %[[K]]
// CHECK-NEXT:      scf.for %[[I:.*]] =
// CHECK-NEXT:        %[[SUM:.*]] = memref.load %[[ACC]][%[[I]]]
// CHECK-NEXT:        %[[INDEX:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK-NEXT:        %[[X:.*]] = memref.load %{{.*}}[%[[INDEX]]]
// CHECK-NEXT:        %[[NEXT:.*]] = arith.addf %[[SUM]], %[[X]]
// CHECK-NEXT:        memref.store %[[NEXT]], %[[ACC]][%[[I]]]
func.func private @columns(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [100] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 100 + d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// Rows of 96 are folded as scalable vectors. An element that no lane differs in is in all of them.
// CHECK-LABEL: func.func private @scaled_columns
// CHECK:         %[[SCALE:.*]] = vector.vscale
// CHECK:         %[[LANES:.*]] = arith.muli %[[SCALE]], %{{.*}} : index
// CHECK:         %[[ACC:.*]] = memref.alloca() : memref<96xf32>
// CHECK:         scf.for %{{.*}} step %[[LANES]] {
// CHECK-NEXT:      vector.store %{{.*}}, %[[ACC]]
// CHECK:         %[[W:.*]] = memref.load %w[
// CHECK:         %[[ALL:.*]] = vector.broadcast %[[W]] : f32 to vector<[4]xf32>
// CHECK:         scf.for %{{.*}} step %[[LANES]] {
// CHECK:           %[[SUM:.*]] = vector.load %[[ACC]]{{.*}} : memref<96xf32>, vector<[4]xf32>
// CHECK:           %[[X:.*]] = vector.load %a{{.*}} : memref<?xf32>, vector<[4]xf32>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[ALL]], %[[X]] : vector<[4]xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addf %[[SUM]], %[[Y]] : vector<[4]xf32>
// CHECK-NEXT:      vector.store %[[NEXT]], %[[ACC]]
func.func private @scaled_columns(%w: memref<?xf32>, %a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%w, %a, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [96] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1)>>,
           #prog.access<1, affine_map<(d0, d1) -> (d1 * 96 + d0)>>]
    writes [#prog.access<2, affine_map<(d0) -> (d0)>>]
  func.return
}

// What has no vector form, here a comparison with each lane, keeps its accumulators in an array.
// CHECK-LABEL: func.func private @masked_columns
// CHECK-NOT:     vector.
// CHECK:         %[[ACC:.*]] = memref.alloca() : memref<96xf32>
// CHECK-NOT:     vector.
// CHECK:         func.return
func.func private @masked_columns(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [96] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0, v1 = const 1.0 : f32, v2 = less v0 v1, v3 = where v2 v0 v1} -> (v3)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 96 + d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A matrix product keeps rows of vectors together, which the loop over the reduction carries: each
// loaded vector serves every row. Results that lie side by side are stored as they are.
// CHECK-LABEL: func.func private @matrix_product
// CHECK:         %[[LANES:.*]] = arith.constant 16 : index
// CHECK:         %[[STEP:.*]] = arith.muli %{{.*}} : index
// CHECK:         %[[ZERO:.*]] = vector.broadcast %{{.*}} : f32 to vector<[4]xf32>
// CHECK:         scf.for %{{.*}} to %[[LANES]] step %[[STEP]] {
// CHECK:           %[[R:.*]], %{{.*}}, %{{.*}}, %{{.*}} = scf.for %{{.*}} iter_args(%acc = %[[ZERO]], %acc_1 = %[[ZERO]], %acc_2 = %[[ZERO]], %acc_3 = %[[ZERO]])
// CHECK:             memref.load %a[
// CHECK:             vector.load %b[
// CHECK-NOT:         %b[
// CHECK-COUNT-3:     memref.load %a[
// CHECK-NOT:         memref.load
// CHECK:           vector.store %[[R]], %o
// CHECK-COUNT-3:   vector.store %{{.*}}, %o
// CHECK:         func.return
func.func private @matrix_product(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [4, 64] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>,
           #prog.access<1, affine_map<(d0, d1, d2) -> (d2 * 64 + d1)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 64 + d1)>>]
  func.return
}

// Lanes that don't fill the last tile are folded with some of those before them, again.
// CHECK-LABEL: func.func private @remainder
// CHECK:         %[[ALL:.*]] = arith.constant 35 : index
// CHECK:         %[[TILE:.*]] = arith.constant 16 : index
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[ALL]] step %[[TILE]]
// CHECK-NEXT:      %[[BEFORE:.*]] = arith.cmpi slt, %[[I]], %[[LAST:.*]] : index
// CHECK:           arith.select %[[BEFORE]], %[[I]], %[[LAST]] : index
// CHECK-NOT:     to %[[ALL]]
// CHECK:         func.return
func.func private @remainder(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [4, 35] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>,
           #prog.access<1, affine_map<(d0, d1, d2) -> (d2 * 35 + d1)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 35 + d1)>>]
  func.return
}

// Where results are written over what is read, no point is folded twice: the last lanes have
// loops of their own.
// CHECK-LABEL: func.func private @in_place
// CHECK:         %[[WHOLE:.*]] = arith.constant 32 : index
// CHECK:         %[[TILE:.*]] = arith.constant 16 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[WHOLE]] step %[[TILE]]
// CHECK:         %[[REST:.*]] = arith.constant 3 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[REST]]
func.func private @in_place(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [4, 35] reduction [8]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 8 + d2)>>,
           #prog.access<1, affine_map<(d0, d1, d2) -> (d2 * 35 + d1)>>]
    epilogue #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = add v0 v1} -> (v2)>
    epilogue_reads [#prog.access<2, affine_map<(d0, d1) -> (d0 * 35 + d1)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 35 + d1)>>]
  func.return
}

// The epilogue runs once for each point, after the loops over the reduction.
// CHECK-LABEL: func.func private @epilogue
// CHECK:         scf.for %[[K:.*]] =
// CHECK:           arith.maximumf
// CHECK-NOT:       arith.divf
// CHECK:         scf.for
// CHECK:           %[[M:.*]] = memref.load
// CHECK:           arith.divf %{{.*}}, %[[M]]
func.func private @epilogue(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [8] reduction [4]
    monoids [#prog.monoid<max>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 8 + d0)>>]
    epilogue #prog.program<(f32) {v0 = in 0, v1 = recip v0 : f32} -> (v1)>
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// A maximum has no order: where memory lies along the reduction, four vectors of accumulators take
// its elements in turn. Those left over fill two of them, and three more go into the first. Then the
// vectors are folded into one, and its halves into one another.
// CHECK-LABEL: func.func private @unordered
// CHECK:         %[[A:.*]] = memref.alloca() : memref<16xf32>
// CHECK-NEXT:    %[[B:.*]] = memref.alloca() : memref<16xf32>
// CHECK-NEXT:    %[[C:.*]] = memref.alloca() : memref<16xf32>
// CHECK-NEXT:    %[[D:.*]] = memref.alloca() : memref<16xf32>
// CHECK:         %[[LANES:.*]] = arith.constant 16 : index
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:           scf.for %{{.*}} to %[[LANES]] step
// CHECK-COUNT-4:     memref.load %a[
// CHECK:             memref.store %{{.*}}, %[[D]]
// CHECK:         scf.for %{{.*}} to %[[LANES]] step
// CHECK-COUNT-2:   memref.load %a[
// CHECK-NEXT:      arith.maximumf
// CHECK-NEXT:      memref.store %{{.*}}, %[[B]]
// CHECK:         %[[REST:.*]] = arith.constant 3 : index
// CHECK:         scf.for %{{.*}} to %[[REST]] step
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:         scf.for %{{.*}} to %[[LANES]] step
// CHECK:           memref.store %{{.*}}, %[[FOLD:fold.*]][
// CHECK:         %[[HALF:.*]] = arith.constant 8 : index
// CHECK:         scf.for %{{.*}} to %[[HALF]] step
// CHECK-COUNT-2:   memref.load %[[FOLD]]
// CHECK:           memref.store %{{.*}}, %[[FOLD]]
// CHECK:         arith.constant 2 : index
// CHECK-COUNT-2: memref.store %{{.*}}, %[[FOLD]]
// CHECK-NEXT:    %[[RESULT:.*]] = memref.load %[[FOLD]]
// CHECK-NEXT:    memref.store %[[RESULT]], %o
func.func private @unordered(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [] reduction [16419]
    monoids [#prog.monoid<max>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<() -> (0)>>]
  func.return
}
