/* Finds the pairs that may be the best: of the significant pairs, those that save the most bits.

   This is BestPairs of ufc/search.py in C; read that first. Logarithms here may differ from NumPy's
   in the last digits. So the result has all pairs that are so close to the best that rounding could
   matter, and NumPy's numbers decide between them. */
#include "native.h"

#define BLOCK 64
#define CACHE (1 << 15)
/* logarithms of larger numbers are computed when needed */
#define LARGEST_TABLE (1 << 22)
/* tolerances of logarithms of p-values, if one term of a sum decides and if the whole sum does */
#define NEAR_TERM 3e-4
#define NEAR_SUM 1e-6
#define LN2 0.69314718055994530942

enum { REFUSED = 0, CONFIRMED = 1, UNDECIDED = 2 };

void order_free(Pairs *p) {
    FREE(p->costs, p->sizes, p->versions, p->bounds, p->highest, p->made_at, p->partners, p->n_near,
         p->shrinks, p->log_factorials, p->refused, p->forbidden, p->worths, p->seen,
         p->seen_counts, p->partner_counts, p->log_sides);
}

int order_has_room(Pairs *p, int32_t room) {
    const Grown all[] = {
        GROWN(p->costs), GROWN(p->sizes), GROWN(p->versions), GROWN(p->bounds), GROWN(p->highest),
        GROWN(p->made_at), GROWN(p->partners), GROWN(p->n_near), GROWN(p->worths), GROWN(p->seen),
        GROWN(p->seen_counts), GROWN(p->partner_counts), GROWN(p->log_sides)};
    return GROW(all, room);
}

static double shrink(double support) { return support ? (support + 1) * log2(support) : 0.0; }

/* (s + 1) log₂ s */
static inline double shrink_of(const Pairs *p, int64_t support) {
    return support < p->n_shrinks ? p->shrinks[support] : shrink((double)support);
}

static inline double log_factorial(const Pairs *p, int64_t n) {
    return n < p->n_log_factorials ? p->log_factorials[n] : lgamma((double)n + 1);
}

/* The logarithm of s! (n − s)! of a column, which occurs in all of its tests. */
static void set_log_sides(Pairs *p, int32_t column) {
    const int64_t s = p->supports[column];
    p->log_sides[column] = log_factorial(p, s) + log_factorial(p, p->n_rows - s);
}

/* −log₂(1 − x) */
static inline double lost_share(double x) {
    if (x < 1e-3) return x * (1 + x * (1. / 2 + x * (1. / 3 + x * (1. / 4 + x * (1. / 5))))) / LN2;
    return -log1p(-x) / LN2;
}

static void set_bound(Pairs *p, int32_t column, double bound) {
    p->bounds[column] = bound;
    const int32_t block = column / BLOCK, start = block * BLOCK;
    const int32_t stop = start + BLOCK < p->n ? start + BLOCK : p->n;
    double highest = -INFINITY;
    for (int32_t k = start; k < stop; k++)
        if (p->bounds[k] > highest) highest = p->bounds[k];
    p->highest[block] = highest;
}

/* Resets a column about which nothing is known yet. */
static void forget(Pairs *p, int32_t column) {
    p->made_at[column] = -1;
    set_bound(p, column, INFINITY);
}

/* Sets how pairs are valued. `alpha` is the highest p-value, or 0 for no test; `max_size` is the
   largest sum of the sizes of two columns, or 0 for no limit. */
int native_order(Pairs *p, double total, double n_used, double alpha, int32_t max_size,
                 const double *costs, const int32_t *sizes) {
    int64_t largest = 0;
    for (int32_t k = 0; k < p->n; k++) {
        if (p->supports[k] > largest) largest = p->supports[k];
        p->costs[k] = costs[k];
        p->bounds[k] = INFINITY;
        p->sizes[k] = sizes[k];
        p->versions[k] = 0;
    }
    p->total = total;
    p->n_used = n_used;
    p->rise = 0;
    p->n_merges = 0;
    p->max_size = max_size;
    p->has_alpha = alpha > 0;
    p->log_alpha = alpha > 0 ? log(alpha) : 0;
    /* savings are rounded to six decimals for comparisons, and logarithms are not exact */
    p->margin = 2e-6 + 1e-14 * total * log2(total + 2);
    p->n_shrinks = largest < LARGEST_TABLE ? largest + 1 : LARGEST_TABLE;
    p->shrinks = malloc((size_t)p->n_shrinks * sizeof *p->shrinks);
    p->refused = malloc(CACHE * sizeof *p->refused);
    if (p->shrinks == NULL || p->refused == NULL) return 0;
    for (int64_t k = 0; k < p->n_shrinks; k++) p->shrinks[k] = shrink((double)k);
    for (int32_t k = 0; k < CACHE; k++) p->refused[k].one = -1;
    if (p->has_alpha) {
        p->n_log_factorials = p->n_rows < LARGEST_TABLE ? p->n_rows + 2 : 0;
        p->log_factorials = malloc((size_t)(p->n_log_factorials + 1) * sizeof(double));
        if (p->log_factorials == NULL) return 0;
        for (int64_t k = 0; k < p->n_log_factorials; k++)
            p->log_factorials[k] = lgamma((double)k + 1);
        for (int32_t k = 0; k < p->n; k++) set_log_sides(p, k);
    }
    for (int32_t k = 0; k < p->n; k++) forget(p, k);
    return 1;
}

static Refusal refusal(const Pairs *p, int32_t one, int32_t other) {
    order_columns(&one, &other);
    return (Refusal){one, other, p->versions[one], p->versions[other]};
}

static inline size_t place_of(Refusal pair) {
    return ((uint64_t)(uint32_t)pair.one * 0x9E3779B97F4A7C15u +
            (uint64_t)(uint32_t)pair.other * 0xD6E8FEB86659FD93u) >> 49;
}

/* Forbids joining two columns until one of them changes. */
int native_forbid(Pairs *p, int32_t one, int32_t other) {
    if (p->n_forbidden == p->forbidden_room) {
        const int32_t room = 2 * p->forbidden_room + 16;
        const Grown forbidden[] = {GROWN(p->forbidden)};
        if (!GROW(forbidden, room)) return 0;
        p->forbidden_room = room;
    }
    p->forbidden[p->n_forbidden++] = refusal(p, one, other);
    forget(p, one);
    forget(p, other);
    return 1;
}

/* Fisher's exact test for a pair with r > 0. */
static int exact_test(const Pairs *p, int32_t one, int32_t other, int32_t joint) {
    const int64_t i = p->supports[one], j = p->supports[other], k = joint, rows = p->n_rows;
    const double n = (double)rows, s = (double)i, t = (double)j, c = (double)k;
    const double log_first = p->log_sides[one] + p->log_sides[other] - log_factorial(p, rows) -
                             log_factorial(p, k) - log_factorial(p, i - k) -
                             log_factorial(p, j - k) - log_factorial(p, rows - i - j + k);
    if (log_first > p->log_alpha + NEAR_TERM) return REFUSED;
    /* the terms of the tail fall at least as fast as the first two */
    const double falls = (s - c) * (t - c) / ((c + 1) * (n - s - t + c + 1));
    if (falls < 1 && log_first - log1p(-falls) < p->log_alpha - NEAR_TERM) return CONFIRMED;
    double sum = 1, term = 1;
    for (double both = c; term > 1e-17 * sum; both++) {
        term *= (s - both) / (both + 1);
        term *= (t - both) / (n - s - t + both + 1);
        sum += term;
    }
    const double near = NEAR_SUM + 1e-14 * log_factorial(p, rows);
    const double difference = log_first + log(sum) - p->log_alpha;
    if (difference > near) return REFUSED;
    return difference < -near ? CONFIRMED : UNDECIDED;
}

static int tested(const Pairs *p, int32_t one, int32_t other, int32_t joint) {
    const Refusal pair = refusal(p, one, other);
    for (int32_t k = 0; k < p->n_forbidden; k++)
        if (memcmp(p->forbidden + k, &pair, sizeof pair) == 0) return REFUSED;
    if (!p->has_alpha) return CONFIRMED;
    Refusal *known = p->refused + place_of(pair);
    if (memcmp(known, &pair, sizeof pair) == 0) return REFUSED;
    const int found = exact_test(p, one, other, joint);
    if (found == REFUSED) *known = pair;
    return found;
}

/* Returns the minimum number of common rows with a partner for a pair with the value `least`.

   Of all partners with a given number of common rows, one without other rows would be best. Its
   value is computed for increasing numbers from `fewest` on, until it reaches `least`, or is below
   it by so little that rounding may matter. */
static int64_t enough(const Pairs *p, int32_t column, double least, int64_t fewest) {
    const int64_t s = p->supports[column];
    const double log_total = log2(p->total), cells = p->total + p->n_used + 1, share = 1 / p->total;
    const double kept = least - 2 * p->margin + shrink_of(p, s) + p->costs[column];
    for (; fewest < s; fewest++) {
        const double joint = (double)fewest;
        const double worth = (cells - joint) * lost_share(joint * share) + joint * log_total;
        if (worth + shrink_of(p, s - fewest) >= kept) break;
    }
    return fewest;
}

/* A summary of the pairs of a column: their number in `seen`, and the best pair and its place. */
typedef struct { int32_t n, at; double best; } Look;

/* Examines the pairs of a column that may be joined and whose value is at least, or nearly,
   `least`. If `least` is −∞, only the best pair matters, so pairs with clearly lower values than
   an earlier one may be left out. With `is_tested`, a pair that is better than all earlier ones is
   tested, and left out if rejected. */
static Look look_at(Pairs *p, int32_t column, double least, int is_tested) {
    const int64_t s = p->supports[column], n_rows = p->n_rows;
    const int32_t *matrix =
        p->joint == NULL ? NULL : p->joint + (size_t)column * (size_t)p->room;
    if (matrix == NULL) row_settle(p, p->rows + column);
    const Entry *entries = matrix == NULL ? p->rows[column].entries : NULL;
    const int32_t n_entries = matrix == NULL ? p->rows[column].n : p->n;
    const int32_t longest = p->max_size - p->sizes[column];
    const double cost = p->costs[column], of_s = shrink_of(p, s), log_total = log2(p->total);
    const double cells = p->total + p->n_used, share = 1 / p->total;
    int64_t fewest = enough(p, column, least, 1);
    Look look = {0, -1, -INFINITY};
    for (int32_t k = 0; k < n_entries; k++) {
        const int64_t a = matrix == NULL ? entries[k].count : matrix[k];
        if (a < fewest) continue;
        const int32_t id = matrix == NULL ? entries[k].id : k;
        const int64_t t = p->supports[id];
        if (n_rows * a <= s * t || (p->max_size && p->sizes[id] > longest)) continue;
        const int64_t rest_s = s - a, rest_t = t - a;
        const double joint = (double)a, added = 1.0 - (rest_s == 0) - (rest_t == 0);
        double worth = (cells - joint + added) * lost_share(joint * share);
        worth += (joint - added) * log_total + shrink_of(p, a);
        worth -= of_s - shrink_of(p, rest_s) + (shrink_of(p, t) - shrink_of(p, rest_t));
        worth -= (rest_s ? cost : 0.0) + (rest_t ? p->costs[id] : 0.0);
        if (worth > look.best) {
            if (is_tested && tested(p, column, id, (int32_t)a) == REFUSED) continue;
            look.best = worth;
            look.at = look.n;
            if (least == -INFINITY) fewest = enough(p, column, worth, fewest);
        }
        p->seen[look.n] = id;
        p->seen_counts[look.n] = (int32_t)a;
        p->worths[look.n++] = worth;
    }
    return look;
}

/* Makes the bound of a column exact. */
static void renew(Pairs *p, int32_t column) {
    Look look = look_at(p, column, -INFINITY, 0);
    if (look.at >= 0 && tested(p, column, p->seen[look.at], p->seen_counts[look.at]) == REFUSED)
        look = look_at(p, column, -INFINITY, 1);
    int32_t n_near = 0;
    for (int32_t k = 0; k < look.n; k++) n_near += p->worths[k] >= look.best - p->margin;
    p->partners[column] = look.at < 0 ? -1 : p->seen[look.at];
    p->partner_counts[column] = look.at < 0 ? 0 : p->seen_counts[look.at];
    p->n_near[column] = n_near;
    p->made_at[column] = p->n_merges;
    set_bound(p, column, look.best - p->rise);
}

/* A pair that may be the best: its columns, their supports, and the number of common rows. */
typedef struct { int32_t left, right, left_support, right_support, joint; } Found;

/* Adds a pair, unless it is also found from its other column, which has the smaller number. */
static int32_t add_found(const Pairs *p, Found *out, int32_t n, int32_t room, int32_t column,
                         int32_t other, int32_t joint, double least) {
    if (other < column && p->bounds[other] >= least) return n;
    const int32_t left = column < other ? column : other, right = column < other ? other : column;
    if (n < room) out[n] = (Found){left, right, p->supports[left], p->supports[right], joint};
    return n + 1;
}

/* Adds the pairs of a column that are close to the best. */
static int32_t add_near(Pairs *p, int32_t column, double least, Found *out, int32_t n_out,
                        int32_t room) {
    const Look look = look_at(p, column, least + p->rise, 0);
    for (int32_t k = 0; k < look.n; k++) {
        const int32_t other = p->seen[k], joint = p->seen_counts[k];
        if (p->worths[k] >= least + p->rise && tested(p, column, other, joint) != REFUSED)
            n_out = add_found(p, out, n_out, room, column, other, joint, least);
    }
    return n_out;
}

/* Writes the pairs that may be the best, smaller column first, but at most `room` of them; returns
   their number. A single pair with an undecided test is written twice. */
int32_t native_best(Pairs *p, Found *out, int32_t room) {
    const int32_t n_blocks = (p->n + BLOCK - 1) / BLOCK;
    double least = -INFINITY;
    for (;;) {
        int32_t block = 0;
        for (int32_t k = 1; k < n_blocks; k++)
            if (p->highest[k] > p->highest[block]) block = k;
        const double highest = p->n ? p->highest[block] : -INFINITY;
        if (highest == -INFINITY) return 0;
        int32_t first = block * BLOCK;
        while (p->bounds[first] != highest) first++;
        if (p->made_at[first] != p->n_merges) {
            renew(p, first);
            continue;
        }
        /* examine every column whose bound is as close */
        least = highest - p->margin;
        int n_renewed = 0;
        for (int32_t b = 0; b < n_blocks; b++) {
            if (p->highest[b] < least) continue;
            for (int32_t k = b * BLOCK; k < p->n && k < (b + 1) * BLOCK; k++)
                if (p->bounds[k] >= least && p->made_at[k] != p->n_merges)
                    renew(p, k), n_renewed++;
        }
        if (!n_renewed) break;
    }
    int32_t n = 0;
    for (int32_t b = 0; b < n_blocks; b++) {
        if (p->highest[b] < least) continue;
        for (int32_t k = b * BLOCK; k < p->n && k < (b + 1) * BLOCK; k++) {
            if (p->bounds[k] < least) continue;
            if (p->n_near[k] > 1) n = add_near(p, k, least, out, n, room);
            else n = add_found(p, out, n, room, k, p->partners[k], p->partner_counts[k], least);
        }
    }
    if (n == 1 && tested(p, out->left, out->right, out->joint) == UNDECIDED) out[n++] = out[0];
    return n;
}

/* An upper bound of how much a merge raises other values: largest_rise in features/code.py. */
static double largest_rise(double total, double n_used, double joint, double added,
                           double largest) {
    const double after = total - joint, used_after = n_used + added;
    double rise = -INFINITY, data_before = 0, table_before = 0;
    int n = 0;
    if (largest < 1) largest = 1;
    for (double edge = 1;; edge *= 2) {
        const double a = edge < largest ? edge : largest;
        if (a >= after) break;
        const double share_after = -log1p(-a / after) / LN2, share = -log1p(-a / total) / LN2;
        const double log_after = log2(after - a), log_now = log2(total - a);
        const double data = after * share_after + a * log_after - (total * share + a * log_now);
        const double table =
            used_after * share_after - n_used * share + fabs(log_after - log_now);
        if (n && data_before + fmax(table_before, table) > rise)
            rise = data_before + fmax(table_before, table);
        data_before = data;
        table_before = table;
        n++;
        if (a >= largest) break;
    }
    if (n == 0) return INFINITY;
    if (n == 1) rise = data_before + table_before;
    return fmax(0, rise) + 1e-6;
}

void order_merged(Pairs *p, int32_t left, int32_t right, int32_t n_both) {
    if (p->shrinks == NULL) return;
    const int32_t new = p->n - 1;
    const double added = 1.0 - (p->supports[left] == 0) - (p->supports[right] == 0);
    int32_t largest = 0;
    for (int32_t k = 0; k < p->n; k++)
        if (p->supports[k] > largest) largest = p->supports[k];
    const double rise = largest_rise(p->total, p->n_used, n_both, added, largest);
    p->total -= n_both;
    p->n_used += added;
    p->n_merges++;
    p->costs[new] = p->costs[left] + p->costs[right];
    p->sizes[new] = p->sizes[left] + p->sizes[right];
    p->versions[left]++;
    p->versions[right]++;
    p->versions[new] = 0;
    const int32_t changed[] = {left, right, new};
    for (int k = 0; k < 3; k++) {
        forget(p, changed[k]);
        if (p->has_alpha) set_log_sides(p, changed[k]);
    }
    if (isinf(rise))
        for (int32_t k = 0; k < p->n; k++) forget(p, k);
    else p->rise += rise;
}
