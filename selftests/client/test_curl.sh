#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every call of the README's tour by curl alone: followed (-L), and answer by answer without.
. "$(dirname "$0")/../lib.sh"
cd "$ROOT" || exit 1

cluster_up curl 18320
head -c 1500000 /dev/urandom >"$scratch/in"
: >"$scratch/empty"
api=$endpoint/v1
json='Content-Type: application/json'

# status CURL-ARGUMENT...: the status of the last answer; head and body in scratch
status()
{
	curl -sS -o "$scratch/body" -D "$scratch/head" -w '%{http_code}' "$@"
}

head_of()
{
	tr -d '\r' <"$scratch/head" | sed -n "s/^$1: *//Ip" | tail -n 1
}

expect()
{
	local want=$1 got
	shift
	got=$(status "$@")
	[[ $got == "$want" ]] || {
		echo "status $got, want $want"
		cat "$scratch/head" "$scratch/body"
		return 1
	}
}

bucket_call()
{
	expect 200 "$@" "$api/buckets/tour" -H "$json" -X "$verb" \
		-d "{\"action\":\"$action\",\"name\":\"\",\"value\":null}"
}

# redirected VERB NAME CURL-ARGUMENT...: 307 to a target, not to be cached, then done there
redirected()
{
	local want=$1 verb=$2 name=$3 location
	shift 3
	expect 307 -X "$verb" "$@" "$api/objects/tour/$name?provider=ais" || return
	location=$(head_of location)
	equal "$(head_of cache-control)" no-store || return
	[[ $location == http://127.0.0.1:1832[1-3]/v1/objects/tour/*pid=*utm=* ]] || {
		echo "Location: $location"
		return 1
	}
	expect "$want" -X "$verb" "$@" "$location"
}

same_as()
{
	cmp "$scratch/body" "$1"
}

# ---- followed

verb=POST action=create-bck
check "-L: create the bucket" bucket_call -L
put()
{
	expect 200 -L -T "$1" "$api/objects/tour/$2"
}
check "-L: put" put "$scratch/in" in
check "-L: put an empty object" put "$scratch/empty" empty
check "-L: put without Expect" \
	expect 200 -L -H 'Expect:' -T "$scratch/in" "$api/objects/tour/plain"
get()
{
	expect 200 -L "$api/objects/tour/$1" && same_as "$2"
}
check "-L: get" get in "$scratch/in"
check "-L: get the empty one" get empty "$scratch/empty"
check "-L: get what was put without Expect" get plain "$scratch/in"
range()
{
	expect 206 -L -r 100-299 "$api/objects/tour/in" || return
	same_as <(tail -c +101 "$scratch/in" | head -c 200) || return
	equal "$(head_of content-range)" "bytes 100-299/1500000"
}
check "-L: a range" range
head_call()
{
	local code
	code=$(curl -sSLI -o "$scratch/head" -w '%{http_code}' "$api/objects/tour/in")
	equal "$code" 200 || return
	equal "$(head_of content-length)" 1500000 || return
	equal "$(head_of ais-version)" 1 || return
	equal "$(head_of ais-checksum-type)" xxhash2
}
check "-L: head" head_call
explained()
{
	expect 200 -L -H 'Pagewire-Explain: 1' "$api/objects/tour/in" || return
	[[ $(head_of pagewire-path) =~ ^sendfile\;\ reason=[a-z-]+$ ]] || {
		cat "$scratch/head"
		return 1
	}
}
check "-L: the path of the bytes is told on request" explained
silent()
{
	expect 200 -L "$api/objects/tour/in" && equal "$(head_of pagewire-path)" ""
}
check "-L: and only then" silent
small_path()
{
	expect 200 -L -H 'Pagewire-Explain: 1' "$api/objects/tour/empty" || return
	equal "$(head_of pagewire-path)" "small; reason=small-body"
}
check "-L: a small body goes by one send" small_path
list_call()
{
	expect 200 -L "$api/buckets/tour" -X GET -H "$json" \
		-d '{"action":"list","name":"","value":{"props":"name,size","flags":"0"}}' || return
	/usr/bin/python3 - "$scratch/body" <<'END'
import json, sys
page = json.load(open(sys.argv[1]))
got = [(e["name"], e.get("size")) for e in page["entries"]]
assert got == [("empty", None), ("in", "1500000"), ("plain", "1500000")], got
assert page["continuation_token"] == "" and len(page["uuid"]) >= 9, page
END
}
check "-L: list" list_call
check "-L: delete" expect 200 -L -X DELETE "$api/objects/tour/in"
check "-L: and it is gone" expect 404 -L "$api/objects/tour/in"
verb=DELETE action=destroy-bck
check "-L: destroy the bucket" bucket_call -L

# ---- answer by answer

verb=POST action=create-bck
check "create the bucket" bucket_call
check "put: redirect, then done" redirected 200 PUT in -T "$scratch/in"
check "put by chunks: redirect, then done" \
	redirected 200 PUT chunks -T "$scratch/in" -H 'Transfer-Encoding: chunked'
check "get: redirect, then done" redirected 200 GET in
check "and the bytes are the same" same_as "$scratch/in"
check "get of what came by chunks: redirect, then done" redirected 200 GET chunks
check "and its bytes are the same" same_as "$scratch/in"
check "head: redirect, then done" redirected 200 HEAD in --head
check "a range: redirect, then done" redirected 206 GET in -r 5-9
five_bytes()
{
	same_as <(tail -c +6 "$scratch/in" | head -c 5)
}
check "and it is those bytes" five_bytes
check "delete: redirect, then done" redirected 200 DELETE in
check "get of nothing: redirect, then not found" redirected 404 GET in
check "list without a body" expect 200 "$api/buckets/tour"
check "health" expect 200 "$api/health"
check "metrics" expect 200 "$endpoint/metrics"
verb=DELETE action=destroy-bck
check "destroy the bucket" bucket_call
finish
