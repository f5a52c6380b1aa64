// nx_kinds.h: what the kinds of scalar programs compute, one function per kind and compute type.
// Made by `python -m dialects.prog.c_library` from the templates in `c/`.
//
// nx_exp_f32 is the kind Exp of float32. The types are f32 f64 i32 u32 i64 u64 c64 c128; the floats
// narrower than float32 (f16 bf16 f8e4m3fn f8e5m2 f4e2m1fn) are codes that convert to and from f32
// and f64. Link with -lm.
//
// Products and sums are not fused here, whatever the including file asks for, but in clang with
// -ffp-contract=fast, which overrules the pragma. gcc inlines the functions into code that is not
// to be fused either: compile with -ffp-contract=off or -std=c11.

#ifndef NX_KINDS_H
#define NX_KINDS_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "nx_kinds.h needs exact floating point: compile it without -ffast-math and its parts"
#endif
// 16 is 0 with half floats: either way, float arithmetic has the precision of float.
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "nx_kinds.h needs float arithmetic without excess precision (FLT_EVAL_METHOD 0 or 16)"
#endif
#if defined(__clang__)
#pragma float_control(push)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off,trapping-math")
#endif

// The bits of elements.

typedef struct { float re, im; } nx_c64;

typedef struct { double re, im; } nx_c128;

static inline uint32_t nx_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t nx_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float nx_of_bits_f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double nx_of_bits_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t nx_bits_c64(nx_c64 x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline nx_c64 nx_of_bits_c64(uint64_t bits) {
  nx_c64 x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// Integers: 32 and 64 bits wide, wrapping.

static inline int32_t nx_neg_i32(int32_t x) { return (int32_t)(0 - (uint32_t)x); }

static inline uint32_t nx_neg_u32(uint32_t x) { return (uint32_t)(0 - (uint32_t)x); }

static inline int64_t nx_neg_i64(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

static inline uint64_t nx_neg_u64(uint64_t x) { return (uint64_t)(0 - (uint64_t)x); }

static inline int32_t nx_recip_i32(int32_t x) { return x == 1 || x == -1 ? x : 0; }

static inline int64_t nx_recip_i64(int64_t x) { return x == 1 || x == -1 ? x : 0; }

static inline uint32_t nx_recip_u32(uint32_t x) { return x == 1; }

static inline uint64_t nx_recip_u64(uint64_t x) { return x == 1; }

static inline int32_t nx_abs_i32(int32_t x) { return x < 0 ? nx_neg_i32(x) : x; }

static inline int64_t nx_abs_i64(int64_t x) { return x < 0 ? nx_neg_i64(x) : x; }

static inline uint32_t nx_abs_u32(uint32_t x) { return x; }

static inline uint64_t nx_abs_u64(uint64_t x) { return x; }

static inline int32_t nx_sign_i32(int32_t x) { return (x > 0) - (x < 0); }

static inline int64_t nx_sign_i64(int64_t x) { return (x > 0) - (x < 0); }

static inline uint32_t nx_sign_u32(uint32_t x) { return x != 0; }

static inline uint64_t nx_sign_u64(uint64_t x) { return x != 0; }

static inline int32_t nx_floor_i32(int32_t x) { return x; }

static inline uint32_t nx_floor_u32(uint32_t x) { return x; }

static inline int64_t nx_floor_i64(int64_t x) { return x; }

static inline uint64_t nx_floor_u64(uint64_t x) { return x; }

static inline int32_t nx_ceil_i32(int32_t x) { return x; }

static inline uint32_t nx_ceil_u32(uint32_t x) { return x; }

static inline int64_t nx_ceil_i64(int64_t x) { return x; }

static inline uint64_t nx_ceil_u64(uint64_t x) { return x; }

static inline int32_t nx_round_i32(int32_t x) { return x; }

static inline uint32_t nx_round_u32(uint32_t x) { return x; }

static inline int64_t nx_round_i64(int64_t x) { return x; }

static inline uint64_t nx_round_u64(uint64_t x) { return x; }

static inline int32_t nx_trunc_i32(int32_t x) { return x; }

static inline uint32_t nx_trunc_u32(uint32_t x) { return x; }

static inline int64_t nx_trunc_i64(int64_t x) { return x; }

static inline uint64_t nx_trunc_u64(uint64_t x) { return x; }

// gcc 12 takes two sums in one loop for each other if there are conversions in them, as there are
// below. It can't follow a sum through this.
static inline uint32_t nx_unfollowed_i32(uint32_t x) {
#if defined(__GNUC__) && __GNUC__ == 12
  __asm__("" : "+r"(x));
#endif
  return x;
}

// gcc 12 takes two sums in one loop for each other if there are conversions in them, as there are
// below. It can't follow a sum through this.
static inline uint32_t nx_unfollowed_u32(uint32_t x) {
#if defined(__GNUC__) && __GNUC__ == 12
  __asm__("" : "+r"(x));
#endif
  return x;
}

// gcc 12 takes two sums in one loop for each other if there are conversions in them, as there are
// below. It can't follow a sum through this.
static inline uint64_t nx_unfollowed_i64(uint64_t x) {
#if defined(__GNUC__) && __GNUC__ == 12
  __asm__("" : "+r"(x));
#endif
  return x;
}

// gcc 12 takes two sums in one loop for each other if there are conversions in them, as there are
// below. It can't follow a sum through this.
static inline uint64_t nx_unfollowed_u64(uint64_t x) {
#if defined(__GNUC__) && __GNUC__ == 12
  __asm__("" : "+r"(x));
#endif
  return x;
}

static inline int32_t nx_add_i32(int32_t x, int32_t y) { return (int32_t)nx_unfollowed_i32((uint32_t)x + (uint32_t)y); }

static inline uint32_t nx_add_u32(uint32_t x, uint32_t y) { return (uint32_t)nx_unfollowed_u32((uint32_t)x + (uint32_t)y); }

static inline int64_t nx_add_i64(int64_t x, int64_t y) { return (int64_t)nx_unfollowed_i64((uint64_t)x + (uint64_t)y); }

static inline uint64_t nx_add_u64(uint64_t x, uint64_t y) { return (uint64_t)nx_unfollowed_u64((uint64_t)x + (uint64_t)y); }

static inline int32_t nx_sub_i32(int32_t x, int32_t y) { return (int32_t)nx_unfollowed_i32((uint32_t)x - (uint32_t)y); }

static inline uint32_t nx_sub_u32(uint32_t x, uint32_t y) { return (uint32_t)nx_unfollowed_u32((uint32_t)x - (uint32_t)y); }

static inline int64_t nx_sub_i64(int64_t x, int64_t y) { return (int64_t)nx_unfollowed_i64((uint64_t)x - (uint64_t)y); }

static inline uint64_t nx_sub_u64(uint64_t x, uint64_t y) { return (uint64_t)nx_unfollowed_u64((uint64_t)x - (uint64_t)y); }

static inline int32_t nx_mul_i32(int32_t x, int32_t y) { return (int32_t)nx_unfollowed_i32((uint32_t)x * (uint32_t)y); }

static inline uint32_t nx_mul_u32(uint32_t x, uint32_t y) { return (uint32_t)nx_unfollowed_u32((uint32_t)x * (uint32_t)y); }

static inline int64_t nx_mul_i64(int64_t x, int64_t y) { return (int64_t)nx_unfollowed_i64((uint64_t)x * (uint64_t)y); }

static inline uint64_t nx_mul_u64(uint64_t x, uint64_t y) { return (uint64_t)nx_unfollowed_u64((uint64_t)x * (uint64_t)y); }

// The least value by -1 is no quotient of C's.
static inline int32_t nx_idiv_i32(int32_t x, int32_t y) {
  return y == 0 ? 0 : y == -1 ? nx_neg_i32(x) : x / y;
}

// The least value by -1 is no quotient of C's.
static inline int64_t nx_idiv_i64(int64_t x, int64_t y) {
  return y == 0 ? 0 : y == -1 ? nx_neg_i64(x) : x / y;
}

static inline uint32_t nx_idiv_u32(uint32_t x, uint32_t y) { return y == 0 ? 0 : x / y; }

static inline uint64_t nx_idiv_u64(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }

static inline int32_t nx_mod_i32(int32_t x, int32_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; }

static inline int64_t nx_mod_i64(int64_t x, int64_t y) { return y == 0 ? x : y == -1 ? 0 : x % y; }

static inline uint32_t nx_mod_u32(uint32_t x, uint32_t y) { return y == 0 ? x : x % y; }

static inline uint64_t nx_mod_u64(uint64_t x, uint64_t y) { return y == 0 ? x : x % y; }

// By squaring.
static inline uint32_t nx_pow_u32(uint32_t x, uint32_t y) {
  uint32_t power = 1;
  for (; y != 0; y >>= 1, x *= x) power *= y & 1 ? x : 1;
  return power;
}

// By squaring.
static inline uint64_t nx_pow_u64(uint64_t x, uint64_t y) {
  uint64_t power = 1;
  for (; y != 0; y >>= 1, x *= x) power *= y & 1 ? x : 1;
  return power;
}

// A negative exponent gives the integer part of the power, and 0 for a base of 0.
static inline int32_t nx_pow_i32(int32_t x, int32_t y) {
  if (y >= 0) return (int32_t)nx_pow_u32((uint32_t)x, (uint32_t)y);
  return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
}

// A negative exponent gives the integer part of the power, and 0 for a base of 0.
static inline int64_t nx_pow_i64(int64_t x, int64_t y) {
  if (y >= 0) return (int64_t)nx_pow_u64((uint64_t)x, (uint64_t)y);
  return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
}

static inline int32_t nx_maximum_i32(int32_t x, int32_t y) { return x < y ? y : x; }

static inline uint32_t nx_maximum_u32(uint32_t x, uint32_t y) { return x < y ? y : x; }

static inline int64_t nx_maximum_i64(int64_t x, int64_t y) { return x < y ? y : x; }

static inline uint64_t nx_maximum_u64(uint64_t x, uint64_t y) { return x < y ? y : x; }

static inline int32_t nx_minimum_i32(int32_t x, int32_t y) { return y < x ? y : x; }

static inline uint32_t nx_minimum_u32(uint32_t x, uint32_t y) { return y < x ? y : x; }

static inline int64_t nx_minimum_i64(int64_t x, int64_t y) { return y < x ? y : x; }

static inline uint64_t nx_minimum_u64(uint64_t x, uint64_t y) { return y < x ? y : x; }

static inline int32_t nx_and_i32(int32_t x, int32_t y) { return x & y; }

static inline uint32_t nx_and_u32(uint32_t x, uint32_t y) { return x & y; }

static inline int64_t nx_and_i64(int64_t x, int64_t y) { return x & y; }

static inline uint64_t nx_and_u64(uint64_t x, uint64_t y) { return x & y; }

static inline int32_t nx_or_i32(int32_t x, int32_t y) { return x | y; }

static inline uint32_t nx_or_u32(uint32_t x, uint32_t y) { return x | y; }

static inline int64_t nx_or_i64(int64_t x, int64_t y) { return x | y; }

static inline uint64_t nx_or_u64(uint64_t x, uint64_t y) { return x | y; }

static inline int32_t nx_xor_i32(int32_t x, int32_t y) { return x ^ y; }

static inline uint32_t nx_xor_u32(uint32_t x, uint32_t y) { return x ^ y; }

static inline int64_t nx_xor_i64(int64_t x, int64_t y) { return x ^ y; }

static inline uint64_t nx_xor_u64(uint64_t x, uint64_t y) { return x ^ y; }

static inline bool nx_equal_i32(int32_t x, int32_t y) { return x == y; }

static inline bool nx_equal_u32(uint32_t x, uint32_t y) { return x == y; }

static inline bool nx_equal_i64(int64_t x, int64_t y) { return x == y; }

static inline bool nx_equal_u64(uint64_t x, uint64_t y) { return x == y; }

static inline bool nx_not_equal_i32(int32_t x, int32_t y) { return x != y; }

static inline bool nx_not_equal_u32(uint32_t x, uint32_t y) { return x != y; }

static inline bool nx_not_equal_i64(int64_t x, int64_t y) { return x != y; }

static inline bool nx_not_equal_u64(uint64_t x, uint64_t y) { return x != y; }

static inline bool nx_less_i32(int32_t x, int32_t y) { return x < y; }

static inline bool nx_less_u32(uint32_t x, uint32_t y) { return x < y; }

static inline bool nx_less_i64(int64_t x, int64_t y) { return x < y; }

static inline bool nx_less_u64(uint64_t x, uint64_t y) { return x < y; }

static inline bool nx_less_equal_i32(int32_t x, int32_t y) { return x <= y; }

static inline bool nx_less_equal_u32(uint32_t x, uint32_t y) { return x <= y; }

static inline bool nx_less_equal_i64(int64_t x, int64_t y) { return x <= y; }

static inline bool nx_less_equal_u64(uint64_t x, uint64_t y) { return x <= y; }

static inline int32_t nx_where_i32(bool c, int32_t x, int32_t y) { return c ? x : y; }

static inline uint32_t nx_where_u32(bool c, uint32_t x, uint32_t y) { return c ? x : y; }

static inline int64_t nx_where_i64(bool c, int64_t x, int64_t y) { return c ? x : y; }

static inline uint64_t nx_where_u64(bool c, uint64_t x, uint64_t y) { return c ? x : y; }

static inline int32_t nx_fma_i32(int32_t x, int32_t y, int32_t z) {
  return (int32_t)((uint32_t)x * (uint32_t)y + (uint32_t)z);
}

static inline uint32_t nx_fma_u32(uint32_t x, uint32_t y, uint32_t z) {
  return (uint32_t)((uint32_t)x * (uint32_t)y + (uint32_t)z);
}

static inline int64_t nx_fma_i64(int64_t x, int64_t y, int64_t z) {
  return (int64_t)((uint64_t)x * (uint64_t)y + (uint64_t)z);
}

static inline uint64_t nx_fma_u64(uint64_t x, uint64_t y, uint64_t z) {
  return (uint64_t)((uint64_t)x * (uint64_t)y + (uint64_t)z);
}

static inline uint32_t nx_rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy
// as 1, 2, 3"), of a counter under a key; word 0 of each is its low half.
static inline uint64_t nx_threefry_u64(uint64_t counter, uint64_t key) {
  static const int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  uint32_t keys[3] = {(uint32_t)key, (uint32_t)(key >> 32), 0};
  keys[2] = keys[0] ^ keys[1] ^ 0x1BD11BDAu;
  uint32_t x0 = (uint32_t)counter + keys[0], x1 = (uint32_t)(counter >> 32) + keys[1];
  for (uint32_t round = 1; round <= 20; round++) {
    x0 += x1;
    x1 = nx_rotate(x1, rotations[(round - 1) % 8]) ^ x0;
    if (round % 4 == 0) {
      x0 += keys[round / 4 % 3];
      x1 += keys[(round / 4 + 1) % 3] + round / 4;
    }
  }
  return (uint64_t)x1 << 32 | x0;
}

// Floats: kinds that IEEE 754 defines exactly.

static inline float nx_neg_f32(float x) { return -x; }

static inline double nx_neg_f64(double x) { return -x; }

static inline float nx_abs_f32(float x) { return fabsf(x); }

static inline double nx_abs_f64(double x) { return fabs(x); }

static inline float nx_recip_f32(float x) { return 1 / x; }

static inline double nx_recip_f64(double x) { return 1 / x; }

// A zero gives +0, and a NaN itself.
static inline float nx_sign_f32(float x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

// A zero gives +0, and a NaN itself.
static inline double nx_sign_f64(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

static inline float nx_sqrt_f32(float x) { return sqrtf(x); }

static inline double nx_sqrt_f64(double x) { return sqrt(x); }

static inline float nx_floor_f32(float x) { return floorf(x); }

static inline double nx_floor_f64(double x) { return floor(x); }

static inline float nx_ceil_f32(float x) { return ceilf(x); }

static inline double nx_ceil_f64(double x) { return ceil(x); }

// Half away from zero.
static inline float nx_round_f32(float x) { return roundf(x); }

// Half away from zero.
static inline double nx_round_f64(double x) { return round(x); }

static inline float nx_trunc_f32(float x) { return truncf(x); }

static inline double nx_trunc_f64(double x) { return trunc(x); }

static inline float nx_add_f32(float x, float y) { return x + y; }

static inline double nx_add_f64(double x, double y) { return x + y; }

static inline float nx_sub_f32(float x, float y) { return x - y; }

static inline double nx_sub_f64(double x, double y) { return x - y; }

static inline float nx_mul_f32(float x, float y) { return x * y; }

static inline double nx_mul_f64(double x, double y) { return x * y; }

static inline float nx_fdiv_f32(float x, float y) { return x / y; }

static inline double nx_fdiv_f64(double x, double y) { return x / y; }

static inline float nx_mod_f32(float x, float y) { return fmodf(x, y); }

static inline double nx_mod_f64(double x, double y) { return fmod(x, y); }

// The first NaN. Of two zeros, whose bits differ in the sign alone, the positive one.
static inline float nx_maximum_f32(float x, float y) {
  float greater = x > y ? x : y;
  uint32_t mask = x == y ? nx_bits_f32(x) : ~(uint32_t)0;
  greater = nx_of_bits_f32(nx_bits_f32(greater) & mask);
  return x != x ? x : greater;
}

// The first NaN. Of two zeros, whose bits differ in the sign alone, the positive one.
static inline double nx_maximum_f64(double x, double y) {
  double greater = x > y ? x : y;
  uint64_t mask = x == y ? nx_bits_f64(x) : ~(uint64_t)0;
  greater = nx_of_bits_f64(nx_bits_f64(greater) & mask);
  return x != x ? x : greater;
}

// The first NaN. Of two zeros the negative one.
static inline float nx_minimum_f32(float x, float y) {
  float less = x < y ? x : y;
  uint32_t mask = x == y ? nx_bits_f32(x) : 0;
  less = nx_of_bits_f32(nx_bits_f32(less) | mask);
  return x != x ? x : less;
}

// The first NaN. Of two zeros the negative one.
static inline double nx_minimum_f64(double x, double y) {
  double less = x < y ? x : y;
  uint64_t mask = x == y ? nx_bits_f64(x) : 0;
  less = nx_of_bits_f64(nx_bits_f64(less) | mask);
  return x != x ? x : less;
}

static inline bool nx_equal_f32(float x, float y) { return x == y; }

static inline bool nx_equal_f64(double x, double y) { return x == y; }

static inline bool nx_not_equal_f32(float x, float y) { return x != y; }

static inline bool nx_not_equal_f64(double x, double y) { return x != y; }

static inline bool nx_less_f32(float x, float y) { return x < y; }

static inline bool nx_less_f64(double x, double y) { return x < y; }

static inline bool nx_less_equal_f32(float x, float y) { return x <= y; }

static inline bool nx_less_equal_f64(double x, double y) { return x <= y; }

static inline float nx_where_f32(bool c, float x, float y) { return c ? x : y; }

static inline double nx_where_f64(bool c, double x, double y) { return c ? x : y; }

static inline float nx_fma_f32(float x, float y, float z) { return fmaf(x, y, z); }

static inline double nx_fma_f64(double x, double y, double z) { return fma(x, y, z); }

// Floats: kinds that are not exact.
//
// In float64, the long double function rounded once. In float32, correctly rounded: by the
// double function, or the long double one where a double cannot tell which float32 is nearer.

// Keeps a compiler from computing a function of a constant itself: its last bit may be another.
static inline long double nx_opaque(long double x) {
  volatile long double opaque = x;
  return opaque;
}

// Rounded once; x is the result of a long double function.
static inline double nx_nearest_f64(long double x) {
  _Static_assert(LDBL_MANT_DIG >= 64, "float64 kinds need a long double wider than double");
  return (double)x;
}

static inline float nx_nearest_f32(long double x) {
  _Static_assert(LDBL_MANT_DIG >= 64, "float32 kinds need a long double wider than double");
  return (float)x;
}

// Whether all numbers within 4 units in the last place of x round to one float32, or x is a NaN.
static inline bool nx_is_clear(double x) {
  return (float)(x * (1 - 0x1p-50)) == (float)(x * (1 + 0x1p-50)) || isnan(x);
}

static inline double nx_exp_f64(double x) {
  return nx_nearest_f64(expl(nx_opaque(x)));
}

static inline double nx_exp2_f64(double x) {
  return nx_nearest_f64(exp2l(nx_opaque(x)));
}

static inline double nx_log_f64(double x) {
  return nx_nearest_f64(logl(nx_opaque(x)));
}

static inline double nx_log2_f64(double x) {
  return nx_nearest_f64(log2l(nx_opaque(x)));
}

static inline double nx_log1p_f64(double x) {
  return nx_nearest_f64(log1pl(nx_opaque(x)));
}

static inline double nx_expm1_f64(double x) {
  return nx_nearest_f64(expm1l(nx_opaque(x)));
}

static inline double nx_sin_f64(double x) {
  return nx_nearest_f64(sinl(nx_opaque(x)));
}

static inline double nx_cos_f64(double x) {
  return nx_nearest_f64(cosl(nx_opaque(x)));
}

static inline double nx_tan_f64(double x) {
  return nx_nearest_f64(tanl(nx_opaque(x)));
}

static inline double nx_asin_f64(double x) {
  return nx_nearest_f64(asinl(nx_opaque(x)));
}

static inline double nx_acos_f64(double x) {
  return nx_nearest_f64(acosl(nx_opaque(x)));
}

static inline double nx_atan_f64(double x) {
  return nx_nearest_f64(atanl(nx_opaque(x)));
}

static inline double nx_sinh_f64(double x) {
  return nx_nearest_f64(sinhl(nx_opaque(x)));
}

static inline double nx_cosh_f64(double x) {
  return nx_nearest_f64(coshl(nx_opaque(x)));
}

static inline double nx_tanh_f64(double x) {
  return nx_nearest_f64(tanhl(nx_opaque(x)));
}

static inline double nx_erf_f64(double x) {
  return nx_nearest_f64(erfl(nx_opaque(x)));
}

static inline float nx_exp_f32(float x) {
  double y = exp((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(expl(nx_opaque(x)));
}

static inline float nx_exp2_f32(float x) {
  double y = exp2((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(exp2l(nx_opaque(x)));
}

static inline float nx_log_f32(float x) {
  double y = log((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(logl(nx_opaque(x)));
}

static inline float nx_log2_f32(float x) {
  double y = log2((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(log2l(nx_opaque(x)));
}

static inline float nx_log1p_f32(float x) {
  double y = log1p((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(log1pl(nx_opaque(x)));
}

static inline float nx_expm1_f32(float x) {
  double y = expm1((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(expm1l(nx_opaque(x)));
}

static inline float nx_sin_f32(float x) {
  double y = sin((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(sinl(nx_opaque(x)));
}

static inline float nx_cos_f32(float x) {
  double y = cos((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(cosl(nx_opaque(x)));
}

static inline float nx_tan_f32(float x) {
  double y = tan((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(tanl(nx_opaque(x)));
}

static inline float nx_asin_f32(float x) {
  double y = asin((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(asinl(nx_opaque(x)));
}

static inline float nx_acos_f32(float x) {
  double y = acos((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(acosl(nx_opaque(x)));
}

static inline float nx_atan_f32(float x) {
  double y = atan((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(atanl(nx_opaque(x)));
}

static inline float nx_sinh_f32(float x) {
  double y = sinh((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(sinhl(nx_opaque(x)));
}

static inline float nx_cosh_f32(float x) {
  double y = cosh((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(coshl(nx_opaque(x)));
}

static inline float nx_tanh_f32(float x) {
  double y = tanh((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(tanhl(nx_opaque(x)));
}

static inline float nx_erf_f32(float x) {
  double y = erf((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(erfl(nx_opaque(x)));
}

static inline double nx_atan2_f64(double y, double x) { return nx_nearest_f64(atan2l(nx_opaque(y), nx_opaque(x))); }

static inline float nx_atan2_f32(float y, float x) {
  double angle = atan2((double)y, (double)x);
  return nx_is_clear(angle) ? (float)angle : nx_nearest_f32(atan2l(nx_opaque(y), nx_opaque(x)));
}

// From 2^53 on every exponent is even, and the base's sign does not count: glibc's powl gives
// infinity for -inf to the power -2^63. Made wider, a signalling NaN is quiet, so that C's pow
// gives 1 for it too at a base of 1 or an exponent of 0.
static inline double nx_pow_f64(double x, double y) {
  double base = fabs(y) >= 0x1p53 ? fabs(x) : x;
  return nx_nearest_f64(powl(nx_opaque(base), nx_opaque(y)));
}

static inline float nx_pow_f32(float x, float y) {
  double power = pow((double)x, (double)y);
  return nx_is_clear(power) ? (float)power : nx_nearest_f32(powl(nx_opaque(x), nx_opaque(y)));
}

// Floats narrower than float32, as codes: what they are in float32, and how they are stored.
//
// Past the greatest finite value float16 and bfloat16 have infinity, and the others that value.

static inline float nx_cast_f16_f32(uint16_t x) {
  uint32_t magnitude = x & 0x7fffu, sign = (uint32_t)(x & 0x8000u) << 16;
  // Too small by a power of two: an exact product, of subnormals too.
  float value = nx_of_bits_f32(magnitude << 13) * 0x1p112f;
  uint32_t bits = nx_bits_f32(value);
  if (magnitude > 0x7bffu) bits = magnitude << 13 | 0x7f800000u;
  return nx_of_bits_f32(bits | sign);
}

static inline float nx_cast_f8e4m3fn_f32(uint8_t x) {
  uint32_t magnitude = x & 0x7fu, sign = (uint32_t)(x & 0x80u) << 24;
  // Too small by a power of two: an exact product, of subnormals too.
  float value = nx_of_bits_f32(magnitude << 20) * 0x1p120f;
  uint32_t bits = nx_bits_f32(value);
  if (magnitude > 0x7eu) bits = magnitude << 20 | 0x7f800000u;
  return nx_of_bits_f32(bits | sign);
}

static inline float nx_cast_f8e5m2_f32(uint8_t x) {
  uint32_t magnitude = x & 0x7fu, sign = (uint32_t)(x & 0x80u) << 24;
  // Too small by a power of two: an exact product, of subnormals too.
  float value = nx_of_bits_f32(magnitude << 21) * 0x1p112f;
  uint32_t bits = nx_bits_f32(value);
  if (magnitude > 0x7bu) bits = magnitude << 21 | 0x7f800000u;
  return nx_of_bits_f32(bits | sign);
}

static inline float nx_cast_f4e2m1fn_f32(uint8_t x) {
  uint32_t magnitude = x & 0x7u, sign = (uint32_t)(x & 0x8u) << 28;
  // Too small by a power of two: an exact product, of subnormals too.
  float value = nx_of_bits_f32(magnitude << 22) * 0x1p126f;
  uint32_t bits = nx_bits_f32(value);
  if (magnitude > 0x7u) bits = magnitude << 22 | 0x7f800000u;
  return nx_of_bits_f32(bits | sign);
}

static inline uint16_t nx_cast_f32_f16(float x) {
  uint32_t bits = nx_bits_f32(x), magnitude = bits & 0x7fffffffu;
  uint16_t sign = (uint16_t)(bits >> 31 << 15);
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  uint32_t code;
  if (magnitude < 0x38800000u) {
    // The sum's last place is that of the subnormals.
    code = nx_bits_f32(nx_of_bits_f32(magnitude) + 0x1p-1f) - nx_bits_f32(0x1p-1f);
  } else {
    // To even: half a unit less a bit, and that bit if the last place is odd.
    uint32_t half = (1u << (13 - 1)) - 1 + (magnitude >> 13 & 1);
    code = (magnitude + half - 0x38000000u) >> 13;
  }
  return (uint16_t)(sign | (code > 0x7bffu ? 0x7c00u : code));
}

static inline uint8_t nx_cast_f32_f8e4m3fn(float x) {
  uint32_t bits = nx_bits_f32(x), magnitude = bits & 0x7fffffffu;
  uint8_t sign = (uint8_t)(bits >> 31 << 7);
  if (magnitude > 0x7f800000u) return (uint8_t)(sign | 0x7fu);
  uint32_t code;
  if (magnitude < 0x3c800000u) {
    // The sum's last place is that of the subnormals.
    code = nx_bits_f32(nx_of_bits_f32(magnitude) + 0x1p14f) - nx_bits_f32(0x1p14f);
  } else {
    // To even: half a unit less a bit, and that bit if the last place is odd.
    uint32_t half = (1u << (20 - 1)) - 1 + (magnitude >> 20 & 1);
    code = (magnitude + half - 0x3c000000u) >> 20;
  }
  return (uint8_t)(sign | (code > 0x7eu ? 0x7eu : code));
}

static inline uint8_t nx_cast_f32_f8e5m2(float x) {
  uint32_t bits = nx_bits_f32(x), magnitude = bits & 0x7fffffffu;
  uint8_t sign = (uint8_t)(bits >> 31 << 7);
  if (magnitude > 0x7f800000u) return (uint8_t)(sign | 0x7eu);
  uint32_t code;
  if (magnitude < 0x38800000u) {
    // The sum's last place is that of the subnormals.
    code = nx_bits_f32(nx_of_bits_f32(magnitude) + 0x1p7f) - nx_bits_f32(0x1p7f);
  } else {
    // To even: half a unit less a bit, and that bit if the last place is odd.
    uint32_t half = (1u << (21 - 1)) - 1 + (magnitude >> 21 & 1);
    code = (magnitude + half - 0x38000000u) >> 21;
  }
  return (uint8_t)(sign | (code > 0x7bu ? 0x7bu : code));
}

static inline uint8_t nx_cast_f32_f4e2m1fn(float x) {
  uint32_t bits = nx_bits_f32(x), magnitude = bits & 0x7fffffffu;
  uint8_t sign = (uint8_t)(bits >> 31 << 3);
  if (magnitude > 0x7f800000u) return 0;
  uint32_t code;
  if (magnitude < 0x3f800000u) {
    // The sum's last place is that of the subnormals.
    code = nx_bits_f32(nx_of_bits_f32(magnitude) + 0x1p22f) - nx_bits_f32(0x1p22f);
  } else {
    // To even: half a unit less a bit, and that bit if the last place is odd.
    uint32_t half = (1u << (22 - 1)) - 1 + (magnitude >> 22 & 1);
    code = (magnitude + half - 0x3f000000u) >> 22;
  }
  return (uint8_t)(sign | (code > 0x7u ? 0x7u : code));
}

static inline float nx_cast_bf16_f32(uint16_t x) { return nx_of_bits_f32((uint32_t)x << 16); }

static inline uint16_t nx_cast_f32_bf16(float x) {
  uint32_t bits = nx_bits_f32(x);
  if (x != x) return (uint16_t)(bits >> 16 | 0x40u);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

// To odd: an inexact result is the one of the two neighbours whose last bit is set, so that
// rounding it to fewer bits is as rounding x itself (Boldo and Melquiond, "When double rounding
// is odd").
static inline float nx_odd_f64_f32(double x) {
  float nearest = (float)x;
  double back = nearest;
  uint32_t bits = nx_bits_f32(nearest), truncated = bits - (fabs(back) > fabs(x));
  return nx_of_bits_f32(back == x || x != x ? bits : truncated | 1);
}

// To odd.
static inline double nx_odd_u64_f64(uint64_t x) {
  if (x < (uint64_t)1 << 53) return (double)x;
  return (double)((x & ~(uint64_t)0x7ff) | (uint64_t)((x & 0x7ff) != 0) << 11);
}

static inline double nx_odd_i64_f64(int64_t x) {
  return x < 0 ? -nx_odd_u64_f64(0 - (uint64_t)x) : nx_odd_u64_f64((uint64_t)x);
}

// The sum of doubles, to odd; its error is exact (Knuth), and a NaN where it is not finite.
static inline double nx_odd_sum(double x, double y) {
  double sum = x + y, other = sum - x;
  double error = (x - (sum - other)) + (y - other);
  uint64_t bits = nx_bits_f64(sum), truncated = bits - ((error > 0) != (sum > 0));
  return nx_of_bits_f64(error > 0 || error < 0 ? truncated | 1 : bits);
}

static inline uint16_t nx_cast_f64_f16(double x) {
  return nx_cast_f32_f16(nx_odd_f64_f32(x));
}

static inline uint16_t nx_cast_f64_bf16(double x) {
  return nx_cast_f32_bf16(nx_odd_f64_f32(x));
}

static inline uint8_t nx_cast_f64_f8e4m3fn(double x) {
  return nx_cast_f32_f8e4m3fn(nx_odd_f64_f32(x));
}

static inline uint8_t nx_cast_f64_f8e5m2(double x) {
  return nx_cast_f32_f8e5m2(nx_odd_f64_f32(x));
}

static inline uint8_t nx_cast_f64_f4e2m1fn(double x) {
  return nx_cast_f32_f4e2m1fn(nx_odd_f64_f32(x));
}

static inline uint16_t nx_neg_f16(uint16_t x) { return x ^ 0x8000u; }

static inline uint16_t nx_neg_bf16(uint16_t x) { return x ^ 0x8000u; }

static inline uint8_t nx_neg_f8e4m3fn(uint8_t x) { return x ^ 0x80u; }

static inline uint8_t nx_neg_f4e2m1fn(uint8_t x) { return x ^ 0x8u; }

static inline uint16_t nx_abs_f16(uint16_t x) { return x & 0x7fffu; }

static inline uint16_t nx_abs_bf16(uint16_t x) { return x & 0x7fffu; }

static inline uint8_t nx_abs_f8e4m3fn(uint8_t x) { return x & 0x7fu; }

static inline uint8_t nx_abs_f4e2m1fn(uint8_t x) { return x & 0x7u; }

// Kinds store the greatest finite value for an infinity, which the format has all the same.
static inline uint8_t nx_saturated_f8e5m2(uint8_t x) {
  return (x & 0x7fu) == 0x7cu ? (uint8_t)(x - 1) : x;
}

static inline uint8_t nx_neg_f8e5m2(uint8_t x) { return nx_saturated_f8e5m2(x ^ 0x80u); }

static inline uint8_t nx_abs_f8e5m2(uint8_t x) { return nx_saturated_f8e5m2(x & 0x7fu); }

// Rounded once: the product of two codes is exact in double.
static inline uint16_t nx_fma_f16(uint16_t x, uint16_t y, uint16_t z) {
  double product = (double)nx_cast_f16_f32(x) * nx_cast_f16_f32(y);
  return nx_cast_f64_f16(nx_odd_sum(product, nx_cast_f16_f32(z)));
}

// Rounded once: the product of two codes is exact in double.
static inline uint16_t nx_fma_bf16(uint16_t x, uint16_t y, uint16_t z) {
  double product = (double)nx_cast_bf16_f32(x) * nx_cast_bf16_f32(y);
  return nx_cast_f64_bf16(nx_odd_sum(product, nx_cast_bf16_f32(z)));
}

// Rounded once: the product of two codes is exact in double.
static inline uint8_t nx_fma_f8e4m3fn(uint8_t x, uint8_t y, uint8_t z) {
  double product = (double)nx_cast_f8e4m3fn_f32(x) * nx_cast_f8e4m3fn_f32(y);
  return nx_cast_f64_f8e4m3fn(nx_odd_sum(product, nx_cast_f8e4m3fn_f32(z)));
}

// Rounded once: the product of two codes is exact in double.
static inline uint8_t nx_fma_f8e5m2(uint8_t x, uint8_t y, uint8_t z) {
  double product = (double)nx_cast_f8e5m2_f32(x) * nx_cast_f8e5m2_f32(y);
  return nx_cast_f64_f8e5m2(nx_odd_sum(product, nx_cast_f8e5m2_f32(z)));
}

// Rounded once: the product of two codes is exact in double.
static inline uint8_t nx_fma_f4e2m1fn(uint8_t x, uint8_t y, uint8_t z) {
  double product = (double)nx_cast_f4e2m1fn_f32(x) * nx_cast_f4e2m1fn_f32(y);
  return nx_cast_f64_f4e2m1fn(nx_odd_sum(product, nx_cast_f4e2m1fn_f32(z)));
}

// Casts that are not C's conversions.

// Toward zero, saturated, 0 for a NaN.
static inline int64_t nx_cast_f32_i64(float x) {
  if (x <= -0x1p63f) return INT64_MIN;
  if (x >= 0x1p63f) return INT64_MAX;
  return x == x ? (int64_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint64_t nx_cast_f32_u64(float x) {
  if (x <= 0) return 0;
  if (x >= 0x1p64f) return UINT64_MAX;
  return x == x ? (uint64_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int32_t nx_cast_f32_i32(float x) {
  if (x <= -0x1p31f) return INT32_MIN;
  if (x >= 0x1p31f) return INT32_MAX;
  return x == x ? (int32_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint32_t nx_cast_f32_u32(float x) {
  if (x <= 0) return 0;
  if (x >= 0x1p32f) return UINT32_MAX;
  return x == x ? (uint32_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int16_t nx_cast_f32_i16(float x) {
  if (x <= -0x1p15f) return INT16_MIN;
  if (x >= 0x1p15f) return INT16_MAX;
  return x == x ? (int16_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint16_t nx_cast_f32_u16(float x) {
  if (x <= 0) return 0;
  if (x >= 0x1p16f) return UINT16_MAX;
  return x == x ? (uint16_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int8_t nx_cast_f32_i8(float x) {
  if (x <= -0x1p7f) return INT8_MIN;
  if (x >= 0x1p7f) return INT8_MAX;
  return x == x ? (int8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint8_t nx_cast_f32_u8(float x) {
  if (x <= 0) return 0;
  if (x >= 0x1p8f) return UINT8_MAX;
  return x == x ? (uint8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int8_t nx_cast_f32_i4(float x) {
  if (x <= -0x1p3f) return -8;
  if (x >= 0x1p3f) return 7;
  return x == x ? (int8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint8_t nx_cast_f32_u4(float x) {
  if (x <= 0) return 0;
  if (x >= 0x1p4f) return 15;
  return x == x ? (uint8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int64_t nx_cast_f64_i64(double x) {
  if (x <= -0x1p63f) return INT64_MIN;
  if (x >= 0x1p63f) return INT64_MAX;
  return x == x ? (int64_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint64_t nx_cast_f64_u64(double x) {
  if (x <= 0) return 0;
  if (x >= 0x1p64f) return UINT64_MAX;
  return x == x ? (uint64_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int32_t nx_cast_f64_i32(double x) {
  if (x <= -0x1p31f) return INT32_MIN;
  if (x >= 0x1p31f) return INT32_MAX;
  return x == x ? (int32_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint32_t nx_cast_f64_u32(double x) {
  if (x <= 0) return 0;
  if (x >= 0x1p32f) return UINT32_MAX;
  return x == x ? (uint32_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int16_t nx_cast_f64_i16(double x) {
  if (x <= -0x1p15f) return INT16_MIN;
  if (x >= 0x1p15f) return INT16_MAX;
  return x == x ? (int16_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint16_t nx_cast_f64_u16(double x) {
  if (x <= 0) return 0;
  if (x >= 0x1p16f) return UINT16_MAX;
  return x == x ? (uint16_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int8_t nx_cast_f64_i8(double x) {
  if (x <= -0x1p7f) return INT8_MIN;
  if (x >= 0x1p7f) return INT8_MAX;
  return x == x ? (int8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint8_t nx_cast_f64_u8(double x) {
  if (x <= 0) return 0;
  if (x >= 0x1p8f) return UINT8_MAX;
  return x == x ? (uint8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline int8_t nx_cast_f64_i4(double x) {
  if (x <= -0x1p3f) return -8;
  if (x >= 0x1p3f) return 7;
  return x == x ? (int8_t)x : 0;
}

// Toward zero, saturated, 0 for a NaN.
static inline uint8_t nx_cast_f64_u4(double x) {
  if (x <= 0) return 0;
  if (x >= 0x1p4f) return 15;
  return x == x ? (uint8_t)x : 0;
}

static inline int8_t nx_cast_i64_i4(int64_t x) { return (int8_t)(((x & 15) ^ 8) - 8); }

static inline uint8_t nx_cast_i64_u4(int64_t x) { return (uint8_t)(x & 15); }

// Complex numbers: arithmetic and order, and principal values by C's long double functions.

static inline bool nx_is_nan_c64(nx_c64 z) { return z.re != z.re || z.im != z.im; }

static inline bool nx_is_nan_c128(nx_c128 z) { return z.re != z.re || z.im != z.im; }

static inline nx_c64 nx_neg_c64(nx_c64 z) { return (nx_c64){-z.re, -z.im}; }

static inline nx_c128 nx_neg_c128(nx_c128 z) { return (nx_c128){-z.re, -z.im}; }

static inline nx_c64 nx_add_c64(nx_c64 z, nx_c64 w) { return (nx_c64){z.re + w.re, z.im + w.im}; }

static inline nx_c128 nx_add_c128(nx_c128 z, nx_c128 w) { return (nx_c128){z.re + w.re, z.im + w.im}; }

static inline nx_c64 nx_sub_c64(nx_c64 z, nx_c64 w) { return (nx_c64){z.re - w.re, z.im - w.im}; }

static inline nx_c128 nx_sub_c128(nx_c128 z, nx_c128 w) { return (nx_c128){z.re - w.re, z.im - w.im}; }

// The textbook product, each part one fused multiply-add over the other product.
static inline nx_c64 nx_mul_c64(nx_c64 z, nx_c64 w) {
  if (nx_is_nan_c64(z) || nx_is_nan_c64(w)) return (nx_c64){NAN, NAN};
  return (nx_c64){fmaf(z.re, w.re, -(z.im * w.im)), fmaf(z.re, w.im, z.im * w.re)};
}

// The textbook product, each part one fused multiply-add over the other product.
static inline nx_c128 nx_mul_c128(nx_c128 z, nx_c128 w) {
  if (nx_is_nan_c128(z) || nx_is_nan_c128(w)) return (nx_c128){NAN, NAN};
  return (nx_c128){fma(z.re, w.re, -(z.im * w.im)), fma(z.re, w.im, z.im * w.re)};
}

// The magnitude of the larger part; z is no NaN.
static inline float nx_larger_c64(nx_c64 z) {
  return fabsf(z.re) >= fabsf(z.im) ? fabsf(z.re) : fabsf(z.im);
}

// The magnitude of the larger part; z is no NaN.
static inline double nx_larger_c128(nx_c128 z) {
  return fabs(z.re) >= fabs(z.im) ? fabs(z.re) : fabs(z.im);
}

// Smith's algorithm: the divisor's larger part, p, divides its smaller one, q. Operands whose
// products could be inexact or whose sums could overflow are scaled, and the quotient back.
static inline nx_c64 nx_fdiv_c64(nx_c64 z, nx_c64 w) {
  if (nx_is_nan_c64(z) || nx_is_nan_c64(w)) return (nx_c64){NAN, NAN};
  bool small_z = nx_larger_c64(z) < 2 * FLT_MIN / FLT_EPSILON;
  bool large_z = nx_larger_c64(z) > FLT_MAX / 2;
  bool large_w = nx_larger_c64(w) > FLT_MAX / 2;
  float quarter = (float)0.25, scale_w = large_w ? quarter : 1;
  float scale_z = small_z ? 4 / FLT_EPSILON : large_z || large_w ? quarter : 1;
  float a = z.re * scale_z, b = z.im * scale_z, c = w.re * scale_w, d = w.im * scale_w;
  bool large = fabsf(c) >= fabsf(d);
  float p = large ? c : d, q = large ? d : c, x = large ? a : b, y = large ? b : a;
  float ratio = q / p, divisor = fmaf(ratio, q, p), back = scale_w / scale_z;
  float im = large ? fmaf(-ratio, x, y) : fmaf(ratio, x, -y);
  return (nx_c64){fmaf(ratio, y, x) / divisor * back, im / divisor * back};
}

// Smith's algorithm: the divisor's larger part, p, divides its smaller one, q. Operands whose
// products could be inexact or whose sums could overflow are scaled, and the quotient back.
static inline nx_c128 nx_fdiv_c128(nx_c128 z, nx_c128 w) {
  if (nx_is_nan_c128(z) || nx_is_nan_c128(w)) return (nx_c128){NAN, NAN};
  bool small_z = nx_larger_c128(z) < 2 * DBL_MIN / DBL_EPSILON;
  bool large_z = nx_larger_c128(z) > DBL_MAX / 2;
  bool large_w = nx_larger_c128(w) > DBL_MAX / 2;
  double quarter = (double)0.25, scale_w = large_w ? quarter : 1;
  double scale_z = small_z ? 4 / DBL_EPSILON : large_z || large_w ? quarter : 1;
  double a = z.re * scale_z, b = z.im * scale_z, c = w.re * scale_w, d = w.im * scale_w;
  bool large = fabs(c) >= fabs(d);
  double p = large ? c : d, q = large ? d : c, x = large ? a : b, y = large ? b : a;
  double ratio = q / p, divisor = fma(ratio, q, p), back = scale_w / scale_z;
  double im = large ? fma(-ratio, x, y) : fma(ratio, x, -y);
  return (nx_c128){fma(ratio, y, x) / divisor * back, im / divisor * back};
}

static inline nx_c64 nx_recip_c64(nx_c64 z) { return nx_fdiv_c64((nx_c64){1, 0}, z); }

static inline nx_c128 nx_recip_c128(nx_c128 z) { return nx_fdiv_c128((nx_c128){1, 0}, z); }

static inline bool nx_equal_c64(nx_c64 z, nx_c64 w) { return z.re == w.re && z.im == w.im; }

static inline bool nx_equal_c128(nx_c128 z, nx_c128 w) { return z.re == w.re && z.im == w.im; }

static inline bool nx_not_equal_c64(nx_c64 z, nx_c64 w) { return !nx_equal_c64(z, w); }

static inline bool nx_not_equal_c128(nx_c128 z, nx_c128 w) { return !nx_equal_c128(z, w); }

// By real part, then by imaginary part.
static inline bool nx_less_c64(nx_c64 z, nx_c64 w) {
  if (nx_is_nan_c64(z) || nx_is_nan_c64(w)) return false;
  return z.re < w.re || (z.re == w.re && z.im < w.im);
}

// By real part, then by imaginary part.
static inline bool nx_less_c128(nx_c128 z, nx_c128 w) {
  if (nx_is_nan_c128(z) || nx_is_nan_c128(w)) return false;
  return z.re < w.re || (z.re == w.re && z.im < w.im);
}

static inline bool nx_less_equal_c64(nx_c64 z, nx_c64 w) {
  return nx_less_c64(z, w) || nx_equal_c64(z, w);
}

static inline bool nx_less_equal_c128(nx_c128 z, nx_c128 w) {
  return nx_less_c128(z, w) || nx_equal_c128(z, w);
}

// Whether x is below y in the order of floats, where -0 is below +0; no NaNs.
static inline bool nx_precedes_f32(float x, float y) {
  return x < y || (x == y && signbit(x) && !signbit(y));
}

// Whether x is below y in the order of floats, where -0 is below +0; no NaNs.
static inline bool nx_precedes_f64(double x, double y) {
  return x < y || (x == y && signbit(x) && !signbit(y));
}

static inline bool nx_precedes_c64(nx_c64 z, nx_c64 w) {
  if (nx_precedes_f32(z.re, w.re)) return true;
  return !nx_precedes_f32(w.re, z.re) && nx_precedes_f32(z.im, w.im);
}

static inline bool nx_precedes_c128(nx_c128 z, nx_c128 w) {
  if (nx_precedes_f64(z.re, w.re)) return true;
  return !nx_precedes_f64(w.re, z.re) && nx_precedes_f64(z.im, w.im);
}

// The first NaN, or the last in the order.
static inline nx_c64 nx_maximum_c64(nx_c64 z, nx_c64 w) {
  if (nx_is_nan_c64(z)) return z;
  return nx_is_nan_c64(w) || nx_precedes_c64(z, w) ? w : z;
}

// The first NaN, or the last in the order.
static inline nx_c128 nx_maximum_c128(nx_c128 z, nx_c128 w) {
  if (nx_is_nan_c128(z)) return z;
  return nx_is_nan_c128(w) || nx_precedes_c128(z, w) ? w : z;
}

// The first NaN, or the first in the order.
static inline nx_c64 nx_minimum_c64(nx_c64 z, nx_c64 w) {
  if (nx_is_nan_c64(z)) return z;
  return nx_is_nan_c64(w) || nx_precedes_c64(w, z) ? w : z;
}

// The first NaN, or the first in the order.
static inline nx_c128 nx_minimum_c128(nx_c128 z, nx_c128 w) {
  if (nx_is_nan_c128(z)) return z;
  return nx_is_nan_c128(w) || nx_precedes_c128(w, z) ? w : z;
}

static inline nx_c64 nx_where_c64(bool c, nx_c64 z, nx_c64 w) { return c ? z : w; }

static inline nx_c128 nx_where_c128(bool c, nx_c128 z, nx_c128 w) { return c ? z : w; }

// C's complex.h, which leaks a macro named I, is not included.
typedef long double _Complex nx_wide;
long double creall(nx_wide), cimagl(nx_wide), cabsl(nx_wide);
nx_wide csqrtl(nx_wide), cexpl(nx_wide), clogl(nx_wide), cacosl(nx_wide), cacoshl(nx_wide);
nx_wide csinhl(nx_wide), ccoshl(nx_wide), ctanhl(nx_wide), casinhl(nx_wide), catanhl(nx_wide);

// The number of these parts, infinities and NaNs included. They are volatile, because what a
// compiler itself computes of a constant can differ from the library's result in the last bit.
static inline nx_wide nx_wide_of(long double re, long double im) {
  volatile long double x = re, y = im;
  union {
    long double parts[2];
    nx_wide z;
  } wide = {{x, y}};
  return wide.z;
}

// f(conj z) = conj f(z), of all functions; f(-z) = -f(z); f(-z) = f(z).
typedef enum { NX_CONJUGATE, NX_ODD, NX_EVEN } nx_symmetry;

// A principal value, computed on a folded operand, without signs that the symmetries give back,
// so that they hold bit for bit. The results of `kind`, the float kind, or null, are the real
// parts on the real axis.
static inline nx_c64 nx_principal_c64(nx_c64 z, nx_wide function(nx_wide), nx_symmetry symmetry,
                                          float kind(float)) {
  float x = symmetry == NX_CONJUGATE ? z.re : fabsf(z.re);
  nx_wide value = function(nx_wide_of(x, fabsf(z.im)));
  float re = nx_nearest_f32(creall(value)), im = nx_nearest_f32(cimagl(value));
  if (kind && z.im == 0 && z.re != 0) {
    float on_axis = kind(x);
    if (on_axis == on_axis) re = on_axis;
  }
  bool negative = signbit(z.re) != 0;
  if (symmetry == NX_ODD && negative) re = -re;
  if ((signbit(z.im) != 0) != (symmetry == NX_EVEN && negative)) im = -im;
  return (nx_c64){re, im};
}

// A principal value, computed on a folded operand, without signs that the symmetries give back,
// so that they hold bit for bit. The results of `kind`, the float kind, or null, are the real
// parts on the real axis.
static inline nx_c128 nx_principal_c128(nx_c128 z, nx_wide function(nx_wide), nx_symmetry symmetry,
                                          double kind(double)) {
  double x = symmetry == NX_CONJUGATE ? z.re : fabs(z.re);
  nx_wide value = function(nx_wide_of(x, fabs(z.im)));
  double re = nx_nearest_f64(creall(value)), im = nx_nearest_f64(cimagl(value));
  if (kind && z.im == 0 && z.re != 0) {
    double on_axis = kind(x);
    if (on_axis == on_axis) re = on_axis;
  }
  bool negative = signbit(z.re) != 0;
  if (symmetry == NX_ODD && negative) re = -re;
  if ((signbit(z.im) != 0) != (symmetry == NX_EVEN && negative)) im = -im;
  return (nx_c128){re, im};
}

// The parts swapped. For an odd hyperbolic function h and its trigonometric one f, f(x + yi) is
// h(y + xi) with its parts swapped.
static inline nx_wide nx_swapped(nx_wide z) { return nx_wide_of(cimagl(z), creall(z)); }

static inline nx_wide nx_wide_sin(nx_wide z) { return nx_swapped(csinhl(nx_swapped(z))); }

static inline nx_wide nx_wide_tan(nx_wide z) { return nx_swapped(ctanhl(nx_swapped(z))); }

static inline nx_wide nx_wide_asin(nx_wide z) { return nx_swapped(casinhl(nx_swapped(z))); }

static inline nx_wide nx_wide_atan(nx_wide z) { return nx_swapped(catanhl(nx_swapped(z))); }

// cosh(y - xi) of x + yi.
static inline nx_wide nx_wide_cos(nx_wide z) {
  nx_wide w = ccoshl(nx_swapped(z));
  return nx_wide_of(creall(w), -cimagl(w));
}

static const long double nx_ln2 = 0.6931471805599453094172321214581765680755L;

static const long double nx_two_pi = 6.2831853071795864769252867665590057684L;

static inline nx_wide nx_wide_log2(nx_wide z) {
  nx_wide w = clogl(z);
  return nx_wide_of(creall(w) / nx_ln2, cimagl(w) / nx_ln2);
}

// ln 2 / (2 pi) is the sum of nx_ln2_turns[k] 2^(-64 k).
static const uint64_t nx_ln2_turns[] = {
    0,
    0x1c3dc98f7e969bbb, 0x2d82160b957fbcf7, 0x6384efb34752570d, 0x875c804ebaa7e3f2,
    0x9dba19bf26d22f92, 0x057d72dbf62fb884, 0x40e536cc0835bad4, 0x8c3fea6ba432f1cd,
    0x544d633b59f036cf, 0x1243456f76468a7d, 0x5a0900abd7a3e708, 0xeffc572f1c7c17fb,
    0x7f82ec188aa323d9, 0xdcc271169d408a0a, 0xbab43090d71549ee, 0xdd67cd178b418a3a,
    0x2c6958e894f98a46, 0x3a97ff6afab0351e,
};

// The fraction of m 2^e ln 2 / (2 pi), in units of 2^-64; m < 2^53 and -64 <= e < 972.
static inline uint64_t nx_turns(uint64_t m, int e) {
  // 128 bits of the fraction of 2^e ln 2 / (2 pi).
  const uint64_t *word = nx_ln2_turns + (e + 64) / 64;
  int shift = (e + 64) % 64;
  uint64_t high = word[0] << shift | word[1] >> 1 >> (63 - shift);
  uint64_t low = word[1] << shift | word[2] >> 1 >> (63 - shift);
  // m low / 2^64, in halves.
  uint64_t m1 = m >> 32, m0 = m & 0xffffffff, low1 = low >> 32, low0 = low & 0xffffffff;
  uint64_t middle = m0 * low1 + (m0 * low0 >> 32);
  uint64_t rest = m1 * low0 + (middle & 0xffffffff);
  return m * high + m1 * low1 + (middle >> 32) + (rest >> 32);
}

// y ln 2, or where it is large an angle that differs by a multiple of 2 pi; y is a double that
// is not negative.
static inline long double nx_angle(long double y) {
  if (!(y >= 64) || isinf(y)) return y * nx_ln2;
  int exponent;
  double mantissa = frexp((double)y, &exponent);
  uint64_t turns = nx_turns((uint64_t)ldexp(mantissa, 53), exponent - 53);
  return (long double)turns * 0x1p-64L * nx_two_pi;
}

// 2^x at the angle y ln 2. 2 to a power of 16000 is past all doubles, and no long double overflow.
static inline nx_wide nx_wide_exp2(nx_wide z) {
  long double x = creall(z), angle = nx_angle(cimagl(z));
  if (!isfinite(x)) return cexpl(nx_wide_of(x, angle));
  long double modulus = exp2l(fminl(fmaxl(x, -16000), 16000));
  return nx_wide_of(modulus * cosl(angle), modulus * sinl(angle));
}

static inline nx_c64 nx_sqrt_c64(nx_c64 z) {
  return nx_principal_c64(z, csqrtl, NX_CONJUGATE, nx_sqrt_f32);
}

static inline nx_c128 nx_sqrt_c128(nx_c128 z) {
  return nx_principal_c128(z, csqrtl, NX_CONJUGATE, nx_sqrt_f64);
}

static inline nx_c64 nx_exp_c64(nx_c64 z) {
  return nx_principal_c64(z, cexpl, NX_CONJUGATE, nx_exp_f32);
}

static inline nx_c128 nx_exp_c128(nx_c128 z) {
  return nx_principal_c128(z, cexpl, NX_CONJUGATE, nx_exp_f64);
}

static inline nx_c64 nx_exp2_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_exp2, NX_CONJUGATE, nx_exp2_f32);
}

static inline nx_c128 nx_exp2_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_exp2, NX_CONJUGATE, nx_exp2_f64);
}

static inline nx_c64 nx_log_c64(nx_c64 z) {
  return nx_principal_c64(z, clogl, NX_CONJUGATE, nx_log_f32);
}

static inline nx_c128 nx_log_c128(nx_c128 z) {
  return nx_principal_c128(z, clogl, NX_CONJUGATE, nx_log_f64);
}

static inline nx_c64 nx_log2_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_log2, NX_CONJUGATE, nx_log2_f32);
}

static inline nx_c128 nx_log2_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_log2, NX_CONJUGATE, nx_log2_f64);
}

static inline nx_c64 nx_sin_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_sin, NX_ODD, nx_sin_f32);
}

static inline nx_c128 nx_sin_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_sin, NX_ODD, nx_sin_f64);
}

static inline nx_c64 nx_cos_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_cos, NX_EVEN, nx_cos_f32);
}

static inline nx_c128 nx_cos_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_cos, NX_EVEN, nx_cos_f64);
}

static inline nx_c64 nx_tan_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_tan, NX_ODD, nx_tan_f32);
}

static inline nx_c128 nx_tan_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_tan, NX_ODD, nx_tan_f64);
}

static inline nx_c64 nx_asin_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_asin, NX_ODD, nx_asin_f32);
}

static inline nx_c128 nx_asin_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_asin, NX_ODD, nx_asin_f64);
}

static inline nx_c64 nx_acos_c64(nx_c64 z) {
  return nx_principal_c64(z, cacosl, NX_CONJUGATE, nx_acos_f32);
}

static inline nx_c128 nx_acos_c128(nx_c128 z) {
  return nx_principal_c128(z, cacosl, NX_CONJUGATE, nx_acos_f64);
}

static inline nx_c64 nx_atan_c64(nx_c64 z) {
  return nx_principal_c64(z, nx_wide_atan, NX_ODD, nx_atan_f32);
}

static inline nx_c128 nx_atan_c128(nx_c128 z) {
  return nx_principal_c128(z, nx_wide_atan, NX_ODD, nx_atan_f64);
}

static inline nx_c64 nx_sinh_c64(nx_c64 z) {
  return nx_principal_c64(z, csinhl, NX_ODD, nx_sinh_f32);
}

static inline nx_c128 nx_sinh_c128(nx_c128 z) {
  return nx_principal_c128(z, csinhl, NX_ODD, nx_sinh_f64);
}

static inline nx_c64 nx_cosh_c64(nx_c64 z) {
  return nx_principal_c64(z, ccoshl, NX_EVEN, nx_cosh_f32);
}

static inline nx_c128 nx_cosh_c128(nx_c128 z) {
  return nx_principal_c128(z, ccoshl, NX_EVEN, nx_cosh_f64);
}

static inline nx_c64 nx_tanh_c64(nx_c64 z) {
  return nx_principal_c64(z, ctanhl, NX_ODD, nx_tanh_f32);
}

static inline nx_c128 nx_tanh_c128(nx_c128 z) {
  return nx_principal_c128(z, ctanhl, NX_ODD, nx_tanh_f64);
}

static inline nx_c64 nx_asinh_c64(nx_c64 z) {
  return nx_principal_c64(z, casinhl, NX_ODD, NULL);
}

static inline nx_c128 nx_asinh_c128(nx_c128 z) {
  return nx_principal_c128(z, casinhl, NX_ODD, NULL);
}

static inline nx_c64 nx_acosh_c64(nx_c64 z) {
  return nx_principal_c64(z, cacoshl, NX_CONJUGATE, NULL);
}

static inline nx_c128 nx_acosh_c128(nx_c128 z) {
  return nx_principal_c128(z, cacoshl, NX_CONJUGATE, NULL);
}

static inline nx_c64 nx_atanh_c64(nx_c64 z) {
  return nx_principal_c64(z, catanhl, NX_ODD, NULL);
}

static inline nx_c128 nx_atanh_c128(nx_c128 z) {
  return nx_principal_c128(z, catanhl, NX_ODD, NULL);
}

// exp(w log z), with the float kind's real part at a positive base and a real exponent.
static inline nx_c64 nx_pow_c64(nx_c64 z, nx_c64 w) {
  bool below = signbit(z.im) != 0;
  float v = below ? -w.im : w.im;
  nx_wide logarithm = clogl(nx_wide_of(z.re, fabsf(z.im)));
  long double log_modulus = creall(logarithm), angle = cimagl(logarithm);
  nx_wide power = cexpl(nx_wide_of(w.re * log_modulus - v * angle, w.re * angle + v * log_modulus));
  float re = nx_nearest_f32(creall(power)), im = nx_nearest_f32(cimagl(power));
  if (z.re > 0 && z.im == 0 && w.im == 0) re = nx_pow_f32(z.re, w.re);
  return (nx_c64){re, below ? -im : im};
}

// exp(w log z), with the float kind's real part at a positive base and a real exponent.
static inline nx_c128 nx_pow_c128(nx_c128 z, nx_c128 w) {
  bool below = signbit(z.im) != 0;
  double v = below ? -w.im : w.im;
  nx_wide logarithm = clogl(nx_wide_of(z.re, fabs(z.im)));
  long double log_modulus = creall(logarithm), angle = cimagl(logarithm);
  nx_wide power = cexpl(nx_wide_of(w.re * log_modulus - v * angle, w.re * angle + v * log_modulus));
  double re = nx_nearest_f64(creall(power)), im = nx_nearest_f64(cimagl(power));
  if (z.re > 0 && z.im == 0 && w.im == 0) re = nx_pow_f64(z.re, w.re);
  return (nx_c128){re, below ? -im : im};
}

// z / |z|, and z at 0. An infinite part is taken for 1, and a finite one beside it for 0.
static inline nx_c64 nx_sign_c64(nx_c64 z) {
  long double x = z.re, y = z.im;
  if (isinf(x) || isinf(y)) {
    x = isinf(x) ? copysignl(1, x) : x * 0;
    y = isinf(y) ? copysignl(1, y) : y * 0;
  }
  long double modulus = cabsl(nx_wide_of(x, y));
  if (modulus == 0) return z;
  return (nx_c64){nx_nearest_f32(x / modulus), nx_nearest_f32(y / modulus)};
}

// z / |z|, and z at 0. An infinite part is taken for 1, and a finite one beside it for 0.
static inline nx_c128 nx_sign_c128(nx_c128 z) {
  long double x = z.re, y = z.im;
  if (isinf(x) || isinf(y)) {
    x = isinf(x) ? copysignl(1, x) : x * 0;
    y = isinf(y) ? copysignl(1, y) : y * 0;
  }
  long double modulus = cabsl(nx_wide_of(x, y));
  if (modulus == 0) return z;
  return (nx_c128){nx_nearest_f64(x / modulus), nx_nearest_f64(y / modulus)};
}

#if defined(__clang__)
#pragma float_control(pop)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif
