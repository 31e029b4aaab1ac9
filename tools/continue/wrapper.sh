#!/bin/sh
# `epitome` with what looks a session up: each call is noted.
case $1 in
search | restore) ;;
*)
    echo "epitome: only search and restore are here" >&2
    exit 2
    ;;
esac
printf '%s\t%s\t%s\n' "$(date +%s)" "$1" "$(printf '%s ' "$@" | tr '\n\t' '  ')" >> @LOG@
exec @EPITOME@ "$@"
