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

/* Rows of bytes, one after the other: row k from starts[k] to starts[k + 1], or, if starts is
   NULL, all of them equally long. */
typedef struct { const uint8_t *cells; const int64_t *starts; int64_t length; } Rows;

static const uint8_t *row_at(const Rows *rows, int64_t k) {
    return rows->cells + (rows->starts ? rows->starts[k] : k * rows->length);
}

static int64_t length_of(const Rows *rows, int64_t k) {
    return rows->starts ? rows->starts[k + 1] - rows->starts[k] : rows->length;
}

/* a row and a part of its hash, so that most rows need not be looked at; -1: nothing there */
typedef struct { int32_t row; uint32_t hash; } Place;

/* Rows whose places are fetched together, while they are still on their way from memory. */
#define TOGETHER 32

/* Whether a row is new in a table whose size is a power of two. */
static int is_new(Place *table, uint64_t room, const Rows *rows, int64_t row, uint64_t hash) {
    const int64_t n = length_of(rows, row);
    const uint32_t upper = (uint32_t)(hash >> 32);
    uint64_t at = hash & (room - 1);
    for (; table[at].row >= 0; at = (at + 1) & (room - 1)) {
        const int64_t other = table[at].row;
        if (table[at].hash == upper && length_of(rows, other) == n &&
            memcmp(row_at(rows, other), row_at(rows, row), (size_t)n) == 0)
            return 0;
    }
    table[at] = (Place){(int32_t)row, upper};
    return 1;
}

/* Distinct rows among those of one part, of n_parts into which hashes divide them; to `firsts`,
   if it is not NULL, where each of them stands for the first time. -1 where memory ends, or a part
   is far larger than it should be. */
int64_t native_distinct(const uint8_t *cells, const int64_t *starts, int64_t length,
                        int64_t n_rows, int64_t part, int64_t n_parts, int64_t *firsts) {
    const Rows rows = {cells, starts, length};
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
            hashes[i] = hash_of(row_at(&rows, k + i), length_of(&rows, k + i));
            __builtin_prefetch(table + (hashes[i] & (room - 1)), 1);
        }
        for (int64_t i = 0; i < n; i++)
            if ((int64_t)(hashes[i] >> 40) % n_parts == part &&
                is_new(table, room, &rows, k + i, hashes[i])) {
                if (firsts != NULL) firsts[n_distinct] = k + i;
                n_distinct++;
            }
        if (2 * (uint64_t)n_distinct > room + 2 * TOGETHER) n_distinct = -1;
    }
    free(table);
    return n_distinct;
}

/* One word for each row of n_words words, as `_mixed` of packing.py makes it. */
void native_mix(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t mixer,
                uint64_t *mixed) {
    for (int64_t k = 0; k < n_rows; k++, rows += n_words) {
        uint64_t word = 0;
        for (int64_t i = 0; i < n_words; i++) {
            word = (word ^ rows[i]) * mixer;
            word ^= word >> 29;
        }
        mixed[k] = word;
    }
}
