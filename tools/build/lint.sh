#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make lint: layout, sizes, documentation, format, defects. Prints each finding; exit 1 if any.
set -uo pipefail
cd "$(dirname "$0")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h' |
	while read -r f; do [[ -f $f ]] && echo "$f"; done)
mapfile -t compiled < <(printf '%s\n' "${sources[@]}" | grep '\.c$' | grep -v '\.bpf\.c$')

suppress=(
	missingIncludeSystem    # system headers are not read: their macros are unknown, not wrong
	normalCheckLevelMaxBranches
	unmatchedSuppression    # a suppression may have nothing to do for a while
	unknownMacro            # CUnit's and json-c's loops by macro
	nullPointerRedundantCheck:selftests/unit/* # CU_ASSERT_FATAL ends the test, cppcheck goes on
	unreadVariable          # cleanup attributes read it at the end of the scope
	uninitvar:selftests/unit/* # as above: written by a call whose success was asserted
	memleak                 # of autofree: freed by the attribute; LeakSanitizer looks too
	autoVariables:daemon/store/bucket.c # lent to a thread that is waited for
	autoVariables:daemon/store/mover.c # as above
	resourceLeak            # of autofile and the like: closed by the cleanup attribute
	uninitStructMember      # filled through a pointer by a call that said so
	arrayIndexThenCheck     # the limit that follows is that of another array
)
cache=build/cppcheck # files that did not change are not read again
mkdir -p "$cache"
# folders of the clean-up attributes are found through the include paths of tools/build/flags.mk
cppcheck -q -j 2 --cppcheck-build-dir="$cache" --std=c11 --language=c \
	--enable=warning,portability --inline-suppr \
	--error-exitcode=1 --template='{file}:{line}: cppcheck {id}: {message}' \
	"${suppress[@]/#/--suppress=}" -Itools/include -I. -Idaemon -D_GNU_SOURCE \
	"${compiled[@]}" >"$out/cppcheck" 2>&1 &
cppcheck=$!

bad=0
/usr/bin/python3 -B tools/build/lint.py || bad=1
if ! clang-format --dry-run --Werror "${sources[@]}" >"$out/format" 2>&1; then
	sed -n 's/^\([^:]*\):[0-9]*:.*clang-format-violations.*/\1: mend with clang-format -i/p' \
		"$out/format" | uniq -c
	bad=1
fi
if ! wait $cppcheck; then
	cat "$out/cppcheck"
	bad=1
fi
((bad)) || echo "lint: ${#sources[@]} files, nothing to mend"
exit $bad
