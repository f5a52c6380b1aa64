// The loop nests that one writes by hand for some of the workloads, with the arithmetic of the
// `.uir` programs in the same order: f32, no fused multiply-add, no reassociation. Each function is
// named as its workload, and takes a pointer to each array.
#include <stdint.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-trapping-math,fp-contract=off")
#endif

// On x86, each nest for the widest vectors that the machine has, chosen when the library is loaded.
// (The clones that clang makes have other names.)
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

enum { ELEMENTS = 1 << 24, ROWS = 4096, COLUMNS = 4096, TOGETHER = 8, N = 256, PREFIXES = 1 << 22 };

// The maximum of IEEE 754: a NaN if there is one, and 0.0 is greater than -0.0. The bits of equal
// numbers differ only in a zero's sign, which "and" clears where one is 0.0.
static inline float maximum(float a, float b) {
  float greater = a > b ? a : b;
  uint32_t a_bits, bits;
  memcpy(&a_bits, &a, sizeof a_bits);
  memcpy(&bits, &greater, sizeof bits);
  bits &= a == b ? a_bits : ~UINT32_C(0);
  memcpy(&greater, &bits, sizeof bits);
  return a != a ? a : greater;
}

WIDEST
void relu(const float *restrict a, const float *restrict b, const float *restrict c,
          float *restrict y) {
  for (int i = 0; i < ELEMENTS; i++) {
    const float sum = a[i] * b[i] + c[i];
    y[i] = sum <= 0.0f ? 0.0f : sum;
  }
}

WIDEST
void sum_leading(const float *restrict x, float *restrict y) {
  for (int j = 0; j < COLUMNS; j++) y[j] = 0.0f;
  for (int i = 0; i < ROWS; i += 4) {
    const float *restrict row = x + (int64_t)i * COLUMNS;
    for (int j = 0; j < COLUMNS; j++)
      y[j] = y[j] + row[j] + row[j + COLUMNS] + row[j + 2 * COLUMNS] + row[j + 3 * COLUMNS];
  }
}

WIDEST
void max_leading(const float *restrict x, float *restrict y) {
  for (int j = 0; j < COLUMNS; j++) y[j] = x[j];
  for (int i = 1; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) y[j] = maximum(y[j], x[(int64_t)i * COLUMNS + j]);
}

// The sum of a row is a chain of additions, so some rows are summed side by side.
WIDEST
void sum_trailing(const float *restrict x, float *restrict y) {
  for (int i = 0; i < ROWS; i += TOGETHER) {
    const float *restrict rows = x + (int64_t)i * COLUMNS;
    float sums[TOGETHER] = {0};
    for (int j = 0; j < COLUMNS; j++)
      for (int r = 0; r < TOGETHER; r++) sums[r] += rows[r * COLUMNS + j];
    memcpy(y + i, sums, sizeof sums);
  }
}

WIDEST
void max_trailing(const float *restrict x, float *restrict y) {
  for (int i = 0; i < ROWS; i += TOGETHER) {
    const float *restrict rows = x + (int64_t)i * COLUMNS;
    float greatest[TOGETHER];
    for (int r = 0; r < TOGETHER; r++) greatest[r] = rows[r * COLUMNS];
    for (int j = 1; j < COLUMNS; j++)
      for (int r = 0; r < TOGETHER; r++) greatest[r] = maximum(greatest[r], rows[r * COLUMNS + j]);
    memcpy(y + i, greatest, sizeof greatest);
  }
}

void loops_gemm_256(const float *restrict a, const float *restrict b, float *restrict c) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0.0f;
      for (int k = 0; k < N; k++) sum += a[i * N + k] * b[k * N + j];
      c[i * N + j] = sum;
    }
}

void loops_prefix_sum(const float *restrict x, float *restrict y) {
  float sum = 0.0f;
  for (int i = 0; i < PREFIXES; i++) {
    sum += x[i];
    y[i] = sum;
  }
}
