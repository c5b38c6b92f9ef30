# SPDX-License-Identifier: BSD-2-Clause
"""Calls as the clients put them on the wire, for the tests that replay them."""

import json

from harness import act, ask, create_bucket, equal, put, true, wait_for
from shapes import PAGE, PROPS, STATUS, SUMMARY, shape, unpack

ABC = b"abc"
ABC_XXH = "44bc2cf5ad770999"  # XXH64, seed 0, of abc and of nothing
EMPTY_XXH = "ef46db3751d8e999"
NO_BUCKET = {"name": "", "provider": "", "namespace": {"uuid": "", "name": ""}}


def listing(flags, props="", **more):
    """The list message of the `ais` command and the SDKs."""
    return act("list", "", {"uuid": "", "props": props, "prefix": "", "pagesize": 0,
                            "continuation_token": "", "start_after": "", "flags": flags,
                            "target": "", "time_format": "", **more})


def page(p, bucket, message, headers=None):
    r = ask(p, "GET", f"/v1/buckets/{bucket}?provider=ais", message, headers)
    equal(r.status, 200, f"list {bucket}: {r.text[:300]}")
    if (headers or {}).get("Accept") == "application/msgpack":
        return unpack(r.body) if r.header("Content-Type") == "application/msgpack" else r.json()
    shape(r.json(), PAGE)
    return r.json()


def names(result):
    return [e["name"] for e in result["entries"] or []]


def props_of(p, bucket, more=""):
    r = ask(p, "HEAD", f"/v1/buckets/{bucket}?provider=ais{more}")
    equal(r.status, 200, f"HEAD {bucket}: {r.header('Hdr-Error')}")
    props = json.loads(r.header("Ais-Bucket-Props"))
    shape(props, PROPS, "Ais-Bucket-Props")
    return props


def query(what, p, body):
    return ask(p, "GET", f"/v1/cluster?what={what}", body)


def job_done(p, uuid, kind):
    """Wait as clients do: what=status until end_time is set."""
    def ended():
        r = query("status", p, {"id": uuid, "kind": kind, "bck": NO_BUCKET, "show_active": None,
                                "node": "", "buckets": []})
        equal(r.status, 200, f"status of {uuid}: {r.text[:300]}")
        shape(r.json(), STATUS)
        return r.json() if r.json()["end_time"] else None
    status = wait_for(ended, 30, f"the end of {kind} {uuid}")
    equal((status["err"], status["aborted"], status["uuid"]), ("", False, uuid), "its status")


def new_job(r):
    """The ID that a starting call answers: bare text."""
    equal(r.status, 200, r.text[:300])
    true(8 <= len(r.text) <= 32 and r.text == r.text.strip(' "\n'), f"bare job ID: {r.text!r}")
    equal(r.header("Content-Length"), str(len(r.body)), "Content-Length of an ID")
    return r.text


def finished(r):
    true(r.status in (200, 202, 206), f"status {r.status}: {r.text[:200]}")
    return r if r.status == 200 else None


def check_summary(summary, present):
    shape(summary, SUMMARY)
    equal(summary["ObjCount"]["obj_count_present"], "81", "objects")
    equal(summary["TotalSize"]["size_all_present_objs"], str(sum(range(80)) + 3), "bytes")
    equal((summary["ObjSize"]["obj_min_size"], summary["ObjSize"]["obj_max_size"]), (0, 79),
          "smallest and largest")
    equal((summary["name"], summary["used_pct"], summary["is_present"]), ("cli", 0, present), "it")


def fill(p, bucket):
    """dir/a.bin, and many/000 to many/079 of as many bytes as their number says."""
    create_bucket(p, bucket)
    put(p, bucket, "dir/a.bin", ABC)
    for i in range(80):
        put(p, bucket, f"many/{i:03}", b"x" * i)
