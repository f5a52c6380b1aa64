// The bits of elements.

typedef struct { float re, im; } nx_c64;

typedef struct { double re, im; } nx_c128;

static inline $word nx_bits_$float($real x) {
  $word bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline $real nx_of_bits_$float($word bits) {
  $real x;
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
