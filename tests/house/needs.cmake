# Tests of the rule that a test which needs a GPU is left out where there is none, is counted, and hides nothing. Run
# as: cmake -DBUILD=folder -DINCLUDE=... -DOPTIONS=... -P needs.cmake
separate_arguments(OPTIONS)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/needs -B ${BUILD} -DINCLUDE=${INCLUDE} ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)

# expect(UNMET REGEXES...): what ctest says where `UNMET` is not here matches all of these.
function(expect unmet)
  set(ENV{UNMET} "${unmet}")
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} OUTPUT_VARIABLE said RESULT_VARIABLE failed)
  if(NOT failed)
    message(FATAL_ERROR "a failing test passed with '${unmet}':\n${said}")
  endif()
  foreach(regex ${ARGN})
    if(NOT said MATCHES "${regex}")
      message(FATAL_ERROR "'${regex}' is not in what ctest says with '${unmet}':\n${said}")
    endif()
  endforeach()
endfunction()
expect("gpu: none" "1 tests failed out of 2" "half: ?the half on the processor \\(Failed\\)"
       "1 tests left out, for they need what is not here: 1 gpu \\(Skipped\\)")
expect("" "2 tests failed out of 2" "half: ?the half on a GPU \\(Failed\\)")
