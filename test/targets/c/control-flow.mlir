// RUN: uir-opt %s -t c | filecheck %s

// A carried value is a variable; a bound is evaluated once.
// CHECK-LABEL: static void sum(
// CHECK-NEXT:    const int64_t v0 = n * 2;
// CHECK-NEXT:    float acc = 0.0f;
// CHECK-NEXT:    for (int64_t k = 0; k < v0; k += 1) {
// CHECK-NEXT:      const float a = x[k];
// CHECK-NEXT:      acc = acc + a;
// CHECK-NEXT:    }
// CHECK-NEXT:    y[0] = acc;
func.func private @sum(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %0 = arith.muli %n, %c2 : index
  %total = scf.for %k = %c0 to %0 step %c1 iter_args(%acc = %zero) -> (f32) {
    %a = memref.load %x[%k] : memref<?xf32>
    %next = arith.addf %acc, %a : f32
    scf.yield %next : f32
  }
  memref.store %total, %y[%c0] : memref<?xf32>
  func.return
}

// A loop goes on with the variable of the loop around it, unless that needs its value again.
// CHECK-LABEL: static void table(
// CHECK-NEXT:    float acc = 0.0f;
// CHECK-NEXT:    float last = 0.0f;
// CHECK-NEXT:    for (int64_t i = 0; i < n; i += 1) {
// CHECK-NEXT:      float start = last;
// CHECK-NEXT:      for (int64_t k = 0; k < 4; k += 1) {
// CHECK-NEXT:        const float a = x[k];
// CHECK-NEXT:        acc = acc + a;
// CHECK-NEXT:        start = start * a;
// CHECK-NEXT:      }
// CHECK-NEXT:      last = start + last;
// CHECK-NEXT:    }
// CHECK-NEXT:    y[0] = acc;
func.func private @table(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %sum, %end = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %last = %zero) -> (f32, f32) {
    %row, %product = scf.for %k = %c0 to %c4 step %c1 iter_args(%inner = %acc, %start = %last) -> (f32, f32) {
      %a = memref.load %x[%k] : memref<?xf32>
      %next = arith.addf %inner, %a : f32
      %times = arith.mulf %start, %a : f32
      scf.yield %next, %times : f32, f32
    }
    %new = arith.addf %product, %last : f32
    scf.yield %row, %new : f32, f32
  }
  memref.store %sum, %y[%c0] : memref<?xf32>
  memref.store %end, %y[%c1] : memref<?xf32>
  func.return
}

// All carried values change at once.
// CHECK-LABEL: static void fibonacci(
// CHECK:           const int32_t v1 = add_i32(a, b);
// CHECK-NEXT:      a = b;
// CHECK-NEXT:      b = v1;
func.func private @fibonacci(%y: memref<?xi32>, %n: index, %p: i32, %q: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %0 = %c0 to %n step %c1 iter_args(%a = %p, %b = %q) -> (i32, i32) {
    %next = arith.addi %a, %b : i32
    scf.yield %b, %next : i32, i32
  }
  memref.store %r, %y[%c0] : memref<?xi32>
  memref.store %s, %y[%c1] : memref<?xi32>
  func.return
}

// CHECK-LABEL: static void padded(
// CHECK-NEXT:    float value;
// CHECK-NEXT:    if ((0 <= i) & (i < 10)) {
// CHECK-NEXT:      const float a = x[i];
// CHECK-NEXT:      value = a;
// CHECK-NEXT:    } else {
// CHECK-NEXT:      value = 0.0f;
// CHECK-NEXT:    }
// CHECK-NEXT:    y[0] = value;
func.func private @padded(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpi sle, %c0, %i : index
  %1 = arith.cmpi slt, %i, %c10 : index
  %2 = arith.andi %0, %1 : i1
  %value = scf.if %2 -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    scf.yield %a : f32
  } else {
    scf.yield %zero : f32
  }
  memref.store %value, %y[%c0] : memref<?xf32>
  func.return
}

// CHECK-LABEL: static void without_else(
// CHECK-NEXT:    if (c) {
// CHECK-NEXT:      y[0] = x;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
func.func private @without_else(%y: memref<?xf32>, %x: f32, %c: i1) {
  %c0 = arith.constant 0 : index
  scf.if %c {
    memref.store %x, %y[%c0] : memref<?xf32>
  }
  func.return
}
