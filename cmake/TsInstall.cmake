# Install the libraries, their public headers and the package
# files behind find_package(tallskinny).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tallskinny)
set(libraries tallskinny_gemm tallskinny_io tallskinny_solvers)
if(TS_MPI)
  list(APPEND libraries tallskinny_mpi)
endif()
install(TARGETS ${libraries}
  EXPORT tallskinnyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT tallskinnyTargets NAMESPACE tallskinny:: DESTINATION ${package_dir})
ts_public_headers(headers)
foreach(header ${headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tallskinny/${folder})
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tallskinnyConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake
  ${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake DESTINATION ${package_dir})
