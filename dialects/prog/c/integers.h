// Integers: 32 and 64 bits wide, wrapping.

static inline $int nx_neg_$integer($int x) { return ($int)(0 - ($word)x); }

static inline $int nx_recip_$signed($int x) { return x == 1 || x == -1 ? x : 0; }

static inline $int nx_recip_$unsigned($int x) { return x == 1; }

static inline $int nx_abs_$signed($int x) { return x < 0 ? nx_neg_$integer(x) : x; }

static inline $int nx_abs_$unsigned($int x) { return x; }

static inline $int nx_sign_$signed($int x) { return (x > 0) - (x < 0); }

static inline $int nx_sign_$unsigned($int x) { return x != 0; }

static inline $int nx_floor_$integer($int x) { return x; }

static inline $int nx_ceil_$integer($int x) { return x; }

static inline $int nx_round_$integer($int x) { return x; }

static inline $int nx_trunc_$integer($int x) { return x; }

// gcc 12 takes two sums in one loop for each other if there are conversions in them, as there are
// below. It can't follow a sum through this.
static inline $word nx_unfollowed_$integer($word x) {
#if defined(__GNUC__) && __GNUC__ == 12
  __asm__("" : "+r"(x));
#endif
  return x;
}

static inline $int nx_add_$integer($int x, $int y) { return ($int)nx_unfollowed_$integer(($word)x + ($word)y); }

static inline $int nx_sub_$integer($int x, $int y) { return ($int)nx_unfollowed_$integer(($word)x - ($word)y); }

static inline $int nx_mul_$integer($int x, $int y) { return ($int)nx_unfollowed_$integer(($word)x * ($word)y); }

// The least value by -1 is no quotient of C's.
static inline $int nx_idiv_$signed($int x, $int y) {
  return y == 0 ? 0 : y == -1 ? nx_neg_$integer(x) : x / y;
}

static inline $int nx_idiv_$unsigned($int x, $int y) { return y == 0 ? 0 : x / y; }

static inline $int nx_mod_$signed($int x, $int y) { return y == 0 ? x : y == -1 ? 0 : x % y; }

static inline $int nx_mod_$unsigned($int x, $int y) { return y == 0 ? x : x % y; }

// By squaring.
static inline $int nx_pow_$unsigned($int x, $int y) {
  $int power = 1;
  for (; y != 0; y >>= 1, x *= x) power *= y & 1 ? x : 1;
  return power;
}

// A negative exponent gives the integer part of the power, and 0 for a base of 0.
static inline $int nx_pow_$signed($int x, $int y) {
  if (y >= 0) return ($int)nx_pow_$of_word(($word)x, ($word)y);
  return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
}

static inline $int nx_maximum_$integer($int x, $int y) { return x < y ? y : x; }

static inline $int nx_minimum_$integer($int x, $int y) { return y < x ? y : x; }

static inline $int nx_and_$integer($int x, $int y) { return x & y; }

static inline $int nx_or_$integer($int x, $int y) { return x | y; }

static inline $int nx_xor_$integer($int x, $int y) { return x ^ y; }

static inline bool nx_equal_$integer($int x, $int y) { return x == y; }

static inline bool nx_not_equal_$integer($int x, $int y) { return x != y; }

static inline bool nx_less_$integer($int x, $int y) { return x < y; }

static inline bool nx_less_equal_$integer($int x, $int y) { return x <= y; }

static inline $int nx_where_$integer(bool c, $int x, $int y) { return c ? x : y; }

static inline $int nx_fma_$integer($int x, $int y, $int z) {
  return ($int)(($word)x * ($word)y + ($word)z);
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
