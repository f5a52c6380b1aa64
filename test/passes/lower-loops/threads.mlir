// RUN: uir-opt %s --lower-loops | filecheck %s

// Much work is a function of parts of one size, called in parallel; what is left over comes after.
// CHECK-LABEL: func.func private @map_part(%a: memref<?xf32>, %o: memref<?xf32>, %part: index)
// CHECK:         [[SIZE:%[0-9]+]] = arith.constant 46875 : index
// CHECK:         [[START:%[0-9]+]] = arith.muli %part, [[SIZE]] : index
// CHECK:         scf.for %i0 = %{{.*}} to [[SIZE]] step
// CHECK-NEXT:      [[AT:%[0-9]+]] = arith.addi [[START]], %i0 : index
// CHECK-NEXT:      memref.load %a{{\[}}[[AT]]{{\]}}
// CHECK-LABEL: func.func private @map(%a: memref<?xf32>, %o: memref<?xf32>)
// CHECK:         [[PARTS:%[0-9]+]] = arith.constant 64 : index
// CHECK:         "scf.parallel"(%{{[0-9]+}}, [[PARTS]], %{{[0-9]+}})
// CHECK-NEXT:    ^bb0(%part: index):
// CHECK-NEXT:      func.call @map_part(%a, %o, %part)
// CHECK-NEXT:      scf.reduce
// CHECK:         [[LEFT:%[0-9]+]] = arith.constant 3 : index
// CHECK:         scf.for %i0 = %{{.*}} to [[LEFT]] step
func.func private @map(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [3000003]
    body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}

// What a part accumulates is its own, and the fold over %k1 is whole in each; a symbol is handed on.
// CHECK-LABEL: func.func private @fold_part(%a: memref<?xf32>, %o: memref<?xf32>, %n: index, %part: index)
// CHECK:         memref.alloca() : memref<1024xf32>
// CHECK:         [[DEPTH:%[0-9]+]] = arith.constant 2048 : index
// CHECK:         [[START:%[0-9]+]] = arith.muli %part, %{{.*}} : index
// CHECK-NEXT:    arith.addi %n, [[START]] : index
// CHECK:         scf.for %k1 = %{{.*}} to [[DEPTH]] step
// CHECK-LABEL: func.func private @fold(
// CHECK-NOT:     memref.alloca
// CHECK:         func.call @fold_part(%a, %o, %n, %part)
func.func private @fold(%a: memref<?xf32>, %o: memref<?xf32>, %n: index) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) symbols (%n) shape [4096] reduction [2048]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1)[s0] -> (d0 + d1 * 4096 + s0)>>]
    writes [#prog.access<1, affine_map<(d0)[s0] -> (d0)>>]
  func.return
}

// A block of rows that the cache holds, times a number of lanes: 4 times 16 parts.
// CHECK-LABEL: func.func private @product_part(
// CHECK:         [[SIZE:%[0-9]+]] = arith.constant 64 : index
// CHECK:         [[COUNT:%[0-9]+]] = arith.constant 16 : index
// CHECK:         [[LANES:%[0-9]+]] = arith.remsi %part, [[COUNT]] : index
// CHECK-NEXT:    arith.muli [[LANES]], [[SIZE]] : index
// CHECK:         [[ROWS:%[0-9]+]] = arith.divsi %part, [[COUNT]] : index
// CHECK-NEXT:    [[SIZE:%[0-9]+]] = arith.constant 262144 : index
// CHECK-NEXT:    arith.muli [[ROWS]], [[SIZE]] : index
// CHECK-LABEL: func.func private @product(
// CHECK:         [[PARTS:%[0-9]+]] = arith.constant 64 : index
// CHECK:         "scf.parallel"(%{{[0-9]+}}, [[PARTS]], %{{[0-9]+}})
func.func private @product(%a: memref<?xf32>, %b: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %b, %o : memref<?xf32>, memref<?xf32>, memref<?xf32>) shape [1024, 1024] reduction [1024]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = mul v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0, d1, d2) -> (d0 * 1024 + d2)>>, #prog.access<1, affine_map<(d0, d1, d2) -> (d2 * 1024 + d1)>>]
    writes [#prog.access<2, affine_map<(d0, d1) -> (d0 * 1024 + d1)>>]
  func.return
}

// A row of tiles along a diagonal is a part.
// CHECK-LABEL: func.func private @mask_part(%a: memref<?xf32>, %o: memref<?xf32>, %part: index)
// CHECK:         scf.for %i3 = %{{[0-9]+}} to %part step
// CHECK-LABEL: func.func private @mask(
// CHECK:         "scf.parallel"
func.func private @mask(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [2048, 2048]
    body #prog.program<(f32) {v0 = in 0, v1 = coord 0, v2 = coord 1, v3 = less v1 v2, v4 = add v0 v0, v5 = mul v4 v4, v6 = where v3 v0 v5} -> (v6)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 2048 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 2048 + d1)>>]
  func.return
}

// Little work is done at once.
// CHECK-LABEL: func.func private @little(
// CHECK-NOT:     scf.parallel
func.func private @little(%a: memref<?xf32>, %o: memref<?xf32>) {
  prog.loop (%a, %o : memref<?xf32>, memref<?xf32>) shape [100000]
    body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
