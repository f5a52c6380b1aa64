// Floats narrower than float32, as codes: what they are in float32, and how they are stored.
//
// Past the greatest finite value float16 and bfloat16 have infinity, and the others that value.

static inline float nx_cast_${narrow}_f32($code x) {
  uint32_t magnitude = x & ${magnitude}u, sign = (uint32_t)(x & ${sign}u) << $sign_shift;
  // Too small by a power of two: an exact product, of subnormals too.
  float value = nx_of_bits_f32(magnitude << $shift) * $scale;
  uint32_t bits = nx_bits_f32(value);
  if (magnitude > ${greatest}u) bits = magnitude << $shift | 0x7f800000u;
  return nx_of_bits_f32(bits | sign);
}

static inline $code nx_cast_f32_$narrow(float x) {
  uint32_t bits = nx_bits_f32(x), magnitude = bits & 0x7fffffffu;
  $code sign = ($code)(bits >> 31 << $sign_place);
  if (magnitude > 0x7f800000u) return $nan_of_sign;
  uint32_t code;
  if (magnitude < $least_normal) {
    // The sum's last place is that of the subnormals.
    code = nx_bits_f32(nx_of_bits_f32(magnitude) + $anchor) - nx_bits_f32($anchor);
  } else {
    // To even: half a unit less a bit, and that bit if the last place is odd.
    uint32_t half = (1u << ($shift - 1)) - 1 + (magnitude >> $shift & 1);
    code = (magnitude + half - $rebias) >> $shift;
  }
  return ($code)(sign | (code > ${greatest}u ? ${past}u : code));
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

static inline $code nx_cast_f64_$format(double x) {
  return nx_cast_f32_$format(nx_odd_f64_f32(x));
}

static inline $code nx_neg_$plain($code x) { return x ^ ${sign}u; }

static inline $code nx_abs_$plain($code x) { return x & ${magnitude}u; }

// Kinds store the greatest finite value for an infinity, which the format has all the same.
static inline uint8_t nx_saturated_f8e5m2(uint8_t x) {
  return (x & 0x7fu) == 0x7cu ? (uint8_t)(x - 1) : x;
}

static inline uint8_t nx_neg_f8e5m2(uint8_t x) { return nx_saturated_f8e5m2(x ^ 0x80u); }

static inline uint8_t nx_abs_f8e5m2(uint8_t x) { return nx_saturated_f8e5m2(x & 0x7fu); }

// Rounded once: the product of two codes is exact in double.
static inline $code nx_fma_$format($code x, $code y, $code z) {
  double product = (double)nx_cast_${format}_f32(x) * nx_cast_${format}_f32(y);
  return nx_cast_f64_$format(nx_odd_sum(product, nx_cast_${format}_f32(z)));
}
