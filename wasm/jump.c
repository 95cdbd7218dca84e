/* What the compiler calls for setjmp and longjmp where these are exceptions of WebAssembly: who
 * set the mark (a frame), and which of its marks it is. The C library of Zig has the header alone.
 */
#include <stdint.h>

typedef struct jump {
    void *frame;
    uint32_t label;
    struct {
        void *jump;
        int value;
    } thrown; /* read by the code that catches */
} jump;

/* the exception that longjmp throws */
__asm__(".globl __c_longjmp\n"
        ".tagtype __c_longjmp i32\n"
        "__c_longjmp:\n");

void __wasm_setjmp(jump *at, uint32_t label, void *frame);
uint32_t __wasm_setjmp_test(const jump *at, const void *frame);
_Noreturn void __wasm_longjmp(jump *at, int value);

void __wasm_setjmp(jump *at, uint32_t label, void *frame)
{
    at->frame = frame;
    at->label = label;
}

uint32_t __wasm_setjmp_test(const jump *at, const void *frame)
{
    return at->frame == frame ? at->label : 0;
}

_Noreturn void __wasm_longjmp(jump *at, int value)
{
    at->thrown.jump = at;
    at->thrown.value = value ? value : 1; /* 0 would look like the first return of setjmp */
    __builtin_wasm_throw(1, &at->thrown);
}
