// RUN: uir-opt %s --roll-calls | filecheck %s

// A progression of calls in a progression, and what stands between.
// CHECK-LABEL: func.func @kernel
// CHECK:         scf.for %i = %{{.*}} to %[[C5:.*]] step
// CHECK:           %[[OUTER:.*]] = arith.muli %i, %[[C10:.*]] : index
// CHECK:           scf.for %j = %{{.*}} to %[[C4:.*]] step
// CHECK:             %[[INNER:.*]] = arith.muli %j, %[[C2:.*]] : index
// CHECK:             %[[SUM:.*]] = arith.addi %[[INNER]], %[[OUTER]] : index
// CHECK:             func.call @f(%x, %[[SUM]])
// CHECK:           func.call @g(%x)
// CHECK-NOT:     func.call
func.func private @f(%x: memref<?xf32>, %at: index) {
  func.return
}
func.func private @g(%x: memref<?xf32>) {
  func.return
}
func.func @kernel(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  func.call @f(%x, %c0) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c2) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c4) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c6) : (memref<?xf32>, index) -> ()
  func.call @g(%x) : (memref<?xf32>) -> ()
  %c10 = arith.constant 10 : index
  %c12 = arith.constant 12 : index
  %c14 = arith.constant 14 : index
  %c16 = arith.constant 16 : index
  func.call @f(%x, %c10) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c12) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c14) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c16) : (memref<?xf32>, index) -> ()
  func.call @g(%x) : (memref<?xf32>) -> ()
  %c20 = arith.constant 20 : index
  %c22 = arith.constant 22 : index
  %c24 = arith.constant 24 : index
  %c26 = arith.constant 26 : index
  func.call @f(%x, %c20) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c22) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c24) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c26) : (memref<?xf32>, index) -> ()
  func.call @g(%x) : (memref<?xf32>) -> ()
  %c30 = arith.constant 30 : index
  %c32 = arith.constant 32 : index
  %c34 = arith.constant 34 : index
  %c36 = arith.constant 36 : index
  func.call @f(%x, %c30) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c32) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c34) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c36) : (memref<?xf32>, index) -> ()
  func.call @g(%x) : (memref<?xf32>) -> ()
  %c40 = arith.constant 40 : index
  %c42 = arith.constant 42 : index
  %c44 = arith.constant 44 : index
  %c46 = arith.constant 46 : index
  func.call @f(%x, %c40) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c42) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c44) : (memref<?xf32>, index) -> ()
  func.call @f(%x, %c46) : (memref<?xf32>, index) -> ()
  func.call @g(%x) : (memref<?xf32>) -> ()
  func.return
}
