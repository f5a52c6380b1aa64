// RUN: uir-opt %s -t c | filecheck %s

// i32 wraps, through unsigned; an index does not need to.
// CHECK-LABEL: static void wrap(
// CHECK-NEXT:    m[i * 3 + 1] = (int32_t)(((uint32_t)n + 3u) * (uint32_t)-5);
func.func private @wrap(%m: memref<?xi32>, %i: index, %n: i32) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %three = arith.constant 3 : i32
  %minus_five = arith.constant -5 : i32
  %0 = arith.addi %n, %three : i32
  %1 = arith.muli %0, %minus_five : i32
  %2 = arith.muli %i, %c3 : index
  %3 = arith.addi %2, %c1 : index
  memref.store %1, %m[%3] : memref<?xi32>
  func.return
}

// Bits are reinterpreted through memory, and floats selected by masks: no union, no `?:`.
// CHECK-LABEL: static void floats(
// CHECK-NEXT:    const float a = select_f32(x < y, max_f32(x, y), bits_f32(f32_bits(y) ^ 1));
func.func private @floats(%m: memref<?xf32>, %x: f32, %y: f32) {
  func.return
}
