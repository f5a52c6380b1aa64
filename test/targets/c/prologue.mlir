// RUN: uir-opt %s -t c | filecheck %s

// The file defends its arithmetic, and defines the helpers that it calls and no others.
// CHECK:     #error {{.*}}-ffast-math
// CHECK:     #error {{.*}}FLT_EVAL_METHOD
// CHECK:     #pragma STDC FP_CONTRACT OFF
// CHECK:     #pragma GCC optimize({{.*}}fp-contract=off
// CHECK:     #if defined(__x86_64__) && defined(__AVX512F__)
// CHECK:     #pragma clang attribute push(
// CHECK-NOT: select_f32
// CHECK:     static inline uint32_t f32_bits(
// CHECK:     static inline float bits_f32(
// CHECK-NOT: select_f32
// CHECK:     static inline float max_f32(
// CHECK-NOT: static inline
// CHECK:     void kernel(
// CHECK:     {{^}}}
// CHECK:     #pragma clang attribute pop
func.func @kernel(%m: memref<?xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %0 = arith.maximumf %x, %y : f32
  memref.store %0, %m[%c0] : memref<?xf32>
  func.return
}
