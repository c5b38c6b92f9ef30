# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Sourced by shell tests: a scratch cluster that ends with the test, and cases that pass or fail.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$ROOT/build:$PATH
scratch= failed=0 cases=0

cluster_end()
{
	[[ $scratch ]] || return 0
	if ((failed)); then
		for node in "$scratch"/cluster/*/log; do
			echo "# --- $node"
			tail -n 20 "$node" | sed 's/^/# /'
		done
	fi
	"$ROOT/tools/local-cluster" down --purge --dir "$scratch/cluster" >/dev/null
	rm -rf "$scratch"
}

# cluster_up NAME PORT [OPTION...]: sets scratch (a folder of the test's own) and endpoint
cluster_up()
{
	local name=$1 port=$2
	shift 2

	mkdir -p "$ROOT/build/scratch"
	scratch=$(mktemp -d "$ROOT/build/scratch/$name.XXXXXX")
	trap cluster_end EXIT # before the cluster exists
	"$ROOT/tools/local-cluster" up --dir "$scratch/cluster" --port "$port" "$@" || {
		failed=1
		exit 1
	}
	endpoint=http://127.0.0.1:$port
	export PAGEWIRE_ENDPOINT=$endpoint
}

# check NAME COMMAND...: a case that passes when the command does
check()
{
	local name=$1 said
	shift

	cases=$((cases + 1))
	if said=$("$@" 2>&1); then
		echo "ok - $name"
	else
		failed=$((failed + 1))
		echo "not ok - $name"
		printf '%s\n' "$said" | head -n 40 | sed 's/^/#   /'
	fi
}

# equal GOT WANT
equal()
{
	[[ $1 == "$2" ]] || {
		printf 'got  %s\nwant %s\n' "$1" "$2"
		return 1
	}
}

# finish: the test's exit
finish()
{
	echo "$((cases - failed)) of $cases cases passed"
	exit $((failed > 0))
}
