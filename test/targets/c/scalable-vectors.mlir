// RUN: uir-opt %s -t c | filecheck %s

// Vectors are as wide as the machine's: those of plain functions follow the compiler's flags. In
// arithmetic beside a vector, a number stands for one in all lanes.
// CHECK:      #define VECTORS(bytes)
// CHECK-NEXT:   typedef float f32v __attribute__((vector_size(bytes), unused));
// CHECK:      #if defined(__AVX512F__)
// CHECK-NEXT: #define VECTOR_BYTES 64
// CHECK:      {{^}}static void sums(const float *restrict x, float *restrict y, float w) {
// CHECK-NEXT:   VECTORS(VECTOR_BYTES)
// CHECK-NEXT:   const int64_t lanes = vscale * 4;
// CHECK-NEXT:   for (int64_t i = 0; i < 16; i += lanes) {
// CHECK-NEXT:     f32v acc = (f32v){0};
// CHECK-NEXT:     f32v product = 0x1p+0f - (f32v){0};  // 1
// CHECK-NEXT:     for (int64_t k = 0; k < 4; k += 1) {
// CHECK-NEXT:       const f32v v0 = load_f32v(&x[k * 16 + i]);
// CHECK-NEXT:       acc = acc + w * v0;
// CHECK-NEXT:       product = product * v0;
// CHECK-NEXT:     }
// CHECK-NEXT:     store_f32v(&y[i], acc);
// CHECK-NEXT:     store_f32v(&y[16 + i], product);
func.func private @sums(%x: memref<?xf32>, %y: memref<?xf32>, %w: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %scale = vector.vscale
  %lanes = arith.muli %scale, %c4 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %zeros = vector.broadcast %zero : f32 to vector<[4]xf32>
  %ones = vector.broadcast %one : f32 to vector<[4]xf32>
  %ws = vector.broadcast %w : f32 to vector<[4]xf32>
  scf.for %i = %c0 to %c16 step %lanes {
    %sum, %prod = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zeros, %product = %ones) -> (vector<[4]xf32>, vector<[4]xf32>) {
      %row = arith.muli %k, %c16 : index
      %place = arith.addi %row, %i : index
      %0 = vector.load %x[%place] : memref<?xf32>, vector<[4]xf32>
      %1 = arith.mulf %ws, %0 : vector<[4]xf32>
      %2 = arith.addf %acc, %1 : vector<[4]xf32>
      %3 = arith.mulf %product, %0 : vector<[4]xf32>
      scf.yield %2, %3 : vector<[4]xf32>, vector<[4]xf32>
    }
    vector.store %sum, %y[%i] : memref<?xf32>, vector<[4]xf32>
    %second = arith.addi %c16, %i : index
    vector.store %prod, %y[%second] : memref<?xf32>, vector<[4]xf32>
  }
  func.return
}

// A dispatched function has a width in each of its versions.
// CHECK:      {{^}}DISPATCH(copy, (const float *restrict x, float *restrict y),
// CHECK-NEXT:     (x, y), {
// CHECK-NEXT:   const f32v v0 = load_f32v(&x[0]);
// CHECK-NEXT:   store_f32v(&y[0], v0);
// CHECK-NEXT: {{^}}})
func.func private @copy(%x: memref<?xf32>, %y: memref<?xf32>) attributes {uir.dispatch} {
  %c0 = arith.constant 0 : index
  %0 = vector.load %x[%c0] : memref<?xf32>, vector<[4]xf32>
  vector.store %0, %y[%c0] : memref<?xf32>, vector<[4]xf32>
  func.return
}

// What `vscale` is stands in each function, one with vectors or not.
// CHECK:      {{^}}static void scale(int32_t *restrict y) {
// CHECK-NEXT:   VECTORS(VECTOR_BYTES)
// CHECK-NEXT:   y[0] = (int32_t)vscale;
func.func private @scale(%y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %scale = vector.vscale
  %0 = arith.index_cast %scale : index to i32
  memref.store %0, %y[%c0] : memref<?xi32>
  func.return
}
