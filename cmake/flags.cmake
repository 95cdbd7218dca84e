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
