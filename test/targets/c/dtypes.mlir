// RUN: uir-opt -t c %s | filecheck %s

// Types that only memory has are defined as well.
// CHECK:      typedef struct { float re, im; } nx_c64;

// Integers have their width and sign; floats of less than 32 bits are codes; i1 is a byte in memory.
// CHECK:      void types(uint64_t *restrict v0, int16_t *restrict v1, uint8_t *restrict v2, uint8_t *restrict v3,
// CHECK-NEXT:     uint16_t *restrict v4, uint8_t *restrict v5, double *restrict v6, nx_c64 *restrict v7,
// CHECK-NEXT:     uint8_t *restrict v8) {
func.func @types(%0: memref<?xui64>, %1: memref<?xi16>, %2: memref<?xui8>, %3: memref<?xui4>, %4: memref<?xbf16>, %5: memref<?xf8E4M3FN>, %6: memref<?xf64>, %7: memref<?xcomplex<f32>>, %8: memref<?xi1>) {
  func.return
}

// A constant of a narrow float is its code, and one that no literal has is made of its bits.
// CHECK-LABEL: void constants(
// CHECK:         v0[0] = 0x3e00;
// CHECK-NEXT:    v1[0] = 0x05;
// CHECK-NEXT:    v2[0] = 0x1.999999999999ap-4;  // 0.1
// CHECK-NEXT:    v3[0] = 7u;
// CHECK-NEXT:    v4[0] = (uint8_t)(-1 & 15);
// CHECK-NEXT:    v5[0] = (nx_c64){-0.0f, 0x1p+0f};  // 1
// CHECK-NEXT:    v2[1] = bits_f64((uint64_t)9218868437227405603);
func.func @constants(%0: memref<?xf16>, %1: memref<?xf4E2M1FN>, %2: memref<?xf64>, %3: memref<?xui32>, %4: memref<?xui4>, %5: memref<?xcomplex<f32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 1.5 : f16
  memref.store %half, %0[%c0] : memref<?xf16>
  %three = arith.constant 3.0 : f4E2M1FN
  memref.store %three, %1[%c0] : memref<?xf4E2M1FN>
  %tenth = arith.constant 0.1 : f64
  memref.store %tenth, %2[%c0] : memref<?xf64>
  %seven = arith.constant 7 : i32
  %unsigned = arith.bitcast %seven : i32 to ui32
  memref.store %unsigned, %3[%c0] : memref<?xui32>
  %ones = arith.constant -1 : i4
  %fifteen = arith.bitcast %ones : i4 to ui4
  memref.store %fifteen, %4[%c0] : memref<?xui4>
  %re = arith.constant -0.0 : f32
  %im = arith.constant 1.0 : f32
  %z = complex.create %re, %im : complex<f32>
  memref.store %z, %5[%c0] : memref<?xcomplex<f32>>
  %payload = arith.constant 9218868437227405603 : i64
  %nan = arith.bitcast %payload : i64 to f64
  memref.store %nan, %2[%c1] : memref<?xf64>
  func.return
}

// Conversions of f64, and the arithmetic that C has.
// CHECK-LABEL: void f64(
// CHECK:         const double v{{[0-9]+}} = (double)v{{[0-9]+}} + (double)v{{[0-9]+}};
// CHECK-NEXT:    v0[0] = (float)v{{[0-9]+}};
// CHECK-NEXT:    v1[0] = (int64_t)v{{[0-9]+}};
func.func @f64(%0: memref<?xf32>, %1: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %2 = memref.load %0[%c0] : memref<?xf32>
  %3 = memref.load %1[%c0] : memref<?xi64>
  %4 = arith.extf %2 : f32 to f64
  %5 = arith.sitofp %3 : i64 to f64
  %6 = arith.addf %4, %5 : f64
  %7 = arith.truncf %6 : f64 to f32
  memref.store %7, %0[%c0] : memref<?xf32>
  %8 = arith.fptosi %6 : f64 to i64
  memref.store %8, %1[%c0] : memref<?xi64>
  func.return
}
