// RUN: uir-opt %s -t c | filecheck %s

// Names of the IR stay where C has no other use for them, and are made unique.
// CHECK-LABEL: static void keywords(
// CHECK-SAME:    const float *restrict v0, int64_t v1, int64_t v2, int64_t f32_bits_1,
// CHECK-NEXT:    float *restrict y) {
func.func private @keywords(%register: memref<?xf32>, %NAN: index, %int8_t: index, %f32_bits: index, %y: memref<?xf32>) {
  %x = memref.load %register[%NAN] : memref<?xf32>
  memref.store %x, %y[%int8_t] : memref<?xf32>
  memref.store %x, %y[%f32_bits] : memref<?xf32>
  func.return
}

// What the file says of vectors has names, too.
// CHECK-LABEL: static void vectors(const float *restrict v0, int64_t v1, int64_t v2, int64_t v3, int64_t v4,
// CHECK-NEXT:    int64_t v5, int64_t v6) {
func.func private @vectors(%f32v: memref<?xf32>, %vscale: index, %f32v_any: index, %shuffle_mask: index, %load_f32v: index, %store_f32v: index, %f32x4: index) {
  func.return
}

// CHECK-LABEL: static void twice(
// CHECK-NEXT:    for (int64_t i = 0; i < 4; i += 1) {
// CHECK:         for (int64_t i_1 = 0; i_1 < 4; i_1 += 1) {
func.func private @twice(%m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  func.return
}

// A function is renamed too, unless its caller knows it.
// CHECK-LABEL: static void f0(
func.func private @exp2(%m: memref<?xf32>) {
  func.return
}

// CHECK-LABEL: void kernel(
// CHECK-NEXT:    f0(m);
func.func @kernel(%m: memref<?xf32>) {
  func.call @exp2(%m) : (memref<?xf32>) -> ()
  func.return
}
