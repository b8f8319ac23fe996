/* Finds the pair with the most evidence: EvidencePairs of ufc/search.py in C; read that first. A
   heap of columns replaces the search through all columns.

   Every number comes from one table of x·log2(x) that NumPy made, and sums have the same order.
   Values are therefore equal to the last bit. */
#include "native.h"

/* The evidence of pairs of patterns, by columns, in an open hash table. */
typedef struct { int32_t one, other; double value; } Cap;

/* A pair of a column: its evidence, the number of common rows, the other column, and the version
   of the other column. If that version has changed since, the pair no longer exists. */
typedef struct { double value; int32_t joint, partner, version; } Best;

/* The first few pairs of a column, in order. All other pairs come after the horizon, which is a
   pair that may no longer exist. If the first pairs are removed, the next ones are known to be
   first while they come before the horizon. Therefore ties cause few columns to be examined again.

   A pair is stored only with the column that changed last, which then searches for its pairs again.
   A pair that no longer exists is removed when it comes first. */
#define KEPT 3
typedef struct { int32_t n; Best pairs[KEPT], horizon; } Firsts;

typedef struct {
    Pairs *pairs;
    Patterns *patterns;      /* or NULL if Python counts them */
    int32_t room;
    const double *logs;      /* x·log2(x) for x = 0 … n_rows; owned by the caller */
    int32_t max_size;        /* maximum number of tags of a pattern, or 0 */
    double *of_true, *of_false;
    int32_t *patterns_rows;  /* rows with all tags of the pattern of a column; where cells are
                                missing, whether it was never merged */
    int32_t **tags;          /* of each pattern: sorted ranks of names */
    int32_t *n_tags, *versions; /* a version is the number of changes of a column */
    uint8_t *is_capped;         /* true if patterns of some pair of a column were counted */
    double *values;          /* of the best pair of a column, or a bound */
    Firsts *firsts;
    int32_t *heap, *places;
    Cap *caps;
    int64_t n_caps, caps_room;
} Search;

void native_evidence_free(Search *s) {
    if (s == NULL) return;
    if (s->tags != NULL)
        for (int32_t k = 0; k < s->room; k++) free(s->tags[k]);
    FREE(s->of_true, s->of_false, s->patterns_rows, s->tags, s->n_tags, s->versions, s->is_capped,
         s->values, s->firsts, s->heap, s->places, s->caps, s);
}

static int make_room(Search *s, int32_t room) {
    const Grown all[] = {
        GROWN(s->of_true), GROWN(s->of_false), GROWN(s->values), GROWN(s->patterns_rows),
        GROWN(s->tags), GROWN(s->n_tags), GROWN(s->versions), GROWN(s->is_capped),
        GROWN(s->firsts), GROWN(s->heap), GROWN(s->places)};
    if (!GROW(all, room)) return 0;
    for (int32_t k = s->room; k < room; k++)
        s->tags[k] = NULL, s->versions[k] = s->is_capped[k] = 0;
    s->room = room;
    return 1;
}

/* ---- evidence ---- */

/* Savings are compared to six decimals, as NumPy rounds: half to even. Adding a large number rounds
   without a function call. Values are far below 1e9. */
static inline double rounded(double value) {
    const double large = 6755399441055744.0; /* 1.5 · 2^52 */
    return ((value * 1e6 + large) - large) / 1e6;
}

/* The evidence of a table: of n rows, a have one, b have the other, and `joint` have both. */
static double table_evidence(const Search *s, int64_t n, int64_t a, int64_t b, int64_t joint) {
    const double *logs = s->logs;
    const double cells = (logs[a - joint] + logs[b - joint]) + (logs[joint] + logs[n - a - b + joint]);
    const double margins = (logs[a] + logs[b]) + (logs[n - a] + logs[n - b]);
    return rounded(cells - margins + logs[n]);
}

/* A value that is smaller by more than this is also smaller after rounding. */
#define ROUNDING 1e-6

/* The table of two columns: the rows in which both are known, and those with each. */
typedef struct { int64_t n, a, b; } Table;

static inline Table table_of(const Search *s, int32_t one, int32_t other) {
    const Pairs *p = s->pairs;
    if (p->known == NULL) return (Table){p->n_rows, p->supports[one], p->supports[other]};
    const size_t at = (size_t)one * (size_t)p->room + (size_t)other;
    const size_t back = (size_t)other * (size_t)p->room + (size_t)one;
    return (Table){p->known[at], p->across[at], p->across[back]};
}

/* Returns the evidence of two columns, or any number below `least` if the evidence is below it. */
static inline double evidence(const Search *s, int32_t one, int32_t other, int64_t joint,
                              double least) {
    const double *logs = s->logs;
    const Table t = table_of(s, one, other);
    if (s->pairs->known != NULL) return table_evidence(s, t.n, t.a, t.b, joint);
    const double cells =
        (logs[t.a - joint] + logs[t.b - joint]) + (logs[joint] + logs[t.n - t.a - t.b + joint]);
    const double margins =
        (s->of_true[one] + s->of_true[other]) + (s->of_false[one] + s->of_false[other]);
    const double value = cells - margins + logs[t.n];
    return value < least - ROUNDING ? -INFINITY : rounded(value);
}

static void set_margins(Search *s, int32_t column) {
    const int64_t support = s->pairs->supports[column];
    s->of_true[column] = s->logs[support];
    s->of_false[column] = s->logs[s->pairs->n_rows - support];
}

/* ---- evidence of patterns ---- */

static inline size_t place_of(const Search *s, int32_t one, int32_t other) {
    uint64_t key = (uint64_t)(uint32_t)one << 32 | (uint32_t)other;
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9u;
    key = (key ^ key >> 27) * 0x94D049BB133111EBu;
    return (size_t)((key ^ key >> 31) & (uint64_t)(s->caps_room - 1));
}

static Cap *find_cap(const Search *s, int32_t one, int32_t other) {
    order_columns(&one, &other);
    size_t at = place_of(s, one, other);
    while (s->caps[at].one >= 0 && (s->caps[at].one != one || s->caps[at].other != other))
        at = (at + 1) & (size_t)(s->caps_room - 1);
    return s->caps + at;
}

static int grow_caps(Search *s) {
    const int64_t before = s->caps_room;
    Cap *old = s->caps;
    const int64_t room = before ? 2 * before : 1 << 10;
    Cap *caps = malloc((size_t)room * sizeof *caps);
    if (caps == NULL) return 0;
    for (int64_t k = 0; k < room; k++) caps[k].one = -1;
    s->caps = caps;
    s->caps_room = room;
    for (int64_t k = 0; k < before; k++)
        if (old[k].one >= 0) *find_cap(s, old[k].one, old[k].other) = old[k];
    free(old);
    return 1;
}

/* Returns true if the feature of a column is true in all rows with its pattern. */
static inline int is_whole(const Search *s, int32_t column) {
    if (s->pairs->known != NULL) return s->patterns_rows[column];
    return s->pairs->supports[column] == s->patterns_rows[column];
}

/* Returns true if the evidence of the patterns of a pair is known, and limits `value` to it. */
static int cap_value(const Search *s, int32_t one, int32_t other, double *value) {
    if (is_whole(s, one) && is_whole(s, other)) return 1;
    if (!s->is_capped[one] || !s->is_capped[other]) return 0;
    const Cap *cap = find_cap(s, one, other);
    if (cap->one < 0) return 0;
    if (cap->value < *value) *value = cap->value;
    return 1;
}

/* ---- the order of pairs ---- */

static int compare_tags(const Search *s, int32_t one, int32_t other) {
    if (one == other) return 0;
    const int32_t n = s->n_tags[one], m = s->n_tags[other];
    const int32_t *a = s->tags[one], *b = s->tags[other];
    for (int32_t k = 0; k < n && k < m; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    return n < m ? -1 : n > m;
}

/* Returns true if the names of one pair come before those of another. */
static int is_before(const Search *s, int32_t i, int32_t j, int32_t k, int32_t l) {
    int32_t t;
    if (compare_tags(s, j, i) < 0) { t = i; i = j; j = t; }
    if (compare_tags(s, l, k) < 0) { t = k; k = l; l = t; }
    const int first = compare_tags(s, i, k);
    return first < 0 || (first == 0 && compare_tags(s, j, l) < 0);
}

/* Returns true if one pair of a column comes before another. */
static int is_earlier(const Search *s, int32_t column, const Best *a, const Best *b) {
    if (a->value != b->value) return a->value > b->value;
    if (a->joint != b->joint) return a->joint > b->joint;
    return b->partner < 0 || is_before(s, column, a->partner, column, b->partner);
}

/* Returns true if column a comes before column b in the heap. Of ties, a column with an unknown
   best pair comes first, because that pair may be any of them. */
static int is_better(const Search *s, int32_t a, int32_t b) {
    if (s->values[a] != s->values[b]) return s->values[a] > s->values[b];
    if (s->values[a] == -INFINITY) return 0;
    const Firsts *one = s->firsts + a, *other = s->firsts + b;
    if (!one->n || !other->n) return !one->n && other->n;
    const Best *x = one->pairs, *y = other->pairs;
    if (x->joint != y->joint) return x->joint > y->joint;
    return is_before(s, a, x->partner, b, y->partner);
}

static void put(Search *s, int32_t place, int32_t column) {
    s->heap[place] = column;
    s->places[column] = place;
}

/* Moves a column with a changed value to its place. */
static void sift(Search *s, int32_t column) {
    int32_t at = s->places[column];
    while (at > 0 && is_better(s, column, s->heap[(at - 1) / 2])) {
        put(s, at, s->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= s->pairs->n) break;
        if (child + 1 < s->pairs->n && is_better(s, s->heap[child + 1], s->heap[child])) child++;
        if (!is_better(s, s->heap[child], column)) break;
        put(s, at, s->heap[child]);
        at = child;
    }
    put(s, at, column);
}

static void settle(Search *s, int32_t column) {
    const Firsts *f = s->firsts + column;
    s->values[column] = f->n ? f->pairs[0].value : f->horizon.value;
    sift(s, column);
}

/* Inserts a pair into the first pairs of a column, unless it comes after the horizon or enough
   pairs come before it. */
static void insert(Search *s, int32_t column, Best pair) {
    Firsts *f = s->firsts + column;
    if (!is_earlier(s, column, &pair, &f->horizon)) return;
    const int is_full = f->n == KEPT;
    if (is_full) {
        f->horizon = f->pairs[KEPT - 1];
        if (!is_earlier(s, column, &pair, &f->horizon)) return;
        f->n--;
    }
    int32_t at = f->n++;
    for (; at > 0 && is_earlier(s, column, &pair, f->pairs + at - 1); at--)
        f->pairs[at] = f->pairs[at - 1];
    f->pairs[at] = pair;
    if (is_full) f->horizon = f->pairs[KEPT - 1];
}

/* Removes a pair from the first pairs of a column and returns it; if absent, its partner is -1. */
static Best drop(Search *s, int32_t column, int32_t partner) {
    Firsts *f = s->firsts + column;
    for (int32_t k = 0; k < f->n; k++)
        if (f->pairs[k].partner == partner) {
            const Best pair = f->pairs[k];
            f->n--;
            for (; k < f->n; k++) f->pairs[k] = f->pairs[k + 1];
            return pair;
        }
    return (Best){-INFINITY, 0, -1, 0};
}

static void forget(Search *s, int32_t column) {
    s->firsts[column].n = 0;
    s->firsts[column].horizon = (Best){-INFINITY, 0, -1, 0};
}

/* ---- the pairs of a column ---- */

typedef struct {
    const int32_t *matrix;
    const Entry *entries;
    int32_t n;
} Meetings;

static Meetings meetings_of(Search *s, int32_t column) {
    Pairs *p = s->pairs;
    if (p->joint != NULL)
        return (Meetings){p->joint + (size_t)column * (size_t)p->room, NULL, p->n};
    row_settle(p, p->rows + column);
    return (Meetings){NULL, p->rows[column].entries, p->rows[column].n};
}

#define AT_ONCE 8 /* meetings that are examined together */

/* Returns the first meeting from k on in at least `fewest` rows. */
static int32_t next_meeting(const Meetings *m, int32_t k, int32_t fewest) {
    if (m->matrix != NULL) {
        for (; k + AT_ONCE <= m->n; k += AT_ONCE) {
            int any = 0;
            for (int32_t i = k; i < k + AT_ONCE; i++) any |= m->matrix[i] >= fewest;
            if (any) break;
        }
        while (k < m->n && m->matrix[k] < fewest) k++;
        return k;
    }
    for (; k + AT_ONCE <= m->n; k += AT_ONCE) {
        int any = 0;
        for (int32_t i = k; i < k + AT_ONCE; i++) any |= m->entries[i].count >= fewest;
        if (any) break;
    }
    while (k < m->n && m->entries[k].count < fewest) k++;
    return k;
}

static inline int may_join(const Search *s, int32_t one, int32_t other, int64_t joint) {
    const Table t = table_of(s, one, other);
    return one != other && joint * t.n > t.a * t.b &&
           (!s->max_size || s->n_tags[one] + s->n_tags[other] <= s->max_size);
}

/* Returns the minimum number of common rows, from `fewest` on, for a pair with evidence of `least`.
   Of all partners with a given number of common rows, one without other rows has the most. */
static int64_t enough(const Search *s, int32_t column, double least, int64_t fewest) {
    if (s->pairs->known != NULL) return fewest; /* a table may have fewer rows */
    const double *logs = s->logs;
    const int64_t a = s->pairs->supports[column], n = s->pairs->n_rows;
    for (; fewest < a; fewest++) {
        const double cells = (logs[a - fewest] + logs[0]) + (logs[fewest] + logs[n - a]);
        const double margins =
            (s->of_true[column] + logs[fewest]) + (s->of_false[column] + logs[n - fewest]);
        if (rounded(cells - margins + logs[n]) >= least) break;
    }
    return fewest;
}

/* Finds the first pairs of a column again. */
static void renew(Search *s, int32_t column) {
    const Meetings m = meetings_of(s, column);
    const Best *horizon = &s->firsts[column].horizon;
    forget(s, column);
    int64_t fewest = 1;
    for (int32_t k = 0; (k = next_meeting(&m, k, (int32_t)fewest)) < m.n; k++) {
        const int32_t id = m.matrix != NULL ? k : m.entries[k].id;
        const int64_t joint = m.matrix != NULL ? m.matrix[k] : m.entries[k].count;
        if (!may_join(s, column, id, joint)) continue;
        const double least = horizon->value;
        double value = evidence(s, column, id, joint, least);
        /* skip pairs that cannot come first */
        if (value < least) continue;
        cap_value(s, column, id, &value);
        if (!(value > 0) || value < least) continue;
        insert(s, column, (Best){value, (int32_t)joint, id, s->versions[id]});
        if (horizon->value > least) fewest = enough(s, column, horizon->value, fewest);
    }
    settle(s, column);
}

/* ---- what Python calls ---- */

/* Creates a search. The caller owns `logs`, which is x·log2(x) for x = 0 … n_rows, and `patterns`.
   `patterns_rows` counts the rows with all tags of each pattern, whose tags are between two starts.
   */
Search *native_evidence_new(Pairs *pairs, Patterns *patterns, const double *logs, int32_t max_size,
                            const int32_t *patterns_rows, const int64_t *starts,
                            const int32_t *tags) {
    Search *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->pairs = pairs;
    s->patterns = patterns;
    s->logs = logs;
    s->max_size = max_size;
    if (!make_room(s, pairs->room) || !grow_caps(s)) goto failed;
    for (int32_t k = 0; k < pairs->n; k++) {
        const size_t n = (size_t)(starts[k + 1] - starts[k]);
        s->tags[k] = malloc((n + 1) * sizeof(int32_t));
        if (s->tags[k] == NULL) goto failed;
        memcpy(s->tags[k], tags + starts[k], n * sizeof(int32_t));
        s->n_tags[k] = (int32_t)n;
        s->patterns_rows[k] = patterns_rows[k];
        set_margins(s, k);
        s->values[k] = -INFINITY;
        forget(s, k);
        put(s, k, k);
    }
    for (int32_t k = 0; k < pairs->n; k++) renew(s, k);
    return s;
failed:
    native_evidence_free(s);
    return NULL;
}

/* Limits the evidence of two columns by the table of their patterns: of n rows, a have all tags of
   one, b of the other, and `joint` of both. */
int native_evidence_cap(Search *s, int32_t one, int32_t other, int64_t n, int64_t a, int64_t b,
                        int64_t joint) {
    order_columns(&one, &other);
    if (2 * s->n_caps >= s->caps_room && !grow_caps(s)) return 0;
    Cap *cap = find_cap(s, one, other);
    if (cap->one < 0) s->n_caps++;
    const double value = joint * n > a * b ? table_evidence(s, n, a, b, joint) : -INFINITY;
    *cap = (Cap){one, other, value};
    s->is_capped[one] = s->is_capped[other] = 1;
    const int32_t columns[] = {one, other};
    for (int k = 0; k < 2; k++) {
        Best pair = drop(s, columns[k], columns[1 - k]);
        if (pair.partner < 0) continue;
        if (value < pair.value) pair.value = value;
        if (pair.value > 0) insert(s, columns[k], pair);
        settle(s, columns[k]);
    }
    return 1;
}

/* Writes the best pair to `out`: its columns, their supports and joint count. Returns 1; 2 if the
   rows of its patterns must be counted first; 0 if there is none; -1 if memory runs out. */
int32_t native_evidence_best(Search *s, int32_t *out, double *value) {
    while (s->pairs->n) {
        const int32_t first = s->heap[0];
        if (s->values[first] == -INFINITY) return 0;
        if (!s->firsts[first].n) {
            renew(s, first);
            continue;
        }
        const int32_t other = s->firsts[first].pairs[0].partner;
        if (s->firsts[first].pairs[0].version != s->versions[other]) {
            drop(s, first, other);
            settle(s, first);
            continue;
        }
        out[0] = first < other ? first : other;
        out[1] = first < other ? other : first;
        out[2] = s->pairs->supports[out[0]];
        out[3] = s->pairs->supports[out[1]];
        out[4] = s->firsts[first].pairs[0].joint;
        *value = s->values[first];
        double capped = *value;
        if (cap_value(s, first, other, &capped)) return 1;
        if (s->patterns == NULL) return 2;
        const int64_t joint = native_patterns_count(s->patterns, first, other);
        const int64_t a = s->patterns_rows[first], b = s->patterns_rows[other];
        if (!native_evidence_cap(s, first, other, s->pairs->n_rows, a, b, joint)) return -1;
    }
    return 0;
}

static int join_tags(Search *s, int32_t left, int32_t right, int32_t new) {
    const int32_t n = s->n_tags[left], m = s->n_tags[right];
    const int32_t *a = s->tags[left], *b = s->tags[right];
    int32_t *joined = malloc((size_t)(n + m + 1) * sizeof *joined);
    if (joined == NULL) return 0;
    int32_t i = 0, j = 0, k = 0;
    while (i < n || j < m) joined[k++] = j == m || (i < n && a[i] < b[j]) ? a[i++] : b[j++];
    s->tags[new] = joined;
    s->n_tags[new] = k;
    return 1;
}

/* Records a merge; `rows` is the number of rows with all tags of both patterns, if Python counts.
   */
int native_evidence_merged(Search *s, int32_t left, int32_t right, int32_t rows) {
    const Pairs *p = s->pairs;
    const int32_t new = p->n - 1;
    if (s->patterns != NULL) rows = (int32_t)native_patterns_join(s->patterns, left, right);
    if (rows < 0) return 0;
    if (new >= s->room && !make_room(s, p->room)) return 0;
    if (!join_tags(s, left, right, new)) return 0;
    if (p->known != NULL) {
        rows = s->patterns_rows[left] && s->patterns_rows[right];
        s->patterns_rows[left] = s->patterns_rows[right] = 0;
    }
    s->patterns_rows[new] = rows;
    const int32_t changed[] = {new, left, right};
    put(s, new, new);
    s->values[new] = -INFINITY;
    s->versions[left]++;
    s->versions[right]++;
    for (int k = 0; k < 3; k++) {
        set_margins(s, changed[k]);
        forget(s, changed[k]);
        settle(s, changed[k]);
    }
    for (int k = 0; k < 3; k++) renew(s, changed[k]);
    return 1;
}

/* Makes the next merges, at most `most`, of lists, or of lines of bits, of which `lines_room` fit.
   Stops if no pair may be joined or there is no room for another column. `out` has five numbers per
   merge: columns, their supports and joint count; `values` has the evidence. Returns the number of
   merges, or -1 if memory runs out. */
int32_t native_evidence_run(Search *s, Lists *lists, int way, uint8_t *lines, size_t n_bytes,
                            int32_t lines_room, int32_t most, int32_t *out, double *values) {
    Pairs *pairs = s->pairs;
    int32_t k = 0;
    for (; k < most && pairs->n < pairs->room && (lists != NULL || pairs->n < lines_room); k++) {
        const int32_t state = native_evidence_best(s, out + 5 * k, values + k);
        if (state < 0) return -1;
        if (state == 0) break;
        const int32_t left = out[5 * k], right = out[5 * k + 1], both = out[5 * k + 4];
        const int done = lists != NULL
                             ? native_pairs_merge(pairs, left, right, NULL, lists) >= 0
                             : pairs_merge_lines(pairs, way, lines, n_bytes, left, right, both);
        if (!done || !native_evidence_merged(s, left, right, 0)) return -1;
    }
    return k;
}
