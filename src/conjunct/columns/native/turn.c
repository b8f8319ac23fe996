/* Transposes bits: lines of a table's rows become lines of its columns, and back. */
#include "native.h"

#if defined(__SSE2__) && !defined(PLAIN_C)
#include <emmintrin.h>
#endif

/* The position of line k of 64 in a square. Lines at a distance of 16 are side by side, so all
   others are far enough from each other for wide registers. */
#define PLACE(k) ((k) >> 4 | ((k)&15) << 2)

/* Number of rows and columns whose cells are packed together before they are transposed. */
#define ROWS 512
#define SQUARES 8

/* Swaps the bits of a line whose number has the bit `half` with those of the line `half` before
   it. */
static inline void exchange(uint64_t *words, int half, uint64_t mask) {
    const int apart = 4 * half;
    for (int first = 0; first < 64; first += 2 * apart)
        for (int k = first; k < first + apart; k++) {
            const uint64_t moved = (words[k] >> half ^ words[k + apart]) & mask;
            words[k] ^= moved << half;
            words[k + apart] ^= moved;
        }
}

/* Transposes the 64 bits of 64 words: first within squares of 16, then these squares. */
static void turn_square(uint64_t *words) {
    exchange(words, 8, 0x00FF00FF00FF00FFu);
    exchange(words, 4, 0x0F0F0F0F0F0F0F0Fu);
    exchange(words, 2, 0x3333333333333333u);
    exchange(words, 1, 0x5555555555555555u);
    for (int k = 0; k < 64; k += 4) {
#if defined(__SSE2__) && !defined(PLAIN_C)
        __m128i *at = (__m128i *)(words + k);
        const __m128i upper = _mm_loadu_si128(at), lower = _mm_loadu_si128(at + 1);
        const __m128i even = _mm_unpacklo_epi16(upper, lower);
        const __m128i odd = _mm_unpackhi_epi16(upper, lower);
        _mm_storeu_si128(at, _mm_unpacklo_epi16(even, odd));
        _mm_storeu_si128(at + 1, _mm_unpackhi_epi16(even, odd));
#else
        uint64_t turned[4] = {0};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) turned[j] |= (words[k + i] >> 16 * j & 0xFFFF) << 16 * i;
        memcpy(words + k, turned, sizeof turned);
#endif
    }
}

/* Transposes n lines of n_bits bits: bit b of line k becomes bit k of line b. Lines are whole
   bytes, and begin at distances of `step` and `turned_step` bytes. */
void native_turn(const uint8_t *lines, size_t n, size_t n_bits, size_t step, uint8_t *turned,
                 size_t turned_step) {
    uint64_t words[64];
    for (size_t b = 0; b < n_bits; b += 64) {
        const size_t n_turned = n_bits - b < 64 ? n_bits - b : 64, read = (n_turned + 7) / 8;
        for (size_t k = 0; k < n; k += 64) {
            const size_t n_here = n - k < 64 ? n - k : 64, written = (n_here + 7) / 8;
            const uint8_t *from = lines + k * step + b / 8;
            uint8_t *to = turned + b * turned_step + k / 8;
            if (n_here < 64 || read < 8) memset(words, 0, sizeof words);
            if (read == 8)
                for (size_t i = 0; i < n_here; i++) memcpy(words + PLACE(i), from + i * step, 8);
            else
                for (size_t i = 0; i < n_here; i++)
                    memcpy(words + PLACE(i), from + i * step, read);
            turn_square(words);
            if (written == 8)
                for (size_t i = 0; i < n_turned; i++)
                    memcpy(to + i * turned_step, words + PLACE(i), 8);
            else
                for (size_t i = 0; i < n_turned; i++)
                    memcpy(to + i * turned_step, words + PLACE(i), written);
        }
    }
}

/* Packs 64 cells of a row, one byte each, into bits: any nonzero byte is true. */
static inline uint64_t bits_of(const uint8_t *cells) {
    uint64_t bits = 0;
#if defined(__SSE2__) && !defined(PLAIN_C)
    for (int k = 0; k < 64; k += 16) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(cells + k));
        const int none = _mm_movemask_epi8(_mm_cmpeq_epi8(some, _mm_setzero_si128()));
        bits |= (uint64_t)(uint16_t)~none << k;
    }
#else
    const uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
    for (int k = 0; k < 64; k += 8) {
        uint64_t some;
        memcpy(&some, cells + k, 8);
        some = (((some & low) + low) | some) >> 7 & 0x0101010101010101u;
        bits |= (some * 0x0102040810204080u >> 56) << k;
    }
#endif
    return bits;
}

/* Packs a table with one byte per cell, whose rows begin at distances of `step` bytes. Line k is
   then column k; lines begin at distances of `packed_step` bytes and are written in whole words, up
   to the last row. */
void native_pack(const uint8_t *cells, size_t n_rows, size_t n_columns, size_t step,
                 uint8_t *packed, size_t packed_step) {
    uint64_t squares[SQUARES][ROWS];
    uint8_t rest[64] = {0};
    for (size_t b = 0; b < n_rows; b += ROWS) {
        const size_t n_here = n_rows - b < ROWS ? n_rows - b : ROWS, n_words = (n_here + 63) / 64;
        for (size_t first = 0; first < n_columns; first += 64 * SQUARES) {
            const size_t left = n_columns - first;
            const size_t n_lines = left < 64 * SQUARES ? left : 64 * SQUARES;
            if (n_here < ROWS) memset(squares, 0, sizeof squares);
            for (size_t i = 0; i < n_here; i++) {
                const uint8_t *from = cells + (b + i) * step + first;
                const size_t at = i / 64 * 64 + PLACE(i % 64);
                size_t c = 0;
                for (; c + 64 <= n_lines; c += 64) squares[c / 64][at] = bits_of(from + c);
                if (c == n_lines) continue;
                memcpy(rest, from + c, n_lines - c);
                squares[c / 64][at] = bits_of(rest);
            }
            for (size_t c = 0; c < n_lines; c += 64) {
                uint64_t *words = squares[c / 64];
                for (size_t k = 0; k < n_words; k++) turn_square(words + 64 * k);
                for (size_t i = c; i < n_lines && i < c + 64; i++) {
                    uint8_t *to = packed + (first + i) * packed_step + b / 8;
                    for (size_t k = 0; k < n_words; k++)
                        memcpy(to + 8 * k, words + 64 * k + PLACE(i - c), 8);
                }
            }
        }
    }
}
