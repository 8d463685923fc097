# What an installation holds: the program, the core library with its headers, the built-in plugins (in
# plugins/CMakeLists.txt), and what find_package(redline) needs.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/redline)
file(RELATIVE_PATH library_from_program
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(redline_program PROPERTIES
  EXPORT_NAME program
  INSTALL_RPATH "$ORIGIN/${library_from_program}")  # an installed tree may be moved

install(TARGETS redline redline_program EXPORT redlineTargets)
install(DIRECTORY framework/include/redline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT redlineTargets NAMESPACE redline:: DESTINATION ${package_folder})

configure_package_config_file(cmake/redlineConfig.cmake.in ${CMAKE_BINARY_DIR}/redlineConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/redlineConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)  # 0.x promises no more
install(FILES
  ${CMAKE_BINARY_DIR}/redlineConfig.cmake
  ${CMAKE_BINARY_DIR}/redlineConfigVersion.cmake
  cmake/RedlinePlugin.cmake
  DESTINATION ${package_folder})
