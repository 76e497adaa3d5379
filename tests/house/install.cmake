# Installs BUILD into the empty folder PREFIX and looks whether what belongs there came. With SOURCE and OPTIONS the
# build in the folder BUILD is made before, of the objects of the build in the folder OBJECTS. Lists are separated by
# spaces.
cmake_minimum_required(VERSION 3.25)
separate_arguments(OPTIONS)
separate_arguments(FILES)
separate_arguments(PROGRAMS)
if(SOURCE)
  file(REMOVE_RECURSE ${BUILD})  # objects that were taken do not know of what they depend on
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -DTS_TESTS=OFF ${OPTIONS}
    "-DCMAKE_CXX_COMPILER_LAUNCHER=sh;${CMAKE_CURRENT_LIST_DIR}/reuse_object.sh;${OBJECTS}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(wanted ${FILES})
  if(NOT EXISTS ${PREFIX}/${wanted})
    message(FATAL_ERROR "${wanted} was not installed")
  endif()
endforeach()
foreach(program ${PROGRAMS})  # found their libraries, if these are shared
  execute_process(COMMAND ${PREFIX}/${program} --version COMMAND_ERROR_IS_FATAL ANY)
endforeach()
