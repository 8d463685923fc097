#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpi_failures_test.sh MPIRUN PROGRAM: a rank that throws, stalls or dies ends all processes, with
# words that name it. timeout stands for a hang.
expect() { # HOW TEXT
  out=$(timeout 60 "$mpirun" -n 4 "$program" "$1" 2>&1)
  code=$?
  echo "$1: exit $code: $out"
  test $code -ne 0 && test $code -ne 124 && echo "$out" | grep -q "$2"
}
mpirun=$1 program=$2
expect throw "rank 1 failed: out of luck" &&
  expect stall "rank 1 did not reach all_reduce within the time limit of 2 s" &&
  expect die "rank 1 .*exited on signal 9" &&
  expect silent "rank 0 did not reach broadcast within the time limit of 4 s"
