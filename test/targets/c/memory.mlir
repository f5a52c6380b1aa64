// RUN: uir-opt %s -t c | filecheck %s

// One allocation, of which views are typed parts.
// CHECK-LABEL: void kernel(
// CHECK-NEXT:    uint8_t *const arena = malloc(256);
// CHECK-NEXT:    if (arena == NULL) abort();
// CHECK-NEXT:    float *const t = (float *)(arena + 64);
// CHECK-NEXT:    uint8_t *const b = (uint8_t *)(arena + 128);
// CHECK-NEXT:    t[0] = x;
// CHECK-NEXT:    b[0] = true;
// CHECK-NEXT:    free(arena);
// CHECK-NEXT:  }
func.func @kernel(%x: f32) {
  %arena = memref.alloc() : memref<256xi8>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %t = memref.view %arena[%c64][%c8] : memref<256xi8> to memref<?xf32>
  %b = memref.view %arena[%c128][%c8] : memref<256xi8> to memref<?xi1>
  %unused = memref.view %arena[%c0][%c8] : memref<256xi8> to memref<?xf32>
  %true = arith.constant true
  memref.store %x, %t[%c0] : memref<?xf32>
  memref.store %true, %b[%c0] : memref<?xi1>
  memref.dealloc %arena : memref<256xi8>
  func.return
}

// CHECK-LABEL: static void scratch(
// CHECK-NEXT:    float m[64];
// CHECK-NEXT:    m[i] = x;
// CHECK-NEXT:    const float v0 = m[0];
// CHECK-NEXT:    y[i] = v0;
func.func private @scratch(%y: memref<?xf32>, %i: index, %x: f32) {
  %m = memref.alloca() : memref<64xf32>
  %c0 = arith.constant 0 : index
  memref.store %x, %m[%i] : memref<64xf32>
  %0 = memref.load %m[%c0] : memref<64xf32>
  memref.store %0, %y[%i] : memref<?xf32>
  func.return
}

// A load is done where it stands, before the store to the same memory.
// CHECK-LABEL: static void swap(
// CHECK-NEXT:    const bool x = m[i];
// CHECK-NEXT:    const bool y = m[j];
// CHECK-NEXT:    m[i] = y;
// CHECK-NEXT:    m[j] = x;
func.func private @swap(%m: memref<?xi1>, %i: index, %j: index) {
  %x = memref.load %m[%i] : memref<?xi1>
  %y = memref.load %m[%j] : memref<?xi1>
  memref.store %y, %m[%i] : memref<?xi1>
  memref.store %x, %m[%j] : memref<?xi1>
  func.return
}
