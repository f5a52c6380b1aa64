// RUN: uir-opt %s -t c | filecheck %s

// A private function is static; a memory that it only reads is const.
// CHECK:      {{^}}static void copy(const float *restrict x, float *restrict y, int64_t o, bool b, int32_t n,
// CHECK-NEXT: {{^}}    float s) {
func.func private @copy(%x: memref<?xf32>, %y: memref<?xf32>, %o: index, %b: i1, %n: i32, %s: f32) {
  %0 = memref.load %x[%o] : memref<?xf32>
  memref.store %0, %y[%o] : memref<?xf32>
  func.return
}

// What a callee stores to, the caller stores to.
// CHECK: {{^}}static void through_a_call(float *restrict x, const float *restrict y) {
func.func private @through_a_call(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c3 = arith.constant 3 : index
  %true = arith.constant true
  %n = arith.constant -2147483648 : i32
  %s = arith.constant 0.1 : f32
  // CHECK-NEXT: copy(y, x, 3, true, INT32_MIN, 0x1.99999ap-4f);
  func.call @copy(%y, %x, %c3, %true, %n, %s) : (memref<?xf32>, memref<?xf32>, index, i1, i32, f32) -> ()
  func.return
}

// The memory of the caller of the file is never const, and i1 is a byte in it.
// CHECK: {{^}}void kernel(float *restrict slot0, int32_t *restrict slot2, uint8_t *restrict result) {
// CHECK-NEXT: {{^}}  (void)slot0;
// CHECK-NEXT: {{^}}  (void)slot2;
// CHECK-NEXT: {{^}}  (void)result;
// CHECK-NEXT: {{^}}}
func.func @kernel(%slot0: memref<?xf32>, %slot2: memref<?xi32>, %result: memref<?xi1>) {
  func.return
}
