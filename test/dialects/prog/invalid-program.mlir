// RUN: uir-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: operand 1: no dtype has the type index
prog.program @p(%x: f32, %y: index) {
  prog.yield %x : f32
}

// -----

// CHECK: node 1: `sin` does not take f32 to f64
prog.program @p(%x: f32) {
  %0 = prog.apply sin %x : (f32) -> f64
  prog.yield %0 : f64
}

// -----

// CHECK: node 2: `add` takes operands of one dtype, found f32 and f64
prog.program @p(%x: f32, %y: f64) {
  %0 = prog.apply add %x, %y : (f32, f64) -> f32
  prog.yield %0 : f32
}

// -----

// CHECK: node 1: `fma` does not take 2 operands
prog.program @p(%x: f32) {
  %0 = prog.apply fma %x, %x : f32
  prog.yield %0 : f32
}

// -----

// CHECK: node 1: expected a result of i1, found f32
prog.program @p(%x: f32) {
  %0 = prog.apply less %x, %x : f32
  prog.yield %0 : f32
}

// -----

// CHECK: node 0: expected a result of f32, found f64
"prog.program"() <{sym_name = "p"}> ({
  %0 = "prog.const"() <{value = #prog.const<1.0 : f32>}> : () -> f64
  "prog.yield"(%0) : (f64) -> ()
}) : () -> ()

// -----

// CHECK: node 1: refers to node 2, which is not an earlier one
prog.program @p(%x: f32) {
  %0 = prog.apply add %x, %1 : f32
  %1 = prog.apply add %x, %0 : f32
  prog.yield %1 : f32
}

// -----

// CHECK: node 0: axis 32 is not between 0 and 31
prog.program @p() {
  %0 = prog.coord 32 : i64
  prog.yield %0 : i64
}

// -----

// CHECK: node 0: bits 0x12 are no element of i4
prog.program @p() {
  %0 = prog.const bits 0x12 : i4
  prog.yield %0 : i4
}

// -----

// CHECK: node 1: `prog.in` reads no operand of the program
prog.program @p(%x: f32) {
  %0 = prog.in %x : f32
  %1 = prog.in %0 : f32
  prog.yield %1 : f32
}

// -----

// CHECK: node 1: `arith.addf` is no node of a program
prog.program @p(%x: f32) {
  %0 = arith.addf %x, %x : f32
  prog.yield %0 : f32
}

// -----

// CHECK: outs: a program has at least one output
prog.program @p(%x: f32) {
  prog.yield
}

// -----

// CHECK: outs: a program ends with `prog.yield`
prog.program @p(%x: f32) {
}

// -----

// CHECK: 'prog.coord' expects parent op 'prog.program'
%0 = prog.coord 0 : i64

// -----

// CHECK: unknown kind `sine`
prog.program @p(%x: f32) {
  %0 = prog.apply sine %x : f32
  prog.yield %0 : f32
}
