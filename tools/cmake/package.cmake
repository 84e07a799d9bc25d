# Three ways out of the build directory:
#   cmake --install DIR     the program, the libraries, the public headers, a package for
#                           find_package(Feedrate); nothing of other projects
#   cpack -G DEB            the same as two Debian packages, which depend on Debian's libraries: feedrate, and
#                           feedrate-cpu, the trainer on the CPU (component `cpu`)
#   cpack -G TXZ            a relocatable archive that also carries every shared library but glibc's,
#                           the driver's and CUDA's, and their licences (component `carried`)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(public_headers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Feedrate)
install(FILES tools/bindings/c/feedrate.h DESTINATION include/feedrate)
install(TARGETS feedrate_c EXPORT FeedrateTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS feedrate_formats feedrate_converters feedrate_loader feedrate_trainer
  EXPORT FeedrateTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT FeedrateTargets NAMESPACE Feedrate:: DESTINATION ${package_dir})
foreach(header IN LISTS FEEDRATE_PUBLIC_HEADERS)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION include/feedrate/${folder})
endforeach()
configure_package_config_file(tools/cmake/FeedrateConfig.cmake.in
  ${CMAKE_BINARY_DIR}/FeedrateConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/FeedrateConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/FeedrateConfig.cmake ${CMAKE_BINARY_DIR}/FeedrateConfigVersion.cmake
  tools/cmake/dependencies.cmake DESTINATION ${package_dir})
file(GLOB adapters CONFIGURE_DEPENDS tools/lab/peers/*.py)
install(FILES ${adapters} DESTINATION ${CMAKE_INSTALL_DATADIR}/feedrate/peers)
install(FILES ${printed}/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/feedrate)
install(FILES LICENSE README.md ${printed}/JSON.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${printed}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${printed}/feedrate DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${printed}/_feedrate DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${printed}/feedrate.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# DT_RPATH, not RUNPATH: it also applies to the dependencies of the carried libraries.
target_link_options(feedrate PRIVATE -Wl,--disable-new-dtags)
target_link_options(feedrate_c PRIVATE -Wl,--disable-new-dtags)
set_target_properties(feedrate PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
install(TARGETS feedrate RUNTIME_DEPENDENCY_SET carried RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(plugins "")
if(TARGET feedrate_cpu)
  set(plugins $<TARGET_FILE:feedrate_cpu>)
  install(TARGETS feedrate_cpu RUNTIME_DEPENDENCY_SET carried
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpu)
endif()
if(TARGET feedrate_cuda)
  install(TARGETS feedrate_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(not_carried "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nsl)\\.so"
                "^lib(cuda|nvidia|cudart|cublas|cudnn|nccl|nvrtc)")
install(RUNTIME_DEPENDENCY_SET carried PRE_EXCLUDE_REGEXES ${not_carried}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT carried EXCLUDE_FROM_ALL)
install(CODE "
  set(PROGRAM [[$<TARGET_FILE:feedrate>]])
  set(MODULES [[${plugins}]])
  set(EXCLUDE [[${not_carried}]])
  set(INTO [[${CMAKE_INSTALL_DOCDIR}/licenses]])" COMPONENT carried EXCLUDE_FROM_ALL)
install(SCRIPT tools/cmake/licenses.cmake COMPONENT carried EXCLUDE_FROM_ALL)

# In the wheel feedrate-cpu, it lies beside the wheel feedrate's program.
if(SKBUILD AND TARGET feedrate_cpu)
  install(TARGETS feedrate_cpu LIBRARY DESTINATION feedrate/bin COMPONENT python_cpu EXCLUDE_FROM_ALL)
  install(CODE "
    set(MODULES [[${plugins}]])
    set(EXCLUDE [[${not_carried}]])
    set(DIRECTORIES [[${FEEDRATE_LICENSES}]])
    set(INTO feedrate/licenses/cpu)" COMPONENT python_cpu EXCLUDE_FROM_ALL)
  install(SCRIPT tools/cmake/licenses.cmake COMPONENT python_cpu EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR TXZ)
set(CPACK_THREADS 0)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VENDOR "the Feedrate developers")
set(CPACK_PACKAGE_CONTACT "the Feedrate developers <feedrate@example.org>")
set(CPACK_PACKAGE_FILE_NAME feedrate-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/tools/cmake/cpack.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME feedrate)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS feedrate-cpu)
set(CPACK_DEBIAN_CPU_PACKAGE_NAME feedrate-cpu)
set(CPACK_DEBIAN_CPU_PACKAGE_DEPENDS "feedrate (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_CPU_DESCRIPTION "The CPU backend of Feedrate's trainer, by oneDNN and OpenBLAS")
include(CPack)
