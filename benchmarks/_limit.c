/* Ways to count the ones of a & b, and to read memory: how fast can a thread be here?
   n is a number of 64-bit words, a multiple of 64; a count is made anew `times` times. */
#include <stddef.h>
#include <stdint.h>

#define ANEW __asm__ volatile("" ::: "memory")

/* The instruction for one word, where the processor has it. */
uint64_t words(const uint64_t *a, const uint64_t *b, size_t n, size_t times) {
    uint64_t s = 0, t = 0, u = 0, v = 0;
    while (times--) {
        ANEW;
        for (size_t k = 0; k < n; k += 4) {
            s += __builtin_popcountll(a[k] & b[k]);
            t += __builtin_popcountll(a[k + 1] & b[k + 1]);
            u += __builtin_popcountll(a[k + 2] & b[k + 2]);
            v += __builtin_popcountll(a[k + 3] & b[k + 3]);
        }
    }
    return s + t + u + v;
}

uint64_t read_once(const uint64_t *a, size_t n) {
    uint64_t all = 0;
    for (size_t k = 0; k < n; k++) all ^= a[k];
    return all;
}

#ifdef __AVX2__
#include <immintrin.h>

typedef __m256i V;

#define BOTH(k) _mm256_and_si256(_mm256_loadu_si256((const V *)a + (k)), \
                                 _mm256_loadu_si256((const V *)b + (k)))

static inline V ones_of_bytes(V v) {
    const V ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                    0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const V low = _mm256_set1_epi8(15);
    V upper = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
    return _mm256_add_epi8(_mm256_shuffle_epi8(ones, _mm256_and_si256(v, low)),
                           _mm256_shuffle_epi8(ones, upper));
}

static inline V sum_of_bytes(V bytes) { return _mm256_sad_epu8(bytes, _mm256_setzero_si256()); }

static inline uint64_t sum_of_words(V v) {
    return _mm256_extract_epi64(v, 0) + _mm256_extract_epi64(v, 1) +
           _mm256_extract_epi64(v, 2) + _mm256_extract_epi64(v, 3);
}

/* A table of 16 entries, for 32 bytes at a time. */
uint64_t tables(const uint64_t *a, const uint64_t *b, size_t n, size_t times) {
    V sum = _mm256_setzero_si256();
    while (times--) {
        ANEW;
        for (size_t k = 0; k < n / 4; k += 8) {
            V even = ones_of_bytes(BOTH(k)), odd = ones_of_bytes(BOTH(k + 1));
            for (int j = 2; j < 8; j += 2) {
                even = _mm256_add_epi8(even, ones_of_bytes(BOTH(k + j)));
                odd = _mm256_add_epi8(odd, ones_of_bytes(BOTH(k + j + 1)));
            }
            sum = _mm256_add_epi64(sum, sum_of_bytes(_mm256_add_epi8(even, odd)));
        }
    }
    return sum_of_words(sum);
}

/* x + y + z, bit by bit, is 2 carry + sum; `sum` may be one of the three. */
#define ADD(carry, sum, x, y, z) do { \
    V y_ = (y), z_ = (z), half = _mm256_xor_si256(x, y_); \
    carry = _mm256_or_si256(_mm256_and_si256(x, y_), _mm256_and_si256(half, z_)); \
    sum = _mm256_xor_si256(half, z_); } while (0)

#define FOUR(fours, k) do { V p, q; \
    ADD(p, one, one, BOTH(k), BOTH(k + 1)); \
    ADD(q, one, one, BOTH(k + 2), BOTH(k + 3)); \
    ADD(fours, two, two, p, q); } while (0)

#define EIGHT(eights, k) do { V p_, q_; \
    FOUR(p_, k); FOUR(q_, (k) + 4); \
    ADD(eights, four, four, p_, q_); } while (0)

/* Harley and Seal: adders of bits first, so that one table look-up serves 16 times 32 bytes. */
uint64_t adders(const uint64_t *a, const uint64_t *b, size_t n, size_t times) {
    const V zero = _mm256_setzero_si256();
    uint64_t all = 0;
    while (times--) {
        V one = zero, two = zero, four = zero, eight = zero, sum = zero;
        ANEW;
        for (size_t k = 0; k < n / 4; k += 16) {
            V e, f, sixteens;
            EIGHT(e, k); EIGHT(f, k + 8);
            ADD(sixteens, eight, eight, e, f);
            sum = _mm256_add_epi64(sum, sum_of_bytes(ones_of_bytes(sixteens)));
        }
        all += 16 * sum_of_words(sum) + 8 * sum_of_words(sum_of_bytes(ones_of_bytes(eight))) +
               4 * sum_of_words(sum_of_bytes(ones_of_bytes(four))) +
               2 * sum_of_words(sum_of_bytes(ones_of_bytes(two))) +
               sum_of_words(sum_of_bytes(ones_of_bytes(one)));
    }
    return all;
}
#endif

#ifdef __AVX512VPOPCNTDQ__
#define WIDE(k) _mm512_popcnt_epi64(_mm512_and_si512(_mm512_loadu_si512((const char *)a + 64 * (k)), \
                                                     _mm512_loadu_si512((const char *)b + 64 * (k))))

/* The instruction for eight words. */
uint64_t wide_words(const uint64_t *a, const uint64_t *b, size_t n, size_t times) {
    __m512i s = _mm512_setzero_si512(), t = s, u = s, v = s;
    while (times--) {
        ANEW;
        for (size_t k = 0; k < n / 8; k += 4) {
            s = _mm512_add_epi64(s, WIDE(k));
            t = _mm512_add_epi64(t, WIDE(k + 1));
            u = _mm512_add_epi64(u, WIDE(k + 2));
            v = _mm512_add_epi64(v, WIDE(k + 3));
        }
    }
    return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_add_epi64(s, t), _mm512_add_epi64(u, v)));
}
#endif
