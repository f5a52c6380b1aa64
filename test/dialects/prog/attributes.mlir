// RUN: uir-opt %s | uir-opt - | filecheck %s

// Constants keep their bits: shortest decimals, and hexadecimal where there is none.
// CHECK:      floats = #prog.program<() {v0 = const -0.0 : f32, v1 = const 0.1 : f32, v2 = const 1.0e-45 : f32, v3 = const 3.4028235e+38 : f32, v4 = const bits 0x7F800000 : f32, v5 = const bits 0xFFC12345 : f32} -> (v0)>
// CHECK-SAME: integers = #prog.program<() {v0 = const -2147483648 : i32, v1 = const 9223372036854775807 : i64, v2 = const true : i1, v3 = const bits 0x02 : i1} -> (v3, v0)>
builtin.module attributes {
  floats = #prog.program<() {v0 = const -0.0 : f32, v1 = const 0.1000000015 : f32, v2 = const 1.4e-45 : f32, v3 = const 3.4028235e+38 : f32, v4 = const bits 0x7F800000 : f32, v5 = const bits 0xffc12345 : f32} -> (v0)>,
  integers = #prog.program<() {v0 = const -2147483648 : i32, v1 = const 9223372036854775807 : i64, v2 = const true : i1, v3 = const bits 0x02 : i1} -> (v3, v0)>
} {}

// The kinds of integers.
// CHECK: kinds = #prog.program<(i32) {v0 = in 0, v1 = coord 1, v2 = copy v0 : i32, v3 = bitcast v0 : f32, v4 = recip v3 : f32, v5 = add v0 v2, v6 = mul v0 v2, v7 = idiv v0 v2, v8 = mod v0 v2, v9 = maximum v0 v2, v10 = minimum v0 v2, v11 = and v0 v2, v12 = or v0 v2, v13 = xor v0 v2, v14 = equal v0 v2, v15 = less v0 v2, v16 = where v15 v1 v1} -> (v16)>
builtin.module attributes {
  kinds = #prog.program<(i32) {v0 = in 0, v1 = coord 1, v2 = copy v0 : i32, v3 = bitcast v0 : f32, v4 = recip v3 : f32, v5 = add v0 v2, v6 = mul v0 v2, v7 = idiv v0 v2, v8 = mod v0 v2, v9 = maximum v0 v2, v10 = minimum v0 v2, v11 = and v0 v2, v12 = or v0 v2, v13 = xor v0 v2, v14 = equal v0 v2, v15 = less v0 v2, v16 = where v15 v1 v1} -> (v16)>
} {}

// The kinds of floats, and of complex numbers and counters.
// CHECK:      complex = #prog.program<(c128, ui64) {v0 = in 0, v1 = in 1, v2 = asinh v0 : c128, v3 = acosh v2 : c128, v4 = atanh v3 : c128, v5 = threefry v1 v1} -> (v4, v5)>
// CHECK-SAME: floats = #prog.program<(f64) {v0 = in 0, v1 = neg v0 : f64, v2 = recip v0 : f64, v3 = abs v0 : f64, v4 = sign v0 : f64, v5 = sqrt v0 : f64, v6 = exp v0 : f64, v7 = exp2 v0 : f64, v8 = log v0 : f64, v9 = log2 v0 : f64, v10 = log1p v0 : f64, v11 = expm1 v0 : f64, v12 = sin v0 : f64, v13 = cos v0 : f64, v14 = tan v0 : f64, v15 = asin v0 : f64, v16 = acos v0 : f64, v17 = atan v0 : f64, v18 = sinh v0 : f64, v19 = cosh v0 : f64, v20 = tanh v0 : f64, v21 = erf v0 : f64, v22 = floor v0 : f64, v23 = ceil v0 : f64, v24 = round v0 : f64, v25 = trunc v0 : f64, v26 = add v0 v0, v27 = sub v0 v0, v28 = mul v0 v0, v29 = fdiv v0 v0, v30 = mod v0 v0, v31 = pow v0 v0, v32 = atan2 v0 v0, v33 = maximum v0 v0, v34 = minimum v0 v0, v35 = equal v0 v0, v36 = not_equal v0 v0, v37 = less v0 v0, v38 = less_equal v0 v0, v39 = fma v0 v0 v0} -> (v39)>
builtin.module attributes {
  complex = #prog.program<(c128, ui64) {v0 = in 0, v1 = in 1, v2 = asinh v0 : c128, v3 = acosh v2 : c128, v4 = atanh v3 : c128, v5 = threefry v1 v1} -> (v4, v5)>,
  floats = #prog.program<(f64) {v0 = in 0, v1 = neg v0 : f64, v2 = recip v0 : f64, v3 = abs v0 : f64, v4 = sign v0 : f64, v5 = sqrt v0 : f64, v6 = exp v0 : f64, v7 = exp2 v0 : f64, v8 = log v0 : f64, v9 = log2 v0 : f64, v10 = log1p v0 : f64, v11 = expm1 v0 : f64, v12 = sin v0 : f64, v13 = cos v0 : f64, v14 = tan v0 : f64, v15 = asin v0 : f64, v16 = acos v0 : f64, v17 = atan v0 : f64, v18 = sinh v0 : f64, v19 = cosh v0 : f64, v20 = tanh v0 : f64, v21 = erf v0 : f64, v22 = floor v0 : f64, v23 = ceil v0 : f64, v24 = round v0 : f64, v25 = trunc v0 : f64, v26 = add v0 v0, v27 = sub v0 v0, v28 = mul v0 v0, v29 = fdiv v0 v0, v30 = mod v0 v0, v31 = pow v0 v0, v32 = atan2 v0 v0, v33 = maximum v0 v0, v34 = minimum v0 v0, v35 = equal v0 v0, v36 = not_equal v0 v0, v37 = less v0 v0, v38 = less_equal v0 v0, v39 = fma v0 v0 v0} -> (v39)>
} {}

// Every dtype has its name, and constants of each.
// CHECK:      constants = #prog.program<() {v0 = const 0.1 : f64, v1 = const 0.1 : bf16, v2 = const -4.5e+02 : f8E4M3FN, v3 = const bits 0x7C : f8E5M2, v4 = const -0.0 : f4E2M1FN, v5 = const 18446744073709551615 : ui64, v6 = const -8 : i4, v7 = const 15 : ui4, v8 = const true : bit, v9 = const bits 0x3F80000080000000 : c64} -> (v0)>
// CHECK-SAME: names = #prog.program<(f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f4E2M1FN, i64, ui64, i32, ui32, i16, ui16, i8, ui8, i4, ui4, c128, c64, i1, bit) {v0 = in 20, v1 = cast v0 : f8E4M3FN, v2 = cast v1 : c128} -> (v2)>
builtin.module attributes {
  constants = #prog.program<() {v0 = const 0.1 : f64, v1 = const 0.1 : bf16, v2 = const -448.0 : f8E4M3FN, v3 = const bits 0x7C : f8E5M2, v4 = const -0.0 : f4E2M1FN, v5 = const 18446744073709551615 : ui64, v6 = const -8 : i4, v7 = const 15 : ui4, v8 = const true : bit, v9 = const bits 0x3F80000080000000 : c64} -> (v0)>,
  names = #prog.program<(f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f4E2M1FN, i64, ui64, i32, ui32, i16, ui16, i8, ui8, i4, ui4, c128, c64, i1, bit) {v0 = in 20, v1 = cast v0 : f8E4M3FN, v2 = cast v1 : c128} -> (v2)>
} {}
