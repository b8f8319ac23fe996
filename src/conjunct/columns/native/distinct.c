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

/* A number for each row from `first` on, before `last`, which equal rows have in common. */
void native_hash(const uint8_t *cells, const int64_t *starts, int64_t length, int64_t first,
                 int64_t last, uint64_t *hashes) {
    const Rows rows = {cells, starts, length};
    for (int64_t k = first; k < last; k++) hashes[k] = hash_of(row_at(&rows, k), length_of(&rows, k));
}

/* Distinct rows among those of one part, of n_parts into which hashes divide them. The table has
   room for a power of two of places, with nothing there; -1 where it becomes too full. */
int64_t native_distinct(const uint8_t *cells, const int64_t *starts, int64_t length,
                        const uint64_t *hashes, int64_t n_rows, int64_t part, int64_t n_parts,
                        Place *table, int64_t room) {
    const Rows rows = {cells, starts, length};
    const int64_t most = room - room / 8 - TOGETHER;
    int64_t n_distinct = 0, ours[TOGETHER], n_ours = 0;
    for (int64_t k = 0; k < n_rows; k++) {
        const int is_ours = n_parts == 1 ||
            (int64_t)((hashes[k] >> 40) * (uint64_t)n_parts >> 24) == part;
        /* without a jump, which nobody could foresee */
        ours[n_ours] = k;
        n_ours += is_ours;
        __builtin_prefetch(table + (is_ours ? hashes[k] & (uint64_t)(room - 1) : 0), 1);
        if (n_ours < TOGETHER && k + 1 < n_rows) continue;
        if (n_distinct > most) return -1;
        for (int64_t i = 0; i < n_ours; i++)
            n_distinct += is_new(table, (uint64_t)room, &rows, ours[i], hashes[ours[i]]);
        n_ours = 0;
    }
    return n_distinct;
}

static uint64_t mix(const uint64_t *row, int64_t n_words, uint64_t mixer) {
    uint64_t word = 0;
    for (int64_t i = 0; i < n_words; i++) {
        word = (word ^ row[i]) * mixer;
        word ^= word >> 29;
    }
    return word;
}

/* One word for each row of n_words words, as `_mixed` of packing.py makes it. */
void native_mix(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t mixer,
                uint64_t *mixed) {
    for (int64_t k = 0; k < n_rows; k++) mixed[k] = mix(rows + k * n_words, n_words, mixer);
}

/* Places in which the rows of a bucket are told apart; they stay in the cache. */
#define PLACES 4096

static int are_equal(const uint64_t *one, const uint64_t *other, int64_t n_words) {
    for (int64_t i = 0; i < n_words; i++)
        if (one[i] != other[i]) return 0;
    return 1;
}

/* Each of n rows once, at their front; how many these are. What finds no place any more is there
   as often as it was. */
static int64_t each_once(uint64_t *rows, int64_t n, int64_t n_words, uint64_t mixer,
                         int32_t *places) {
    int64_t room = 8, n_once = 0;
    while (room < PLACES && room < 2 * n) room *= 2;
    memset(places, 0, (size_t)room * sizeof *places);
    for (int64_t k = 0; k < n; k++) {
        const uint64_t *row = rows + k * n_words;
        uint64_t at = mix(row, n_words, mixer) & (uint64_t)(room - 1);
        while (places[at] && !are_equal(rows + (places[at] - 1) * n_words, row, n_words))
            at = (at + 1) & (uint64_t)(room - 1);
        if (places[at]) continue;
        memmove(rows + n_once * n_words, row, (size_t)n_words * sizeof *row);
        n_once++;
        /* one in four stays free, so that every search ends */
        if (n_once <= room / 4 * 3) places[at] = (int32_t)n_once;
    }
    return n_once;
}

static uint64_t bucket_of(const uint64_t *row, int64_t n_words, uint64_t mixer,
                          uint64_t n_buckets) {
    return (mix(row, n_words, mixer) >> 32) * n_buckets >> 32;
}

/* Rows of n_words words, one bucket after the other, as `in_buckets` of packing.py has them, each
   about once; how many these are. There are n_buckets + 2 starts, all zero; then bucket b is from
   starts[b] to starts[b + 1]. */
int64_t native_in_buckets(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t mixer,
                          uint64_t n_buckets, int64_t *starts, uint64_t *sorted) {
    for (int64_t k = 0; k < n_rows; k++)
        starts[bucket_of(rows + k * n_words, n_words, mixer, n_buckets) + 2]++;
    for (uint64_t b = 2; b < n_buckets + 2; b++) starts[b] += starts[b - 1];
    for (int64_t k = 0; k < n_rows; k++) {
        const uint64_t *row = rows + k * n_words;
        const int64_t to = starts[bucket_of(row, n_words, mixer, n_buckets) + 1]++;
        for (int64_t i = 0; i < n_words; i++) sorted[to * n_words + i] = row[i];
    }
    int32_t places[PLACES];
    int64_t first = 0, n_kept = 0;
    for (uint64_t b = 0; b < n_buckets; b++) {
        uint64_t *bucket = sorted + first * n_words;
        const int64_t n_once = each_once(bucket, starts[b + 1] - first, n_words, mixer, places);
        memmove(sorted + n_kept * n_words, bucket, (size_t)(n_once * n_words) * sizeof *bucket);
        first = starts[b + 1];
        n_kept += n_once;
        starts[b + 1] = n_kept;
    }
    return n_kept;
}
