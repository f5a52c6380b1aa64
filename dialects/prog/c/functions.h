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

static inline double nx_${libm}_f64(double x) {
  return nx_nearest_f64(${libm}l(nx_opaque(x)));
}

static inline float nx_${libm}_f32(float x) {
  double y = $libm((double)x);
  return nx_is_clear(y) ? (float)y : nx_nearest_f32(${libm}l(nx_opaque(x)));
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
