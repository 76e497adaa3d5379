# ts_embed_texts(TARGET HEADER FUNCTION FILES...): a generated .cpp that defines ts::FUNCTION(), which HEADER
# declares, with the text of these files, made anew when one of them changes.
# As a script, cmake -DROOT=folder -DOUT=file -DHEADER=h -DFUNCTION=f -DFILES=a;b -P TsEmbed.cmake writes that .cpp.

if(CMAKE_SCRIPT_MODE_FILE)
  # sv: lengths are not counted by the compiler, for which clang has a limit of steps.
  string(CONCAT text
    "#include \"tallskinny/${HEADER}\"\n\nnamespace {\n\nusing namespace std::string_view_literals;\n\n"
    "constexpr ts::cuda::Source all[] = {\n")
  foreach(file ${FILES})
    file(RELATIVE_PATH name ${ROOT} ${file})
    string(REGEX REPLACE "^.*/generated/" "" name ${name})
    file(READ ${file} content)
    file(SHA256 ${file} digest)
    string(APPEND text "    {\"tallskinny/${name}\", R\"TS_TEXT(${content})TS_TEXT\"sv, \"${digest}\"sv},\n")
  endforeach()
  string(APPEND text
    "};\n\n}  // namespace\n\n"
    "std::span<const ts::cuda::Source> ts::${FUNCTION}() noexcept {\n  return all;\n}\n")
  file(WRITE ${OUT} "${text}")
  return()
endif()

set(TS_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(ts_embed_texts target header function)
  string(REGEX REPLACE ".*::" "" name ${function})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_${name}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUT=${out}" "-DHEADER=${header}"
            "-DFUNCTION=${function}" "-DFILES=${ARGN}" -P ${TS_EMBED_SCRIPT}
    DEPENDS ${ARGN} ${TS_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  # clang-tidy reads unity builds before it exists
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
