/* Counts distinct rows exactly: rows with the same place in a table are compared. */
#include "native.h"

/* Hashes bytes quickly. The hash may be weak, because rows with equal hashes are compared. */
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

/* Consecutive rows of bytes: row k is at starts[k] to starts[k + 1], or all rows have the same
   length if `starts` is NULL. */
typedef struct { const uint8_t *cells; const int64_t *starts; int64_t length; } Rows;

static const uint8_t *row_at(const Rows *rows, int64_t k) {
    return rows->cells + (rows->starts ? rows->starts[k] : k * rows->length);
}

static int64_t length_of(const Rows *rows, int64_t k) {
    return rows->starts ? rows->starts[k + 1] - rows->starts[k] : rows->length;
}

/* a row and a part of its hash, which avoids reading most rows; -1: empty */
typedef struct { int32_t row; uint32_t hash; } Place;

/* Number of rows whose places are prefetched together. */
#define TOGETHER 32

/* Returns the first row equal to a row, or the row itself if it is new. The size of the table is a
   power of two. */
static int64_t first_of(Place *table, uint64_t room, const Rows *rows, int64_t row, uint64_t hash) {
    const int64_t n = length_of(rows, row);
    const uint32_t upper = (uint32_t)(hash >> 32);
    uint64_t at = hash & (room - 1);
    for (; table[at].row >= 0; at = (at + 1) & (room - 1)) {
        const int64_t other = table[at].row;
        if (table[at].hash == upper && length_of(rows, other) == n &&
            memcmp(row_at(rows, other), row_at(rows, row), (size_t)n) == 0)
            return other;
    }
    table[at] = (Place){(int32_t)row, upper};
    return row;
}

/* Computes for each row in [first, last) a number that equal rows share. */
void native_hash(const uint8_t *cells, const int64_t *starts, int64_t length, int64_t first,
                 int64_t last, uint64_t *hashes) {
    const Rows rows = {cells, starts, length};
    for (int64_t k = first; k < last; k++) hashes[k] = hash_of(row_at(&rows, k), length_of(&rows, k));
}

/* Counts the distinct rows of one of n_parts parts, into which hashes divide the rows. The number
   of places of the empty table is a power of two; returns -1 if the table becomes too full. Unless
   `firsts` is NULL, writes to it the first equal row of each row. */
int64_t native_distinct(const uint8_t *cells, const int64_t *starts, int64_t length,
                        const uint64_t *hashes, int64_t n_rows, int64_t part, int64_t n_parts,
                        Place *table, int64_t room, int32_t *firsts) {
    const Rows rows = {cells, starts, length};
    const int64_t most = room - room / 8 - TOGETHER;
    int64_t n_distinct = 0, ours[TOGETHER], n_ours = 0;
    for (int64_t k = 0; k < n_rows; k++) {
        const int is_ours = n_parts == 1 ||
            (int64_t)((hashes[k] >> 40) * (uint64_t)n_parts >> 24) == part;
        /* without a branch, which would be unpredictable */
        ours[n_ours] = k;
        n_ours += is_ours;
        PREFETCH(table + (is_ours ? hashes[k] & (uint64_t)(room - 1) : 0));
        if (n_ours < TOGETHER && k + 1 < n_rows) continue;
        if (n_distinct > most) return -1;
        for (int64_t i = 0; i < n_ours; i++) {
            const int64_t first = first_of(table, (uint64_t)room, &rows, ours[i], hashes[ours[i]]);
            n_distinct += first == ours[i];
            if (firsts != NULL) firsts[ours[i]] = (int32_t)first;
        }
        n_ours = 0;
    }
    return n_distinct;
}

/* The hashes of rows of words, in two lanes: hash = scramble(hash ^ word) for each word. They
   represent rows on a cluster, where rows are not compared. So a scramble must be strong: a
   bijection in which every bit of the input affects every bit of the output. These are the
   finalisers of MurmurHash3 and SplitMix64. `hash_lane` of kernel.py computes the same. */
#define SEED 0x243F6A8885A308D3u
#define OTHER_SEED 0x13198A2E03707344u

typedef uint64_t Scramble(uint64_t);

static inline uint64_t scramble(uint64_t x) {
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

static inline uint64_t scramble_otherwise(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Writes the hash of each row to every step-th word. */
static inline void hash_lane(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t seed,
                             Scramble *scramble_word, uint64_t *hashes, int64_t step) {
    int64_t k = 0;
    /* four independent rows at once, so multiplications overlap */
    for (; k + 4 <= n_rows; k += 4) {
        uint64_t a = seed, b = seed, c = seed, d = seed;
        const uint64_t *row = rows + k * n_words;
        for (int64_t i = 0; i < n_words; i++) {
            a = scramble_word(a ^ row[i]);
            b = scramble_word(b ^ row[i + n_words]);
            c = scramble_word(c ^ row[i + 2 * n_words]);
            d = scramble_word(d ^ row[i + 3 * n_words]);
        }
        hashes[k * step] = a;
        hashes[(k + 1) * step] = b;
        hashes[(k + 2) * step] = c;
        hashes[(k + 3) * step] = d;
    }
    for (; k < n_rows; k++) {
        uint64_t hash = seed;
        for (int64_t i = 0; i < n_words; i++) hash = scramble_word(hash ^ rows[k * n_words + i]);
        hashes[k * step] = hash;
    }
}

/* Writes both hashes of each row, side by side. */
void native_hash_words(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t *hashes) {
    hash_lane(rows, n_rows, n_words, SEED, scramble, hashes, 2);
    hash_lane(rows, n_rows, n_words, OTHER_SEED, scramble_otherwise, hashes + 1, 2);
}

/* Size of the table for a bucket, which fits in the cache. */
#define PLACES 4096

static int are_equal(const uint64_t *one, const uint64_t *other, int64_t n_words) {
    for (int64_t i = 0; i < n_words; i++)
        if (one[i] != other[i]) return 0;
    return 1;
}

/* Moves the distinct ones of n rows to the front and returns their number. Rows that find no free
   place keep their duplicates. */
static int64_t each_once(uint64_t *rows, int64_t n, int64_t n_words, int32_t *places) {
    int64_t room = 8, n_once = 0;
    while (room < PLACES && room < 2 * n) room *= 2;
    memset(places, 0, (size_t)room * sizeof *places);
    for (int64_t k = 0; k < n; k++) {
        const uint64_t *row = rows + k * n_words;
        uint64_t at = hash_of((const uint8_t *)row, 8 * n_words) & (uint64_t)(room - 1);
        while (places[at] && !are_equal(rows + (places[at] - 1) * n_words, row, n_words))
            at = (at + 1) & (uint64_t)(room - 1);
        if (places[at]) continue;
        memmove(rows + n_once * n_words, row, (size_t)n_words * sizeof *row);
        n_once++;
        /* a quarter stays free, which ends every search */
        if (n_once <= room / 4 * 3) places[at] = (int32_t)n_once;
    }
    return n_once;
}

static uint64_t bucket_of(uint64_t hash, uint64_t n_buckets) {
    return (hash >> 32) * n_buckets >> 32;
}

/* Sorts rows of n_words words into buckets like `in_buckets` of kernel.py, almost without
   duplicates, and returns their number. `starts` has n_buckets + 2 zeros; then bucket b is at
   starts[b] to starts[b + 1]. There is room for the hash of each row. */
int64_t native_in_buckets(const uint64_t *rows, int64_t n_rows, int64_t n_words, uint64_t n_buckets,
                          uint64_t *hashes, int64_t *starts, uint64_t *sorted) {
    hash_lane(rows, n_rows, n_words, SEED, scramble, hashes, 1);
    for (int64_t k = 0; k < n_rows; k++) starts[bucket_of(hashes[k], n_buckets) + 2]++;
    for (uint64_t b = 2; b < n_buckets + 2; b++) starts[b] += starts[b - 1];
    for (int64_t k = 0; k < n_rows; k++) {
        const uint64_t *row = rows + k * n_words;
        const int64_t to = starts[bucket_of(hashes[k], n_buckets) + 1]++;
        for (int64_t i = 0; i < n_words; i++) sorted[to * n_words + i] = row[i];
    }
    int32_t places[PLACES];
    int64_t first = 0, n_kept = 0;
    for (uint64_t b = 0; b < n_buckets; b++) {
        uint64_t *bucket = sorted + first * n_words;
        const int64_t n_once = each_once(bucket, starts[b + 1] - first, n_words, places);
        memmove(sorted + n_kept * n_words, bucket, (size_t)(n_once * n_words) * sizeof *bucket);
        first = starts[b + 1];
        n_kept += n_once;
        starts[b + 1] = n_kept;
    }
    return n_kept;
}
