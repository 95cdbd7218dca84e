/* RB_ASSERT: a bug in the caller or in us, never a bad file, memory or numerics. */
#ifndef RB_BASE_ASSERT_H
#define RB_BASE_ASSERT_H

#include <assert.h>

#define RB_ASSERT(condition) assert(condition)

#endif
