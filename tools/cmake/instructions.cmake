# The instruction sets that a build has code for: of x86-64, whatever runs the program, beyond what
# every processor has; elsewhere none. formats/base/processor.h and formats/base/lanes.hpp say how the
# code shows that. FEEDRATE_PORTABLE=ON leaves them out on x86-64 too, to compile what others run.
option(FEEDRATE_PORTABLE "Leave out the code for single instruction sets, as on other processors" OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND NOT FEEDRATE_PORTABLE)
  set(FEEDRATE_X86 1)
else()
  set(FEEDRATE_X86 0)
endif()

# Removes the files of instruction sets that this build has no code for.
function(keep_own_instructions variable)
  set(files ${${variable}})
  if(NOT FEEDRATE_X86)
    list(FILTER files EXCLUDE REGEX "_(ssse3|avx|avx2|avx512|f16c)(_test)?\\.cpp$")
  endif()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()
