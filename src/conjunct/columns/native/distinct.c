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

/* Row k is the bytes from starts[k] to starts[k + 1]; -1 where memory ends. */
int64_t native_count_distinct(const uint8_t *cells, const int64_t *starts, int64_t n_rows) {
    uint64_t room = 64;
    while (room < 2 * (uint64_t)n_rows) room *= 2;
    /* a row and a part of its hash, so that most rows need not be looked at; -1: nothing there */
    struct { int32_t row; uint32_t hash; } *table = malloc(room * sizeof *table);
    if (table == NULL) return -1;
    memset(table, 0xFF, room * sizeof *table);
    int64_t n_distinct = 0;
    for (int64_t k = 0; k < n_rows; k++) {
        const uint8_t *row = cells + starts[k];
        const int64_t n = starts[k + 1] - starts[k];
        const uint64_t hash = hash_of(row, n);
        uint64_t at = hash & (room - 1);
        for (; table[at].row >= 0; at = (at + 1) & (room - 1)) {
            const int64_t other = table[at].row;
            if (table[at].hash == (uint32_t)(hash >> 32) && starts[other + 1] - starts[other] == n &&
                memcmp(cells + starts[other], row, (size_t)n) == 0)
                break;
        }
        if (table[at].row < 0) {
            table[at].row = (int32_t)k;
            table[at].hash = (uint32_t)(hash >> 32);
            n_distinct++;
        }
    }
    free(table);
    return n_distinct;
}
