// RUN: uir-opt %s -t c | filecheck %s

// i32 wraps, through unsigned; an index does not need to.
// CHECK-LABEL: static void wrap(
// CHECK-NEXT:    m[i * 3 + 1] = mul_i32(add_i32(n, 3), -5);
func.func private @wrap(%m: memref<?xi32>, %i: index, %n: i32) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %three = arith.constant 3 : i32
  %minus_five = arith.constant -5 : i32
  %0 = arith.addi %n, %three : i32
  %1 = arith.muli %0, %minus_five : i32
  %2 = arith.muli %i, %c3 : index
  %3 = arith.addi %2, %c1 : index
  memref.store %1, %m[%3] : memref<?xi32>
  func.return
}

// A float is selected by masks and its bits are read through memcpy: no `?:`, no union.
// CHECK-LABEL: static void floats(
// CHECK-NEXT:    const float a = select_f32(x < y, max_f32(x, y), y);
// CHECK-NEXT:    m[i] = bits_f32((uint32_t)((int32_t)f32_bits(a) ^ 1));
// CHECK-NEXT:    m[i] = bits_f32(f32_bits(a));
func.func private @floats(%m: memref<?xf32>, %i: index, %x: f32, %y: f32) {
  %one = arith.constant 1 : i32
  %0 = arith.cmpf olt, %x, %y : f32
  %1 = arith.maximumf %x, %y : f32
  %a = arith.select %0, %1, %y : f32
  %2 = arith.bitcast %a : f32 to i32
  %3 = arith.xori %2, %one : i32
  %4 = arith.bitcast %3 : i32 to f32
  memref.store %4, %m[%i] : memref<?xf32>
  %5 = arith.bitcast %a : f32 to i32
  %6 = arith.bitcast %5 : i32 to f32
  memref.store %6, %m[%i] : memref<?xf32>
  func.return
}

// CHECK-LABEL: static void integers(
// CHECK-NEXT:    m[0] = select_i32(i < n, -3, (int32_t)i % 28);
// CHECK-NEXT:    m[1] = floordiv_i32(k, 28) | (int32_t)(x < 0.0f);
func.func private @integers(%m: memref<?xi32>, %i: index, %n: index, %k: i32, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant -3 : i32
  %b = arith.constant 28 : i32
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpi slt, %i, %n : index
  %1 = arith.index_cast %i : index to i32
  %2 = arith.remsi %1, %b : i32
  %3 = arith.select %0, %a, %2 : i32
  memref.store %3, %m[%c0] : memref<?xi32>
  %4 = arith.floordivsi %k, %b : i32
  %5 = arith.cmpf olt, %x, %zero : f32
  %6 = arith.extui %5 : i1 to i32
  %7 = arith.ori %4, %6 : i32
  memref.store %7, %m[%c1] : memref<?xi32>
  func.return
}

// A comparison that holds for NaN is the negation of its opposite.
// CHECK-LABEL: static void comparisons(
// CHECK-NEXT:    m[0] = (x == y) & (!(x <= y)) & isunordered(x, y);
// CHECK-NEXT:    m[1] = (uint32_t)n < 7u;
func.func private @comparisons(%m: memref<?xi1>, %x: f32, %y: f32, %n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %0 = arith.cmpf oeq, %x, %y : f32
  %1 = arith.cmpf ugt, %x, %y : f32
  %2 = arith.cmpf uno, %x, %y : f32
  %3 = arith.andi %0, %1 : i1
  %4 = arith.andi %3, %2 : i1
  memref.store %4, %m[%c0] : memref<?xi1>
  %5 = arith.cmpi ult, %n, %seven : i32
  memref.store %5, %m[%c1] : memref<?xi1>
  func.return
}

// Used once, a value stands where it is used; else, and past six ops, it has a name. What nothing
// uses is not there.
// CHECK-LABEL: static void names(
// CHECK-NEXT:    const float twice = x + x;
// CHECK-NEXT:    const float v0 = twice * twice + x + x + x + x + x + x;
// CHECK-NEXT:    m[i] = v0;
func.func private @names(%m: memref<?xf32>, %i: index, %x: f32) {
  %twice = arith.addf %x, %x : f32
  %unused = arith.mulf %twice, %x : f32
  %0 = arith.mulf %twice, %twice : f32
  %1 = arith.addf %0, %x : f32
  %2 = arith.addf %1, %x : f32
  %3 = arith.addf %2, %x : f32
  %4 = arith.addf %3, %x : f32
  %5 = arith.addf %4, %x : f32
  %6 = arith.addf %5, %x : f32
  memref.store %6, %m[%i] : memref<?xf32>
  func.return
}

// CHECK-LABEL: static void literals(
// CHECK-NEXT:    m[0] = 0x1.8p+1f; // 3
// CHECK-NEXT:    m[1] = x * -0x1.99999ap-4f + 0x1p-149f; // -0.1, 1e-45
// CHECK-NEXT:    m[2] = -0.0f;
// CHECK-NEXT:    m[3] = -INFINITY;
// CHECK-NEXT:    m[4] = NAN;
func.func private @literals(%m: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %three = arith.constant 3.0 : f32
  %tenth = arith.constant -0.1 : f32
  %least = arith.constant 1.4e-45 : f32
  %zero = arith.constant -0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  memref.store %three, %m[%c0] : memref<?xf32>
  %0 = arith.mulf %x, %tenth : f32
  %1 = arith.addf %0, %least : f32
  memref.store %1, %m[%c1] : memref<?xf32>
  memref.store %zero, %m[%c2] : memref<?xf32>
  memref.store %inf, %m[%c3] : memref<?xf32>
  memref.store %nan, %m[%c4] : memref<?xf32>
  func.return
}
