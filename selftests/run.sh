#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Run the test rings: selftests/run.sh [unit|fuzz|net|client|lint]... (none: all).
# One line a program; what a failed one said is printed and kept in build/test-logs/.
#
# FUZZ_SECONDS=30   a parser       LONG=1   loops of many rounds and large trees in full
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0 skipped=0
SKIP=4 # exit status of a test that lacks something; its last line says what
logs=build/test-logs
jobs=-j2

verdict()
{
	local name=$1 code=$2 log=$3

	case $code in
	0)
		passed=$((passed + 1))
		echo "ok - $name"
		;;
	"$SKIP")
		skipped=$((skipped + 1))
		echo "ok - $name # SKIP $(tail -n 1 "$log")"
		;;
	*)
		failed=$((failed + 1))
		((code == 124 || code == 137)) && echo "out of time" >>"$log"
		tail -n 60 "$log" | sed 's/^/# /'
		echo "not ok - $name (exit $code; $log)"
		;;
	esac
}

# run NAME SECONDS COMMAND...
run()
{
	local name=$1 seconds=$2 log=$logs/$1.log
	shift 2

	mkdir -p "${log%/*}"
	timeout -k 10 "$seconds" "$@" >"$log" 2>&1 </dev/null
	verdict "$name" $? "$log"
}

# build NAME TARGET...: prints nothing and counts nothing unless it fails
build()
{
	local name=$1 log=$logs/$1.log
	shift

	mkdir -p "${log%/*}"
	make --no-print-directory $jobs "$@" >"$log" 2>&1 </dev/null && return 0
	verdict "$name" 1 "$log"
	return 1
}

# Sanitizers reserve address ranges that full randomization may take.
fixed_layout()
{
	if setarch -R true 2>/dev/null; then
		setarch -R "$@"
	else
		"$@"
	fi
}
export -f fixed_layout

# unit_programs FOLDER [ROOM...]: the programs of these rooms, or of all
unit_programs()
{
	local out=$1 source room
	shift

	for source in selftests/unit/*/test_*.c; do
		[[ -e $source ]] || continue
		room=${source#selftests/unit/}
		room=${room%%/*}
		(($# == 0)) || [[ " $* " == *" $room "* ]] || continue
		echo "$out/${source%.c}"
	done
}

# unit_pass LABEL FOLDER SAN SECONDS [ROOM...]
unit_pass()
{
	local label=$1 out=$2 san=$3 seconds=$4 program name
	local -a programs
	shift 4

	mapfile -t programs < <(unit_programs "$out" "$@")
	if ((${#programs[@]} == 0)); then
		verdict "unit/$label" 1 <(echo "no test programs found")
		return
	fi
	# -k: one program that does not build hides no other
	build "unit/$label/build" -k O="$out" SAN="$san" "${programs[@]}"
	for program in "${programs[@]}"; do
		name=${program#"$out"/selftests/unit/}
		[[ -x $program ]] || continue
		run "unit/$label/$name" "$seconds" bash -c 'fixed_layout "$@"' - "$program"
	done
}

ring_unit()
{
	# leaks are looked for by default; a test that leaks on purpose says so itself
	export ASAN_OPTIONS=abort_on_error=0:strict_string_checks=1
	export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
	export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

	unit_pass plain build "" 60
	unit_pass address build/asan address,undefined 180
	# where threads share state
	unit_pass thread build/tsan thread 180 core loop store http
}

fuzz_one()
{
	local program=$1 name=$2 seeds=$3 seconds=$4 corpus=build/fuzz/corpus/$2

	rm -rf "$corpus"
	mkdir -p "$corpus" "build/fuzz/found/$name"
	[[ -d $seeds ]] && cp -r "$seeds/." "$corpus/"
	fixed_layout "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 -artifact_prefix="build/fuzz/found/$name/" "$corpus"
}
export -f fuzz_one

ring_fuzz()
{
	local seconds=${FUZZ_SECONDS:-30} source program name log seeds i
	local -a sources pids names

	shopt -s nullglob
	sources=(selftests/fuzz/*/fuzz_*.c)
	shopt -u nullglob
	if ((${#sources[@]} == 0)); then
		verdict fuzz 1 <(echo "no fuzz programs found")
		return
	fi
	build fuzz/build -k O=build/fuzz SAN=fuzzer fuzz-programs
	# two at a time: a parser's search is one thread
	for ((i = 0; i < ${#sources[@]}; i += 2)); do
		pids=() names=()
		for source in "${sources[@]:i:2}"; do
			program=build/fuzz/${source%.c}
			name=${source#selftests/fuzz/}
			name=${name%.c}
			[[ -x $program ]] || continue
			log=$logs/fuzz/$name.log
			mkdir -p "${log%/*}"
			seeds=${source%/*}/seeds_${name##*fuzz_}
			timeout -k 10 $((seconds + 60)) bash -c 'fuzz_one "$@"' - \
				"$program" "$name" "$seeds" "$seconds" >"$log" 2>&1 </dev/null &
			pids+=($!)
			names+=("$name")
		done
		for n in "${!pids[@]}"; do
			wait "${pids[n]}"
			verdict "fuzz/${names[n]}" $? "$logs/fuzz/${names[n]}.log"
		done
	done
}

ring_client()
{
	local test name seconds=300

	[[ ${LONG-} ]] && seconds=3600
	build client/build all || return
	for test in selftests/client/test_*; do
		[[ -x $test ]] || continue
		name=${test##*/}
		name=${name%.*}
		if [[ $name == test_sdk ]]; then
			run client/sdk-1.25 $seconds build/venv-1.25/bin/python3 "$test"
			run client/sdk-2.0 $seconds build/venv-2.0/bin/python3 "$test"
		else
			run "client/${name#test_}" $seconds "$test"
		fi
	done
}

# Real daemons in network namespaces, disks that fail, clients that mean ill.
ring_net()
{
	local test name seconds=600

	[[ ${LONG-} ]] && seconds=7200
	build net/build all || return
	for test in selftests/net/test_*.py; do
		name=${test##*/test_}
		run "net/${name%.py}" $seconds "$test"
	done
}

ring_lint()
{
	run lint 300 make --no-print-directory lint
}

for ring in "$@"; do
	case $ring in
	unit | fuzz | net | client | lint) ;;
	*)
		echo "usage: selftests/run.sh [unit|fuzz|net|client|lint]..." >&2
		exit 2
		;;
	esac
done
tools/install-deps --tests || exit 1
mkdir -p "$logs"
for ring in "${@:-}"; do
	for each in ${ring:-lint unit fuzz net client}; do
		"ring_$each"
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
