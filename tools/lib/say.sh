# How the scripts of this folder talk; sourced, never run.
# Words for a person go to standard output, errors and notes to standard error.
# shellcheck shell=bash

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
  bold='' dim='' red='' green='' yellow='' plain=''
fi

step() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }
fine() { printf '  %sok%s %s\n' "$green" "$plain" "$*"; }
note() { printf '  %s%s%s\n' "$dim" "$*" "$plain"; }
warn() { printf '%s%s%s\n' "$yellow" "$*" "$plain" >&2; }

# fail SENTENCE [NEXT STEP]: says both and ends with 1.
fail() {
  printf '%serror:%s %s\n' "$red" "$plain" "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

# wrong_words SENTENCE: for a flag or word that is not known; ends with 2.
wrong_words() {
  printf '%serror:%s %s\n  Try %s --help.\n' "$red" "$plain" "$1" "$0" >&2
  exit 2
}

# usage: the comment at the head of the script, without its marks.
usage() { sed -n '2,/^$/{s/^# \{0,1\}//;p}' "$0"; }

# with_progress TITLE LOG COMMAND…: runs a long command with its output in LOG, shows how far it is,
# and shows the end of LOG when it fails. Gives the command's exit status.
with_progress() {
  local title=$1 log=$2 began=$SECONDS pid status=0 shown=0 last
  shift 2
  mkdir -p "$(dirname "$log")"
  printf '  %s … %s(log: %s)%s\n' "$title" "$dim" "$log" "$plain"
  "$@" >"$log" 2>&1 &
  pid=$!
  # a background job of a script does not hear Ctrl-C by itself
  trap 'kill "$pid" 2>/dev/null; exit 130' INT
  trap 'kill "$pid" 2>/dev/null; exit 143' TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    # on a terminal one line that changes, elsewhere a line every half minute
    if [ -t 1 ]; then
      last=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -av '^$' | tail -n 1 | cut -c 1-90 || true)
      printf '\r\e[K  %s%4d s  %s%s' "$dim" "$((SECONDS - began))" "$last" "$plain"
    elif [ $((SECONDS - began - shown)) -ge 30 ]; then
      shown=$((SECONDS - began))
      last=$(tail -n 1 "$log" | cut -c 1-90 || true)
      printf '  %4d s  %s\n' "$shown" "$last"
    fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ ! -t 1 ] || printf '\r\e[K'
  if [ "$status" != 0 ]; then
    printf '%s%s failed (exit status %d). The end of %s:%s\n' "$red" "$title" "$status" "$log" "$plain" >&2
    tail -n 25 "$log" | sed 's/^/  | /' >&2
    return "$status"
  fi
  fine "$title ($((SECONDS - began)) s)"
}
