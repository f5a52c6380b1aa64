// RUN: uir-opt %s | uir-opt - | filecheck %s
// RUN: uir-opt %s --print-op-generic | uir-opt - | filecheck %s

// A map loop has a line for each part that it has.
// CHECK-LABEL: func.func private @map
// CHECK:         prog.loop (%{{.*}}, %{{.*}} : memref<?xi32>, memref<?xi1>) shape [4, 8]
// CHECK-NEXT:      body #prog.program<(i32) {v0 = in 0, v1 = cast v0 : i1} -> (v1)>
// CHECK-NEXT:      reads [#prog.access<0, affine_map<(d0, d1) -> (((d0 * 8) + d1))>>]
// CHECK-NEXT:      writes [#prog.access<1, affine_map<(d0, d1) -> (((d1 * 4) + d0))>>]
func.func private @map(%a: memref<?xi32>, %o: memref<?xi1>) {
  prog.loop (%a, %o : memref<?xi32>, memref<?xi1>) shape [4, 8]
    body #prog.program<(i32) {v0 = in 0, v1 = cast v0 : i1} -> (v1)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 8 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d1 * 4 + d0)>>]
  func.return
}

// A fold has a reduction and monoids, and may have an epilogue.
// CHECK-LABEL: func.func private @fold
// CHECK:         prog.loop (%{{.*}} : memref<?xf32>) symbols (%{{.*}}) shape [] reduction [3]
// CHECK-NEXT:      monoids [#prog.monoid<sum>, #prog.monoid<max>]
// CHECK-NEXT:      body
// CHECK-NEXT:      reads [#prog.access<0, affine_map<(d0)[s0] -> ((d0 + s0))>>]
// CHECK-NEXT:      epilogue #prog.program<(f32, f32, f32) {v0 = in 0, v1 = in 1, v2 = in 2, v3 = mul v0 v1, v4 = add v3 v2} -> (v4)>
// CHECK-NEXT:      epilogue_reads [#prog.access<0, affine_map<() -> (7)>>]
// CHECK-NEXT:      writes [#prog.access<0, affine_map<() -> (7)>>]
func.func private @fold(%a: memref<?xf32>, %at: index) {
  prog.loop (%a : memref<?xf32>) symbols (%at) shape [] reduction [3]
    monoids [#prog.monoid<sum>, #prog.monoid<max>]
    body #prog.program<(f32) {v0 = in 0} -> (v0, v0)>
    reads [#prog.access<0, affine_map<(d0)[s0] -> (d0 + s0)>>]
    epilogue #prog.program<(f32, f32, f32) {v0 = in 0, v1 = in 1, v2 = in 2, v3 = mul v0 v1, v4 = add v3 v2} -> (v4)>
    epilogue_reads [#prog.access<0, affine_map<() -> (7)>>]
    writes [#prog.access<0, affine_map<() -> (7)>>]
  func.return
}

// A condition is a set over the coordinates of the map.
// CHECK-LABEL: func.func private @condition
// CHECK:           reads [#prog.access<0, affine_map<(d0) -> ((d0 + -1))>, affine_set<(d0) : ((d0 + -1) >= 0)>>]
func.func private @condition(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [4]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0) -> (d0 - 1)>, affine_set<(d0) : (d0 - 1 >= 0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// Memories are of any dtype.
// CHECK-LABEL: func.func private @dtypes
// CHECK:         prog.loop (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?xf8E4M3FN>, memref<?xui4>, memref<?xcomplex<f64>>, memref<?xui1>, memref<?xbf16>) shape [4]
func.func private @dtypes(%a: memref<?xf8E4M3FN>, %b: memref<?xui4>, %c: memref<?xcomplex<f64>>, %d: memref<?xui1>, %e: memref<?xbf16>) {
  prog.loop (%a, %b, %c, %d, %e : memref<?xf8E4M3FN>, memref<?xui4>, memref<?xcomplex<f64>>, memref<?xui1>, memref<?xbf16>) shape [4]
    body #prog.program<(f8E4M3FN, ui4, c128, bit) {v0 = in 0, v1 = in 1, v2 = in 2, v3 = in 3, v4 = cast v1 : c128, v5 = add v2 v4, v6 = where v3 v2 v5, v7 = cast v6 : bf16} -> (v7)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<1, affine_map<(d0) -> (d0)>>, #prog.access<2, affine_map<(d0) -> (d0)>>, #prog.access<3, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<4, affine_map<(d0) -> (d0)>>]
  func.return
}
