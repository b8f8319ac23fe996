/* The complete code without missing cells: native_ask of code.c, only for counts and probabilities;
   read that first. Cells are bits, in blocks of 64 rows. In most blocks most lines of ranks are
   empty, so they are skipped. */
#include "native.h"

#define ROWS 64
#define NEVER 0xFFFF
#define AHEAD 12 /* merges */

typedef uint16_t Rank; /* for fewer than 65,535 features */

typedef struct {
    int64_t n_features, n_primitives, n_variables;
    const int64_t *left, *right, *values, *starts;
    const uint32_t *turns;
    int64_t *counts, *supports;       /* the counts, or: */
    const double *logs;               /* of no and yes, for first and then second questions */
    double *probs;                    /* of the rows of the current block */
    /* in the current block */
    uint64_t *masks, *patterns, *seconds;
    Rank *ranks, *others;
    uint8_t *is_set, *has_others; /* true if a line has any rank */
} Block;

static inline Rank *line_of(Rank *ranks, int64_t feature) { return ranks + feature * ROWS; }

ALWAYS_INLINE Rank least(Rank a, Rank b) { return a < b ? a : b; }

/* Prefetches a line that is needed soon, because the lines of pairs are scattered in memory. */
ALWAYS_INLINE void fetch(Rank *line) {
#ifdef __GNUC__
    __builtin_prefetch(line);
    __builtin_prefetch(line + ROWS / 2);
#else
    (void)line;
#endif
}

/* Merges three lines like `lower` of code.c, if any of them has a rank. */
ALWAYS_INLINE void lower(Block *b, int64_t i, int64_t j, int64_t k) {
    const int first_is_set = b->is_set[k];
    if (!first_is_set && !b->is_set[i] && !b->is_set[j]) return;
    Rank *restrict one = line_of(b->ranks, i), *restrict other = line_of(b->ranks, j);
    Rank *restrict first = line_of(b->ranks, k);
    b->is_set[k] = 1;
    if (!first_is_set) {
        /* the usual case, in which the other two do not change */
        for (int r = 0; r < ROWS; r++) first[r] = least(one[r], other[r]);
        return;
    }
    for (int r = 0; r < ROWS; r++) {
        one[r] = least(one[r], first[r]);
        other[r] = least(other[r], first[r]);
        first[r] = least(one[r], other[r]);
    }
    b->is_set[i] = b->is_set[j] = 1;
}

static void clear(Rank *ranks, uint8_t *is_set, int64_t n) {
    for (int64_t k = 0; k < n; k++)
        if (is_set[k]) {
            memset(line_of(ranks, k), 0xFF, ROWS * sizeof(Rank));
            is_set[k] = 0;
        }
}

ALWAYS_INLINE void other_values(Block *b) {
    clear(b->others, b->has_others, b->n_features);
    for (int64_t v = 0; v < b->n_variables; v++) {
        Rank first[ROWS], second[ROWS];
        memset(first, 0xFF, sizeof first);
        memset(second, 0xFF, sizeof second);
        for (int64_t k = b->starts[v]; k < b->starts[v + 1]; k++) {
            if (!b->is_set[b->values[k]]) continue;
            const Rank *own = line_of(b->ranks, b->values[k]);
            for (int r = 0; r < ROWS; r++) {
                const Rank higher = own[r] < first[r] ? first[r] : own[r];
                second[r] = least(second[r], higher);
                first[r] = least(first[r], own[r]);
            }
        }
        for (int64_t k = b->starts[v]; k < b->starts[v + 1]; k++) {
            const Rank *own = line_of(b->ranks, b->values[k]);
            Rank *other = line_of(b->others, b->values[k]);
            for (int r = 0; r < ROWS; r++) other[r] = own[r] == first[r] ? second[r] : first[r];
            b->has_others[b->values[k]] = 1;
        }
    }
    for (int64_t k = 0; k < b->n_features - b->n_primitives; k++) {
        const int64_t i = b->left[k], j = b->right[k], made = b->n_primitives + k;
        if (!b->has_others[i] && !b->has_others[j]) continue;
        const Rank *one = line_of(b->others, i), *other = line_of(b->others, j);
        Rank *both = line_of(b->others, made);
        for (int r = 0; r < ROWS; r++) both[r] = least(one[r], other[r]);
        b->has_others[made] = 1;
    }
}

/* Returns the rows in which a rank comes before a turn. */
typedef uint64_t (*Before)(const Rank *ranks, Rank turn);

static inline uint64_t before_plain(const Rank *ranks, Rank turn) {
    uint8_t is_before[ROWS];
    for (int r = 0; r < ROWS; r++) is_before[r] = ranks[r] < turn;
    uint64_t mask = 0;
    for (int k = 0; k < 8; k++) {
        uint64_t eight;
        memcpy(&eight, is_before + 8 * k, 8);
        /* convert eight bytes of 0 or 1 to eight bits */
        mask |= (eight * 0x0102040810204080u >> 56) << 8 * k;
    }
    return mask;
}

#ifdef X86
#include <immintrin.h>

#define WIDE __attribute__((target("avx2,popcnt")))

WIDE static inline uint64_t before_wide(const Rank *ranks, Rank turn) {
    const __m256i turns = _mm256_set1_epi16((short)turn);
    uint64_t mask = 0;
    for (int k = 0; k < 2; k++) {
        __m256i later[2];
        for (int l = 0; l < 2; l++) {
            const __m256i some = _mm256_loadu_si256((const __m256i *)(ranks + 32 * k + 16 * l));
            later[l] = _mm256_cmpeq_epi16(_mm256_max_epu16(some, turns), some);
        }
        /* convert 16 bits to 8, which swaps the second and third quarter */
        const __m256i packed = _mm256_packs_epi16(later[0], later[1]);
        const int bits = _mm256_movemask_epi8(_mm256_permute4x64_epi64(packed, 0xD8));
        mask |= (uint64_t)(uint32_t)~bits << 32 * k;
    }
    return mask;
}
#endif

ALWAYS_INLINE void add_logs(double *sums, uint64_t asked, uint64_t true, double no, double yes) {
    if (asked == ~(uint64_t)0 && !true) {
        for (int r = 0; r < ROWS; r++) sums[r] += no;
        return;
    }
    for (int r = 0; r < ROWS; r++)
        sums[r] += asked >> r & 1 ? (true >> r & 1 ? yes : no) : 0.0;
}

/* Adds to the counts, or computes the logarithm of the probability of each row. */
ALWAYS_INLINE void answer_block(Block *b, int n_rows, Before before) {
    const int64_t n = b->n_features, m = b->n_primitives, n_merges = n - m;
    const uint64_t here = n_rows == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n_rows) - 1;
    memcpy(b->patterns, b->masks, (size_t)m * sizeof *b->masks);
    for (int64_t k = 0; k < n_merges; k++) {
        const int64_t i = b->left[k], j = b->right[k];
        const uint64_t both = b->masks[i] & b->masks[j];
        b->masks[m + k] = both;
        b->masks[i] ^= both;
        b->masks[j] ^= both;
        b->patterns[m + k] = b->patterns[i] & b->patterns[j];
    }
    clear(b->ranks, b->is_set, n);
    for (int64_t f = 0; f < n; f++) {
        if (b->supports != NULL) b->supports[f] += COUNT_ONES(b->patterns[f]);
        uint64_t bits = b->masks[f];
        if (!bits) continue;
        Rank *line = line_of(b->ranks, f);
        for (; bits; bits &= bits - 1) line[LOWEST_ONE(bits)] = (Rank)b->turns[f];
        b->is_set[f] = 1;
    }
    for (int64_t k = n_merges - 1; k >= 0; k--) lower(b, b->left[k], b->right[k], m + k);
    if (b->others != NULL) other_values(b);
    clear(b->ranks, b->is_set, m);
    for (int64_t k = 0; k < n_merges; k++) {
        if (k + AHEAD < n_merges) {
            fetch(line_of(b->ranks, b->left[k + AHEAD]));
            fetch(line_of(b->ranks, b->right[k + AHEAD]));
        }
        lower(b, b->left[k], b->right[k], m + k);
    }
    double sums[ROWS] = {0};
    for (int64_t f = 0; f < n; f++) {
        const Rank turn = (Rank)b->turns[f];
        uint64_t asked = here, second = 0;
        if (b->is_set[f]) asked &= ~before(line_of(b->ranks, f), turn);
        if (b->others != NULL && b->has_others[f])
            second = asked & before(line_of(b->others, f), turn);
        asked ^= second;
        if (b->logs != NULL) {
            b->seconds[f] = second;
            add_logs(sums, asked, b->masks[f], b->logs[f], b->logs[2 * n + f]);
            continue;
        }
        b->counts[f] += COUNT_ONES(asked);
        if (b->masks[f]) b->counts[n + f] += COUNT_ONES(asked & b->masks[f]);
        if (second) {
            b->counts[2 * n + f] += COUNT_ONES(second);
            b->counts[3 * n + f] += COUNT_ONES(second & b->masks[f]);
        }
    }
    if (b->logs == NULL) return;
    for (int64_t f = 0; f < n; f++)
        if (b->seconds[f])
            add_logs(sums, b->seconds[f], b->masks[f], b->logs[n + f], b->logs[3 * n + f]);
    memcpy(b->probs, sums, (size_t)n_rows * sizeof *sums);
}

#ifdef X86
WIDE static void answer_wide(Block *b, int n_rows) { answer_block(b, n_rows, before_wide); }
#endif

static void answer_plain(Block *b, int n_rows) { answer_block(b, n_rows, before_plain); }

/* Asks the rows from start (a multiple of 64) to stop. `columns` has the addresses of the
   primitives: lines of bits, or sorted lists of rows if `lengths` is not NULL. Without `logs`, adds
   to `counts`, which has four lines (asked, true, and both for the second probability), and to
   `supports`, the rows with all tags of each pattern. With `logs` (of no, then of yes), computes
   the logarithm of each row's probability. Returns 1, or 0 if memory runs out. */
int native_code(int way, int64_t n_features, int64_t n_primitives, const int64_t *left,
                const int64_t *right, const uint32_t *turns, int64_t n_variables,
                const int64_t *values, const int64_t *starts, const uint64_t *columns,
                const int64_t *lengths, int64_t start, int64_t stop, int64_t *counts,
                int64_t *supports, const double *logs, double *probs) {
    const size_t n = (size_t)n_features, m = (size_t)n_primitives;
    Block b = {.n_features = n_features, .n_primitives = n_primitives, .n_variables = n_variables,
               .left = left, .right = right, .values = values, .starts = starts, .turns = turns,
               .counts = counts, .supports = supports, .logs = logs, .masks = malloc(n * 8),
               .patterns = malloc(n * 8), .seconds = malloc(n * 8),
               .ranks = malloc(n * ROWS * sizeof(Rank)), .is_set = calloc(n, 1),
               .has_others = calloc(n, 1)};
    if (n_variables) b.others = malloc(n * ROWS * sizeof(Rank));
    int64_t *at = lengths == NULL ? NULL : malloc((m + 1) * sizeof *at);
    int done = b.masks && b.patterns && b.seconds && b.ranks && b.is_set && b.has_others &&
               (b.others || !n_variables) && (at || lengths == NULL);
    if (done) {
        memset(b.ranks, 0xFF, n * ROWS * sizeof(Rank));
        if (b.others) memset(b.others, 0xFF, n * ROWS * sizeof(Rank));
        for (size_t k = 0; at && k < m; k++)
            at[k] = first_place((const int32_t *)(uintptr_t)columns[k], 0, lengths[k], start);
    }
    void (*answer)(Block *, int) = answer_plain;
#ifdef X86
    if (way >= 2) answer = answer_wide; /* wider ways are not faster, because memory is the limit */
#else
    (void)way;
#endif
    for (int64_t row = start; done && row < stop; row += ROWS) {
        const int n_rows = stop - row < ROWS ? (int)(stop - row) : ROWS;
        for (size_t k = 0; k < m; k++) {
            if (at == NULL) {
                memcpy(b.masks + k, (const uint8_t *)(uintptr_t)columns[k] + row / 8, 8);
                continue;
            }
            const int32_t *rows = (const int32_t *)(uintptr_t)columns[k];
            uint64_t mask = 0;
            for (; at[k] < lengths[k] && rows[at[k]] < row + n_rows; at[k]++)
                mask |= (uint64_t)1 << (rows[at[k]] - row);
            b.masks[k] = mask;
        }
        b.probs = probs == NULL ? NULL : probs + row;
        answer(&b, n_rows);
    }
    FREE(at, b.masks, b.patterns, b.seconds, b.ranks, b.others, b.is_set, b.has_others);
    return done;
}
