# ts_add_test(NAME SOURCES files LIBRARIES targets [LABELS labels] [COST cost]): a Catch2 executable (2.13 or 3.x)
# whose test cases ctest runs one by one, the dear ones first, so that no processor waits for them in the end. The
# label `short` marks what also runs under the sanitizers. With SHORT_BY_TAG the cases tagged [short] get that label,
# those tagged [long] do not, and those with neither tag do not run.
# The target short_tests builds what the tests labelled short need.

find_package(Catch2 2 QUIET)
if(NOT Catch2_FOUND)
  find_package(Catch2 3 REQUIRED)
endif()
include(Catch)

add_custom_target(short_tests)

# Catch2 is the dearest header of the tests: it is compiled once, with the first of them, for all.
function(ts_precompile_test_header name)
  get_property(owner GLOBAL PROPERTY TS_TEST_HEADER_OWNER)
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/test.hpp)
    set_property(GLOBAL PROPERTY TS_TEST_HEADER_OWNER ${name})
  endif()
endfunction()

function(ts_add_test name)
  cmake_parse_arguments(arg "SHORT_BY_TAG" "COST" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} Catch2::Catch2WithMain tallskinny_build_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/include)
  # The rooms are optimised; tests of many types take a compiler two to three times as long at -O3 as they save.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${TS_SANITIZE}>,-O0,-O1>)
  ts_precompile_test_header(${name})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  if(arg_SHORT_BY_TAG OR "short" IN_LIST arg_LABELS)
    add_dependencies(short_tests ${name})
  endif()
  # What found no GPU counts as skipped.
  set(properties TIMEOUT 600 SKIP_REGULAR_EXPRESSION "skipped: ")
  if(arg_COST)
    list(APPEND properties COST ${arg_COST})
  endif()
  if(arg_SHORT_BY_TAG)
    catch_discover_tests(${name} TEST_SPEC "[short]" TEST_PREFIX "${name}: " PROPERTIES LABELS short ${properties})
    catch_discover_tests(${name} TEST_SPEC "[long]" TEST_PREFIX "${name}: " PROPERTIES ${properties})
  else()
    if(NOT arg_LABELS)
      set(arg_LABELS full)  # an empty value would take the next property's name as the label
    endif()
    catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES LABELS "${arg_LABELS}" ${properties})
  endif()
endfunction()
