// Complex numbers: arithmetic and order, and principal values by C's long double functions.

static inline bool nx_is_nan_$complex($pair z) { return z.re != z.re || z.im != z.im; }

static inline $pair nx_neg_$complex($pair z) { return ($pair){-z.re, -z.im}; }

static inline $pair nx_add_$complex($pair z, $pair w) { return ($pair){z.re + w.re, z.im + w.im}; }

static inline $pair nx_sub_$complex($pair z, $pair w) { return ($pair){z.re - w.re, z.im - w.im}; }

// The textbook product, each part one fused multiply-add over the other product.
static inline $pair nx_mul_$complex($pair z, $pair w) {
  if (nx_is_nan_$complex(z) || nx_is_nan_$complex(w)) return ($pair){NAN, NAN};
  return ($pair){fma$m(z.re, w.re, -(z.im * w.im)), fma$m(z.re, w.im, z.im * w.re)};
}

// The magnitude of the larger part; z is no NaN.
static inline $real nx_larger_$complex($pair z) {
  return fabs$m(z.re) >= fabs$m(z.im) ? fabs$m(z.re) : fabs$m(z.im);
}

// Smith's algorithm: the divisor's larger part, p, divides its smaller one, q. Operands whose
// products could be inexact or whose sums could overflow are scaled, and the quotient back.
static inline $pair nx_fdiv_$complex($pair z, $pair w) {
  if (nx_is_nan_$complex(z) || nx_is_nan_$complex(w)) return ($pair){NAN, NAN};
  bool small_z = nx_larger_$complex(z) < 2 * ${limits}_MIN / ${limits}_EPSILON;
  bool large_z = nx_larger_$complex(z) > ${limits}_MAX / 2;
  bool large_w = nx_larger_$complex(w) > ${limits}_MAX / 2;
  $real quarter = ($real)0.25, scale_w = large_w ? quarter : 1;
  $real scale_z = small_z ? 4 / ${limits}_EPSILON : large_z || large_w ? quarter : 1;
  $real a = z.re * scale_z, b = z.im * scale_z, c = w.re * scale_w, d = w.im * scale_w;
  bool large = fabs$m(c) >= fabs$m(d);
  $real p = large ? c : d, q = large ? d : c, x = large ? a : b, y = large ? b : a;
  $real ratio = q / p, divisor = fma$m(ratio, q, p), back = scale_w / scale_z;
  $real im = large ? fma$m(-ratio, x, y) : fma$m(ratio, x, -y);
  return ($pair){fma$m(ratio, y, x) / divisor * back, im / divisor * back};
}

static inline $pair nx_recip_$complex($pair z) { return nx_fdiv_$complex(($pair){1, 0}, z); }

static inline bool nx_equal_$complex($pair z, $pair w) { return z.re == w.re && z.im == w.im; }

static inline bool nx_not_equal_$complex($pair z, $pair w) { return !nx_equal_$complex(z, w); }

// By real part, then by imaginary part.
static inline bool nx_less_$complex($pair z, $pair w) {
  if (nx_is_nan_$complex(z) || nx_is_nan_$complex(w)) return false;
  return z.re < w.re || (z.re == w.re && z.im < w.im);
}

static inline bool nx_less_equal_$complex($pair z, $pair w) {
  return nx_less_$complex(z, w) || nx_equal_$complex(z, w);
}

// Whether x is below y in the order of floats, where -0 is below +0; no NaNs.
static inline bool nx_precedes_$float($real x, $real y) {
  return x < y || (x == y && signbit(x) && !signbit(y));
}

static inline bool nx_precedes_$complex($pair z, $pair w) {
  if (nx_precedes_$float(z.re, w.re)) return true;
  return !nx_precedes_$float(w.re, z.re) && nx_precedes_$float(z.im, w.im);
}

// The first NaN, or the last in the order.
static inline $pair nx_maximum_$complex($pair z, $pair w) {
  if (nx_is_nan_$complex(z)) return z;
  return nx_is_nan_$complex(w) || nx_precedes_$complex(z, w) ? w : z;
}

// The first NaN, or the first in the order.
static inline $pair nx_minimum_$complex($pair z, $pair w) {
  if (nx_is_nan_$complex(z)) return z;
  return nx_is_nan_$complex(w) || nx_precedes_$complex(w, z) ? w : z;
}

static inline $pair nx_where_$complex(bool c, $pair z, $pair w) { return c ? z : w; }

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
static inline $pair nx_principal_$complex($pair z, nx_wide function(nx_wide), nx_symmetry symmetry,
                                          $real kind($real)) {
  $real x = symmetry == NX_CONJUGATE ? z.re : fabs$m(z.re);
  nx_wide value = function(nx_wide_of(x, fabs$m(z.im)));
  $real re = nx_nearest_$float(creall(value)), im = nx_nearest_$float(cimagl(value));
  if (kind && z.im == 0 && z.re != 0) {
    $real on_axis = kind(x);
    if (on_axis == on_axis) re = on_axis;
  }
  bool negative = signbit(z.re) != 0;
  if (symmetry == NX_ODD && negative) re = -re;
  if ((signbit(z.im) != 0) != (symmetry == NX_EVEN && negative)) im = -im;
  return ($pair){re, im};
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

static inline $pair nx_sqrt_$complex($pair z) {
  return nx_principal_$complex(z, csqrtl, NX_CONJUGATE, nx_sqrt_$float);
}

static inline $pair nx_exp_$complex($pair z) {
  return nx_principal_$complex(z, cexpl, NX_CONJUGATE, nx_exp_$float);
}

static inline $pair nx_exp2_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_exp2, NX_CONJUGATE, nx_exp2_$float);
}

static inline $pair nx_log_$complex($pair z) {
  return nx_principal_$complex(z, clogl, NX_CONJUGATE, nx_log_$float);
}

static inline $pair nx_log2_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_log2, NX_CONJUGATE, nx_log2_$float);
}

static inline $pair nx_sin_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_sin, NX_ODD, nx_sin_$float);
}

static inline $pair nx_cos_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_cos, NX_EVEN, nx_cos_$float);
}

static inline $pair nx_tan_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_tan, NX_ODD, nx_tan_$float);
}

static inline $pair nx_asin_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_asin, NX_ODD, nx_asin_$float);
}

static inline $pair nx_acos_$complex($pair z) {
  return nx_principal_$complex(z, cacosl, NX_CONJUGATE, nx_acos_$float);
}

static inline $pair nx_atan_$complex($pair z) {
  return nx_principal_$complex(z, nx_wide_atan, NX_ODD, nx_atan_$float);
}

static inline $pair nx_sinh_$complex($pair z) {
  return nx_principal_$complex(z, csinhl, NX_ODD, nx_sinh_$float);
}

static inline $pair nx_cosh_$complex($pair z) {
  return nx_principal_$complex(z, ccoshl, NX_EVEN, nx_cosh_$float);
}

static inline $pair nx_tanh_$complex($pair z) {
  return nx_principal_$complex(z, ctanhl, NX_ODD, nx_tanh_$float);
}

static inline $pair nx_asinh_$complex($pair z) {
  return nx_principal_$complex(z, casinhl, NX_ODD, NULL);
}

static inline $pair nx_acosh_$complex($pair z) {
  return nx_principal_$complex(z, cacoshl, NX_CONJUGATE, NULL);
}

static inline $pair nx_atanh_$complex($pair z) {
  return nx_principal_$complex(z, catanhl, NX_ODD, NULL);
}

// exp(w log z), with the float kind's real part at a positive base and a real exponent.
static inline $pair nx_pow_$complex($pair z, $pair w) {
  bool below = signbit(z.im) != 0;
  $real v = below ? -w.im : w.im;
  nx_wide logarithm = clogl(nx_wide_of(z.re, fabs$m(z.im)));
  long double log_modulus = creall(logarithm), angle = cimagl(logarithm);
  nx_wide power = cexpl(nx_wide_of(w.re * log_modulus - v * angle, w.re * angle + v * log_modulus));
  $real re = nx_nearest_$float(creall(power)), im = nx_nearest_$float(cimagl(power));
  if (z.re > 0 && z.im == 0 && w.im == 0) re = nx_pow_$float(z.re, w.re);
  return ($pair){re, below ? -im : im};
}

// z / |z|, and z at 0. An infinite part is taken for 1, and a finite one beside it for 0.
static inline $pair nx_sign_$complex($pair z) {
  long double x = z.re, y = z.im;
  if (isinf(x) || isinf(y)) {
    x = isinf(x) ? copysignl(1, x) : x * 0;
    y = isinf(y) ? copysignl(1, y) : y * 0;
  }
  long double modulus = cabsl(nx_wide_of(x, y));
  if (modulus == 0) return z;
  return ($pair){nx_nearest_$float(x / modulus), nx_nearest_$float(y / modulus)};
}
