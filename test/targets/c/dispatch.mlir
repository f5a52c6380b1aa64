// RUN: uir-opt %s -t c | filecheck %s

// A function that is worth it is compiled for each width of vectors.
// CHECK:      #if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__)
// CHECK-NEXT: #define DISPATCH(name, parameters, arguments, ...)
// CHECK-NEXT:   __attribute__((target("avx512f"))) FUNCTION(name##_avx512, 64, parameters, __VA_ARGS__)
// CHECK:      __builtin_cpu_supports("avx512f")
// CHECK:      {{^}}#else
// CHECK:      {{^}}DISPATCH(copy, (const float *restrict x, float *restrict y),
// CHECK-NEXT:     (x, y), {
// CHECK-NEXT:   const float v0 = x[0];
// CHECK-NEXT:   y[0] = v0;
// CHECK-NEXT: {{^}}})
func.func private @copy(%x: memref<?xf32>, %y: memref<?xf32>) attributes {uir.dispatch} {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<?xf32>
  memref.store %0, %y[%c0] : memref<?xf32>
  func.return
}

// Names that the macro makes are not free.
// CHECK: {{^}}static void f0(const float *restrict x) {
func.func private @copy_avx2(%x: memref<?xf32>) {
  func.return
}

// CHECK:      {{^}}void kernel(float *restrict x, float *restrict y) {
// CHECK-NEXT:   copy(x, y);
func.func @kernel(%x: memref<?xf32>, %y: memref<?xf32>) {
  func.call @copy(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  func.return
}

// CHECK:      {{^}}DISPATCH(nothing, (void),
// CHECK-NEXT:     (), {
// CHECK-NEXT: {{^}}})
func.func private @nothing() attributes {uir.dispatch} {
  func.return
}
