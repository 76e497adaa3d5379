# ts_add_library(ROOM SOURCES... [PUBLIC_HEADERS headers]): the library tallskinny_ROOM, also called tallskinny::ROOM.
# With the headers that its users include it is a component of the installed package, and what these include comes with
# them; without, it is an internal static library.
# ts_add_program(NAME SOURCES...): an installed program.

# Sources that share a unit shadow each other's names, and to GCC the types of all but one come from a header; inside
# Eigen it then sees pointers used after free() in a branch that is never taken.
set(warnings -Wshadow)
if(CMAKE_UNITY_BUILD)
  set(warnings $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wno-shadow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,12>>:-Wno-use-after-free>)
endif()

add_library(tallskinny_build_flags INTERFACE)
target_compile_options(tallskinny_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual
  ${warnings}
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

# Headers that are made: for what includes them in the tree.
add_library(tallskinny_umbrella INTERFACE)
target_include_directories(tallskinny_umbrella INTERFACE ${PROJECT_BINARY_DIR}/umbrella)

# tallskinny/ROOM.hpp, which includes all public headers of a room but adaptors: made here, so that none is forgotten.
function(ts_write_umbrella room headers)
  set(text "// All public headers of tallskinny/${room}.\n#pragma once\n\n")
  foreach(header ${headers})
    if(header MATCHES "[.]hpp$" AND NOT header MATCHES "/adaptors/")  # which know other libraries
      string(APPEND text "#include \"tallskinny/${header}\"\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/umbrella/tallskinny/${room}.hpp CONTENT "${text}" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/umbrella/tallskinny/${room}.hpp
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tallskinny)
endfunction()

function(ts_add_library room)
  cmake_parse_arguments(arg "" "" "PUBLIC_HEADERS" ${ARGN})
  set(type STATIC)
  if(arg_PUBLIC_HEADERS)
    set(type "")  # as BUILD_SHARED_LIBS says
  endif()
  add_library(tallskinny_${room} ${type} ${arg_UNPARSED_ARGUMENTS})
  add_library(tallskinny::${room} ALIAS tallskinny_${room})
  set_target_properties(tallskinny_${room} PROPERTIES EXPORT_NAME ${room}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(tallskinny_${room} PUBLIC cxx_std_20)
  target_include_directories(tallskinny_${room} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(tallskinny_${room} PRIVATE $<BUILD_INTERFACE:tallskinny_build_flags>)
  if(arg_PUBLIC_HEADERS)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    list(TRANSFORM arg_PUBLIC_HEADERS PREPEND ${folder}/)
    set_property(GLOBAL APPEND PROPERTY TS_PUBLIC_HEADERS ${arg_PUBLIC_HEADERS})
    set_property(GLOBAL APPEND PROPERTY TS_COMPONENTS ${room})
    if(folder STREQUAL room)  # not a part of a room
      ts_write_umbrella(${room} "${arg_PUBLIC_HEADERS}")
    endif()
  endif()
endfunction()

function(ts_add_program name)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE tallskinny_build_flags)
  if(TS_STATIC)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# ts_add_shell_files(PROGRAM COMMANDS...): what PROGRAM, and its commands, print for shells and for man, made with it
# and installed.
function(ts_add_shell_files name)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/share)
  set(made ${folder}/bash/${name} ${folder}/zsh/_${name} ${folder}/fish/${name}.fish)
  set(commands)
  foreach(file ${made})
    cmake_path(GET file PARENT_PATH parent)
    cmake_path(GET parent FILENAME shell)
    list(APPEND commands COMMAND $<TARGET_FILE:${name}> --completion ${shell} >${file})
  endforeach()
  set(pages ${folder}/man/${name}.1)
  list(APPEND commands COMMAND $<TARGET_FILE:${name}> --man >${folder}/man/${name}.1)
  foreach(command ${ARGN})
    list(APPEND pages ${folder}/man/${name}-${command}.1)
    list(APPEND commands
      COMMAND $<TARGET_FILE:${name}> ${command} --man >${folder}/man/${name}-${command}.1)
  endforeach()
  file(MAKE_DIRECTORY ${folder}/bash ${folder}/zsh ${folder}/fish ${folder}/man)
  add_custom_command(OUTPUT ${made} ${pages} ${commands} DEPENDS ${name})
  add_custom_target(${name}_shell_files ALL DEPENDS ${made} ${pages})
  install(FILES ${folder}/bash/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${folder}/zsh/_${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${folder}/fish/${name}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endfunction()
