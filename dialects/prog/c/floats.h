// Floats: kinds that IEEE 754 defines exactly.

static inline $real nx_neg_$float($real x) { return -x; }

static inline $real nx_abs_$float($real x) { return fabs$m(x); }

static inline $real nx_recip_$float($real x) { return 1 / x; }

// A zero gives +0, and a NaN itself.
static inline $real nx_sign_$float($real x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

static inline $real nx_sqrt_$float($real x) { return sqrt$m(x); }

static inline $real nx_floor_$float($real x) { return floor$m(x); }

static inline $real nx_ceil_$float($real x) { return ceil$m(x); }

// Half away from zero.
static inline $real nx_round_$float($real x) { return round$m(x); }

static inline $real nx_trunc_$float($real x) { return trunc$m(x); }

static inline $real nx_add_$float($real x, $real y) { return x + y; }

static inline $real nx_sub_$float($real x, $real y) { return x - y; }

static inline $real nx_mul_$float($real x, $real y) { return x * y; }

static inline $real nx_fdiv_$float($real x, $real y) { return x / y; }

static inline $real nx_mod_$float($real x, $real y) { return fmod$m(x, y); }

// The first NaN. Of two zeros, whose bits differ in the sign alone, the positive one.
static inline $real nx_maximum_$float($real x, $real y) {
  $real greater = x > y ? x : y;
  $word mask = x == y ? nx_bits_$float(x) : ~($word)0;
  greater = nx_of_bits_$float(nx_bits_$float(greater) & mask);
  return x != x ? x : greater;
}

// The first NaN. Of two zeros the negative one.
static inline $real nx_minimum_$float($real x, $real y) {
  $real less = x < y ? x : y;
  $word mask = x == y ? nx_bits_$float(x) : 0;
  less = nx_of_bits_$float(nx_bits_$float(less) | mask);
  return x != x ? x : less;
}

static inline bool nx_equal_$float($real x, $real y) { return x == y; }

static inline bool nx_not_equal_$float($real x, $real y) { return x != y; }

static inline bool nx_less_$float($real x, $real y) { return x < y; }

static inline bool nx_less_equal_$float($real x, $real y) { return x <= y; }

static inline $real nx_where_$float(bool c, $real x, $real y) { return c ? x : y; }

static inline $real nx_fma_$float($real x, $real y, $real z) { return fma$m(x, y, z); }
