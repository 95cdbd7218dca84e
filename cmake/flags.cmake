# rb_flags: what every C file of this repository is compiled with. Nothing of it is exported.
add_library(rb_flags INTERFACE)

# Same inputs, same bits: no fused multiply-add behind our back. sqrt without errno is one
# instruction. Without -fno-semantic-interposition gcc may not inline across exported functions.
target_compile_options(rb_flags INTERFACE
    -ffp-contract=off -fno-math-errno -fno-semantic-interposition
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    $<$<BOOL:${RB_WERROR}>:-Werror>)

# gcc warns wherever snprintf could cut its text; messages are cut to their buffer on purpose
target_compile_options(rb_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)

# rb_blocks: gcc clears and copies structs of some hundred bytes by `rep stos` and `rep movs`, which
# take longer to begin than to run. In a step of a small model they are 5 % of its time.
include(CheckCCompilerFlag)
add_library(rb_blocks INTERFACE)
set(blocks unrolled_loop:128:noalign,libcall:-1:noalign)
check_c_compiler_flag("-mmemset-strategy=${blocks}" RB_HAS_MEMSET_STRATEGY)
if(RB_HAS_MEMSET_STRATEGY)
    target_compile_options(rb_blocks INTERFACE
        -mmemset-strategy=${blocks} -mmemcpy-strategy=${blocks})
endif()

if(RB_PLAIN)
    target_compile_definitions(rb_flags INTERFACE RB_PLAIN=1)
endif()

if(RB_SANITIZE)
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_compile_options(rb_flags INTERFACE ${sanitizers} -fno-omit-frame-pointer)
    target_compile_definitions(rb_flags INTERFACE RB_SANITIZED=1)
    add_link_options(${sanitizers})
endif()

if(RB_FUZZ)
    target_compile_options(rb_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Rooms outside the core read files, clocks and terminals.
add_library(rb_posix INTERFACE)
target_compile_definitions(rb_posix INTERFACE _POSIX_C_SOURCE=200809L)
