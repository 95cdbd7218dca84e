/* An allocator with a budget of bytes. The arena hides the failure of single requests (it asks for
 * less and tries again); a budget that grows step by step makes every push fail once.
 *
 *     for (size_t bytes = 0; status != RB_OK; bytes += 512) {
 *         test_budget budget = { .left = bytes };
 *         rb_alloc alloc = test_budget_alloc(&budget);
 *         ... status = call with &alloc ...
 *         CHECK_INT(budget.memory.live, 0);
 *     } */
#ifndef RB_TEST_MEMORY_BUDGET_H
#define RB_TEST_MEMORY_BUDGET_H

#include "test.h"

typedef struct test_budget {
    test_memory memory;
    size_t left; /* in: bytes that may be asked for in all */
} test_budget;

static inline void *test_budget_take(void *ctx, size_t size)
{
    test_budget *budget = ctx;
    if (size > budget->left) return NULL;
    budget->left -= size;
    return test_memory_alloc(&budget->memory, size);
}

static inline void test_budget_release(void *ctx, void *block)
{
    test_memory_release(&((test_budget *)ctx)->memory, block);
}

static inline rb_alloc test_budget_alloc(test_budget *budget)
{
    return (rb_alloc){ test_budget_take, NULL, test_budget_release, budget };
}

#endif
