# A toolchain file for another architecture's Linux, by Debian's cross-compilers:
#
#   cmake --preset aarch64                                       # FEEDRATE_SYSROOT=build/aarch64-root
#   cmake -S DIR -B DIR --toolchain tools/cmake/cross.cmake -DFEEDRATE_SYSROOT=ROOT \
#     [-DFEEDRATE_TARGET=aarch64-linux-gnu] [-DCMAKE_FIND_ROOT_PATH=PREFIX]
#
# ROOT holds the target's libraries and headers, /lib and /usr; tests/aarch64/root.sh makes one. Libraries
# of PREFIX come first, and pkg-config finds those alone. Programs for another processor run by QEMU's
# emulation of a user's process where that is installed.
# Nothing here is Feedrate's own: libraries that it needs can be built with the same file.
set(FEEDRATE_TARGET aarch64-linux-gnu CACHE STRING "Cross-builds: the prefix of the compiler's name")
set(FEEDRATE_SYSROOT "" CACHE PATH "Cross-builds: a root directory with the target's libraries")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FEEDRATE_TARGET FEEDRATE_SYSROOT)
if(NOT EXISTS ${FEEDRATE_SYSROOT}/usr/include)
  message(FATAL_ERROR "FEEDRATE_SYSROOT='${FEEDRATE_SYSROOT}' has no usr/include; tests/aarch64/root.sh makes a root")
endif()

string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${FEEDRATE_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSROOT ${FEEDRATE_SYSROOT})
set(CMAKE_C_COMPILER ${FEEDRATE_TARGET}-gcc)
set(CMAKE_CXX_COMPILER ${FEEDRATE_TARGET}-g++)

# Libraries come from the target's root alone, programs from this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(prefixes ${CMAKE_FIND_ROOT_PATH})
list(REMOVE_ITEM prefixes "${FEEDRATE_SYSROOT}") # there when this file is read again
set(CMAKE_FIND_ROOT_PATH ${prefixes} ${FEEDRATE_SYSROOT})
get_property(trying GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT trying) # which is told no PREFIX
  set(pkgconfig ${FEEDRATE_SYSROOT}/usr/lib/${FEEDRATE_TARGET}/pkgconfig ${FEEDRATE_SYSROOT}/usr/share/pkgconfig)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${FEEDRATE_SYSROOT})
  if(prefixes) # what lies there knows its place
    list(TRANSFORM prefixes APPEND /lib/pkgconfig OUTPUT_VARIABLE pkgconfig)
    set(ENV{PKG_CONFIG_SYSROOT_DIR} "")
  endif()
  string(JOIN ":" pkgconfig ${pkgconfig})
  set(ENV{PKG_CONFIG_LIBDIR} ${pkgconfig})
endif()

if(CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR env) # runs them as they are
else()
  find_program(FEEDRATE_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR}-static)
  if(FEEDRATE_EMULATOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${FEEDRATE_EMULATOR} -L ${FEEDRATE_SYSROOT})
  endif()
endif()
