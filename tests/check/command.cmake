# The exit code and the last line of `redline check`: right, wrong, and what is no plugin.
#   cmake -D REDLINE=<program> -D WRONG=<a file of wrong rules> -D MUTANTS=<folders of plugins> -P command.cmake
cmake_minimum_required(VERSION 3.25)

function(check wanted text)
  execute_process(COMMAND ${REDLINE} check ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(FIND "${out}${err}" "${text}" at)
  if(NOT code EQUAL wanted OR at EQUAL -1)
    message(FATAL_ERROR "exit ${code}, not ${wanted} with '${text}', of check ${ARGN}\n${out}${err}")
  endif()
endfunction()

check(0 "checks, 0 failed" accept_ratio)
check(0 "\"result\":\"passed\"" accept_ratio --json)
check(0 "\"accepted\":1.18999" accept_ratio --json)
check(0 "checks, 0 failed" accept_lenient --set l=0.5)
check(0 "accept_ratio: 1024 tokens in 4 texts" accept_ratio --model tiny --tokens 1000)
check(0 "\"holds\":true" accept_ratio --model tiny --tokens 500 --temperature 0 --json)
check(1 "wrong_selection" ${WRONG})
check(1 "is not a shared library" ${CMAKE_CURRENT_LIST_FILE})
check(2 "accept_ratio" accept_ratoi)
check(2 "no parameter of what is checked" accept_ratio --set l=1)
check(2 "does not exist" ./missing.so)

# Biased ones on a model, by the gates that see them.
set(ENV{REDLINE_PLUGIN_PATH} ${MUTANTS})
check(1 "NOT plain decoding's" n1 --model tiny --tokens 3000)
check(1 "NOT plain decoding's" n2 --model tiny --tokens 6000)
check(1 "NOT plain decoding's" n5 --model tiny --tokens 100000 --temperature 0.5
  --drafter "draft_tree shape=4 method=iid")
check(1 "NOT plain decoding's" n6_of_model --model tiny --tokens 40000 --set children=3)
check(1 "by a margin of" keeps_all --model tiny --tokens 1000 --temperature 0)
check(0 "says that it is approximate" accept_synthetic --model tiny --tokens 1000 --temperature 0 --set rates=1)
