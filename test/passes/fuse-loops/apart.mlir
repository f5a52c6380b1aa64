// RUN: uir-opt %s --fuse-loops | filecheck %s

// A part may not need what another part of another loop writes: here the rows of the second loop are
// the columns of the first, and the third loop reads the next element, too.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT:    func.call @double(
// CHECK-NEXT:    func.call @sum_columns(
// CHECK-NEXT:    func.return
func.func @columns(%a: memref<?xf32>, %t: memref<?xf32>, %o: memref<?xf32>) {
  func.call @double(%a, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @sum_columns(%t, %o) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

// CHECK-LABEL: func.func @neighbours
// CHECK-NEXT:    func.call @double(
// CHECK-NEXT:    func.call @add_next(
// CHECK-NEXT:    func.return
func.func @neighbours(%a: memref<?xf32>, %t: memref<?xf32>, %o: memref<?xf32>) {
  func.call @double(%a, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @add_next(%t, %o) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

// Nothing that one loop leaves to the other.
// CHECK-LABEL: func.func @strangers
// CHECK-NEXT:    func.call @double(
// CHECK-NEXT:    func.call @double(
func.func @strangers(%a: memref<?xf32>, %t: memref<?xf32>, %o: memref<?xf32>) {
  func.call @double(%a, %t) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @double(%a, %o) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

// What the last loop writes lies where the first one still reads: of two views that share bytes,
// one is not known to be apart from the other.
// CHECK-LABEL: func.func @overlapping
// CHECK:         func.call @double_to_double(%x, %y)
// CHECK-NEXT:    func.call @double(
// CHECK-NEXT:    func.return
func.func @overlapping(%arena: memref<25165824xi8>) {
  %size = arith.constant 2097152 : index
  %0 = arith.constant 0 : index
  %1 = arith.constant 8388608 : index
  %2 = arith.constant 64 : index
  %x = memref.view %arena[%0][%size] : memref<25165824xi8> to memref<?xf32>
  %y = memref.view %arena[%1][%size] : memref<25165824xi8> to memref<?xf32>
  %z = memref.view %arena[%2][%size] : memref<25165824xi8> to memref<?xf32>
  func.call @double(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @double(%y, %x) : (memref<?xf32>, memref<?xf32>) -> ()
  func.call @double(%y, %z) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

func.func private @double(%x: memref<?xf32>, %out: memref<?xf32>) {
  prog.loop (%x, %out : memref<?xf32>, memref<?xf32>) shape [4096, 512]
    body #prog.program<(f32) {v0 = in 0, v1 = add v0 v0} -> (v1)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d0 * 512 + d1)>>]
    writes [#prog.access<1, affine_map<(d0, d1) -> (d0 * 512 + d1)>>]
  func.return
}
func.func private @sum_columns(%x: memref<?xf32>, %out: memref<?xf32>) {
  prog.loop (%x, %out : memref<?xf32>, memref<?xf32>) shape [512] reduction [4096]
    monoids [#prog.monoid<sum>]
    body #prog.program<(f32) {v0 = in 0} -> (v0)>
    reads [#prog.access<0, affine_map<(d0, d1) -> (d1 * 512 + d0)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
func.func private @add_next(%x: memref<?xf32>, %out: memref<?xf32>) {
  prog.loop (%x, %out : memref<?xf32>, memref<?xf32>) shape [2097152]
    body #prog.program<(f32, f32) {v0 = in 0, v1 = in 1, v2 = add v0 v1} -> (v2)>
    reads [#prog.access<0, affine_map<(d0) -> (d0)>>, #prog.access<0, affine_map<(d0) -> (d0 + 1)>>]
    writes [#prog.access<1, affine_map<(d0) -> (d0)>>]
  func.return
}
