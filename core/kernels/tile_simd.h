/* SPDX-License-Identifier: MIT
 *
 * Register-blocked matrix products: rows gemm_tile and gemm_dots of the vector tables.
 *
 * gemm_tile holds a block of TILE_ROWS(v) rows by v vectors of y in registers and walks down the
 * sum: v loads of b and a broadcast of x a row for each v * rows multiply-adds. gemm_dots holds
 * sums of products of whole vectors of x and b, for a b whose rows lie along the sum.
 */

#define TILE_VECTORS ((size_t)3)
#define TILE_DEPTH                                                                                 \
    ((size_t)256)       /* of the sum at a time; a strip of b that deep stays in the first cache */
#define TILE_SHALLOW 32 /* likewise when rows of b are far apart: few enough lines a cache set */
#define TILE_FAR     1024 /* numbers between rows of b that are far apart */
#define TILE_ACROSS  1536 /* columns of y at a time when there are many */
#define TILE_FEW     16   /* rows of y that share each strip of b from the first cache */
/* rows of a block of v vectors: as many as leave registers for v vectors of b and a broadcast */
#define TILE_ROWS(v) (VF_REGS == 32 ? 8 : (v) == 3 ? 4 : (v) == 2 ? 6 : 8)

/* A strip of y: columns [column, column + v vectors), the last vector holding `last` of them. */
struct tile_strip {
    const float *b; /* of its first column and first term */
    size_t ldb, depth, first_term, column, last;
    bool accumulate, finish; /* finish: the sum is complete, bias and relu follow */
};

ALWAYS_INLINE void tile_finish_row(const struct nn_tile_args *s, const struct tile_strip *p,
                                   float *y, vf *row, const size_t v)
{
    UNROLL
    for (size_t i = 0; i < v; i++) {
        size_t lanes = i + 1 == v ? p->last : VF;
        if (p->accumulate) {
            row[i] = vf_add(row[i], vf_load_part(y + i * VF, lanes));
        }
        if (p->finish && s->bias) {
            row[i] = vf_add(row[i], vf_load_part(s->bias + p->column + i * VF, lanes));
        }
        if (p->finish && s->relu) {
            row[i] = vf_relu(row[i]);
        }
        vf_store_part(y + i * VF, row[i], lanes);
    }
}

/* rows x v vectors of y from row r on; rows and v are constants where this is inlined. */
ALWAYS_INLINE void tile_block(const struct nn_tile_args *s, const struct tile_strip *p, size_t r,
                              const size_t rows, const size_t v)
{
    vf sum[8 * TILE_VECTORS];
    const float *b = p->b, *x = s->x + r * s->x_row + p->first_term * s->x_step;
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        UNROLL
        for (size_t j = 0; j < v; j++) {
            sum[i * v + j] = vf_zero();
        }
    }
    for (size_t q = 0; q < p->depth; q++) {
        vf line[TILE_VECTORS];
        UNROLL
        for (size_t i = 0; i < v; i++) {
            line[i] = vf_load(b + i * VF);
        }
        UNROLL
        for (size_t i = 0; i < rows; i++) {
            vf factor = vf_all(x[i * s->x_row]);
            UNROLL
            for (size_t j = 0; j < v; j++) {
                sum[i * v + j] = vf_fma(factor, line[j], sum[i * v + j]);
            }
        }
        b += p->ldb;
        x += s->x_step;
    }
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        tile_finish_row(s, p, s->y + (r + i) * s->ldy + p->column, sum + i * v, v);
    }
}

/* Of `left` rows or pixels or taps, how many the next block takes: as even as they come, so that 10
 * are 5 and 5, not 6 and 4. */
ALWAYS_INLINE size_t next_block(size_t left, const size_t most)
{
    size_t taken = left >= 2 * most ? most : left > most ? (left + 1) / 2 : left;
    if (taken > most) {
        __builtin_unreachable(); /* so that no larger blocks are compiled */
    }
    return taken;
}

/* Rows [r, end) of a strip. */
ALWAYS_INLINE void tile_down(const struct nn_tile_args *s, const struct tile_strip *p, size_t r,
                             size_t end, const size_t v)
{
    while (r < end) {
        size_t rows = next_block(end - r, TILE_ROWS(v));
        switch (rows) {
        case 1:
            tile_block(s, p, r, 1, v);
            break;
        case 2:
            tile_block(s, p, r, 2, v);
            break;
        case 3:
            tile_block(s, p, r, 3, v);
            break;
        case 4:
            tile_block(s, p, r, 4, v);
            break;
        case 5:
            tile_block(s, p, r, 5, v);
            break;
        case 6:
            tile_block(s, p, r, 6, v);
            break;
        case 7:
            tile_block(s, p, r, 7, v);
            break;
        case 8:
            tile_block(s, p, r, 8, v);
            break;
        default:
            break;
        }
        r += rows;
    }
}

static void tile_strip_rows(const struct nn_tile_args *s, const struct tile_strip *p, size_t r,
                            size_t end, size_t v)
{
    switch (v) {
    case 1:
        tile_down(s, p, r, end, 1);
        break;
    case 2:
        tile_down(s, p, r, end, 2);
        break;
    default:
        tile_down(s, p, r, end, 3);
        break;
    }
}

/* The part of the product that is done with one block of b: terms [term, term + depth), columns
 * [column, end). */
struct tile_part {
    size_t term, depth, column, end;
};

/* Vectors of the strip that begins with `columns` columns to go; the rest in even strips. */
static size_t strip_vectors(size_t columns)
{
    size_t vectors = (columns + VF - 1) / VF;
    return vectors == 4 ? 2 : vectors < TILE_VECTORS ? vectors : TILE_VECTORS;
}

/* Strip of a part at a column. A strip that ends within a vector is copied to padded, so that its
 * last loads stay inside b. */
static struct tile_strip strip_at(const struct nn_tile_args *s, const struct tile_part *part,
                                  size_t column, size_t v, float *padded)
{
    size_t columns = part->end - column < v * VF ? part->end - column : v * VF;
    struct tile_strip p = {.b = s->b + part->term * s->ldb + column, .ldb = s->ldb};
    p.depth = part->depth;
    p.first_term = part->term;
    p.column = column;
    p.last = columns - (v - 1) * VF;
    p.accumulate = s->accumulate || part->term > 0;
    p.finish = part->term + part->depth == s->k;
    if (p.last < VF && !s->b_padded) {
        for (size_t q = 0; q < part->depth; q++) {
            memcpy(padded + q * v * VF, p.b + q * s->ldb, columns * sizeof *padded);
        }
        p.b = padded;
        p.ldb = v * VF;
    }
    return p;
}

static void tile_part_rows(const struct nn_tile_args *s, const struct tile_part *part, size_t r,
                           size_t end, float *padded)
{
    for (size_t column = part->column; column < part->end;) {
        size_t v = strip_vectors(part->end - column);
        struct tile_strip p = strip_at(s, part, column, v, padded);
        tile_strip_rows(s, &p, r, end, v);
        column += v * VF;
    }
}

/* All of y for some terms, in the order that keeps b or y in the caches. */
static void tile_terms(const struct nn_tile_args *s, struct tile_part part, float *padded)
{
    bool few = s->m <= TILE_FEW || s->n <= TILE_ACROSS / 16;
    size_t across = few ? s->n : TILE_ACROSS, down = few ? s->m : TILE_ROWS(TILE_VECTORS);
    for (part.column = 0; part.column < s->n; part.column += across) {
        part.end = s->n - part.column < across ? s->n : part.column + across;
        for (size_t r = 0; r < s->m; r += down) {
            tile_part_rows(s, &part, r, s->m - r < down ? s->m : r + down, padded);
        }
    }
}

static void row_gemm_tile(const struct nn_tile_args *s)
{
    float padded[TILE_DEPTH * TILE_VECTORS * VF];
    bool shallow = s->ldb >= TILE_FAR && s->k > TILE_FEW;
    size_t depth = shallow ? TILE_SHALLOW : TILE_DEPTH, term = 0;
    if (s->n % VF != 0 && !s->b_padded) { /* else it is not read */
        memset(padded, 0, sizeof padded);
    }
    do { /* once even when k is 0: y is still to be written */
        struct tile_part part = {.term = term, .depth = s->k - term < depth ? s->k - term : depth};
        tile_terms(s, part, padded);
        term += depth;
    } while (term < s->k);
}

/* ---- dots ---- */

#define DOTS_COLUMNS 5
#define DOTS_DEPTH   768
#define DOTS_ROWS(c) (VF_REGS == 32 ? 4 : (c) == 5 ? 2 : (c) == 4 ? 3 : 4)

/* rows x columns of y, terms [term, term + depth); rows and columns are constants. */
ALWAYS_INLINE void dots_block(const struct nn_dots_args *s, size_t r, size_t c, size_t term,
                              size_t depth, const size_t rows, const size_t columns)
{
    vf sum[4 * DOTS_COLUMNS];
    const float *x = s->x + r * s->ldx + term, *b = s->b + c * s->ldb + term;
    UNROLL
    for (size_t i = 0; i < rows * columns; i++) {
        sum[i] = vf_zero();
    }
    size_t q = 0;
    for (; q + VF <= depth; q += VF) {
        vf line[4];
        UNROLL
        for (size_t i = 0; i < rows; i++) {
            line[i] = vf_load(x + i * s->ldx + q);
        }
        UNROLL
        for (size_t j = 0; j < columns; j++) {
            vf other = vf_load(b + j * s->ldb + q);
            UNROLL
            for (size_t i = 0; i < rows; i++) {
                sum[i * columns + j] = vf_fma(line[i], other, sum[i * columns + j]);
            }
        }
    }
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        float *y = s->y + (r + i) * s->ldy + c;
        vf tail = vf_load_part(x + i * s->ldx + q, depth - q);
        UNROLL
        for (size_t j = 0; j < columns; j++) {
            vf other = vf_load_part(b + j * s->ldb + q, depth - q);
            float dot = vf_sum(vf_fma(tail, other, sum[i * columns + j]));
            y[j] = s->accumulate || term > 0 ? y[j] + dot : dot;
        }
    }
}

ALWAYS_INLINE void dots_down(const struct nn_dots_args *s, size_t c, size_t term, size_t depth,
                             const size_t columns)
{
    const size_t rows = DOTS_ROWS(columns);
    size_t r = 0;
    for (; r + rows <= s->m; r += rows) {
        dots_block(s, r, c, term, depth, rows, columns);
    }
    for (; r < s->m; r++) {
        dots_block(s, r, c, term, depth, 1, columns);
    }
}

static void dots_columns(const struct nn_dots_args *s, size_t c, size_t term, size_t depth,
                         size_t columns)
{
    switch (columns) {
    case 1:
        dots_down(s, c, term, depth, 1);
        break;
    case 2:
        dots_down(s, c, term, depth, 2);
        break;
    case 3:
        dots_down(s, c, term, depth, 3);
        break;
    case 4:
        dots_down(s, c, term, depth, 4);
        break;
    default:
        dots_down(s, c, term, depth, 5);
        break;
    }
}

static void dots_finish(const struct nn_dots_args *s)
{
    for (size_t r = 0; r < s->m && (s->bias || s->relu); r++) {
        float *y = s->y + r * s->ldy;
        for (size_t c = 0; c < s->n; c++) {
            float value = s->bias ? y[c] + s->bias[c] : y[c];
            y[c] = s->relu && value < 0 ? 0 : value;
        }
    }
}

static void row_gemm_dots(const struct nn_dots_args *s)
{
    size_t groups = (s->n + DOTS_COLUMNS - 1) / DOTS_COLUMNS, term = 0;
    do {
        size_t depth = s->k - term < DOTS_DEPTH ? s->k - term : DOTS_DEPTH;
        for (size_t g = 0; g < groups; g++) { /* groups as even as they come */
            size_t c = g * s->n / groups;
            dots_columns(s, c, term, depth, (g + 1) * s->n / groups - c);
        }
        term += DOTS_DEPTH;
    } while (term < s->k);
    dots_finish(s);
}
