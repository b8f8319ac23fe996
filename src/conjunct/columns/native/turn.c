/* Turns bits around: lines of a table's rows into lines of its columns, and back. */
#include "native.h"

/* The 64 bits of each of 64 words change places with those across the diagonal: first the halves
   of a square, then those of its quarters, down to single bits. */
static void turn_square(uint64_t *words) {
    uint64_t mask = 0x00000000FFFFFFFFu;
    for (int half = 32; half; half /= 2, mask ^= mask << half)
        for (int first = 0; first < 64; first += 2 * half)
            for (int k = first; k < first + half; k++) {
                const uint64_t moved = (words[k] >> half ^ words[k + half]) & mask;
                words[k] ^= moved << half;
                words[k + half] ^= moved;
            }
}

/* n lines of n_bits bits become n_bits lines of n bits: bit b of line k is then bit k of line b.
   Lines are whole bytes, and begin `step` and `turned_step` bytes after each other. */
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
                for (size_t i = 0; i < n_here; i++) memcpy(words + i, from + i * step, 8);
            else
                for (size_t i = 0; i < n_here; i++) memcpy(words + i, from + i * step, read);
            turn_square(words);
            if (written == 8)
                for (size_t i = 0; i < n_turned; i++) memcpy(to + i * turned_step, words + i, 8);
            else
                for (size_t i = 0; i < n_turned; i++)
                    memcpy(to + i * turned_step, words + i, written);
        }
    }
}
