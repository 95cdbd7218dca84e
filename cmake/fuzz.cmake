# Each fuzz/fuzz_NAME.c is one libFuzzer program; its seeds are in fuzz/corpus/NAME.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "RB_FUZZ needs clang: use `cmake --preset fuzz`")
endif()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_sources)
    cmake_path(GET source STEM name)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE rb_flags rb_posix rb_all)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
