# ts_add_library(ROOM SOURCES...): the static library tallskinny_ROOM, exported as tallskinny::ROOM.
# ts_add_program(NAME SOURCES...): an installed program.

add_library(tallskinny_build_flags INTERFACE)
target_compile_options(tallskinny_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  $<IF:$<BOOL:${CMAKE_UNITY_BUILD}>,-Wno-shadow,-Wshadow>  # sources that share a unit shadow each other's names
  # gcc 12 warns of an overlap inside "text" + std::string that is none (GCC bug 105651)
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${TS_WERROR}>:-Werror>)
if(TS_SANITIZE)
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_compile_options(tallskinny_build_flags INTERFACE ${flags}
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitize_ignore.txt>)
  target_link_options(tallskinny_build_flags INTERFACE ${flags})
endif()
if(TS_COVERAGE)
  target_compile_options(tallskinny_build_flags INTERFACE --coverage)
  target_link_options(tallskinny_build_flags INTERFACE --coverage)
endif()

function(ts_add_library room)
  add_library(tallskinny_${room} STATIC ${ARGN})
  add_library(tallskinny::${room} ALIAS tallskinny_${room})
  set_target_properties(tallskinny_${room} PROPERTIES EXPORT_NAME ${room})
  target_compile_features(tallskinny_${room} PUBLIC cxx_std_20)
  target_include_directories(tallskinny_${room} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(tallskinny_${room} PRIVATE $<BUILD_INTERFACE:tallskinny_build_flags>)
endfunction()

# The headers that users of the libraries may include, relative to the root: all but *_detail.hpp and the
# internals of a room.
function(ts_public_headers out)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/gemm/*.hpp ${PROJECT_SOURCE_DIR}/solvers/*.hpp)
  list(FILTER headers EXCLUDE REGEX "_detail\\.hpp$|^gemm/[a-z0-9]+/(cpu|cuda)/|^gemm/core/(checks|eigen_reference)")
  list(APPEND headers gemm/backend/cuda/convert.hpp gemm/backend/cuda/device_csr.hpp gemm/backend/cuda/device_matrix.hpp gemm/backend/cuda/devices.hpp gemm/backend/cuda/graph.hpp
    gemm/backend/cuda/kernel_plan.hpp gemm/backend/cuda/staging.hpp gemm/backend/cuda/stream.hpp)
  list(APPEND headers io/matrix_file.hpp io/output_file.hpp io/hermitian.hpp)
  set(${out} ${headers} PARENT_SCOPE)
endfunction()

function(ts_add_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tallskinny_build_flags)
  if(TS_STATIC)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
