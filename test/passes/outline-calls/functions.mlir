// RUN: uir-opt %s --outline-calls | filecheck %s

// A body becomes one function, whichever call it is for; equal arguments are passed once.
// CHECK:      uir.function @body_0 {
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>):
// CHECK-NEXT:   %[[R:.*]] = uir.mul %[[X]], %[[Y]]
// CHECK-NEXT:   uir.result %[[R]]
// CHECK:      uir.function @body_1 {
// CHECK-NEXT: ^bb0(%[[B:.*]]: tensor<f32>):
// CHECK-NEXT:   uir.mul %[[B]], %[[B]]
// CHECK-NOT:  uir.param
// CHECK:      %[[L:.*]] = uir.load
// CHECK:      %[[M:.*]] = uir.load
// CHECK-NEXT: %[[C:.*]] = uir.apply %[[L]], %[[M]] {function = @body_0}
// CHECK-NEXT: %[[D:.*]] = uir.apply %[[M]], %[[C]] {function = @body_0}
// CHECK-NEXT: uir.apply %[[D]] {function = @body_1}
%x = uir.param {index = 0 : i64} : tensor<f32>
%y = uir.param {index = 1 : i64} : tensor<f32>
%r = uir.mul %x, %y : tensor<f32>
%m = uir.buffer {slot = 0 : i64} : !uir.mem<2xf32>
%0 = uir.constant "0" : tensor<i32>
%1 = uir.constant "1" : tensor<i32>
%c0 = uir.index %m, %0 : (!uir.mem<2xf32>, tensor<i32>) -> !uir.mem<f32>
%c1 = uir.index %m, %1 : (!uir.mem<2xf32>, tensor<i32>) -> !uir.mem<f32>
%a = uir.load %c0 : (!uir.mem<f32>) -> tensor<f32>
%b = uir.load %c1 : (!uir.mem<f32>) -> tensor<f32>
%c = uir.call %r, %a, %b : tensor<f32>
%d = uir.call %r, %b, %c : tensor<f32>
%e = uir.call %r, %d, %d : tensor<f32>
uir.result %e : tensor<f32>
