// Casts that are not C's conversions.

// Toward zero, saturated, 0 for a NaN.
static inline $target nx_cast_${float}_$to($real x) {
  if (x <= $below) return $least;
  if (x >= $above) return $most;
  return x == x ? ($target)x : 0;
}

static inline int8_t nx_cast_i64_i4(int64_t x) { return (int8_t)(((x & 15) ^ 8) - 8); }

static inline uint8_t nx_cast_i64_u4(int64_t x) { return (uint8_t)(x & 15); }
