# `cmake --install`: headers, both kinds of libraries, CMake package, pkg-config files.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rattleback)
set(libraries rattleback)
if(TARGET rattleback_io_static)
    list(APPEND libraries rattleback_io)
endif()

# pkg-config writes paths relative to where the file lies, so that a prefix can be moved
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")

foreach(library IN LISTS libraries)
    install(TARGETS ${library}_shared ${library}_static EXPORT ${library}-targets)
    install(EXPORT ${library}-targets NAMESPACE rattleback:: DESTINATION ${package_dir})
    configure_file(cmake/${library}.pc.in ${library}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${library}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(DIRECTORY include/rattleback DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/rattleback-config.cmake.in rattleback-config.cmake
    INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(rattleback-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/rattleback-config.cmake
    ${PROJECT_BINARY_DIR}/rattleback-config-version.cmake
    DESTINATION ${package_dir})

# the manual page says what `--help` says
find_package(Python3 COMPONENTS Interpreter)
if(TARGET rattleback_cli AND Python3_FOUND)
    set(manual_page ${PROJECT_BINARY_DIR}/rattleback.1)
    add_custom_command(OUTPUT ${manual_page}
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/manpage
            $<TARGET_FILE:rattleback_cli> > ${manual_page}
        DEPENDS rattleback_cli ${PROJECT_SOURCE_DIR}/tools/manpage VERBATIM)
    add_custom_target(manual_page ALL DEPENDS ${manual_page})
    install(FILES ${manual_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
