// RUN: uir-opt %s --roll-calls | filecheck %s

// Parts of the arena advance as well; parts of another size are no progression.
// CHECK:         %[[LONG:.*]] = memref.view
// CHECK:         scf.for %i = %{{.*}} to %{{.*}} step
// CHECK:           %[[AT:.*]] = arith.muli %i, %{{.*}} : index
// CHECK:           %[[VIEW:.*]] = memref.view %arena[%[[AT]]]
// CHECK:           func.call @f(%[[VIEW]])
// CHECK-NEXT:    }
// CHECK-NEXT:    func.call @f(%[[LONG]])
// CHECK-NEXT:    func.return
func.func private @f(%x: memref<?xf32>) {
  func.return
}
func.func @kernel(%arena: memref<512xi8>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %c256 = arith.constant 256 : index
  %0 = memref.view %arena[%c0][%c16] : memref<512xi8> to memref<?xf32>
  %1 = memref.view %arena[%c64][%c16] : memref<512xi8> to memref<?xf32>
  %2 = memref.view %arena[%c128][%c16] : memref<512xi8> to memref<?xf32>
  %3 = memref.view %arena[%c192][%c16] : memref<512xi8> to memref<?xf32>
  func.call @f(%0) : (memref<?xf32>) -> ()
  func.call @f(%1) : (memref<?xf32>) -> ()
  func.call @f(%2) : (memref<?xf32>) -> ()
  func.call @f(%3) : (memref<?xf32>) -> ()
  %4 = memref.view %arena[%c256][%c64] : memref<512xi8> to memref<?xf32>
  func.call @f(%4) : (memref<?xf32>) -> ()
  func.return
}
