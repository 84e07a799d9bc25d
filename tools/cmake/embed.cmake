# embed(TARGET NAME FILE): adds the text of FILE to TARGET as `extern const std::string_view NAME` in the
# target's namespace, and again whenever FILE changes. Run with -P, this script writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${FILE}" text)
  file(WRITE "${OUTPUT}" "#include <string_view>\n\nnamespace ${NAMESPACE} {\n\n"
    "extern const std::string_view ${NAME};\n"
    "constexpr std::string_view ${NAME}_text = R\"embedded(${text})embedded\";\n"
    "const std::string_view ${NAME} = ${NAME}_text;\n\n}  // namespace ${NAMESPACE}\n")
  return()
endif()

set(embed_script ${CMAKE_CURRENT_LIST_FILE})
function(embed target name file)
  string(REPLACE "feedrate_" "feedrate::" namespace ${target})
  set(output ${CMAKE_BINARY_DIR}/generated/embedded_${name}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DNAMESPACE=${namespace} -DFILE=${file} -DOUTPUT=${output} -P ${embed_script}
    DEPENDS ${file} ${embed_script} COMMENT "Embedding ${name}")
  target_sources(${target} PRIVATE ${output})
endfunction()
