// RUN: uir-opt %s | uir-opt - | filecheck %s
// RUN: uir-opt %s --print-op-generic | uir-opt - | filecheck %s

// A normal number from two uniform ones, by Box and Muller.
// CHECK-LABEL: prog.program @box_muller(%u1: f32, %u2: f32) {
// CHECK-NEXT:    %0 = prog.const -2.0 : f32
// CHECK-NEXT:    %1 = prog.apply log %u1 : f32
// CHECK-NEXT:    %2 = prog.apply mul %0, %1 : f32
// CHECK-NEXT:    %3 = prog.apply sqrt %2 : f32
// CHECK-NEXT:    %4 = prog.const 6.2831855 : f32
// CHECK-NEXT:    %5 = prog.apply mul %4, %u2 : f32
// CHECK-NEXT:    %6 = prog.apply cos %5 : f32
// CHECK-NEXT:    %7 = prog.apply mul %3, %6 : f32
// CHECK-NEXT:    prog.yield %7 : f32
// CHECK-NEXT:  }
prog.program @box_muller(%u1: f32, %u2: f32) {
  %0 = prog.const -2.0 : f32
  %1 = prog.apply log %u1 : f32
  %2 = prog.apply mul %0, %1 : f32
  %3 = prog.apply sqrt %2 : f32
  %4 = prog.const 6.2831855 : f32
  %5 = prog.apply mul %4, %u2 : f32
  %6 = prog.apply cos %5 : f32
  %7 = prog.apply mul %3, %6 : f32
  prog.yield %7 : f32
}

// Where operands and result are of several types, all are stated.
// CHECK-LABEL: prog.program @types(%x: f8E5M2, %y: ui4)
// CHECK:         prog.apply cast %x : (f8E5M2) -> ui4
// CHECK:         prog.apply less %{{.*}}, %y : (ui4, ui4) -> i1
// CHECK:         prog.apply where %{{.*}}, %x, %x : (i1, f8E5M2, f8E5M2) -> f8E5M2
// CHECK:         prog.yield %{{.*}}, %y : f8E5M2, ui4
prog.program @types(%x: f8E5M2, %y: ui4) {
  %0 = prog.apply cast %x : (f8E5M2) -> ui4
  %1 = prog.apply less %0, %y : (ui4, ui4) -> i1
  %2 = prog.apply where %1, %x, %x : (i1, f8E5M2, f8E5M2) -> f8E5M2
  prog.yield %2, %y : f8E5M2, ui4
}

// Leaves: an operand's element as an op of its own, a coordinate, and constants by their bits.
// CHECK-LABEL: prog.program @leaves(%x: complex<f64>)
// CHECK-NEXT:    prog.in %x : complex<f64>
// CHECK-NEXT:    prog.coord 1 : i64
// CHECK-NEXT:    prog.const bits 0x7FF0000000000123 : f64
// CHECK-NEXT:    prog.const bits 0x3F80000080000000 : complex<f32>
// CHECK-NEXT:    prog.const true : ui1
prog.program @leaves(%x: complex<f64>) {
  %0 = prog.in %x : complex<f64>
  %1 = prog.coord 1 : i64
  %2 = prog.const bits 0x7ff0000000000123 : f64
  %3 = prog.const bits 0x3F80000080000000 : complex<f32>
  %4 = prog.const true : ui1
  prog.yield %0 : complex<f64>
}
