// RUN: uir-opt %s | uir-opt -f mlir - | filecheck %s
// RUN: uir-opt %s --print-op-generic | uir-opt -f mlir - | filecheck %s

// Types that are all the same are written once; others as a signature.
// CHECK: %m = uir.buffer {slot = 0 : i64} : !uir.mem<4xf32>
%m = uir.buffer {slot = 0 : i64} : !uir.mem<4xf32>
// CHECK: %x = uir.load %m : (!uir.mem<4xf32>) -> tensor<4xf32>
%x = uir.load %m : (!uir.mem<4xf32>) -> tensor<4xf32>
// CHECK: %y = uir.add %x, %x : tensor<4xf32>
%y = uir.add %x, %x : tensor<4xf32>
// CHECK: %c = uir.cmplt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
%c = uir.cmplt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK: %r = uir.reduce %y {kind = "max"} : (tensor<4xf32>) -> tensor<f32>
%r = uir.reduce %y {kind = "max"} : (tensor<4xf32>) -> tensor<f32>

// Literals keep their bits: of zeros the sign, and of NaNs there is one.
// CHECK: uir.constant "-0.0" : tensor<f32>
%0 = uir.constant "-0.0" : tensor<f32>
// CHECK: uir.constant "nan" : tensor<f32>
%1 = uir.constant "nan" : tensor<f32>
// CHECK: uir.constant "-inf" : tensor<f32>
%2 = uir.constant "-inf" : tensor<f32>
// CHECK: uir.constant "1e-45" : tensor<f32>
%3 = uir.constant "1e-45" : tensor<f32>
// CHECK: uir.constant "-2147483648" : tensor<i32>
%4 = uir.constant "-2147483648" : tensor<i32>
// CHECK: uir.constant "true" : tensor<i1>
%5 = uir.constant "true" : tensor<i1>

// CHECK: data = #uir.elements<"f32 nan -0.0 1.5">
%d = uir.buffer {slot = 1 : i64, data = #uir.elements<"f32 nan -0.0 1.5">} : !uir.mem<3xf32>

// CHECK: uir.permute %v {order = array<i64: 1, 0>}
%v = uir.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
%p = uir.permute %v {order = array<i64: 1, 0>} : tensor<2x2xf32>

// Effects, and what waits for them.
// CHECK: %s = uir.store %m, %y : (!uir.mem<4xf32>, tensor<4xf32>) -> !uir.effect
%s = uir.store %m, %y : (!uir.mem<4xf32>, tensor<4xf32>) -> !uir.effect
// CHECK: %g = uir.group %s : !uir.effect
%g = uir.group %s : !uir.effect
// CHECK: %a = uir.after %m, %g : (!uir.mem<4xf32>, !uir.effect) -> !uir.mem<4xf32>
%a = uir.after %m, %g : (!uir.mem<4xf32>, !uir.effect) -> !uir.mem<4xf32>

// CHECK: uir.result %r : tensor<f32>
uir.result %r : tensor<f32>
