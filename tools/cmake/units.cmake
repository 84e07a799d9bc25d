# compile_together(VARIABLE FILES…): sets VARIABLE to units, each of which includes some .cpp or .cu files of one
# folder. Reading the standard library's headers takes most of a compiler's time, so a unit of ten small
# files compiles about five times as fast as they do alone. Names in anonymous namespaces must therefore
# differ within a folder. -DFEEDRATE_UNITS=OFF compiles each file alone, which suits work on a few of them.
#
# CMake's own unity builds name files by absolute paths, so that another clone finds nothing in ccache.

# Loops over pixels and values stay alone: how GCC inlines and vectorises them must not depend on the
# other files of a unit.

option(FEEDRATE_UNITS "Compile the small files of a folder together" ON)
set(alone "^(formats/codecs/(jpeg|packed|png)|formats/pixels|loader/pixels|trainer/backends/cpu/values)/|/pixel_values(_blocks)?\\.cpp$")
set(max_unit_bytes 60000) # of all files in a unit: one core would work on a larger one alone at the end

function(compile_together variable)
  if(NOT FEEDRATE_UNITS)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(groups "") # the files of one folder that have the same options of their own
  set(units "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE relative)
    file(STRINGS ${source} vectors REGEX "^(#include <immintrin.h>|#pragma GCC)")
    if(vectors OR relative MATCHES "${alone}")
      list(APPEND units ${source})
      continue()
    endif()
    cmake_path(GET relative PARENT_PATH group)
    cmake_path(GET relative EXTENSION LAST_ONLY extension)
    string(APPEND group ${extension})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      string(MAKE_C_IDENTIFIER "${options}" identifier)
      string(APPEND group "/${identifier}")
      set(options_${group} ${options})
    endif()
    list(APPEND groups ${group})
    list(APPEND members_${group} ${relative})
  endforeach()
  list(REMOVE_DUPLICATES groups)

  foreach(group IN LISTS groups)
    set(number 0)
    set(bytes 0)
    string(REGEX MATCH "\\.(cpp|cu)" extension ${group})
    string(REPLACE ${extension} "" name ${group})
    string(REPLACE "/" "_" name ${name})
    # To GCC, a file that a unit includes is a header, in which a class with a member of an anonymous
    # namespace's type would be a mistake. And a local name may stand at the top of a neighbour.
    if(extension STREQUAL ".cpp")
      list(APPEND options_${group} -Wno-subobject-linkage -Wno-shadow -Wshadow=local)
    endif()
    foreach(relative IN LISTS members_${group})
      file(SIZE ${CMAKE_SOURCE_DIR}/${relative} size)
      math(EXPR bytes "${bytes} + ${size}")
      if(bytes GREATER max_unit_bytes)
        math(EXPR number "${number} + 1")
        set(bytes ${size})
      endif()
      set(unit ${CMAKE_BINARY_DIR}/units/${name}_${number}${extension})
      list(APPEND units_of_group ${unit})
      string(APPEND text_${unit} "#include \"${relative}\"\n")
    endforeach()
    list(REMOVE_DUPLICATES units_of_group)
    foreach(unit IN LISTS units_of_group)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text_${unit}}" @ONLY)
      set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${options_${group}}")
    endforeach()
    list(APPEND units ${units_of_group})
    unset(units_of_group)
  endforeach()
  set(${variable} ${units} PARENT_SCOPE)
endfunction()
