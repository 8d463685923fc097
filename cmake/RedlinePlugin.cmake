# redline_add_plugin(NAME sources...): one plugin file NAME.so, from this tree or against an install.
# Against an install, with testing enabled, also a test NAME.loads: the installed redline lists the file.
function(redline_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE redline::redline)
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    CUDA_RUNTIME_LIBRARY Shared)  # a static one is a private runtime and a megabyte a file
  if(NOT REDLINE_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)  # a missing symbol is an error at the author's desk
  endif()
  if(TARGET redline::program)
    add_test(NAME ${name}.loads
             COMMAND redline::program plugins --plugin $<TARGET_FILE:${name}>)
  endif()
endfunction()

# redline_add_plugin_test(NAME sources...): tests of the plugin NAME, with testing enabled: NAME.test runs the
# sources' main(), which may include the plugin's own; NAME.check holds the built file to its kind's contract.
function(redline_add_plugin_test name)
  add_executable(${name}_test ${ARGN})
  target_link_libraries(${name}_test PRIVATE redline::redline)
  target_compile_features(${name}_test PRIVATE cxx_std_20)
  add_test(NAME ${name}.test COMMAND ${name}_test)
  if(TARGET redline::program)
    add_test(NAME ${name}.check COMMAND redline::program check $<TARGET_FILE:${name}>)
  endif()
endfunction()
