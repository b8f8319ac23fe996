/* Shared declarations of the C files, which kernel.py calls. They use no Python and have no state;
   the caller owns all memory. If memory runs out, functions report it, and the caller must free
   their arguments without using them again. */
#ifndef CONJUNCT_NATIVE_H
#define CONJUNCT_NATIVE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Compiler extensions of GCC and Clang. Other compilers, and tests with PLAIN_C, get plain C. */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(PLAIN_C)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define COUNT_ONES(word) __builtin_popcountll(word)
#define LOWEST_ONE(word) __builtin_ctzll(word) /* the word must not be 0 */
#define PREFETCH(place) __builtin_prefetch(place, 1)
#if defined(__x86_64__)
#define X86 1
#endif
#else
#define ALWAYS_INLINE static inline
static inline int count_ones(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (int)(word * 0x0101010101010101u >> 56);
}
#define COUNT_ONES(word) count_ones(word)
#define LOWEST_ONE(word) count_ones(((word) - 1) & ~(word))
#define PREFETCH(place) ((void)(place))
#endif

/* An array that grows: its address, and the size of an element in bytes. */
typedef struct { void **array; size_t size; } Grown;
#define GROWN(array) {(void **)&(array), sizeof *(array)}

/* Gives each of n arrays room for `room` elements; returns 0 if memory runs out. */
static inline int grow(const Grown *arrays, size_t n, size_t room) {
    for (size_t k = 0; k < n; k++) {
        void *larger = realloc(*arrays[k].array, room * arrays[k].size);
        if (larger == NULL) return 0;
        *arrays[k].array = larger;
    }
    return 1;
}
#define GROW(arrays, room) grow(arrays, sizeof arrays / sizeof *arrays, (size_t)(room))

/* Frees all arrays of a list. */
static inline void free_each(void **arrays, size_t n) {
    for (size_t k = 0; k < n; k++) free(arrays[k]);
}
#define FREE(...) do { void *all_[] = {__VA_ARGS__}; \
    free_each(all_, sizeof all_ / sizeof *all_); } while (0)

/* Puts the smaller of two columns first. */
static inline void order_columns(int32_t *one, int32_t *other) {
    if (*one > *other) { const int32_t k = *one; *one = *other; *other = k; }
}

/* Returns the first place in [low, high) of sorted numbers with at least `number`, else `high`. */
static inline int64_t first_place(const int32_t *numbers, int64_t low, int64_t high,
                                  int64_t number) {
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (numbers[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* A partner of a column, and the number of their common rows. */
typedef struct { int32_t id, count; } Entry;

/* The partners of a column, sorted by id; some may have no common rows any more. The end of the
   room has the numbers that are still to be subtracted from their counts. */
typedef struct { Entry *entries; int32_t n, room, n_put_off; } Row;

/* Two columns that may not be joined until one of them changes. */
typedef struct { int32_t one, other, version_of_one, version_of_other; } Refusal;

/* Columns, their counts alone and together, and the values of pairs. */
typedef struct {
    int32_t n, room;
    int64_t n_rows;
    int32_t *supports;
    int32_t *joint; /* a matrix of room × room, or NULL if `rows` is used */
    /* with missing cells, owned by the caller, like `joint` then: the rows in which one column is
       true and the other known, and those in which both are known; else NULL */
    const int32_t *across, *known;
    Row *rows;
    /* the sorted columns that share rows with a new column, and the numbers of these rows */
    int32_t *met, *met_counts, n_met;
    int32_t *taken; /* zeros between calls */

    /* the order of pairs: best.c */
    double total, n_used, rise, margin, log_alpha;
    int32_t has_alpha, max_size, n_merges;
    double *costs, *log_sides;
    int32_t *sizes, *versions;
    /* For each column, the upper bound of the value of its best pair, minus the rise at that time;
       the highest bound of each block of columns; the number of merges when the bound was
       computed; the best partner, and the number of their common rows; and the number of pairs so
       close to the best that rounding may matter. */
    double *bounds, *highest;
    int32_t *made_at, *partners, *partner_counts, *n_near;
    double *shrinks, *log_factorials; /* tables for numbers below the following limits */
    int64_t n_shrinks, n_log_factorials;
    Refusal *refused; /* a cache: other pairs are tested again */
    Refusal *forbidden;
    int32_t n_forbidden, forbidden_room;
    /* the pairs of the current column */
    double *worths;
    int32_t *seen, *seen_counts;
} Pairs;

/* Columns as lists of rows, and rows as lists of columns. */
typedef struct {
    int32_t n, room;
    int64_t n_rows;
    int32_t *rows;    /* of all columns; a new column takes part of the room of its left part */
    int64_t *starts;  /* of each column in `rows` */
    int32_t *lengths;
    int32_t *columns; /* of all rows */
    int64_t *row_starts;
    int32_t *row_lengths;
    uint8_t *is_there;
    int32_t *counts;  /* zeros between calls */
    uint64_t *is_met; /* bits, zeros between calls */
    const int32_t *weights; /* weights of rows, owned by the caller; NULL: 1 */
} Lists;

typedef struct Patterns Patterns;

uint64_t count_both(int way, const void *one, const void *other, size_t n_bytes);
int64_t native_patterns_count(const Patterns *patterns, int32_t left, int32_t right);
int64_t native_patterns_join(Patterns *patterns, int32_t left, int32_t right);
int32_t native_pairs_merge(Pairs *pairs, int32_t left, int32_t right, const int32_t *joint,
                           Lists *lists);
int pairs_merge_lines(Pairs *pairs, int way, uint8_t *lines, size_t n_bytes, int32_t left,
                      int32_t right, int32_t n_both);
int32_t lists_merge(Lists *lists, int32_t left, int32_t right, Pairs *pairs);
void row_settle(Pairs *pairs, Row *row);
int order_has_room(Pairs *pairs, int32_t room);
void order_merged(Pairs *pairs, int32_t left, int32_t right, int32_t n_both);
void order_free(Pairs *pairs);

#endif
