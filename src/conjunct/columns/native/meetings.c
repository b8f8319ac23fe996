/* Counts common rows of columns from lists: for each column, it goes through the rows. */
#include "native.h"

/* Columns and rows as sorted lists of each other. */
typedef struct {
    int64_t n_columns;
    const int64_t *starts;
    const int32_t *rows;
    const int64_t *row_starts;
    const int32_t *columns;
} Ones;

/* Writes the pairs of `n` new columns with all columns before them and with the kept ones (`keeps`,
   or NULL), each pair once, to `left`, `right` and `joint`, which must have room. Returns the
   number of pairs, or -1 if memory runs out. */
int64_t native_meetings(const Ones *ones, const int32_t *new, int64_t n, const uint8_t *keeps,
                        int32_t *left, int32_t *right, int32_t *joint) {
    int32_t *counts = calloc((size_t)ones->n_columns + 1, sizeof *counts);
    if (counts == NULL) return -1;
    int64_t n_pairs = 0;
    for (int64_t k = 0; k < n; k++) {
        const int32_t column = new[k];
        int32_t *met = right + n_pairs;
        int64_t n_met = 0;
        for (int64_t r = ones->starts[column]; r < ones->starts[column + 1]; r++) {
            const int32_t row = ones->rows[r];
            const int32_t *other = ones->columns + ones->row_starts[row];
            const int32_t *end = ones->columns + ones->row_starts[row + 1];
            for (; other < end; other++) {
                if (*other >= column) {
                    if (keeps == NULL) break;
                    if (!keeps[*other]) continue;
                }
                if (counts[*other]++ == 0) met[n_met++] = *other;
            }
        }
        for (int64_t c = 0; c < n_met; c++, n_pairs++) {
            const int32_t other = met[c];
            joint[n_pairs] = counts[other];
            counts[other] = 0;
            left[n_pairs] = other < column ? other : column;
            right[n_pairs] = other < column ? column : other;
        }
    }
    free(counts);
    return n_pairs;
}
