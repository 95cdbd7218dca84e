# rattleback_flat: core, readers, the flat calls and threads in one shared library, with the table of
# fields that src/flat/fields.py makes from the public headers.
rb_glob(flat_sources src/flat)
file(GLOB flat_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/rattleback/*.h)
set(flat_table ${PROJECT_BINARY_DIR}/flat_fields.c)
add_custom_command(OUTPUT ${flat_table}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/src/flat/fields.py
        ${PROJECT_SOURCE_DIR}/include ${flat_table}
    DEPENDS ${PROJECT_SOURCE_DIR}/src/flat/fields.py ${flat_headers}
    COMMENT "Table of fields" VERBATIM)

add_library(rattleback_flat SHARED ${flat_sources} ${flat_table} cli/pool.c cli/bundle.c
    $<TARGET_OBJECTS:rattleback_objects> $<TARGET_OBJECTS:rattleback_io_objects>)
target_include_directories(rattleback_flat PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(rattleback_flat PRIVATE rb_flags rb_blocks rb_posix Threads::Threads m
    PkgConfig::jansson PkgConfig::expat PkgConfig::qhull PkgConfig::png)

if(SKBUILD)
    install(TARGETS rattleback_flat LIBRARY DESTINATION rattleback)
else()
    install(TARGETS rattleback_flat)
endif()
