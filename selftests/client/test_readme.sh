#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The README's tour, pasted line by line as it stands; only the endpoint is this test's own.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1

cluster_up readme 18300
tour=$(sed -n '/^## Tour/,/^## /{/^```sh$/,/^```$/{/^```/!p}}' README.md |
	sed "s|http://localhost:8080|$endpoint|")

ten_lines()
{
	equal "$(grep -c . <<<"$tour")" 10
}
check "the tour has ten lines" ten_lines

# the shell that the lines are pasted into: every line must do, and so must each part of a pipe
number=0 before=
while IFS= read -r line; do
	number=$((number + 1))
	printf 'set -eo pipefail\n%s\n%s\n' "$before" "$line" >"$scratch/line.sh"
	check "line $number: $line" bash "$scratch/line.sh"
	[[ $line == export* ]] && before=$line
done <<<"$tour"

nothing_left()
{
	equal "$(curl -sS "$endpoint/v1/buckets")" "[]"
}
check "it leaves nothing behind" nothing_left
finish
