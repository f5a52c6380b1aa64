// RUN: uir-opt %s --roll-calls | filecheck %s

// No call moves across another effect, and three calls are not worth a loop.
// CHECK-NOT:     scf.for
func.func private @f(%x: memref<?xf32>, %at: index) {
  func.return
}
func.func @kernel(%x: memref<?xf32>, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
  memref.store %y, %x[%c0] : memref<?xf32>
  func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c1) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c2) : (memref<?xf32>, index) -> ()
  func.return
}
