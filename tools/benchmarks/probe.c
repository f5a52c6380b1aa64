// What one thread of the machine can do at most: multiply and add f32 without fusing them, and read
// memory; with the widest vectors that the machine has, chosen when the probe runs.
#include <stdint.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

enum { ROUNDS = 1 << 18, CHAINS = 12, PAGE = 4096 / 8 };

// `peak` runs chains a = a m + c. Each waits for itself, so there are as many as fit into 16
// registers, enough to keep the arithmetic units busy. `read` adds up the words of a memory, several
// pages side by side, because the processor fetches each page ahead by itself.
#define PROBES(NAME, TARGET, BYTES)                                                               \
  typedef float floats_##NAME __attribute__((vector_size(BYTES)));                                \
  typedef uint64_t words_##NAME __attribute__((vector_size(BYTES), aligned(8), may_alias));       \
                                                                                                  \
  TARGET static float peak_##NAME(const float *starts, float factor, float summand) {             \
    const floats_##NAME zero = {0}, m = zero + factor, c = zero + summand;                        \
    floats_##NAME a0 = zero + starts[0], a1 = zero + starts[1], a2 = zero + starts[2];            \
    floats_##NAME a3 = zero + starts[3], a4 = zero + starts[4], a5 = zero + starts[5];            \
    floats_##NAME a6 = zero + starts[6], a7 = zero + starts[7], a8 = zero + starts[8];            \
    floats_##NAME a9 = zero + starts[9], a10 = zero + starts[10], a11 = zero + starts[11];        \
    for (int i = 0; i < ROUNDS; i++) {                                                            \
      a0 = a0 * m + c, a1 = a1 * m + c, a2 = a2 * m + c, a3 = a3 * m + c;                         \
      a4 = a4 * m + c, a5 = a5 * m + c, a6 = a6 * m + c, a7 = a7 * m + c;                         \
      a8 = a8 * m + c, a9 = a9 * m + c, a10 = a10 * m + c, a11 = a11 * m + c;                     \
    }                                                                                             \
    return (a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11)[0];                      \
  }                                                                                               \
                                                                                                  \
  TARGET static uint64_t read_##NAME(const uint64_t *memory, int64_t words) {                     \
    words_##NAME s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};  \
    for (int64_t start = 0; start + 8 * PAGE <= words; start += 8 * PAGE)                         \
      for (int64_t i = start; i < start + PAGE; i += BYTES / 8) {                                 \
        s0 += *(const words_##NAME *)(memory + i);                                                \
        s1 += *(const words_##NAME *)(memory + i + PAGE);                                         \
        s2 += *(const words_##NAME *)(memory + i + 2 * PAGE);                                     \
        s3 += *(const words_##NAME *)(memory + i + 3 * PAGE);                                     \
        s4 += *(const words_##NAME *)(memory + i + 4 * PAGE);                                     \
        s5 += *(const words_##NAME *)(memory + i + 5 * PAGE);                                     \
        s6 += *(const words_##NAME *)(memory + i + 6 * PAGE);                                     \
        s7 += *(const words_##NAME *)(memory + i + 7 * PAGE);                                     \
      }                                                                                           \
    return (s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7)[0];                                            \
  }

PROBES(plain, , 16)
#if defined(__x86_64__)
PROBES(avx2, __attribute__((target("avx2"))), 32)
PROBES(avx512, __attribute__((target("avx512f"))), 64)
#define WIDEST(FUNCTION, ...)                                                                     \
  (__builtin_cpu_supports("avx512f") ? FUNCTION##_avx512(__VA_ARGS__)                             \
   : __builtin_cpu_supports("avx2")  ? FUNCTION##_avx2(__VA_ARGS__)                               \
                                     : FUNCTION##_plain(__VA_ARGS__))
#define LANES (__builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx2") ? 8 : 4)
#else
#define WIDEST(FUNCTION, ...) FUNCTION##_plain(__VA_ARGS__)
#define LANES 4
#endif

// Writes a number that depends on all the work to `out`. Returns the number of operations.
int64_t peak(const float starts[CHAINS], float factor, float summand, float *out) {
  *out = WIDEST(peak, starts, factor, summand);
  return (int64_t)2 * CHAINS * ROUNDS * LANES;
}

uint64_t read_memory(const uint64_t *memory, int64_t words) {
  return WIDEST(read, memory, words);
}
