# rb_glob(VAR FOLDER...): the C files of the folders, seen again whenever one is added.
function(rb_glob variable)
    set(patterns ${ARGN})
    list(TRANSFORM patterns REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.c")
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# rb_add_library(NAME SOURCES file... [NEEDS lib] LIBS lib...)
#
# One set of position-independent objects becomes NAME_shared (exported as rattleback::NAME) and
# NAME_static (rattleback::NAME_static). NEEDS names another library made by this function.
function(rb_add_library name)
    cmake_parse_arguments(arg "" "NEEDS" "SOURCES;LIBS" ${ARGN})

    add_library(${name}_objects OBJECT ${arg_SOURCES})
    set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${name}_objects PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name}_objects PRIVATE rb_flags rb_blocks ${arg_LIBS})

    add_library(${name}_shared SHARED $<TARGET_OBJECTS:${name}_objects>)
    add_library(${name}_static STATIC $<TARGET_OBJECTS:${name}_objects>)
    set_target_properties(${name}_shared PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        EXPORT_NAME ${name})

    foreach(kind shared static)
        set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
        target_include_directories(${name}_${kind} PUBLIC
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${name}_${kind} PRIVATE ${arg_LIBS})
        if(arg_NEEDS)
            target_link_libraries(${name}_${kind} PUBLIC ${arg_NEEDS}_${kind})
        endif()
    endforeach()

    add_library(rattleback::${name} ALIAS ${name}_shared)
    add_library(rattleback::${name}_static ALIAS ${name}_static)
endfunction()
