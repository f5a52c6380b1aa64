// RUN: uir-opt %s | uir-opt - | filecheck %s

// Constants keep their bits: shortest decimals, and hexadecimal where there is none.
// CHECK:      floats = #prog.program<() {v0 = const -0.0 : f32, v1 = const 0.1 : f32, v2 = const 1.0e-45 : f32, v3 = const 3.4028235e+38 : f32, v4 = const bits 0x7F800000 : f32, v5 = const bits 0xFFC12345 : f32} -> (v0)>
// CHECK-SAME: integers = #prog.program<() {v0 = const -2147483648 : i32, v1 = const 9223372036854775807 : i64, v2 = const true : i1, v3 = const bits 0x02 : i1} -> (v3, v0)>
builtin.module attributes {
  floats = #prog.program<() {v0 = const -0.0 : f32, v1 = const 0.1000000015 : f32, v2 = const 1.4e-45 : f32, v3 = const 3.4028235e+38 : f32, v4 = const bits 0x7F800000 : f32, v5 = const bits 0xffc12345 : f32} -> (v0)>,
  integers = #prog.program<() {v0 = const -2147483648 : i32, v1 = const 9223372036854775807 : i64, v2 = const true : i1, v3 = const bits 0x02 : i1} -> (v3, v0)>
} {}

// Every kind has its name.
// CHECK: kinds = #prog.program<(i32) {v0 = in 0, v1 = coord 1, v2 = copy v0 : i32, v3 = bitcast v0 : f32, v4 = recip v3 : f32, v5 = add v0 v2, v6 = mul v0 v2, v7 = idiv v0 v2, v8 = mod v0 v2, v9 = maximum v0 v2, v10 = minimum v0 v2, v11 = and v0 v2, v12 = or v0 v2, v13 = xor v0 v2, v14 = equal v0 v2, v15 = less v0 v2, v16 = where v15 v1 v1} -> (v16)>
builtin.module attributes {
  kinds = #prog.program<(i32) {v0 = in 0, v1 = coord 1, v2 = copy v0 : i32, v3 = bitcast v0 : f32, v4 = recip v3 : f32, v5 = add v0 v2, v6 = mul v0 v2, v7 = idiv v0 v2, v8 = mod v0 v2, v9 = maximum v0 v2, v10 = minimum v0 v2, v11 = and v0 v2, v12 = or v0 v2, v13 = xor v0 v2, v14 = equal v0 v2, v15 = less v0 v2, v16 = where v15 v1 v1} -> (v16)>
} {}
