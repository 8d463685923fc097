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
