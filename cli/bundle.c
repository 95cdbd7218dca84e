#include "bundle.h"

/* The assembler copies files as they are; RB_VIEWER_PAGE and RB_VIEWER_WASM come from CMake. */
#if defined(__APPLE__)
#define SECTION      ".const_data"
#define SYMBOL(name) "_" name
#else
#define SECTION      ".section .rodata"
#define SYMBOL(name) name
#endif

#define EMBED(name, file)                                                                          \
    __asm__(SECTION "\n.balign 16\n" SYMBOL("rb_bundle_" name) ":\n.incbin \"" file "\"\n" SYMBOL( \
        "rb_bundle_" name "_end") ":\n.byte 0\n"                                                   \
                                  ".text\n")

EMBED("page", RB_VIEWER_PAGE);
EMBED("wasm", RB_VIEWER_WASM);

extern const char rb_bundle_page[], rb_bundle_page_end[];
extern const unsigned char rb_bundle_wasm[], rb_bundle_wasm_end[];

const char *bundle_page(size_t *size)
{
    *size = (size_t)(rb_bundle_page_end - rb_bundle_page);
    return rb_bundle_page;
}

const unsigned char *bundle_wasm(size_t *size)
{
    *size = (size_t)(rb_bundle_wasm_end - rb_bundle_wasm);
    return rb_bundle_wasm;
}
