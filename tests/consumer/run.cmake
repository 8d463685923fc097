# Installs redline, builds this folder's project against it, and loads what it built.
#   cmake -D BUILD=<redline's build> -D WORK=<scratch> -D COMPILER=<c++> -P run.cmake
cmake_minimum_required(VERSION 3.25)
unset(ENV{REDLINE_PLUGIN_PATH})
file(REMOVE_RECURSE ${WORK})

function(run)  # stops the test when the command fails; its output is in `said`
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit ${code} of ${ARGN}\n${out}${err}")
  endif()
  set(said "${out}" PARENT_SCOPE)
endfunction()
function(expect text)
  string(FIND "${said}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "'${text}' is not in\n${said}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)  # an installation may be moved
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build
  -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build)
expect("my_typical.loads")

set(redline ${WORK}/prefix/bin/redline)
run(${redline} plugins --plugin ${WORK}/build/my_typical.so my_typical)
expect("my_typical (rule): typical acceptance (lossy)")
expect("delta  number, 0 to 1  default 0.3   share of exp(-entropy) that is enough")
expect("file    ${WORK}/build/my_typical.so")
run(${redline} plugins draft_ngram)  # the installation's own plugins, not the build tree's
expect("file    ${WORK}/prefix/")
