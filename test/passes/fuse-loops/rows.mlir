// RUN: uir-opt %s --fuse-loops | filecheck %s
// RUN: uir-opt %s --fuse-loops --lower-loops | filecheck %s --check-prefix=LOWERED

// Each row is doubled, then summed: the two loops stand in one function, under names that tell what
// is read, and run on a part of the rows after the other.
// CHECK-NOT:     func.func private @kernel_e(
// CHECK-LABEL:   func.func private @kernel_e_to_s(%x: memref<?xf32>, %e: memref<?xf32>, %out: memref<?xf32>)
// CHECK-SAME:      uir.source = ["%e = add %x %x", "%s = reduce %e op=add pop=1"]
// CHECK-NEXT:      prog.loop (%x, %e : {{.*}}) shape [4096, 512]
// CHECK:           prog.loop (%e, %out : {{.*}}) shape [4096] reduction [512]
// CHECK:           func.return
// CHECK-LABEL:   func.func @kernel(
// CHECK-NEXT:      func.call @kernel_e_to_s(%a, %t, %o)
// CHECK-NEXT:      func.return

// LOWERED-LABEL: func.func private @kernel_e_to_s_part(%x: memref<?xf32>, %e: memref<?xf32>, %part: index)
// LOWERED-SAME:    uir.source = "%e = add %x %x"
// LOWERED-LABEL: func.func private @kernel_e_to_s_part_1(%e: memref<?xf32>, %out: memref<?xf32>, %part: index)
// LOWERED-LABEL: func.func private @kernel_e_to_s(
// LOWERED:         "scf.parallel"
// LOWERED-NEXT:    ^{{.*}}(%part: index):
// LOWERED-NEXT:      func.call @kernel_e_to_s_part(%x, %e, %part)
// LOWERED-NEXT:      func.call @kernel_e_to_s_part_1(%e, %out, %part)
// LOWERED-NEXT:      scf.reduce
func.func private @kernel_e(%x: memref<?xf32>, %out: memref<?xf32>) attributes {uir.source = "%e = add %x %x"} {
  prog.loop (%x, %out : memref<?xf32>, memref<?xf32>) shape [4096, 512]
    body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 512 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 512 + d1)>>]
  func.return
}
func.func private @kernel_s(%e: memref<?xf32>, %out: memref<?xf32>) attributes {uir.source = "%s = reduce %e op=add pop=1"} {
  prog.loop (%e, %out : memref<?xf32>, memref<?xf32>) shape [4096] reduction [512]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 512 + d1)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
func.func @kernel(%a: memref<?xf32>, %t: memref<?xf32>, %o: memref<?xf32>) {
  func.call @kernel_e(%a, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @kernel_s(%t, %o) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}
