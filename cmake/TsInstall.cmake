# Install the libraries, their public headers, the licence and the package files behind find_package(tallskinny).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tallskinny)
get_property(components GLOBAL PROPERTY TS_COMPONENTS)
foreach(component ${components})  # one export each, so that a user of one needs nothing for the others
  set(targets tallskinny_${component})
  if(component STREQUAL "io" AND TS_STATIC)
    list(APPEND targets tallskinny_hdf5)
  endif()
  install(TARGETS ${targets} EXPORT ${component}Targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT ${component}Targets NAMESPACE tallskinny:: DESTINATION ${package_dir})
endforeach()

get_property(headers GLOBAL PROPERTY TS_PUBLIC_HEADERS)
foreach(header ${headers})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${header})
    message(FATAL_ERROR "${header} does not exist: mend the PUBLIC_HEADERS of its room's CMakeLists.txt")
  endif()
endforeach()
install(CODE "set(root \"${PROJECT_SOURCE_DIR}\")
set(headers ${headers})
set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

# pkg-config: tallskinny-gemm and so on. Static libraries name what their users link beside them.
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up "${up}")
foreach(component ${components})
  set(libs "")
  set(libs_private "")
  set(requires "")
  set(requires_private "")
  if(NOT component STREQUAL "c")
    if(NOT component STREQUAL "gemm")
      set(libs " -ltallskinny_gemm")
    endif()
    set(libs_private "-lstdc++ -lpthread -ldl -lm")
    if(NOT BUILD_SHARED_LIBS)
      string(APPEND libs " -lpthread -ldl")
    endif()
    if(component STREQUAL "io" AND BUILD_SHARED_LIBS)
      set(requires_private "hdf5 zlib")
    elseif(component STREQUAL "io" AND NOT TS_STATIC)
      set(requires "hdf5 zlib")
    endif()
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/component.pc.in
    ${PROJECT_BINARY_DIR}/tallskinny-${component}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tallskinny-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tallskinnyConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tallskinnyConfig.cmake
  ${PROJECT_BINARY_DIR}/tallskinnyConfigVersion.cmake DESTINATION ${package_dir})
