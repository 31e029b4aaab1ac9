#!/bin/sh
# Asks epitome, and prints what it answers: the agent gives the event's name, and what it says on standard input.
#
# The agent never waits for a program that is not there, is broken or hangs: one that has not said within two seconds that
# it is at work is ended, and is not asked again in this session. While it is at work it may take its time. What it prints
# counts only as a whole, and where it says itself that all went well.
program=epitome

lost="${CLAUDE_PLUGIN_DATA:-${TMPDIR:-/tmp}}/epitome-lost-${CLAUDE_CODE_SESSION_ID:-$PPID}"
[ -e "$lost" ] && exit 0
folder=$(mktemp -d) || exit 1
process=
trap 'rm -rf "$folder"' EXIT
trap 'kill -9 $process 2>/dev/null; exit 1' HUP INT TERM
: >"$folder/said" || exit 1
exec 3<&0
"$program" hook claude-code "$1" <&3 3<&- >"$folder/answer" 2>"$folder/said" &
process=$!

is_at_work() { [ "$(head -n 1 "$folder/said")" = "epitome is at work" ]; }
tries=0
until is_at_work; do
    if [ $tries -ge 20 ] || ! kill -0 "$process" 2>/dev/null; then
        is_at_work && break
        kill -9 "$process" 2>/dev/null
        : >"$lost"
        echo "epitome gives no sign of life, and is not asked again in this session: $(head -n 3 "$folder/said")" >&2
        exit 1
    fi
    tries=$((tries + 1))
    sleep 0.1
done
if wait "$process"; then
    cat "$folder/answer"
else
    # Any failure is 1: the agent takes 2 for an order to stop what it does.
    sed 1d "$folder/said" >&2
    exit 1
fi
