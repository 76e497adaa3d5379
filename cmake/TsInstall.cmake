# Install the three libraries, their public headers (not *_detail.hpp, nor a room's internals) and the package
# files behind find_package(tallskinny).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tallskinny)
install(TARGETS tallskinny_gemm tallskinny_io tallskinny_solvers
  EXPORT tallskinnyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tallskinnyTargets NAMESPACE tallskinny:: DESTINATION ${package_dir})
foreach(room gemm io solvers)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tallskinny
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*_detail.hpp" EXCLUDE PATTERN "detail" EXCLUDE)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tallskinnyConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake
  ${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake DESTINATION ${package_dir})
