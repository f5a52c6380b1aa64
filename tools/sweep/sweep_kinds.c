/* Checks float32 kinds of one operand, as tools/sweep_kinds.py asks.
 *
 *     sweep_kinds range FIRST LAST KIND...   all operands whose magnitude has bits FIRST to LAST
 *     sweep_kinds list KIND...               the operands whose bits stand on stdin, 4 bytes each
 *     sweep_kinds reference KIND...          prints the long double references of such operands
 *
 * FIRST is a multiple of BLOCK, and LAST one less than one, in hexadecimal; a range has both
 * signs. On stdout is a line for each operand at which the kind isn't known to give the correctly
 * rounded result, all bits in hexadecimal:
 *
 *     KIND OPERAND RESULT EXPECTED
 *
 * EXPECTED is `?` where this program can't tell, a few operands of a million.
 *
 * The reference is a long double function, of 64 bits of precision or more. It decides where all
 * values within a relative 2^-44 of it round to one float32. That is wide enough if the function
 * is within 2^19 units in the last place of the exact value. glibc's manual gives at most 6 of them
 * for these functions, and the tests measure each. tan is a quotient of two of them, which adds
 * their errors. No kind calls a long double function but within a relative 2^-49 of where the
 * rounding changes, so that the reference of a kind is never the function which that calls.
 *
 * Rounding is monotone, and so are the functions in the magnitude, on either side of zero, up to
 * `monotone` in the table below. If the results at two magnitudes round to one float32, then all
 * between them do, and the reference is evaluated only where it changes. That holds for NaNs as
 * well: on either side, a function has them from some magnitude on, and nowhere before.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nx_kinds.h"

#if LDBL_MANT_DIG < 64
#error "the reference needs a long double of at least 64 bits of precision"
#endif

enum { BLOCK = 1 << 14, LIMIT = 1 << 16 };

#define SIGN UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7F800000)
#define ONE_AND_A_HALF UINT32_C(0x3FC00000)
#define ALL UINT32_C(0x7FFFFFFF)
/* Two NaNs that stand for what isn't a float32: any NaN, and a result that isn't decided. */
#define A_NAN UINT32_C(0x7FC00000)
#define UNDECIDED UINT32_C(0x7FFFFFFF)

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? A_NAN : bits;
}

/* The float32 that is nearest to the value that `y` approximates. */
static uint32_t rounded(long double y) {
    uint32_t low = bits_of((float)(y * (1 - 0x1p-44L)));
    uint32_t high = bits_of((float)(y * (1 + 0x1p-44L)));
    return low == high ? low : UNDECIDED;
}

/* X(kind, reference, monotone): its long double function, and up to which magnitude that is
 * monotone. Beyond it, the references of a block are evaluated at once. */
#define KINDS(X) \
    X(sqrt, sqrtl, ALL) \
    X(exp, expl, ALL) \
    X(exp2, exp2l, ALL) \
    X(log, logl, ALL) \
    X(log2, log2l, ALL) \
    X(log1p, log1pl, ALL) \
    X(expm1, expm1l, ALL) \
    X(sin, sinl, ONE_AND_A_HALF) \
    X(cos, cosl, ONE_AND_A_HALF) \
    X(tan, quotient, ONE_AND_A_HALF) \
    X(asin, asinl, ALL) \
    X(acos, acosl, ALL) \
    X(atan, atanl, ALL) \
    X(sinh, sinhl, ALL) \
    X(cosh, coshl, ALL) \
    X(tanh, tanhl, ALL) \
    X(erf, erfl, ALL)

static long double quotient(long double x) {
    return sinl(x) / cosl(x);
}

#define RUN(kind, reference, monotone) \
    static void run_##kind(const uint32_t *operands, size_t count, uint32_t *results) { \
        for (size_t i = 0; i < count; i++) \
            results[i] = bits_of(nx_##kind##_f32(float_of(operands[i]))); \
    }
KINDS(RUN)

struct kind {
    const char *name;
    void (*run)(const uint32_t *operands, size_t count, uint32_t *results);
    long double (*reference)(long double);
    uint32_t monotone;
};

#define ROW(kind, reference, monotone) {#kind, run_##kind, reference, monotone},
static const struct kind kinds[] = {KINDS(ROW)};

static uint32_t operands[BLOCK], results[BLOCK], expected[BLOCK];

/* Sine and cosine of the magnitudes from `trigonometric` on, for three kinds and both signs. */
static long double sines[BLOCK], cosines[BLOCK];
static uint32_t trigonometric = UNDECIDED;

static uint32_t at(const struct kind *kind, uint32_t operand) {
    return rounded(kind->reference((long double)float_of(operand)));
}

/* expected[first + 1 ... last - 1], from the entries on both sides of them. */
static void fill(const struct kind *kind, size_t first, size_t last) {
    if (expected[first] == expected[last] && expected[first] != UNDECIDED) {
        for (size_t i = first + 1; i < last; i++) expected[i] = expected[first];
    } else if (last - first > 1) {
        size_t middle = first + (last - first) / 2;
        expected[middle] = at(kind, operands[middle]);
        fill(kind, first, middle);
        fill(kind, middle, last);
    }
}

static void expect_trigonometric(const struct kind *kind, uint32_t magnitude, int negative) {
    if (trigonometric != magnitude) {
        for (uint32_t i = 0; i < BLOCK; i++) {
            long double x = (long double)float_of(magnitude + i);
            sines[i] = sinl(x);
            cosines[i] = cosl(x);
        }
        trigonometric = magnitude;
    }
    for (size_t i = 0; i < BLOCK; i++) {
        long double sine = negative ? -sines[i] : sines[i];
        expected[i] = rounded(kind->reference == sinl   ? sine
                              : kind->reference == cosl ? cosines[i]
                                                        : sine / cosines[i]);
    }
}

/* Prints where `results` of `operands` aren't as expected. */
static void compare(const struct kind *kind, size_t count) {
    static long lines;
    for (size_t i = 0; i < count; i++) {
        if (results[i] == expected[i]) continue;
        if (++lines > LIMIT) {
            fprintf(stderr, "%s: more than %d operands to report\n", kind->name, LIMIT);
            exit(1);
        }
        printf("%s %08x %08x ", kind->name, (unsigned)operands[i], (unsigned)results[i]);
        if (expected[i] == UNDECIDED)
            puts("?");
        else
            printf("%08x\n", (unsigned)expected[i]);
    }
}

static void check_block(const struct kind *kind, uint32_t magnitude, int negative) {
    for (uint32_t i = 0; i < BLOCK; i++) operands[i] = magnitude + i + (negative ? SIGN : 0);
    kind->run(operands, BLOCK, results);
    if (magnitude < kind->monotone) {
        expected[0] = at(kind, operands[0]);
        expected[BLOCK - 1] = at(kind, operands[BLOCK - 1]);
        fill(kind, 0, BLOCK - 1);
    } else {
        expect_trigonometric(kind, magnitude, negative);
    }
    compare(kind, BLOCK);
}

static void check_list(const struct kind *kind, const uint32_t *list, size_t count) {
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t length = count - done < BLOCK ? count - done : BLOCK;
        memcpy(operands, list + done, length * sizeof *list);
        kind->run(operands, length, results);
        for (size_t i = 0; i < length; i++) expected[i] = at(kind, operands[i]);
        compare(kind, length);
    }
}

static const struct kind *find(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    fprintf(stderr, "no kind %s\n", name);
    exit(1);
}

static int sweep_range(uint32_t first, uint32_t last, int count, char **names) {
    for (uint32_t magnitude = first; magnitude < last; magnitude += BLOCK)
        for (int i = 0; i < count; i++)
            for (int negative = 0; negative < 2; negative++)
                check_block(find(names[i]), magnitude, negative);
    return 0;
}

/* What `reference` and `list` do with the operands on stdin. */
static int for_list(int print, int count, char **names) {
    size_t length = 0, room = BLOCK;
    uint32_t *list = malloc(room * sizeof *list);
    while (list && fread(list + length, sizeof *list, 1, stdin) == 1)
        if (++length == room) list = realloc(list, (room *= 2) * sizeof *list);
    if (!list) return 1;
    for (int i = 0; i < count; i++) {
        const struct kind *kind = find(names[i]);
        if (!print) check_list(kind, list, length);
        for (size_t j = 0; print && j < length; j++)
            printf("%La\n", kind->reference((long double)float_of(list[j])));
    }
    free(list);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "list") == 0) return for_list(0, argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "reference") == 0) return for_list(1, argc - 2, argv + 2);
    if (argc > 3 && strcmp(argv[1], "range") == 0)
        return sweep_range((uint32_t)strtoul(argv[2], NULL, 16), (uint32_t)strtoul(argv[3], NULL, 16),
                           argc - 4, argv + 4);
    fprintf(stderr, "usage: sweep_kinds range FIRST LAST KIND... | list KIND... | reference KIND...\n");
    return 2;
}
