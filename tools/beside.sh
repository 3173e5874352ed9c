#!/bin/bash
# Runs a command, and beside it a check with what the cores have left to give. What the check prints comes at
# the end. Fails where one of both fails; where it is the command, the check is ended.
#     tools/beside.sh 'CHECK' COMMAND ARGUMENTS...
# NICE (15): how much less the check gets while both want a core.
set -u
log=$(mktemp)
setsid nice -n "${NICE:-15}" sh -c "$1" >"$log" 2>&1 </dev/null &
check=$!
trap '[ -z "$check" ] || kill -- "-$check" 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 130' INT TERM
"${@:2}" || exit
wait "$check"
status=$?
check=
cat "$log"
[ $status = 0 ] || echo "== $1 fails"
exit $status
