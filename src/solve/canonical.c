/* Colour refinement [Weisfeiler & Lehman 1968]: every row begins with a hash of its own numbers;
 * some times the hashes of its neighbours, each mixed with the coupling, are added to it. A sum
 * does not depend on the order of its terms. Rows are then sorted by their hashes. Rows with
 * equal hashes are in most cases images of each other under a symmetry of the problem; they keep
 * the order given.
 *
 * The order is the same only where the numbers are, to the bit. */
#include "solve/canonical.h"

#include <string.h>

enum { ROUNDS = 3 };

/* -0 and 0 are the same number. */
static uint64_t hash_numbers(uint64_t hash, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        double number = x[i] + 0.0;
        hash = rb_hash(hash, &number, sizeof number);
    }
    return hash;
}

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return rb_hash(rb_hash(RB_HASH_INIT, &a, sizeof a), &b, sizeof b);
}

/* Insertion: hundreds of rows, and only where there are several answers. */
static void sort_by_hash(int n, uint64_t *hash, int *order)
{
    for (int i = 1; i < n; i++) {
        uint64_t own = hash[i];
        int row = order[i], at = i;
        for (; at > 0 && hash[at - 1] > own; at--) {
            hash[at] = hash[at - 1];
            order[at] = order[at - 1];
        }
        hash[at] = own;
        order[at] = row;
    }
}

rb_status rb_canonical_rows(const rb_boxed *b, rb_arena *scratch, int *order)
{
    int n = b->n;
    rb_mark mark = rb_arena_mark(scratch);
    uint64_t *hash = rb_push(scratch, uint64_t, n), *next = rb_push(scratch, uint64_t, n);
    if (!hash || !next) return RB_NOMEM;
    for (int i = 0; i < n; i++) {
        double own[4] = { b->q[i], b->W[(ptrdiff_t)i * n + i], b->lo[i], b->hi[i] };
        hash[i] = hash_numbers(RB_HASH_INIT, own, 4);
        order[i] = i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++) {
            uint64_t sum = 0;
            for (int j = 0; j < n; j++) {
                double W[2] = { b->W[(ptrdiff_t)i * n + j], b->W[(ptrdiff_t)j * n + i] };
                if (j != i && (W[0] != 0.0 || W[1] != 0.0)) sum += hash_numbers(hash[j], W, 2);
            }
            next[i] = hash_pair(hash[i], sum);
        }
        memcpy(hash, next, (size_t)n * sizeof *hash);
    }
    sort_by_hash(n, hash, order);
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

/* Two words as one, in a few operations where rb_hash takes its bytes one by one. */
static uint64_t stir(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
    x = (x ^ (x >> 32)) * 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 29);
}

static uint64_t stir_numbers(uint64_t hash, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        double number = x[i] + 0.0; /* -0 and 0 are the same number */
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        hash = stir(hash, bits);
    }
    return hash;
}

rb_status rb_canonical_contacts(const rb_cones *k, rb_arena *scratch, int count, int *member)
{
    int dim = k->dim, bb = dim * dim;
    rb_mark mark = rb_arena_mark(scratch);
    uint64_t *hash = rb_push(scratch, uint64_t, k->nc), *next = rb_push(scratch, uint64_t, k->nc);
    uint64_t *block = rb_push(scratch, uint64_t, k->W.ptr[k->nc]);
    if (!hash || !next || !block) return RB_NOMEM;
    for (int i = 0; i < count; i++) {
        int c = member[i];
        hash[c] = stir_numbers(RB_HASH_INIT, k->q + (ptrdiff_t)c * dim, dim);
        hash[c] = stir_numbers(hash[c], &k->mu[c], 1);
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++)
            block[e] = stir_numbers(RB_HASH_INIT, k->W.val + (ptrdiff_t)e * bb, bb);
        hash[c] = stir(hash[c], block[k->diag[c]]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++) {
            int c = member[i];
            uint64_t sum = 0;
            for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
                if (e != k->diag[c]) sum += stir(hash[k->W.col[e]], block[e]);
            }
            next[c] = stir(hash[c], sum);
        }
        for (int i = 0; i < count; i++) hash[member[i]] = next[member[i]];
    }
    for (int i = 0; i < count; i++) next[i] = hash[member[i]];
    sort_by_hash(count, next, member);
    rb_arena_reset(scratch, mark);
    return RB_OK;
}
