// RUN: uir-opt %s -t c | filecheck %s

// The pragma is there only for compilers that are told to look at it.
// CHECK:      #if defined(_OPENMP)
// CHECK-NEXT: #define PARALLEL _Pragma("omp parallel for schedule(dynamic)")
// CHECK-NEXT: #else
// CHECK-NEXT: #define PARALLEL
// CHECK-NEXT: #endif

func.func private @part(%x: memref<?xf32>, %y: memref<?xf32>, %part: index) {
  %0 = memref.load %x[%part] : memref<?xf32>
  memref.store %0, %y[%part] : memref<?xf32>
  func.return
}

// CHECK:      {{^}}void kernel(float *restrict x, float *restrict y) {
// CHECK-NEXT:   PARALLEL
// CHECK-NEXT:   for (int64_t i = 0; i < 8; i += 1) {
// CHECK-NEXT:     part(x, y, i);
// CHECK-NEXT:   }
// CHECK-NEXT: {{^}}}
func.func @kernel(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    func.call @part(%x, %y, %i) : (memref<?xf32>, memref<?xf32>, index) -> ()
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
