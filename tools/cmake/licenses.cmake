# Run by `cmake --install`: installs the licences of the libraries that the package carries. Debian
# keeps the text of each package's licence; on other systems they must be added by hand.
#   PROGRAM, MODULES: what needs them, if given   EXCLUDE: as in package.cmake   INTO: below the prefix
set(into $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${INTO})
find_program(dpkg_query dpkg-query)
if(NOT dpkg_query)
  message(WARNING "no dpkg here: the package lacks the licences of the libraries it carries")
  return()
endif()

# Header-only libraries, which are compiled in.
set(packages libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAM} MODULES ${MODULES} PRE_EXCLUDE_REGEXES ${EXCLUDE}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR ignored)
set(patterns)
set(texts) # of libraries that lie in a prefix of their own, as FEEDRATE_ONEDNN may name
foreach(library IN LISTS libraries)
  file(REAL_PATH ${library} real) # behind Debian's alternatives, as of libopenblas.so.0
  get_filename_component(prefix ${real}/../.. ABSOLUTE)
  file(GLOB own ${prefix}/share/doc/*/LICENSE ${prefix}/share/doc/*/THIRD-PARTY-PROGRAMS)
  if(own AND NOT prefix MATCHES "^/(usr|lib)")
    list(APPEND texts ${own})
    continue()
  endif()
  # The last directory names the architecture; the first is /lib or /usr/lib.
  string(REGEX REPLACE "^.*(/[^/]+/[^/]+)$" "*\\1" pattern ${real})
  list(APPEND patterns ${pattern})
endforeach()
execute_process(COMMAND ${dpkg_query} -S ${patterns} OUTPUT_VARIABLE owners ERROR_VARIABLE unowned)
string(STRIP "${unowned}" unowned)
if(unowned)
  message(WARNING "the licences of these are missing from the package: ${unowned}")
endif()
string(REGEX MATCHALL "[^\n]+" owners "${owners}")
foreach(owner IN LISTS owners)
  string(REGEX REPLACE "[:, ].*" "" package ${owner})
  list(APPEND packages ${package})
endforeach()

list(REMOVE_DUPLICATES packages)
file(MAKE_DIRECTORY ${into})
foreach(package IN LISTS packages)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(COPY_FILE /usr/share/doc/${package}/copyright ${into}/${package})
  else()
    message(WARNING "/usr/share/doc/${package}/copyright is not there: no licence of ${package}")
  endif()
endforeach()
foreach(text IN LISTS texts)
  string(REGEX REPLACE "^.*/doc/([^/]+)/([^/]+)$" "\\1-\\2" name ${text})
  file(COPY_FILE ${text} ${into}/${name})
endforeach()
