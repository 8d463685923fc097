#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols_test.sh OBJECT...: code compiled for one instruction set must stay in its own file. A weak
# symbol there could be the copy that the linker keeps for everybody.
checked=0
for object in "$@"; do
  case "$object" in
    */cpu/*)
      checked=$((checked + 1))
      if nm -C --defined-only "$object" | grep -E ' [VWu] '; then
        echo "$object defines the weak symbols above: keep them in an anonymous namespace"
        exit 1
      fi ;;
  esac
done
echo "$checked objects checked"
test "$checked" -gt 0
