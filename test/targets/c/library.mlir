// RUN: uir-opt -t c %s | filecheck %s

// Functions of the kind library that are called stand above, after what they call themselves.
// CHECK:      static inline float nx_cast_f16_f32(uint16_t x)
// CHECK:      static inline uint16_t nx_cast_f32_f16(float x)
// CHECK:      static inline uint16_t nx_sqrt_f16(uint16_t x)
// CHECK:      void sqrt_f16(uint16_t *restrict v0, uint16_t *restrict v1) {
// CHECK-NEXT:   const uint16_t v2 = v0[0];
// CHECK-NEXT:   v1[0] = nx_sqrt_f16(v2);
// CHECK-NEXT: }
func.func @sqrt_f16(%0: memref<?xf16>, %1: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %2 = memref.load %0[%c0] : memref<?xf16>
  %3 = func.call @nx_sqrt_f16(%2) : (f16) -> f16
  memref.store %3, %1[%c0] : memref<?xf16>
  func.return
}
func.func private @nx_sqrt_f16(f16) -> f16
