// RUN: uir-opt %s -t c | filecheck %s

// C knows a function from its definition on, so a callee comes first.
// CHECK: static void second(
// CHECK: static void first(
// CHECK: void kernel(
func.func @kernel(%m: memref<?xf32>) {
  func.call @first(%m) : (memref<?xf32>) -> ()
  func.return
}
func.func private @first(%m: memref<?xf32>) {
  func.call @second(%m) : (memref<?xf32>) -> ()
  func.return
}
func.func private @second(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f32
  memref.store %x, %m[%c0] : memref<?xf32>
  func.return
}
