/* The numbers of common rows of columns: a matrix with room for more columns or, if that would be
   too large, a list of partners per column. */
#include "native.h"

#define AHEAD 6 /* columns */

void native_pairs_free(Pairs *pairs) {
    if (pairs == NULL) return;
    if (pairs->rows != NULL)
        for (int32_t k = 0; k < pairs->room; k++) free(pairs->rows[k].entries);
    if (pairs->known == NULL) free(pairs->joint);
    order_free(pairs);
    FREE(pairs->rows, pairs->supports, pairs->met, pairs->met_counts, pairs->taken, pairs);
}

static int has_arrays(Pairs *pairs, int32_t room) {
    const Grown all[] = {GROWN(pairs->supports), GROWN(pairs->met), GROWN(pairs->met_counts),
                         GROWN(pairs->taken)};
    if (!GROW(all, room)) return 0;
    for (int32_t k = pairs->room; k < room; k++) pairs->taken[k] = 0;
    return order_has_room(pairs, room);
}

Pairs *native_pairs_new(int32_t n, int32_t room, int64_t n_rows, const int64_t *supports) {
    Pairs *pairs = calloc(1, sizeof *pairs);
    if (pairs == NULL || !has_arrays(pairs, room)) {
        native_pairs_free(pairs);
        return NULL;
    }
    pairs->n = n;
    pairs->room = room;
    pairs->n_rows = n_rows;
    for (int32_t k = 0; k < n; k++) pairs->supports[k] = (int32_t)supports[k];
    return pairs;
}

/* Creates the first counts as a matrix. */
int native_pairs_matrix(Pairs *pairs, const int32_t *joint) {
    const size_t n = (size_t)pairs->n, room = (size_t)pairs->room;
    pairs->joint = calloc(room * room, sizeof *joint);
    if (pairs->joint == NULL) return 0;
    for (size_t k = 0; k < n; k++) {
        memcpy(pairs->joint + k * room, joint + k * n, n * sizeof *joint);
        pairs->joint[k * room + k] = 0;
    }
    return 1;
}

/* Creates the counts of n columns with missing cells from matrices of room × room, which the caller
   owns. */
int native_pairs_masked(Pairs *pairs, int32_t n, int32_t room, int32_t *joint,
                        const int32_t *across, const int32_t *known) {
    if (!has_arrays(pairs, room)) return 0;
    pairs->n = n;
    pairs->room = room;
    pairs->joint = joint;
    pairs->across = across;
    pairs->known = known;
    for (int32_t k = 0; k < n; k++) pairs->supports[k] = joint[(size_t)k * (size_t)room + (size_t)k];
    return 1;
}

/* Returns the entry of a partner, which must exist. The loop has no branch that depends on ids. */
static Entry *found(Row *row, int32_t id) {
    Entry *at = row->entries;
    for (int32_t n = row->n; n > 1;) {
        const int32_t half = n / 2;
        at += at[half - 1].id < id ? half : 0;
        n -= half;
    }
    return at;
}

#define MANY 32 /* entries that are read in the time of one search */

/* Subtracts the postponed numbers from the counts of a row before it is read. */
void row_settle(Pairs *pairs, Row *row) {
    const Entry *last = row->entries + row->room - row->n_put_off;
    const int32_t n_put_off = row->n_put_off;
    row->n_put_off = 0;
    if (MANY * (int64_t)n_put_off < row->n) {
        for (int32_t k = 0; k < n_put_off; k++) found(row, last[k].id)->count -= last[k].count;
        return;
    }
    int32_t *taken = pairs->taken;
    for (int32_t k = 0; k < n_put_off; k++) taken[last[k].id] += last[k].count;
    for (int32_t k = 0; k < row->n; k++) row->entries[k].count -= taken[row->entries[k].id];
    for (int32_t k = 0; k < n_put_off; k++) taken[last[k].id] = 0;
}

/* Makes room for three more entries, if possible by removing partners without common rows. */
static int has_room(Pairs *pairs, Row *row) {
    if (row->n + row->n_put_off + 3 <= row->room) return 1;
    row_settle(pairs, row);
    int32_t n = 0;
    for (int32_t k = 0; k < row->n; k++)
        if (row->entries[k].count) row->entries[n++] = row->entries[k];
    row->n = n;
    if (n + 3 > row->room - row->room / 4) {
        const int32_t room = row->room + row->room / 2 + 8;
        const Grown entries[] = {GROWN(row->entries)};
        if (!GROW(entries, room)) return 0;
        row->room = room;
    }
    return 1;
}

/* Appends an entry to a column. */
static int add_entry(Pairs *pairs, Row *row, int32_t id, int32_t count) {
    if (!has_room(pairs, row)) return 0;
    row->entries[row->n++] = (Entry){id, count};
    return 1;
}

/* Records that a partner has fewer common rows, for when the row is read. */
static void put_off(Row *row, int32_t id, int32_t count) {
    row->entries[row->room - ++row->n_put_off] = (Entry){id, count};
}

/* Fills rows with pairs that are sorted by their right column, which is above the left one. The
   left partners of a right column are sorted by setting bits in words, and bits for these words in
   blocks. Returns 0 if memory runs out. */
static int fill_in_order(Pairs *pairs, int64_t n_pairs, const int32_t *left, const int32_t *right,
                         const int32_t *joint) {
    const size_t n_words = (size_t)pairs->n / 64 + 1, n_blocks = n_words / 64 + 1;
    uint64_t *words = calloc(n_words, sizeof *words), *blocks = calloc(n_blocks, sizeof *blocks);
    const int done = words != NULL && blocks != NULL;
    int32_t *counts = pairs->met_counts;
    for (int64_t k = 0, end; done && k < n_pairs; k = end) {
        const int32_t column = right[k];
        Row *row = pairs->rows + column;
        for (end = k; end < n_pairs && right[end] == column; end++) {
            const int32_t id = left[end];
            Row *other = pairs->rows + id;
            other->entries[other->n++] = (Entry){column, joint[end]};
            counts[id] = joint[end];
            words[id / 64] |= (uint64_t)1 << id % 64;
            blocks[id / 4096] |= (uint64_t)1 << id / 64 % 64;
        }
        for (size_t b = 0; b <= (size_t)column / 4096; b++) {
            for (; blocks[b]; blocks[b] &= blocks[b] - 1) {
                const size_t w = 64 * b + (size_t)LOWEST_ONE(blocks[b]);
                for (; words[w]; words[w] &= words[w] - 1) {
                    const int32_t id = (int32_t)(64 * w) + LOWEST_ONE(words[w]);
                    row->entries[row->n++] = (Entry){id, counts[id]};
                }
            }
        }
    }
    FREE(words, blocks);
    return done;
}

/* Fills rows with pairs in any order: first groups them by column, then goes from each column to
   its partners, which sorts the partners. `starts` has the first place of each column. Returns 0 if
   memory runs out. */
static int fill_in_any_order(Pairs *pairs, int64_t n_pairs, const int32_t *left,
                             const int32_t *right, const int32_t *joint, int64_t *starts) {
    Entry *all = malloc((size_t)(2 * n_pairs + 1) * sizeof *all);
    if (all == NULL) return 0;
    for (int64_t k = 0; k < n_pairs; k++) {
        all[starts[left[k]]++] = (Entry){right[k], joint[k]};
        all[starts[right[k]]++] = (Entry){left[k], joint[k]};
    }
    int64_t at = 0;
    for (int32_t k = 0; k < pairs->n; k++)
        for (; at < starts[k]; at++) {
            Row *row = pairs->rows + all[at].id;
            row->entries[row->n++] = (Entry){k, all[at].count};
        }
    free(all);
    return 1;
}

/* Creates the first counts from pairs, each once, in any order. */
int native_pairs_lists(Pairs *pairs, int64_t n_pairs, const int32_t *left, const int32_t *right,
                       const int32_t *joint) {
    const size_t n = (size_t)pairs->n;
    pairs->rows = calloc((size_t)pairs->room, sizeof *pairs->rows);
    int64_t *ends = calloc(n + 1, sizeof *ends);
    int done = pairs->rows != NULL && ends != NULL, in_order = 1;
    if (done) {
        for (int64_t k = 0; k < n_pairs; k++) {
            ends[left[k]]++, ends[right[k]]++;
            if (left[k] >= right[k] || (k && right[k] < right[k - 1])) in_order = 0;
        }
        int64_t at = 0;
        for (size_t k = 0; k < n; k++) {
            Row *row = pairs->rows + k;
            row->room = (int32_t)(ends[k] + ends[k] / 8 + 4);
            row->entries = malloc((size_t)row->room * sizeof *row->entries);
            if (row->entries == NULL) done = 0;
            at += ends[k];
            ends[k] = at - ends[k];
        }
    }
    if (done && in_order) done = fill_in_order(pairs, n_pairs, left, right, joint);
    else if (done) done = fill_in_any_order(pairs, n_pairs, left, right, joint, ends);
    free(ends);
    return done;
}

static int to_lists(Pairs *pairs, int32_t room) {
    pairs->rows = calloc((size_t)room, sizeof *pairs->rows);
    if (pairs->rows == NULL) return 0;
    for (int32_t i = 0; i < pairs->n; i++) {
        const int32_t *counts = pairs->joint + (size_t)i * (size_t)pairs->room;
        Row *row = pairs->rows + i;
        int32_t n_met = 0;
        for (int32_t j = 0; j < pairs->n; j++) n_met += counts[j] > 0;
        row->room = n_met + n_met / 2 + 8;
        row->entries = malloc((size_t)row->room * sizeof *row->entries);
        if (row->entries == NULL) return 0;
        for (int32_t j = 0; j < pairs->n; j++)
            if (counts[j]) row->entries[row->n++] = (Entry){j, counts[j]};
    }
    free(pairs->joint);
    pairs->joint = NULL;
    return 1;
}

/* Returns true if less than a quarter of a matrix is above 0, because lists are faster then. */
static int is_thin(const Pairs *pairs) {
    int64_t n_met = 0;
    for (int32_t i = 0; i < pairs->n; i++) {
        const int32_t *counts = pairs->joint + (size_t)i * (size_t)pairs->room;
        int32_t n = 0;
        for (int32_t j = 0; j < pairs->n; j++) n += counts[j] > 0;
        n_met += n;
    }
    return 4 * n_met < (int64_t)pairs->n * pairs->n;
}

/* Makes room for more columns. A matrix becomes lists if few columns have common rows, or if it
   `must`. Returns 1, or 2 for a matrix, or 0 if memory runs out. */
int native_pairs_make_room(Pairs *pairs, int32_t room, int must) {
    if (!has_arrays(pairs, room)) return 0;
    const size_t n = (size_t)pairs->n, before = (size_t)pairs->room, after = (size_t)room;
    if (pairs->joint != NULL && (must || is_thin(pairs))) {
        if (!to_lists(pairs, room)) return 0;
    } else if (pairs->joint != NULL) {
        int32_t *larger = calloc(after * after, sizeof *larger);
        if (larger == NULL) return 0;
        for (size_t k = 0; k < n; k++)
            memcpy(larger + k * after, pairs->joint + k * before, n * sizeof *larger);
        free(pairs->joint);
        pairs->joint = larger;
    } else {
        const Grown rows[] = {GROWN(pairs->rows)};
        if (!GROW(rows, after)) return 0;
        memset(pairs->rows + before, 0, (after - before) * sizeof *pairs->rows);
    }
    pairs->room = room;
    return pairs->joint != NULL ? 2 : 1;
}

/* Writes the partners of a column and the numbers of common rows; returns the number of partners.
   */
int32_t native_pairs_row(Pairs *pairs, int32_t column, int32_t *ids, int32_t *counts) {
    int32_t n = 0;
    if (pairs->joint != NULL) {
        const int32_t *joint = pairs->joint + (size_t)column * (size_t)pairs->room;
        for (int32_t k = 0; k < pairs->n; k++)
            if (joint[k]) ids[n] = k, counts[n++] = joint[k];
    } else {
        Row *row = pairs->rows + column;
        row_settle(pairs, row);
        for (int32_t k = 0; k < row->n; k++)
            if (row->entries[k].count) ids[n] = row->entries[k].id, counts[n++] = row->entries[k].count;
    }
    return n;
}

static void merge_matrix(Pairs *pairs, int32_t left, int32_t right) {
    const size_t room = (size_t)pairs->room, new = (size_t)pairs->n;
    int32_t *joint = pairs->joint;
    int32_t *of_left = joint + (size_t)left * room, *of_right = joint + (size_t)right * room;
    int32_t *of_new = joint + new * room;
    for (int32_t k = 0; k < pairs->n_met; k++) {
        const int32_t id = pairs->met[k], count = pairs->met_counts[k];
        int32_t *row = joint + (size_t)id * room;
        row[left] = of_left[id] -= count;
        row[right] = of_right[id] -= count;
        row[new] = of_new[id] = count;
    }
    of_left[right] = of_right[left] = 0;
}

/* Subtracts the counts of a new column from the row of one of its parts, side by side. */
static void lessen(Row *row, const Pairs *pairs) {
    Entry *at = row->entries;
    for (int32_t k = 0; k < pairs->n_met; k++) {
        while (at->id < pairs->met[k]) at++;
        at->count -= pairs->met_counts[k];
    }
}

static int merge_lists(Pairs *pairs, int32_t left, int32_t right) {
    Row *rows = pairs->rows;
    row_settle(pairs, rows + left);
    row_settle(pairs, rows + right);
    lessen(rows + left, pairs);
    lessen(rows + right, pairs);
    found(rows + left, right)->count = found(rows + right, left)->count = 0;
    Row *of_new = rows + pairs->n;
    for (int32_t k = 0; k < pairs->n_met; k++) {
        const int32_t id = pairs->met[k], count = pairs->met_counts[k];
        /* prefetch the row, and the places to write to */
        if (k + 2 * AHEAD < pairs->n_met) PREFETCH(rows + pairs->met[k + 2 * AHEAD]);
        if (k + AHEAD < pairs->n_met) {
            const Row *next = rows + pairs->met[k + AHEAD];
            PREFETCH(next->entries + next->n);
            PREFETCH(next->entries + next->room - next->n_put_off - 1);
        }
        if (!add_entry(pairs, rows + id, pairs->n, count) ||
            !add_entry(pairs, of_new, id, count))
            return 0;
        put_off(rows + id, left, count);
        put_off(rows + id, right, count);
    }
    return 1;
}

static int merge(Pairs *pairs, int32_t left, int32_t right, int32_t n_both) {
    if (pairs->joint != NULL) merge_matrix(pairs, left, right);
    else if (!merge_lists(pairs, left, right)) return 0;
    pairs->supports[left] -= n_both;
    pairs->supports[right] -= n_both;
    pairs->supports[pairs->n++] = n_both;
    order_merged(pairs, left, right, n_both);
    return 1;
}

/* Merges two columns, given the number of rows of each column with both, or (`lists`) columns as
   lists, which are merged too. Returns the number of rows in which both are true, or -1 if memory
   runs out. There must be room for one more column. */
int32_t native_pairs_merge(Pairs *pairs, int32_t left, int32_t right, const int32_t *joint,
                           Lists *lists) {
    int32_t n_both;
    if (lists != NULL) {
        n_both = lists_merge(lists, left, right, pairs);
        if (n_both < 0) return -1;
    } else {
        n_both = joint[left];
        pairs->n_met = 0;
        for (int32_t k = 0; k < pairs->n; k++)
            if (joint[k] && k != left && k != right) {
                pairs->met[pairs->n_met] = k;
                pairs->met_counts[pairs->n_met++] = joint[k];
            }
    }
    return merge(pairs, left, right, n_both) ? n_both : -1;
}

/* Counts the common rows of a line with a mostly empty line, in which `n_some` words are not 0. */
static int32_t count_some(const uint64_t *line, const uint64_t *both, const int32_t *some,
                          int32_t n_some) {
    int32_t n = 0;
    for (int32_t k = 0; k < n_some; k++)
        for (uint64_t bits = line[some[k]] & both[some[k]]; bits; bits &= bits - 1) n++;
    return n;
}

/* Merges two columns with `n_both` common rows as lines of bits, and appends the new line. Counts
   only columns with rows in common with both and, if the new line is mostly empty, only its nonzero
   words. Returns 0 if memory runs out. */
int pairs_merge_lines(Pairs *pairs, int way, uint8_t *lines, size_t n_bytes, int32_t left,
                      int32_t right, int32_t n_both) {
    const int32_t n = pairs->n, n_words = (int32_t)(n_bytes / 8);
    uint64_t *both = (uint64_t *)(lines + (size_t)n * n_bytes);
    uint64_t *one = (uint64_t *)(lines + (size_t)left * n_bytes);
    uint64_t *other = (uint64_t *)(lines + (size_t)right * n_bytes);
    int32_t *some = malloc(((size_t)n_words + 1) * sizeof *some), n_some = 0;
    if (some == NULL) return 0;
    for (int32_t k = 0; k < n_words; k++) {
        both[k] = one[k] & other[k];
        one[k] ^= both[k];
        other[k] ^= both[k];
        some[n_some] = k;
        n_some += both[k] != 0;
    }
    pairs->n_met = 0;
    const int is_thin_line = 16 * (int64_t)n_some < n_words;
    const Row *of_left = NULL, *of_right = NULL;
    if (pairs->joint == NULL) {
        of_left = pairs->rows + left;
        of_right = pairs->rows + right;
        row_settle(pairs, pairs->rows + left);
        row_settle(pairs, pairs->rows + right);
    }
    const int32_t *row_left = pairs->joint + (size_t)left * (size_t)pairs->room;
    const int32_t *row_right = pairs->joint + (size_t)right * (size_t)pairs->room;
    const int32_t n_met = of_left == NULL ? n : of_left->n;
    for (int32_t k = 0, l = 0; k < n_met; k++) {
        int32_t id = k;
        if (of_left != NULL) {
            id = of_left->entries[k].id;
            while (l < of_right->n && of_right->entries[l].id < id) l++;
            if (l == of_right->n) break;
            if (of_right->entries[l].id != id || !of_left->entries[k].count ||
                !of_right->entries[l].count)
                continue;
        } else if (!row_left[k] || !row_right[k]) continue;
        if (id == left || id == right) continue;
        const uint64_t *line = (const uint64_t *)(lines + (size_t)id * n_bytes);
        const int32_t count = is_thin_line ? count_some(line, both, some, n_some)
                                           : (int32_t)count_both(way, line, both, n_bytes);
        if (!count) continue;
        pairs->met[pairs->n_met] = id;
        pairs->met_counts[pairs->n_met++] = count;
    }
    free(some);
    return merge(pairs, left, right, n_both);
}
