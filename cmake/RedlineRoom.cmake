# redline_room(NAME [LINK libraries...] [PRIVATE libraries...]): the static library redline_NAME of
# every .cpp of this folder. Headers are included as "room/file.hpp".
function(redline_room name)
  cmake_parse_arguments(ROOM "" "" "LINK;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  add_library(redline_${name} STATIC ${sources})
  target_include_directories(redline_${name} PUBLIC ${PROJECT_SOURCE_DIR}/framework)
  target_link_libraries(redline_${name} PUBLIC redline::redline ${ROOM_LINK} PRIVATE ${ROOM_PRIVATE})
endfunction()

# redline_test(NAME LINK libraries... [ENV NAME=value...] [LABELS labels...]): a Catch2 program of
# every *_test.cpp of this folder, one ctest entry.
function(redline_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "LINK;ENV;LABELS;DEFINE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *_test.cpp)
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE redline_test_main ${TEST_LINK})
  target_compile_definitions(test_${name} PRIVATE ${TEST_DEFINE})
  add_test(NAME ${name} COMMAND test_${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${TEST_ENV}" LABELS "${TEST_LABELS}")
endfunction()

# redline_fuzz(NAME LINK libraries...): the libFuzzer program fuzz_NAME of NAME_fuzz.cpp, built by the
# fuzz preset and run by tools/test --fuzz; seeds in the folder NAME_seeds, if there are any.
function(redline_fuzz name)
  cmake_parse_arguments(FUZZ "" "" "LINK" ${ARGN})
  if(NOT TARGET fuzz_targets)
    add_custom_target(fuzz_targets)
  endif()
  add_executable(fuzz_${name} ${name}_fuzz.cpp)
  target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_LINK})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_targets fuzz_${name})
endfunction()
