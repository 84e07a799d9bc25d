# Read by cpack, once for each generator: what of the installation a package holds.
if(CPACK_GENERATOR STREQUAL "TXZ")
  set(CPACK_COMPONENTS_ALL Unspecified carried)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
elseif(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
