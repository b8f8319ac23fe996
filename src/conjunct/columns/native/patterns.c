/* Rows that have all tags of a pattern: lines of bits, or sorted lists of rows. The caller owns the
   first ones; joined patterns are allocated here. */
#include "native.h"

struct Patterns {
    int32_t n, n_first, room;
    int way;         /* the way to count bits, see count.c */
    size_t n_bytes;  /* of a line, or 0 for lists */
    const void **rows;
    int64_t *lengths; /* rows of each pattern */
    const int32_t *weights; /* weights of rows for lists, owned by the caller; NULL: 1 */
    /* the bits of lists with at least `n_words` rows, in which rows are found much faster; NULL
       until they are first needed */
    uint64_t **bits;
    size_t n_words;  /* of bits */
};

void native_patterns_free(Patterns *p) {
    if (p == NULL) return;
    if (p->rows != NULL)
        for (int32_t k = p->n_first; k < p->n; k++) free((void *)p->rows[k]);
    if (p->bits != NULL)
        for (int32_t k = 0; k < p->room; k++) free(p->bits[k]);
    FREE(p->rows, p->lengths, p->bits, p);
}

static int make_room(Patterns *p, int32_t room) {
    const Grown all[] = {GROWN(p->rows), GROWN(p->lengths), GROWN(p->bits)};
    if (!GROW(all, room)) return 0;
    for (int32_t k = p->room; k < room; k++) p->bits[k] = NULL;
    p->room = room;
    return 1;
}

/* Creates patterns from the `addresses` of lines or lists, and the number of rows of each. */
Patterns *native_patterns_new(int32_t n, int way, size_t n_bytes, const uint64_t *addresses,
                              const int64_t *lengths, const int32_t *weights) {
    Patterns *p = calloc(1, sizeof *p);
    if (p == NULL || !make_room(p, n + n / 2 + 64)) {
        native_patterns_free(p);
        return NULL;
    }
    p->n = p->n_first = n;
    p->way = way;
    p->n_bytes = n_bytes;
    p->weights = weights;
    for (int32_t k = 0; k < n; k++) {
        p->rows[k] = (const void *)(uintptr_t)addresses[k];
        p->lengths[k] = lengths[k];
    }
    int32_t last = 0;
    for (int32_t k = 0; k < n && !n_bytes; k++)
        if (lengths[k] && ((const int32_t *)p->rows[k])[lengths[k] - 1] > last)
            last = ((const int32_t *)p->rows[k])[lengths[k] - 1];
    p->n_words = (size_t)last / 64 + 1;
    return p;
}

/* Finds the first of some sorted rows that is at least `row`, from `low` on, in doubling steps. */
static int64_t search(const int32_t *rows, int64_t n, int64_t low, int32_t row) {
    int64_t step = 1, high = low;
    while (high < n && rows[high] < row) low = high + 1, high += step, step *= 2;
    return first_place(rows, low, high < n ? high : n, row);
}

/* Returns the bits of a list, or NULL if the list is short or memory runs out. */
static const uint64_t *bits_of(const Patterns *p, int32_t pattern) {
    if (p->bits[pattern] != NULL || p->lengths[pattern] < (int64_t)p->n_words)
        return p->bits[pattern];
    uint64_t *bits = p->bits[pattern] = calloc(p->n_words, sizeof *bits);
    const int32_t *rows = p->rows[pattern];
    if (bits == NULL) return NULL;
    for (int64_t k = 0; k < p->lengths[pattern]; k++)
        bits[rows[k] / 64] |= (uint64_t)1 << rows[k] % 64;
    return bits;
}

/* Counts the common rows of two lists, with the weights `counts`, and writes them to `out` unless
   that is NULL. */
static int64_t intersect(const Patterns *p, int32_t left, int32_t right, int32_t *out, int counts) {
    if (p->lengths[left] > p->lengths[right]) { const int32_t k = left; left = right; right = k; }
    const int32_t *few = p->rows[left], *many = p->rows[right];
    const int32_t *weights = counts ? p->weights : NULL;
    const int64_t n = p->lengths[left], m = p->lengths[right];
    int64_t found = 0, at = 0;
    const uint64_t *bits = weights == NULL ? bits_of(p, right) : NULL;
    if (bits != NULL) {
        const uint64_t *others = out == NULL ? bits_of(p, left) : NULL;
        if (others != NULL)
            return (int64_t)count_both(p->way, others, bits, p->n_words * sizeof *bits);
        for (int64_t k = 0; k < n; k++) {
            if (out != NULL) out[found] = few[k];
            found += (int64_t)(bits[few[k] / 64] >> few[k] % 64 & 1);
        }
        return found;
    }
    if (m < 4 * n && weights == NULL) {
        /* without a branch that depends on the rows */
        for (int64_t k = 0; k < n && at < m;) {
            const int32_t one = few[k], other = many[at];
            if (out != NULL) out[found] = one;
            found += one == other;
            k += one <= other;
            at += other <= one;
        }
        return found;
    }
    for (int64_t k = 0; k < n && at < m; k++) {
        at = search(many, m, at, few[k]);
        if (at < m && many[at] == few[k]) {
            if (out != NULL) out[found] = few[k];
            found += weights == NULL ? 1 : weights[few[k]];
        }
    }
    return found;
}

/* Counts the rows with all tags of two patterns. */
int64_t native_patterns_count(const Patterns *p, int32_t left, int32_t right) {
    if (p->n_bytes && left != right)
        return (int64_t)count_both(p->way, p->rows[left], p->rows[right], p->n_bytes);
    return left == right && p->weights == NULL ? p->lengths[left]
                                               : intersect(p, left, right, NULL, 1);
}

/* Appends the pattern with the tags of both; returns its number of rows, or -1 if memory runs out.
   */
int64_t native_patterns_join(Patterns *p, int32_t left, int32_t right) {
    if (p->n == p->room && !make_room(p, p->room + p->room / 2)) return -1;
    const int64_t shorter =
        p->lengths[left] < p->lengths[right] ? p->lengths[left] : p->lengths[right];
    const size_t size = p->n_bytes ? p->n_bytes : (size_t)(shorter + 1) * sizeof(int32_t);
    void *joined = malloc(size);
    if (joined == NULL) return -1;
    int64_t n;
    if (p->n_bytes) {
        const uint64_t *one = p->rows[left], *other = p->rows[right];
        uint64_t *both = joined;
        for (size_t k = 0; k < p->n_bytes / 8; k++) both[k] = one[k] & other[k];
        n = (int64_t)count_both(p->way, joined, joined, p->n_bytes);
    } else {
        n = intersect(p, left, right, joined, 0);
        void *smaller = realloc(joined, (size_t)(n + 1) * sizeof(int32_t));
        if (smaller != NULL) joined = smaller;
    }
    p->rows[p->n] = joined;
    p->lengths[p->n++] = n;
    return native_patterns_count(p, p->n - 1, p->n - 1);
}
