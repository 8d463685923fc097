# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What tools/quickstart, tools/test, tools/lint and .ci/run share: stages with their time, Debian
# packages, the Python environment, configure and build, models. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PYTHONDONTWRITEBYTECODE=1

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# stage TITLE COMMAND...: runs the command under a heading that says when it began, and how long it took.
stage() {
  local title=$1 began=$SECONDS
  shift
  printf '\n== %s  [%s]\n' "$title" "$(clock "$SECONDS")"
  "$@"
  printf '   %s: %s\n' "$title" "$(clock $((SECONDS - began)))"
}

fail() {  # fail CODE LINE...
  local code=$1
  shift
  printf '%s\n' "$@" >&2
  exit "$code"
}

# The packages of tools/packages.txt under the given [group] headings.
packages_of() {
  local group
  for group in "$@"; do
    awk -v heading="[$group]" '/^\[/ { inside = $1 == heading; next } inside && NF && !/^#/ { print $1 }' \
      "$root/tools/packages.txt"
  done
}

missing_packages() {
  local wanted
  mapfile -t wanted < <(packages_of "$@")
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

# need_packages install|check GROUP...: installs what is missing, or says what to do and ends with 2.
need_packages() {
  local mode=$1 missing as_root=()
  shift
  if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian machine; taken on trust: $(packages_of "$@" | xargs)"
    return
  fi
  missing=$(missing_packages "$@" | xargs)
  if [[ -z $missing ]]; then
    echo "All $(packages_of "$@" | wc -l) Debian packages are installed."
    return
  fi
  echo "Missing Debian packages: $missing"
  ((EUID == 0)) || as_root=(sudo)
  if [[ $mode == check ]]; then
    fail 2 "Install them first:" "  ${as_root:+sudo }apt-get install --no-install-recommends $missing" \
      "or leave out --no-install."
  fi
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    fail 2 "Neither root nor sudo here. As root:" "  apt-get install --no-install-recommends $missing"
  fi
  "${as_root[@]}" apt-get update -q
  # shellcheck disable=SC2086  # a list of names
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends $missing
}

# The first Python that is new enough and can make an environment: the user's, else Debian's.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail 2 "No Python 3.11 or newer with venv and ensurepip; install python3 and python3-venv."
}

# build/venv with the packages of tools/requirements.txt; made anew when that file or Python changes.
need_python() {
  local venv=$root/build/venv python wanted
  python=$(find_python)
  wanted=$("$python" -VV; cat "$root/tools/requirements.txt")
  if [[ $(cat "$venv/made-from" 2>/dev/null) != "$wanted" ]]; then
    echo "Making $venv (Python packages of tools/requirements.txt)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/tools/requirements.txt"
    echo "$wanted" >"$venv/made-from"
  fi
  echo "Python packages are in $venv."
}

# build PRESET [-DNAME=VALUE...]: Ninja configures again by itself when a build file changed, so
# configuring is done once, and when an option differs.
build() {
  local preset=$1 folder=$root/build/$1 option
  shift
  local -a differing=()
  for option in "$@"; do
    grep -qsx "${option#-D}" <(sed 's/:[A-Z]*=/=/' "$folder/CMakeCache.txt" 2>/dev/null) || differing+=("$option")
  done
  if [[ ! -f $folder/build.ninja ]] || ((${#differing[@]})); then
    (cd "$root" && cmake --preset "$preset" "$@")
  fi
  (cd "$root" && cmake --build --preset "$preset")
}

# fetch_models PRESET NAME...: into the cache folder, what is not there yet.
fetch_models() {
  local program=$root/build/$1/bin/redline
  shift
  (($#)) || { echo "None is asked for by name."; return; }
  "$program" models fetch "$@"
}
