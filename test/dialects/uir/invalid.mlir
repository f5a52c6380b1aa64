// RUN: uir-opt %s --split-input-file --verify-diagnostics | filecheck %s

// The verifier has the rules of the text.
// CHECK: 'uir.add' operands have different shapes: [2] and [3]
%a = "uir.param"() {index = 0 : i64} : () -> tensor<2xf32>
%b = "uir.param"() {index = 1 : i64} : () -> tensor<3xf32>
%c = uir.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>

// -----

// CHECK: 'uir.cmplt' gives tensor<i1>, but its result is tensor<f32>
%a = uir.constant "1.0" : tensor<f32>
%b = uir.cmplt %a, %a : tensor<f32>

// -----

// CHECK: 'uir.recip' operand 1 is i32, but f32 is needed
%a = uir.constant "1" : tensor<i32>
%b = uir.recip %a : tensor<i32>

// -----

// CHECK: `1` is a literal of type tensor<i32>
%a = uir.constant "1" : tensor<f32>

// -----

// CHECK: expected an f32 literal, found the i32 `1`
%m = uir.buffer {slot = 0 : i64, data = #uir.elements<"f32 1">} : !uir.mem<1xf32>

// -----

// CHECK: 'uir.reduce' `op` is add, mul or max, found `min`
%a = "uir.param"() {index = 0 : i64} : () -> tensor<2xf32>
%b = uir.reduce %a {kind = "min"} : (tensor<2xf32>) -> tensor<f32>

// -----

// CHECK: 'uir.store' `store` of
%m = uir.buffer {slot = 0 : i64} : !uir.mem<1xf32>
%a = uir.constant "1.0" : tensor<f32>
%s = uir.store %m, %a : (!uir.mem<1xf32>, tensor<f32>) -> !uir.effect

// -----

// Rules that span statements hold as well.
// CHECK: 'uir.buffer' slot 0 already has a buffer
%m = uir.buffer {slot = 0 : i64} : !uir.mem<1xf32>
%n = uir.buffer {slot = 0 : i64} : !uir.mem<1xf32>

// -----

// CHECK: 'uir.call' the body takes 1 argument
%p = "uir.param"() {index = 0 : i64} : () -> tensor<f32>
%r = uir.call %p : tensor<f32>

// -----

// CHECK: 'uir.result' the program's result depends on `param 0`
%p = "uir.param"() {index = 0 : i64} : () -> tensor<f32>
uir.result %p : tensor<f32>

// -----

// CHECK: 'uir.recip' uses a value that is not defined before it
%b = uir.recip %a : tensor<f32>
%a = uir.constant "1.0" : tensor<f32>
