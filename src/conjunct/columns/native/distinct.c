/* How many rows are distinct, exact: rows that have the same place in a table are compared. */
#include "native.h"

static uint64_t hash_of(const uint8_t *cells, int64_t n) {
    uint64_t hash = (uint64_t)n * 0x9E3779B97F4A7C15u, word = 0;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        memcpy(&word, cells + k, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    if (k < n) {
        word = 0;
        memcpy(&word, cells + k, (size_t)(n - k));
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    }
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u;
    return hash ^ hash >> 32;
}

/* a row and a part of its hash, so that most rows need not be looked at; -1: nothing there */
typedef struct { int32_t row; uint32_t hash; } Place;

/* Rows whose places are fetched together, while they are still on their way from memory. */
#define TOGETHER 32

/* Whether a row is new in a table whose size is a power of two. */
static int is_new(Place *table, uint64_t room, const uint8_t *cells, const int64_t *starts,
                  int64_t row, uint64_t hash) {
    const int64_t n = starts[row + 1] - starts[row];
    const uint32_t upper = (uint32_t)(hash >> 32);
    uint64_t at = hash & (room - 1);
    for (; table[at].row >= 0; at = (at + 1) & (room - 1)) {
        const int64_t other = table[at].row;
        if (table[at].hash == upper && starts[other + 1] - starts[other] == n &&
            memcmp(cells + starts[other], cells + starts[row], (size_t)n) == 0)
            return 0;
    }
    table[at] = (Place){(int32_t)row, upper};
    return 1;
}

/* Distinct rows among those of one part, of n_parts into which hashes divide them; to `firsts`,
   if it is not NULL, where each of them stands for the first time. Row k is the bytes from
   starts[k] to starts[k + 1]. -1 where memory ends, or a part is far larger than it should be. */
int64_t native_distinct(const uint8_t *cells, const int64_t *starts, int64_t n_rows, int64_t part,
                        int64_t n_parts, int64_t *firsts) {
    const uint64_t expected = (uint64_t)(n_parts == 1 ? n_rows : n_rows / n_parts * 5 / 4 + 64);
    uint64_t room = 64;
    while (room < 2 * expected) room *= 2;
    Place *table = malloc(room * sizeof *table);
    if (table == NULL) return -1;
    memset(table, 0xFF, room * sizeof *table);
    int64_t n_distinct = 0;
    for (int64_t k = 0; k < n_rows && n_distinct >= 0; k += TOGETHER) {
        uint64_t hashes[TOGETHER];
        const int64_t n = n_rows - k < TOGETHER ? n_rows - k : TOGETHER;
        for (int64_t i = 0; i < n; i++) {
            hashes[i] = hash_of(cells + starts[k + i], starts[k + i + 1] - starts[k + i]);
            __builtin_prefetch(table + (hashes[i] & (room - 1)), 1);
        }
        for (int64_t i = 0; i < n; i++)
            if ((int64_t)(hashes[i] >> 40) % n_parts == part &&
                is_new(table, room, cells, starts, k + i, hashes[i])) {
                if (firsts != NULL) firsts[n_distinct] = k + i;
                n_distinct++;
            }
        if (2 * (uint64_t)n_distinct > room + 2 * TOGETHER) n_distinct = -1;
    }
    free(table);
    return n_distinct;
}
