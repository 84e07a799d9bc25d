# The one binary. It finds the CUDA plug-in beside itself, so no CUDA library is needed to start it.
set(commit unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

add_executable(feedrate tools/main.cpp)
target_link_libraries(feedrate PRIVATE feedrate_flags feedrate_tools)
