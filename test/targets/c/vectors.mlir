// RUN: uir-opt %s -t c | filecheck %s

// A vector is a variable of a GNU vector type, loaded and stored without more alignment than an
// element's.
// CHECK:      typedef float f32x4 __attribute__((vector_size(16)));
// CHECK:      static inline f32x4 load_f32x4(const float *from) {
// CHECK:      static inline void store_f32x4(float *to, f32x4 v) {
// CHECK:      #define shuffle(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
// CHECK:      #define shuffle(a, b, ...) __builtin_shuffle(a, b, (shuffle_mask){__VA_ARGS__})
// CHECK:      {{^}}void kernel(float *restrict x, float *restrict y) {
// CHECK-NEXT:   const f32x4 a = load_f32x4(&x[0]);
// CHECK-NEXT:   const f32x4 b = load_f32x4(&x[4]);
// CHECK-NEXT:   store_f32x4(&y[4], shuffle(shuffle(a, b, 0, 4, 1, 5), b, 3, 2, 7, 4));
func.func @kernel(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %a = vector.load %x[%c0] : memref<?xf32>, vector<4xf32>
  %b = vector.load %x[%c4] : memref<?xf32>, vector<4xf32>
  %zip = vector.shuffle %a, %b [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
  %r = vector.shuffle %zip, %b [3, 2, 7, 4] : vector<4xf32>, vector<4xf32>
  vector.store %r, %y[%c4] : memref<?xf32>, vector<4xf32>
  func.return
}
