/* The questions of the complete code: RowCode of features/code.py in C; read that first.

   A line of cells is a feature; primitives come first. Rows are processed in blocks, which keeps
   the ranks of all features in the cache. */
#include "native.h"

#define ROWS 64

typedef struct {
    int64_t n_features, n_primitives;
    const int64_t *left, *right;
    const uint32_t *turns;
    int64_t n_variables;
    /* the values of variable v are at starts[v] to starts[v + 1] */
    const int64_t *values, *starts;
} Code;

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline void lower(uint32_t *restrict one, uint32_t *restrict other, uint32_t *restrict first) {
    for (int r = 0; r < ROWS; r++) {
        one[r] = least(one[r], first[r]);
        other[r] = least(other[r], first[r]);
        first[r] = least(one[r], other[r]);
    }
}

static void go_back(const Code *code, uint32_t *ranks) {
    for (int64_t k = code->n_features - code->n_primitives - 1; k >= 0; k--)
        lower(ranks + code->left[k] * ROWS, ranks + code->right[k] * ROWS,
              ranks + (code->n_primitives + k) * ROWS);
}

static void go_forth(const Code *code, uint32_t *ranks) {
    const uint32_t never = (uint32_t)code->n_features;
    for (int64_t k = 0; k < code->n_primitives * ROWS; k++) ranks[k] = never;
    for (int64_t k = 0; k < code->n_features - code->n_primitives; k++)
        lower(ranks + code->left[k] * ROWS, ranks + code->right[k] * ROWS,
              ranks + (code->n_primitives + k) * ROWS);
}

static void other_values(const Code *code, const uint32_t *there, uint32_t *others) {
    const uint32_t never = (uint32_t)code->n_features;
    for (int64_t k = 0; k < code->n_primitives * ROWS; k++) others[k] = never;
    for (int64_t v = 0; v < code->n_variables; v++) {
        uint32_t first[ROWS], second[ROWS];
        for (int r = 0; r < ROWS; r++) first[r] = second[r] = never;
        for (int64_t k = code->starts[v]; k < code->starts[v + 1]; k++) {
            const uint32_t *own = there + code->values[k] * ROWS;
            for (int r = 0; r < ROWS; r++) {
                const uint32_t higher = own[r] < first[r] ? first[r] : own[r];
                second[r] = least(second[r], higher);
                first[r] = least(first[r], own[r]);
            }
        }
        for (int64_t k = code->starts[v]; k < code->starts[v + 1]; k++) {
            const uint32_t *own = there + code->values[k] * ROWS;
            uint32_t *other = others + code->values[k] * ROWS;
            for (int r = 0; r < ROWS; r++) other[r] = own[r] == first[r] ? second[r] : first[r];
        }
    }
    for (int64_t k = 0; k < code->n_features - code->n_primitives; k++) {
        const uint32_t *one = others + code->left[k] * ROWS, *other = others + code->right[k] * ROWS;
        uint32_t *both = others + (code->n_primitives + k) * ROWS;
        for (int r = 0; r < ROWS; r++) both[r] = least(one[r], other[r]);
    }
}

/* Computes the lines of all features in place, after those of the primitives; `false` is NULL
   without missing cells. */
static void merge(const Code *code, uint8_t *cells, uint8_t *denied, int64_t n_rows) {
    for (int64_t k = 0; k < code->n_features - code->n_primitives; k++) {
        const int64_t i = code->left[k] * n_rows, j = code->right[k] * n_rows;
        const int64_t made = (code->n_primitives + k) * n_rows;
        uint8_t *restrict one = cells + i, *restrict other = cells + j, *restrict both = cells + made;
        if (denied == NULL) {
            for (int64_t r = 0; r < n_rows; r++) {
                both[r] = one[r] & other[r];
                one[r] ^= both[r];
                other[r] ^= both[r];
            }
            continue;
        }
        uint8_t *restrict not_one = denied + i, *restrict not_other = denied + j;
        uint8_t *restrict not_both = denied + made;
        for (int64_t r = 0; r < n_rows; r++) {
            const uint8_t p = one[r], q = other[r], not_p = not_one[r], not_q = not_other[r];
            both[r] = p & q;
            not_both[r] = not_p | not_q;
            one[r] = p & not_q;
            not_one[r] = not_p | q;
            other[r] = q & not_p;
            not_other[r] = not_q | p;
        }
    }
}

static void set_ranks(const Code *code, const uint8_t *lines, uint8_t wanted, int64_t n_rows,
                      int64_t start, int n, uint32_t *ranks) {
    const uint32_t never = (uint32_t)code->n_features;
    for (int64_t f = 0; f < code->n_features; f++) {
        const uint8_t *own = lines + f * n_rows + start;
        uint32_t *rank = ranks + f * ROWS;
        const uint32_t turn = code->turns[f];
        for (int r = 0; r < n; r++) rank[r] = own[r] == wanted ? turn : never;
        for (int r = n; r < ROWS; r++) rank[r] = never;
    }
}

/* Computes the cells of all features from those of the primitives. Writes the question to `asked`
   (0: none, 1: with the first probability, 2: with the second), and adds up the counts. `ranks` has
   room for one line of ROWS per feature, or three lines with variables. */
void native_ask(int64_t n_features, int64_t n_primitives, const int64_t *left, const int64_t *right,
                const uint32_t *turns, int64_t n_variables, const int64_t *values,
                const int64_t *starts, int64_t n_rows, uint8_t *cells, uint8_t *denied,
                uint32_t *ranks, uint8_t *asked, int64_t *counts) {
    const Code code = {n_features, n_primitives, left, right, turns, n_variables, values, starts};
    uint32_t *others = n_variables ? ranks + n_features * ROWS : NULL;
    uint32_t *there = n_variables && denied ? others + n_features * ROWS : ranks;
    merge(&code, cells, denied, n_rows);
    for (int64_t start = 0; start < n_rows; start += ROWS) {
        const int n = n_rows - start < ROWS ? (int)(n_rows - start) : ROWS;
        if (denied) set_ranks(&code, denied, 0, n_rows, start, n, ranks);
        else set_ranks(&code, cells, 1, n_rows, start, n, ranks);
        go_back(&code, ranks);
        if (others) {
            if (there != ranks) {
                set_ranks(&code, cells, 1, n_rows, start, n, there);
                go_back(&code, there);
            }
            other_values(&code, there, others);
        }
        go_forth(&code, ranks);
        for (int64_t f = 0; f < n_features; f++) {
            const int64_t line = f * n_rows + start;
            const uint32_t *rank = ranks + f * ROWS, turn = turns[f];
            uint8_t *how = asked + line;
            const uint8_t *own = cells + line;
            for (int r = 0; r < n; r++) how[r] = rank[r] >= turn;
            if (denied)
                for (int r = 0; r < n; r++) how[r] &= own[r] | denied[line + r];
            if (others) {
                const uint32_t *other = others + f * ROWS;
                for (int r = 0; r < n; r++) how[r] <<= other[r] < turn;
            }
            int32_t first = 0, first_yes = 0, second = 0, second_yes = 0;
            for (int r = 0; r < n; r++) {
                first += how[r] & 1;
                first_yes += how[r] & own[r];
                second += how[r] >> 1;
                second_yes += (how[r] >> 1) & own[r];
            }
            counts[f] += first;
            counts[n_features + f] += first_yes;
            counts[2 * n_features + f] += second;
            counts[3 * n_features + f] += second_yes;
        }
    }
}

/* Counts for each merge the rows in which both patterns are known, and those with all tags of the
   left one, of the right one, of both. `known` is NULL without missing cells; both arrays have room
   for all patterns. */
void native_patterns(int64_t n_primitives, int64_t n_merges, const int64_t *left,
                     const int64_t *right, int64_t n_rows, uint8_t *cells, uint8_t *known,
                     int64_t *tables) {
    for (int64_t k = 0; k < n_merges; k++) {
        const int64_t i = left[k] * n_rows, j = right[k] * n_rows, made = (n_primitives + k) * n_rows;
        const uint8_t *restrict one = cells + i, *restrict other = cells + j;
        uint8_t *restrict both = cells + made;
        uint32_t n = 0, s = 0, t = 0, c = 0;
        for (int64_t r = 0; r < n_rows; r++) both[r] = one[r] & other[r];
        if (known == NULL) {
            n = (uint32_t)n_rows;
            for (int64_t r = 0; r < n_rows; r++) s += one[r], t += other[r];
        } else {
            const uint8_t *restrict first = known + i, *restrict second = known + j;
            uint8_t *restrict seen = known + made;
            for (int64_t r = 0; r < n_rows; r++) {
                const uint8_t here = first[r] & second[r];
                seen[r] = both[r] | (first[r] ^ one[r]) | (second[r] ^ other[r]);
                n += here;
                s += one[r] & here;
                t += other[r] & here;
            }
        }
        for (int64_t r = 0; r < n_rows; r++) c += both[r];
        tables[k] += n;
        tables[n_merges + k] += s;
        tables[2 * n_merges + k] += t;
        tables[3 * n_merges + k] += c;
    }
}
