// RUN: uir-opt %s --merge-nodes --split-input-file | filecheck %s

// Equal ops are one node, and so are those that become equal by that.
// CHECK:      %a = uir.add %x, %x
// CHECK-NEXT: %c = uir.mul %a, %a
// CHECK-NEXT: uir.stack %c, %c
%x = uir.constant "1.0" : tensor<f32>
%a = uir.add %x, %x : tensor<f32>
%b = uir.add %x, %x : tensor<f32>
%c = uir.mul %a, %b : tensor<f32>
%d = uir.mul %b, %a : tensor<f32>
%s = uir.stack %c, %d : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
uir.result %s : tensor<2xf32>

// -----

// Literals are one when their bits and dtypes are.
// CHECK:      uir.constant "0.0" : tensor<f32>
// CHECK-NEXT: uir.constant "-0.0" : tensor<f32>
// CHECK-NEXT: uir.constant "nan" : tensor<f32>
// CHECK-NEXT: uir.constant "0" : tensor<i32>
// CHECK-NEXT: }
%0 = uir.constant "0.0" : tensor<f32>
%1 = uir.constant "-0.0" : tensor<f32>
%2 = uir.constant "0.0" : tensor<f32>
%3 = uir.constant "nan" : tensor<f32>
%4 = uir.constant "nan" : tensor<f32>
%5 = uir.constant "0" : tensor<i32>

// -----

// A store parts the loads of its buffer, and of no other; buffers and stores never merge.
// CHECK:      %x = uir.load %m
// CHECK-NEXT: %y = uir.load %n
// CHECK-NEXT: uir.store %m, %x
// CHECK-NEXT: %[[AGAIN:.*]] = uir.load %m
// CHECK-NEXT: uir.store %m, %x
// CHECK-NEXT: uir.stack %[[AGAIN]], %y
%m = uir.buffer {slot = 0 : i64} : !uir.mem<1xf32>
%n = uir.buffer {slot = 1 : i64} : !uir.mem<1xf32>
%x = uir.load %m : (!uir.mem<1xf32>) -> tensor<1xf32>
%x2 = uir.load %m : (!uir.mem<1xf32>) -> tensor<1xf32>
%y = uir.load %n : (!uir.mem<1xf32>) -> tensor<1xf32>
%s = uir.store %m, %x2 : (!uir.mem<1xf32>, tensor<1xf32>) -> !uir.effect
%again = uir.load %m : (!uir.mem<1xf32>) -> tensor<1xf32>
%y2 = uir.load %n : (!uir.mem<1xf32>) -> tensor<1xf32>
%t = uir.store %m, %x : (!uir.mem<1xf32>, tensor<1xf32>) -> !uir.effect
%r = uir.stack %again, %y2 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
