# The Python package: `cmake --build` leaves it ready to import in <build>/python, and
# tools/build_wheel.sh makes the wheel from the component `python`.
# FEEDRATE_PYTHON=AUTO builds it where Python's headers and nanobind are found, ON requires them.
if(NOT FEEDRATE_PYTHON OR FEEDRATE_FUZZ OR FEEDRATE_LTO)
  return()
endif()

function(python_absent what)
  if(FEEDRATE_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "FEEDRATE_PYTHON=ON, but ${what}; see tools/install-deps.sh python")
  endif()
  message(STATUS "Python package: off (${what})")
endfunction()

# scikit-build-core knows which Python the wheel is for. Otherwise: the environment that
# tools/install-deps.sh makes, or the first python3.
set(python_environment ${CMAKE_SOURCE_DIR}/build/python-tools)
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${python_environment}/bin/python)
  set(Python_EXECUTABLE ${python_environment}/bin/python)
endif()
set(python_parts Interpreter Development.Module)
if(SKBUILD_SABI_COMPONENT)
  list(APPEND python_parts ${SKBUILD_SABI_COMPONENT}) # one module for every later Python
endif()
find_package(Python 3.10 COMPONENTS ${python_parts})
if(NOT Python_Development.Module_FOUND)
  python_absent("Python's headers were not found")
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind 3.1 CONFIG QUIET)
if(NOT nanobind_FOUND)
  python_absent("${Python_EXECUTABLE} has no nanobind 3.1")
  return()
endif()
message(STATUS "Python package: on (Python ${Python_VERSION}, nanobind ${nanobind_VERSION})")

file(GLOB native CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/bindings/python/*.cpp ${CMAKE_SOURCE_DIR}/tools/bindings/c/forks.cpp)
nanobind_add_module(_native NB_STATIC STABLE_ABI FREE_THREADED NB_SUPPRESS_WARNINGS NOMINSIZE ${native})
set(package ${CMAKE_BINARY_DIR}/python/feedrate)
set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package})
target_link_libraries(_native PRIVATE feedrate_flags feedrate_loader)
# It links parts of the libraries, and exports nothing of them to other modules of the process.
target_link_options(_native PRIVATE -Wl,--as-needed -Wl,--exclude-libs,ALL)
# Where a bundle of samples/gpu_check.sh has the libraries; DT_RPATH, as package.cmake says.
set_target_properties(_native PROPERTIES BUILD_RPATH "$ORIGIN/../../lib")
target_link_options(_native PRIVATE -Wl,--disable-new-dtags)

# The package in the build tree: the module between links to the sources and to the program.
file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tools/bindings/python/feedrate
  ${CMAKE_SOURCE_DIR}/tools/bindings/python/feedrate/*.py ${CMAKE_SOURCE_DIR}/tools/bindings/python/feedrate/py*)
file(MAKE_DIRECTORY ${package}/bin)
foreach(source IN LISTS sources)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/tools/bindings/python/feedrate/${source} ${package}/${source} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_BINARY_DIR}/feedrate ${package}/bin/feedrate SYMBOLIC)
add_custom_target(python DEPENDS _native feedrate)

# Type checkers read what nanobind says of the module, the table of settings and the schema of what
# commands print. A sanitized module cannot simply be imported, nor one for another processor:
# FEEDRATE_STUBS has what this one's says.
if(FEEDRATE_STUBS)
  file(COPY ${FEEDRATE_STUBS}/_native.pyi ${FEEDRATE_STUBS}/_keywords.pyi ${FEEDRATE_STUBS}/_json.pyi
    DESTINATION ${package})
elseif(NOT FEEDRATE_SANITIZE)
  nanobind_add_stub(python_stub MODULE _native OUTPUT ${package}/_native.pyi PYTHON_PATH ${package}
    DEPENDS _native)
  set(scripts ${CMAKE_SOURCE_DIR}/tools/cmake)
  add_custom_command(OUTPUT ${package}/_keywords.pyi
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python
            ${Python_EXECUTABLE} ${scripts}/python_keywords.py > ${package}/_keywords.pyi
    DEPENDS _native ${scripts}/python_keywords.py ${package}/_settings.py VERBATIM)
  add_custom_command(OUTPUT ${package}/_json.pyi
    COMMAND ${Python_EXECUTABLE} ${scripts}/python_json.py $<TARGET_FILE:feedrate> > ${package}/_json.pyi
    DEPENDS feedrate ${scripts}/python_json.py VERBATIM)
  add_custom_target(python_keywords ALL DEPENDS ${package}/_keywords.pyi ${package}/_json.pyi)
  add_dependencies(python python_stub python_keywords)
endif()

if(FEEDRATE_TESTS)
  set(environment PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONWARNINGS=ignore::DeprecationWarning)
  if(FEEDRATE_SANITIZE)
    # The interpreter is not sanitized, so the library has to be there first; it frees little at exit.
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
      OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so
      OUTPUT_VARIABLE stdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND environment "LD_PRELOAD=${asan} ${stdcxx}" ASAN_OPTIONS=detect_leaks=0)
  endif()
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/python/*_test.py)
  foreach(test IN LISTS tests)
    get_filename_component(name ${test} NAME_WE)
    add_test(NAME python/${name} COMMAND ${Python_EXECUTABLE} ${test})
    set_tests_properties(python/${name} PROPERTIES LABELS python TIMEOUT 300 ENVIRONMENT "${environment}")
  endforeach()
endif()

install(TARGETS _native LIBRARY DESTINATION feedrate COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${package}/_native.pyi ${package}/_keywords.pyi ${package}/_json.pyi DESTINATION feedrate COMPONENT python EXCLUDE_FROM_ALL OPTIONAL)
install(TARGETS feedrate RUNTIME DESTINATION feedrate/bin COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${adapters} DESTINATION feedrate/share/feedrate/peers COMPONENT python EXCLUDE_FROM_ALL)
install(CODE "
  set(PROGRAM [[$<TARGET_FILE:feedrate>]])
  set(EXCLUDE [[${not_carried}]])
  set(DIRECTORIES [[${FEEDRATE_LICENSES}]])
  set(INTO feedrate/licenses)" COMPONENT python EXCLUDE_FROM_ALL)
install(SCRIPT tools/cmake/licenses.cmake COMPONENT python EXCLUDE_FROM_ALL)
file(GLOB nanobind_license ${nanobind_DIR}/../../nanobind-${nanobind_VERSION}.dist-info/licenses/LICENSE)
if(nanobind_license) # of what is compiled into the module, with a header under the MIT licence that states it
  install(FILES ${nanobind_license} ${nanobind_DIR}/../ext/robin_map/include/tsl/robin_map.h
    DESTINATION feedrate/licenses/nanobind COMPONENT python EXCLUDE_FROM_ALL)
endif()
