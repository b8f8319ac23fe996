/* Counts the ones of a & b for lines of packed bits.

   Lines are whole 64-bit words. A tile of lines, with a piece of each line, fits in the cache: all
   pairs of `left` and `right` lines are counted there before the next piece is read. The method of
   counting depends on the processor and is chosen at run time; the counts do not depend on it. */
#include "native.h"

#ifdef X86
#include <immintrin.h>
#endif

/* size of a tile: bytes of a line, lines of `left` and lines of `right` */
#define PIECE 4096
#define LEFT_LINES 48
#define RIGHT_LINES 4

typedef uint64_t (*Ones)(const uint8_t *a, const uint8_t *b, size_t n_bytes);

static inline uint64_t word(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

ALWAYS_INLINE uint64_t by_words(const uint8_t *a, const uint8_t *b, size_t n_bytes) {
    uint64_t sum = 0;
    for (size_t k = 0; k < n_bytes; k += 8) sum += (uint64_t)COUNT_ONES(word(a + k) & word(b + k));
    return sum;
}

static uint64_t ones_anywhere(const uint8_t *a, const uint8_t *b, size_t n_bytes) {
    return by_words(a, b, n_bytes);
}

#ifdef X86
#define WITH(features) __attribute__((target(features)))

WITH("popcnt") static uint64_t ones_popcnt(const uint8_t *a, const uint8_t *b, size_t n_bytes) {
    return by_words(a, b, n_bytes);
}

typedef __m256i V;

#define BOTH(k) _mm256_and_si256(_mm256_loadu_si256((const V *)a + (k)), \
                                 _mm256_loadu_si256((const V *)b + (k)))

/* bitwise, x + y + z is 2 carry + sum; `sum` may be one of the three */
#define ADD(carry, sum, x, y, z) do { \
    V y_ = (y), z_ = (z), half = _mm256_xor_si256(x, y_); \
    carry = _mm256_or_si256(_mm256_and_si256(x, y_), _mm256_and_si256(half, z_)); \
    sum = _mm256_xor_si256(half, z_); } while (0)

#define FOUR(fours, k) do { V p, q; \
    ADD(p, one, one, BOTH(k), BOTH((k) + 1)); \
    ADD(q, one, one, BOTH((k) + 2), BOTH((k) + 3)); \
    ADD(fours, two, two, p, q); } while (0)

#define EIGHT(eights, k) do { V p_, q_; \
    FOUR(p_, k); FOUR(q_, (k) + 4); \
    ADD(eights, four, four, p_, q_); } while (0)

/* the ones of each 8 bytes */
WITH("avx2,popcnt") static inline V ones_of(V v) {
    const V ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                    0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const V low = _mm256_set1_epi8(15);
    V lower = _mm256_shuffle_epi8(ones, _mm256_and_si256(v, low));
    V upper = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(v, 4), low));
    return _mm256_sad_epu8(_mm256_add_epi8(lower, upper), _mm256_setzero_si256());
}

/* Harley and Seal's method: bit adders first, so one table lookup serves 16 times 32 bytes */
WITH("avx2,popcnt") static uint64_t ones_avx2(const uint8_t *a, const uint8_t *b, size_t n_bytes) {
    const size_t n = n_bytes / 32, whole = n / 16 * 16;
    V one = _mm256_setzero_si256(), two = one, four = one, eight = one, sum = one;
    size_t k = 0;
    for (; k < whole; k += 16) {
        V e, f, sixteens;
        EIGHT(e, k);
        EIGHT(f, k + 8);
        ADD(sixteens, eight, eight, e, f);
        sum = _mm256_add_epi64(sum, ones_of(sixteens));
    }
    sum = _mm256_slli_epi64(sum, 4);
    if (whole) {
        sum = _mm256_add_epi64(sum, _mm256_slli_epi64(ones_of(eight), 3));
        sum = _mm256_add_epi64(sum, _mm256_slli_epi64(ones_of(four), 2));
        sum = _mm256_add_epi64(sum, _mm256_slli_epi64(ones_of(two), 1));
        sum = _mm256_add_epi64(sum, ones_of(one));
    }
    for (; k < n; k++) sum = _mm256_add_epi64(sum, ones_of(BOTH(k)));
    uint64_t words[4];
    _mm256_storeu_si256((V *)words, sum);
    return words[0] + words[1] + words[2] + words[3] +
           by_words(a + 32 * n, b + 32 * n, n_bytes - 32 * n);
}

#define WIDE(k) _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512(a + 64 * (k)), \
                                                     _mm512_loadu_si512(b + 64 * (k))))

/* with the instruction for eight words */
WITH("avx512f,avx512vpopcntdq,popcnt")
static uint64_t ones_avx512(const uint8_t *a, const uint8_t *b, size_t n_bytes) {
    const size_t n = n_bytes / 64;
    __m512i s = _mm512_setzero_si512(), t = s, u = s, v = s;
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        s = _mm512_add_epi64(s, WIDE(k));
        t = _mm512_add_epi64(t, WIDE(k + 1));
        u = _mm512_add_epi64(u, WIDE(k + 2));
        v = _mm512_add_epi64(v, WIDE(k + 3));
    }
    for (; k < n; k++) s = _mm512_add_epi64(s, WIDE(k));
    s = _mm512_add_epi64(_mm512_add_epi64(s, t), _mm512_add_epi64(u, v));
    return (uint64_t)_mm512_reduce_add_epi64(s) +
           by_words(a + 64 * n, b + 64 * n, n_bytes - 64 * n);
}
#endif

/* Increase this whenever the arguments or results of a function change. */
int native_version(void) { return 17; }

/* Ways to count, from the one for every processor to the widest. */
static const Ones ways[] = {
    ones_anywhere,
#ifdef X86
    ones_popcnt, ones_avx2, ones_avx512,
#endif
};

/* Returns the widest way that this processor supports. */
int native_best_way(void) {
#ifdef X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq")) return 3;
    if (__builtin_cpu_supports("avx2")) return 2;
    if (__builtin_cpu_supports("popcnt")) return 1;
#endif
    return 0;
}

/* Counts the rows in which two lines are both true. */
uint64_t count_both(int way, const void *one, const void *other, size_t n_bytes) {
    return ways[way](one, other, n_bytes);
}

/* Merges two of n lines, which are consecutive in memory with room for one more. Their conjunction
   is appended and removed from both. Returns its joint counts with the original lines. */
void native_merge_lines(int way, uint8_t *lines, size_t n, size_t n_bytes, size_t left,
                        size_t right, int32_t *joint) {
    const Ones ones = ways[way];
    uint64_t *both = (uint64_t *)(lines + n * n_bytes);
    uint64_t *one = (uint64_t *)(lines + left * n_bytes);
    uint64_t *other = (uint64_t *)(lines + right * n_bytes);
    for (size_t k = 0; k < n_bytes / 8; k++) both[k] = one[k] & other[k];
    for (size_t i = 0; i < n; i++)
        joint[i] = (int32_t)ones(lines + i * n_bytes, (const uint8_t *)both, n_bytes);
    for (size_t k = 0; k < n_bytes / 8; k++) one[k] ^= both[k], other[k] ^= both[k];
}

/* A piece of some consecutive lines. */
static void copy_pieces(uint8_t *into, const uint8_t *const *lines, size_t n_lines, size_t at,
                        size_t n) {
    for (size_t k = 0; k < n_lines; k++) memcpy(into + k * PIECE, lines[k] + at, n);
}

/* Adds the joint counts of each line of left[start … stop) with each line of right.

   Row i of `out`, of 32-bit or 64-bit integers, has n_right cells. With `triangle`, left and right
   are the same lines, and only cells from the diagonal on are counted. Returns 0, or 1 if memory
   runs out. */
int native_count(int way, const uint8_t *const *left, size_t start, size_t stop,
                 const uint8_t *const *right, size_t n_right, size_t n_bytes, void *out,
                 int is_wide, int triangle) {
    const Ones ones = ways[way];
    int32_t *narrow = out;
    int64_t *wide = out;
    /* copy pieces that are read often to addresses that suit wide registers */
    const int copies = n_right > RIGHT_LINES;
    uint8_t *memory = malloc((LEFT_LINES + RIGHT_LINES) * PIECE + 64);
    if (memory == NULL) return 1;
    uint8_t *of_left = memory + (64 - (uintptr_t)memory % 64);
    uint8_t *of_right = of_left + LEFT_LINES * PIECE;
    for (size_t i0 = start; i0 < stop; i0 += LEFT_LINES) {
        const size_t n_i = stop - i0 < LEFT_LINES ? stop - i0 : LEFT_LINES;
        for (size_t at = 0; at < n_bytes; at += PIECE) {
            const size_t n = n_bytes - at < PIECE ? n_bytes - at : PIECE;
            if (copies) copy_pieces(of_left, left + i0, n_i, at, n);
            for (size_t j0 = triangle ? i0 : 0; j0 < n_right; j0 += RIGHT_LINES) {
                const size_t n_j = n_right - j0 < RIGHT_LINES ? n_right - j0 : RIGHT_LINES;
                copy_pieces(of_right, right + j0, n_j, at, n);
                for (size_t i = 0; i < n_i; i++)
                    for (size_t j = 0; j < n_j; j++) {
                        const size_t cell = (i0 + i) * n_right + j0 + j;
                        if (triangle && i0 + i > j0 + j) continue;
                        const uint8_t *line = copies ? of_left + i * PIECE : left[i0 + i] + at;
                        const uint64_t found = ones(line, of_right + j * PIECE, n);
                        if (is_wide) wide[cell] += (int64_t)found;
                        else narrow[cell] += (int32_t)found;
                    }
            }
        }
    }
    free(memory);
    return 0;
}
