# ts_add_test(NAME SOURCES files LIBRARIES targets [LABELS labels] [COST cost] [NEEDS tags] [ALL_NEED tag]): a Catch2
# executable (2.13 or 3.x) whose test cases ctest runs one by one, the dear ones first, so that no processor waits for
# them in the end. The label `short` marks what also runs under the sanitizers. With SHORT_BY_TAG the cases tagged
# [short] get that label, those tagged [long] do not, and those with neither tag do not run.
# NEEDS: cases with one of these tags (ALL_NEED: all cases) run only where the machine has what the tag names. See
# ts_register_needs.
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
    target_precompile_headers(${name} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/support/test.hpp)
    set_property(GLOBAL PROPERTY TS_TEST_HEADER_OWNER ${name})
  endif()
endfunction()

# Cases of a program that match a Catch2 spec, as tests with these properties; with a need not as ctest starts, but when
# ts_register_needs has found it met.
function(ts_discover_tests name spec need)
  catch_discover_tests(${name} TEST_SPEC ${spec} TEST_PREFIX "${name}: " PROPERTIES ${ARGN})
  if(need)
    get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
    list(POP_BACK files file)
    set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES "${files}")
    set_property(GLOBAL APPEND PROPERTY TS_NEEDS ${need})
    set_property(GLOBAL APPEND PROPERTY TS_TESTS_NEED_${need} ${file})
  endif()
endfunction()

# ts_register_needs(PROBE): once, after all tests. PROBE, a program, prints a line "need: why not" for each need that is
# not met. When ctest starts it registers the tests of all others, and one test that is skipped and says what was left
# out.
function(ts_register_needs probe)
  get_property(needs GLOBAL PROPERTY TS_NEEDS)
  list(REMOVE_DUPLICATES needs)
  set(script "set(probe $<TARGET_FILE:${probe}>)\nset(needs ${needs})\n")
  foreach(need ${needs})
    get_property(files GLOBAL PROPERTY TS_TESTS_NEED_${need})
    string(APPEND script "set(files_${need} ${files})\n")
  endforeach()
  string(APPEND script "include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TsNeeds.cmake)\n")
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/needs.cmake CONTENT "${script}")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/needs.cmake)
  add_dependencies(short_tests ${probe})
endfunction()

function(ts_add_test name)
  cmake_parse_arguments(arg "SHORT_BY_TAG" "COST;ALL_NEED" "SOURCES;LIBRARIES;LABELS;NEEDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} Catch2::Catch2WithMain tallskinny_build_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/include)
  # The rooms are optimised; tests of many types take a compiler two to three times as long at -O3 as they save.
  # A designated initialiser names what a test sets, and leaves the rest as it is.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${TS_SANITIZE}>,-O0,-O1> -Wno-missing-field-initializers)
  ts_precompile_test_header(${name})
  if(TS_SANITIZE)  # which clang builds: its units were never tried
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(arg_SHORT_BY_TAG OR "short" IN_LIST arg_LABELS)
    add_dependencies(short_tests ${name})
  endif()
  set(properties TIMEOUT 600)
  if(arg_COST)
    list(APPEND properties COST ${arg_COST})
  endif()
  if(arg_SHORT_BY_TAG)
    set(arg_LABELS short)
  elseif(NOT arg_LABELS)
    set(arg_LABELS full)  # an empty value would take the next property's name as the label
  endif()
  if(arg_ALL_NEED)
    ts_discover_tests(${name} "" ${arg_ALL_NEED} LABELS "${arg_LABELS}" ${properties})
    return()
  endif()
  set(others "~[.]")  # as below: hidden cases are for tests/large.sh
  foreach(need ${arg_NEEDS})
    ts_discover_tests(${name} "[${need}]~[.]" ${need} LABELS "${arg_LABELS}" ${properties})
    string(APPEND others "~[${need}]")
  endforeach()
  if(arg_SHORT_BY_TAG)
    ts_discover_tests(${name} "[short]${others}" "" LABELS short ${properties})
    ts_discover_tests(${name} "[long]${others}" "" ${properties})
  else()
    ts_discover_tests(${name} "${others}" "" LABELS "${arg_LABELS}" ${properties})
  endif()
endfunction()
