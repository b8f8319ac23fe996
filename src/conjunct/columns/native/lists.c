/* Merges columns, stored as lists of rows, in place. */
#include "native.h"

#define AHEAD 12 /* rows */

void native_lists_free(Lists *lists) {
    if (lists == NULL) return;
    FREE(lists->rows, lists->starts, lists->lengths, lists->columns, lists->row_starts,
         lists->row_lengths, lists->is_there, lists->counts, lists->is_met, lists);
}

static int make_room(Lists *lists, int32_t room) {
    const size_t n = (size_t)lists->n, m = (size_t)room, n_words = m / 64 + 1;
    const Grown all[] = {GROWN(lists->starts), GROWN(lists->lengths), GROWN(lists->counts)};
    const Grown words[] = {GROWN(lists->is_met)};
    if (!GROW(all, m) || !GROW(words, n_words)) return 0;
    memset(lists->counts + n, 0, (m - n) * sizeof *lists->counts);
    memset(lists->is_met, 0, n_words * sizeof *lists->is_met);
    lists->room = room;
    return 1;
}

/* Creates lists from the start of each column in a list of rows, that list, and weights of rows. */
Lists *native_lists_new(int32_t n_columns, int64_t n_rows, const int64_t *starts,
                        const int32_t *rows, const int32_t *weights) {
    Lists *lists = calloc(1, sizeof *lists);
    if (lists == NULL) return NULL;
    lists->weights = weights;
    const size_t n_ones = (size_t)starts[n_columns];
    lists->n = 0;
    lists->n_rows = n_rows;
    lists->rows = malloc((n_ones + 1) * sizeof *lists->rows);
    lists->columns = malloc((n_ones + 1) * sizeof *lists->columns);
    lists->row_starts = calloc((size_t)n_rows + 1, sizeof *lists->row_starts);
    lists->row_lengths = calloc((size_t)n_rows + 1, sizeof *lists->row_lengths);
    lists->is_there = calloc((size_t)n_rows + 1, 1);
    if (lists->rows == NULL || lists->columns == NULL || lists->row_starts == NULL ||
        lists->row_lengths == NULL || lists->is_there == NULL ||
        !make_room(lists, n_columns + n_columns / 2 + 64)) {
        native_lists_free(lists);
        return NULL;
    }
    memcpy(lists->rows, rows, n_ones * sizeof *rows);
    for (size_t k = 0; k < n_ones; k++) lists->row_lengths[rows[k]]++;
    int64_t at = 0;
    for (int64_t row = 0; row < n_rows; row++) {
        lists->row_starts[row] = at;
        at += lists->row_lengths[row];
        lists->row_lengths[row] = 0;
    }
    for (int32_t column = 0; column < n_columns; column++) {
        lists->starts[column] = starts[column];
        lists->lengths[column] = (int32_t)(starts[column + 1] - starts[column]);
        for (int64_t k = starts[column]; k < starts[column + 1]; k++) {
            const int32_t row = rows[k];
            lists->columns[lists->row_starts[row] + lists->row_lengths[row]++] = column;
        }
    }
    lists->n = n_columns;
    return lists;
}

/* Moves the rows with both columns from the two lists to the end of the room of the left one, and
   returns their number. */
static int32_t take_common(Lists *lists, int32_t left, int32_t right) {
    uint8_t *is_there = lists->is_there;
    int32_t *one = lists->rows + lists->starts[left], *other = lists->rows + lists->starts[right];
    const int32_t n_one = lists->lengths[left], n_other = lists->lengths[right];
    for (int32_t k = 0; k < n_other; k++) is_there[other[k]] = 1;
    int32_t n_left = 0, end = n_one;
    while (n_left < end) {
        const int32_t row = one[n_left];
        if (is_there[row]) {
            is_there[row] = 2;
            one[n_left] = one[--end];
            one[end] = row;
        } else {
            n_left++;
        }
    }
    int32_t n_right = 0;
    for (int32_t k = 0; k < n_other; k++) {
        const int32_t row = other[k];
        if (is_there[row] == 1) other[n_right++] = row;
        is_there[row] = 0;
    }
    lists->lengths[left] = n_left;
    lists->lengths[right] = n_right;
    return n_one - n_left;
}

/* Replaces two columns by their conjunctions, and counts the rows that each other column shares
   with the new one. Returns the number of rows in which both are true, or -1 if memory runs out. */
static int32_t merge(Lists *lists, int32_t left, int32_t right) {
    if (lists->n == lists->room && !make_room(lists, lists->room + lists->room / 2)) return -1;
    const int32_t n_both = take_common(lists, left, right), new = lists->n++;
    const int32_t *both = lists->rows + lists->starts[left] + lists->lengths[left];
    lists->starts[new] = both - lists->rows;
    lists->lengths[new] = n_both;
    int32_t total = 0;
    for (int32_t k = 0; k < n_both; k++) {
        const int32_t weight = lists->weights == NULL ? 1 : lists->weights[both[k]];
        total += weight;
        if (k + AHEAD < n_both) PREFETCH(lists->columns + lists->row_starts[both[k + AHEAD]]);
        int32_t *cells = lists->columns + lists->row_starts[both[k]];
        const int32_t n = lists->row_lengths[both[k]]--;
        int32_t of_left = 0, of_right = 0;
        for (int32_t c = 0; c < n; c++) {
            const int32_t id = cells[c];
            of_left = id == left ? c : of_left;
            of_right = id == right ? c : of_right;
            lists->counts[id] += weight;
            lists->is_met[id / 64] |= (uint64_t)1 << id % 64;
        }
        /* the last cell replaces the removed one */
        cells[of_left] = new;
        cells[of_right] = cells[n - 1];
    }
    /* both columns leave these rows, so neither shares a row with the new column */
    const int32_t two[] = {left, right};
    for (int k = 0; k < 2; k++) {
        lists->counts[two[k]] = 0;
        lists->is_met[two[k] / 64] &= ~((uint64_t)1 << two[k] % 64);
    }
    return total;
}

/* Merges two columns, and counts the rows of each column with both; -1 if memory runs out. */
int32_t native_lists_merge(Lists *lists, int32_t left, int32_t right, int32_t *joint) {
    const int32_t n_both = merge(lists, left, right), new = lists->n - 1;
    if (n_both < 0) return -1;
    memcpy(joint, lists->counts, (size_t)new * sizeof *joint);
    joint[left] = joint[right] = n_both;
    memset(lists->counts, 0, (size_t)new * sizeof *lists->counts);
    memset(lists->is_met, 0, (size_t)(new / 64 + 1) * sizeof *lists->is_met);
    return n_both;
}

/* Merges two columns like the above, and writes only columns with common rows to the pairs. */
int32_t lists_merge(Lists *lists, int32_t left, int32_t right, Pairs *pairs) {
    const int32_t n_both = merge(lists, left, right), new = lists->n - 1;
    if (n_both < 0) return -1;
    pairs->n_met = 0;
    for (int32_t k = 0; k <= new / 64; k++) {
        uint64_t bits = lists->is_met[k];
        lists->is_met[k] = 0;
        for (; bits; bits &= bits - 1) {
            const int32_t id = 64 * k + LOWEST_ONE(bits);
            pairs->met[pairs->n_met] = id;
            pairs->met_counts[pairs->n_met++] = lists->counts[id];
            lists->counts[id] = 0;
        }
    }
    return n_both;
}
