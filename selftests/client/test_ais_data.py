#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the `ais` command and aisloader ask of buckets and objects, replayed."""

import concurrent.futures
import json
import sys
import urllib.parse

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from calls import (ABC, ABC_XXH, check_summary, finished, job_done, listing, names, new_job, page,
                   props_of, query)
from harness import (Cases, Cluster, act, ask, contains, create_bucket, equal, get, list_all, put,
                     true, via, wait_for)
from shapes import BUCKET, CLUSTER_CONFIG, ERROR, PROPS, SNAP, SUMMARY, MapOf, shape, unpack

case = Cases()


# ---- the ais command: data

@case("ais bucket create; again is 409")
def _(c, p):
    r = ask(p, "POST", "/v1/buckets/cli?provider=ais", act("create-bck"))
    equal((r.status, r.body), (200, b""), "create")
    r = ask(p, "POST", "/v1/buckets/cli?provider=ais", act("create-bck"))
    equal(r.status, 409, "create again")
    shape(r.error(), ERROR)
    equal(r.error()["tcode"], "ErrBucketAlreadyExists", "tcode")
    contains(r.error()["message"], 'bucket "ais://cli" already exists')


@case("ais put: 307, body replayed, then done at the target")
def _(c, p):
    first = ask(p, "PUT", "/v1/objects/cli/dir/a.bin?provider=ais", ABC)
    equal((first.status, first.header("Content-Length"), first.body), (307, "0", b""), "redirect")
    contains(first.header("Location"), "/v1/objects/cli/dir/a.bin?")
    r = put(p, "cli", "dir/a.bin", ABC)
    equal(r.header("Ais-Checksum-Type"), "xxhash2", "checksum type")
    equal(r.header("Ais-Checksum-Value"), ABC_XXH, "checksum")
    true(r.header("Ais-Atime", "").isdigit(), "Ais-Atime is a number")
    equal(r.body, b"", "body")


@case("ais put of a folder: eight connections at once")
def _(c, p):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: put(p, "cli", f"many/{i:03}", b"x" * i), range(80)))
    equal(len(list_all(p, "cli", prefix="many/")), 80, "objects")


@case("ais get, cat: HEAD bucket, GET, GET")
def _(c, p):
    props = props_of(p, "cli")
    equal((props["provider"], props["checksum"]["type"], props["Renamed"]),
          ("ais", "xxhash2", ""), "props")
    equal(props["access"], "18446744073709551615", "access")
    r = get(p, "cli", "dir/a.bin")
    equal((r.status, r.body), (200, ABC), "GET")
    equal(r.header("Content-Type"), "application/octet-stream", "Content-Type")
    equal(r.header("Content-Length"), "3", "Content-Length")
    equal(r.header("Ais-Checksum-Value"), ABC_XXH, "checksum")
    equal(r.all("Ais-Custom-Md"), [], "custom metadata of a fresh object")
    true(int(r.header("Ais-Version")) >= 1, "Ais-Version")
    true(r.header("ETag", "").startswith(f'"v1-{ABC_XXH}-'), f"ETag {r.header('ETag')}")
    true(r.header("Last-Modified", "").endswith(" GMT"), "Last-Modified")


@case("ais ls: the buckets")
def _(c, p):
    for q in ("?provider=&presence=2", "?presence=2", "?provider=ais&presence=2", ""):
        r = ask(p, "GET", "/v1/buckets" + q, act("list"))
        equal(r.status, 200, q)
        shape(r.json(), [BUCKET])
        equal([b["name"] for b in r.json() if b["name"] == "cli"], ["cli"], q)
        equal(r.header("Content-Type"), "application/json; charset=utf-8", "Content-Type")


@case("ais ls BUCKET: name,size,cached")
def _(c, p):
    result = page(p, "cli", listing("0", "name,size,cached"))
    true(len(result["uuid"]) >= 9, "uuid")
    entry = next(e for e in result["entries"] if e["name"] == "dir/a.bin")
    equal(entry, {"name": "dir/a.bin", "size": "3", "flags": 64}, "entry")
    equal(names(result), sorted(names(result)), "order")
    entry = next(e for e in result["entries"] if e["name"] == "many/000")
    equal(entry, {"name": "many/000", "flags": 64}, "an empty object has no size")


@case("ais ls BUCKET with all props")
def _(c, p):
    words = "name,size,checksum,atime,version,cached,status,copies,custom,location"
    entry = page(p, "cli", listing("0", words, prefix="dir/"))["entries"][0]
    equal({k: entry[k] for k in ("name", "size", "checksum", "version", "copies", "flags")},
          {"name": "dir/a.bin", "size": "3", "checksum": ABC_XXH, "version": entry["version"],
           "copies": 1, "flags": 64}, "entry")
    true(entry["location"].startswith("t[") and "]:mp[" in entry["location"], "location")
    true(entry["atime"].endswith(" UTC"), f"atime {entry['atime']}")


@case("ais ls --name-only, --nr, no props at all")
def _(c, p):
    entry = page(p, "cli", listing("16", "name", prefix="dir/"))["entries"][0]
    equal(entry, {"name": "dir/a.bin", "flags": 64}, "--name-only")
    result = page(p, "cli", listing("2048", "name,size"))
    equal([(e["name"], e["flags"] & 256) for e in result["entries"]],
          [("dir/", 256), ("many/", 256)], "--nr")
    equal(names(page(p, "cli", listing("2048", "name,size", prefix="dir"))), ["dir/a.bin"],
          "--nr below a folder")
    entry = page(p, "cli", listing("0", "", prefix="dir/"))["entries"][0]
    equal(set(entry), {"name", "size", "flags"}, "no props")
    entry = page(p, "cli", listing("1", "", prefix="dir/"))["entries"][0]
    equal(set(entry), {"name", "size", "checksum", "atime", "flags"}, "no props, cached")


@case("ais ls --limit, --page-size: pages with uuid and token")
def _(c, p):
    whole = names(page(p, "cli", listing("0", "name,size")))
    equal(names(page(p, "cli", listing("0", "name,size", pagesize=7))), whole[:7], "limit")
    got, more = [], {"pagesize": 7}
    while True:
        result = page(p, "cli", listing("0", "name,size", **more))
        true(len(names(result)) <= 7, "a page is never longer than asked")
        got += names(result)
        equal(more.get("uuid", result["uuid"]), result["uuid"], "the same uuid")
        if not result["continuation_token"]:
            break
        equal(result["continuation_token"], names(result)[-1], "token")
        more.update(uuid=result["uuid"], continuation_token=result["continuation_token"])
    equal(got, whole, "all pages together")


@case("ais ls PREFIX: asks for an object of that name first")
def _(c, p):
    r = via(p, "HEAD", "/v1/objects/cli/many?provider=ais&presence=2&props=name,size")
    equal(r.status, 404, "HEAD")
    contains(r.error()["message"], "ais://cli/many does not exist")
    equal(len(names(page(p, "cli", listing("0", "name,size,cached", prefix="many")))), 80, "list")
    equal(page(p, "cli", listing("0", "name", prefix="none"))["entries"], None, "nothing found")


@case("msgpack, as `ais` and the SDKs ask for it")
def _(c, p):
    accept = {"Accept": "application/msgpack"}
    r = ask(p, "GET", "/v1/buckets/cli?provider=ais",
            listing("0", "name,size,checksum,version,copies", prefix="dir/"), accept)
    equal((r.status, r.header("Content-Type")), (200, "application/msgpack"), "answer")
    got = unpack(r.body)
    equal(list(got), ["UUID", "ContinuationToken", "Entries", "Flags"], "keys")
    entry = got["Entries"][0]
    equal({k: entry[k] for k in ("n", "cs", "s", "c", "f")},
          {"n": "dir/a.bin", "cs": ABC_XXH, "s": 3, "c": 1, "f": 64}, "entry")
    got = unpack(ask(p, "GET", "/v1/buckets/cli?provider=ais",
                     listing("0", "name", prefix="none"), accept).body)
    equal(got["Entries"] or [], [], "nothing found")


@case("ais ls --summary: two HEADs")
def _(c, p):
    path = "/v1/buckets/cli?provider=ais&bsumm_remote=false&presence=2"
    r = ask(p, "HEAD", path)
    equal(r.status, 202, "first")
    shape(json.loads(r.header("Ais-Bucket-Props")), PROPS)
    uuid = r.header("Ais-Xaction-Id")
    true(uuid, "Ais-Xaction-Id")
    r = wait_for(lambda: finished(ask(p, "HEAD", f"{path}&uuid={uuid}")), 20, "the summary")
    summary = json.loads(r.header("Ais-Bucket-Summ"))
    check_summary(summary, True)


@case("ais bucket summary: 202 with an ID, then 200")
def _(c, p):
    value = {"uuid": "", "prefix": "", "cached": True, "present": True}
    r = ask(p, "GET", "/v1/buckets/cli?provider=ais", act("summary-bck", "", value))
    equal(r.status, 202, "first")
    value["uuid"] = r.text
    r = wait_for(lambda: finished(ask(p, "GET", "/v1/buckets/cli?provider=ais",
                                      act("summary-bck", "", value))), 20, "the summary")
    shape(r.json(), [SUMMARY])
    check_summary(r.json()[0], False)


@case("ais object show")
def _(c, p):
    props_of(p, "cli", "&dont_add_remote_bck_md=true")
    path = "/v1/objects/cli/dir/a.bin?provider=ais&presence=2&props="
    r = via(p, "HEAD", path + "name,size,checksum,atime")
    equal((r.status, r.header("Content-Length"), r.header("Ais-Present")), (200, "3", "true"), "it")
    equal(r.header("Ais-Checksum-Value"), ABC_XXH, "checksum")
    equal((r.header("Ais-Name"), r.header("Ais-Version"), r.header("Ais-Location")),
          (None, None, None), "only what was asked for")
    r = via(p, "HEAD", path + "name,size,checksum,atime,version,last-modified,etag,copies,ec,"
            "custom,location,chunked")
    equal(r.status, 200, "all")
    equal((r.header("Ais-Mirror-Copies"), r.header("Ais-Chunks-Count")), ("1", None), "copies")
    true(r.header("Ais-Location").startswith("t["), "Ais-Location")
    true(r.header("ETag").startswith('"v1-'), "ETag is quoted")
    true(r.header("Last-Modified").endswith(" GMT"), "Last-Modified")


@case("ais object rm")
def _(c, p):
    put(p, "cli", "gone", ABC)
    props_of(p, "cli")
    true(set(names(page(p, "cli", listing("2064", "name", prefix="gone")))) <= {"gone"}, "list")
    r = via(p, "DELETE", "/v1/objects/cli/gone?provider=ais")
    equal((r.status, r.body), (200, b""), "DELETE")
    r = via(p, "DELETE", "/v1/objects/cli/gone?provider=ais")
    equal(r.status, 404, "again")
    contains(r.error()["message"], "ais://cli/gone doesn't exist")
    r = get(p, "cli", "gone")
    equal((r.status, r.error()["tcode"]), (404, "ErrNotFound"), "GET")
    contains(r.error()["message"], "]: ais://cli/gone does not exist")


@case("ais object rm --list, --template: the job and its states")
def _(c, p):
    for i in range(10):
        put(p, "cli", f"tpl-{i:02}", ABC)
    value = {"objnames": ["tpl-00", "tpl-01", "not-there"], "template": "", "num-workers": 0,
             "coer": False, "non-recurs": False}
    r = ask(p, "DELETE", "/v1/buckets/cli?provider=ais", act("delete-listrange", "", value))
    uuid = new_job(r)
    job_done(p, uuid, "delete-listrange")
    equal(len(list_all(p, "cli", prefix="tpl-")), 8, "after the list")
    value = {"objnames": None, "template": "tpl-{02..05}"}
    r = ask(p, "DELETE", "/v1/buckets/cli?provider=ais", act("delete-listrange", "", value))
    job_done(p, new_job(r), "delete-listrange")
    equal([e["name"] for e in list_all(p, "cli", prefix="tpl-")],
          ["tpl-06", "tpl-07", "tpl-08", "tpl-09"], "after the template")
    r = query("qryxstats", p, {"ID": uuid, "Kind": "", "DaemonID": "", "Bck": None,
                               "Buckets": None})
    equal(r.status, 200, "qryxstats by ID")
    shape(r.json(), MapOf([SNAP], 1))
    snaps = [s for snaps in r.json().values() for s in snaps]
    equal({(s["id"], s["kind"]) for s in snaps}, {(uuid, "delete-listrange")}, "snaps")
    true(all(not s["end-time"].startswith("0001") for s in snaps), "end-time")


@case("ais bucket props: show, set, reset")
def _(c, p):
    r = query("cluster_config", p, None)
    equal(r.status, 200, "cluster_config")
    shape(r.json(), CLUSTER_CONFIG)
    r = ask(p, "PATCH", "/v1/buckets/cli?provider=ais",
            act("set-bprops", "", {"checksum": {"type": "md5"}}))
    equal(r.status, 200, f"set: {r.text[:200]}")
    equal(props_of(p, "cli")["checksum"]["type"], "md5", "after set")
    r = put(p, "cli", "by-md5", ABC)
    equal((r.header("Ais-Checksum-Type"), r.header("Ais-Checksum-Value")),
          ("md5", "900150983cd24fb0d6963f7d28e17f72"), "md5 of abc")
    r = get(p, "cli", "by-md5")
    equal(r.header("ETag"), '"900150983cd24fb0d6963f7d28e17f72"', "ETag of an md5 object")
    r = ask(p, "PATCH", "/v1/buckets/cli?provider=ais", act("reset-bprops"))
    equal(r.status, 200, f"reset: {r.text[:200]}")
    equal(props_of(p, "cli")["checksum"]["type"], "xxhash2", "after reset")


@case("the bucket's access mask")
def _(c, p):
    create_bucket(p, "readonly")
    put(p, "readonly", "o", ABC)
    r = ask(p, "PATCH", "/v1/buckets/readonly?provider=ais",
            act("set-bprops", "", {"access": "3"}))
    equal(r.status, 200, f"set: {r.text[:200]}")
    r = ask(p, "PUT", "/v1/objects/readonly/o?provider=ais", ABC)
    equal(r.status, 403, "PUT")
    contains(r.error()["message"], "PUT access denied (allowed: [GET,HEAD-OBJECT])")
    equal(get(p, "readonly", "o").status, 200, "GET")
    equal(ask(p, "DELETE", "/v1/objects/readonly/o?provider=ais").status, 403, "DELETE")
    equal(ask(p, "DELETE", "/v1/buckets/readonly?provider=ais", act("destroy-bck")).status, 403,
          "destroy")
    r = ask(p, "PATCH", "/v1/buckets/readonly?provider=ais",
            act("set-bprops", "", {"access": "18446744073709551615"}))
    equal(r.status, 200, "set back")
    equal(ask(p, "DELETE", "/v1/buckets/readonly?provider=ais", act("destroy-bck")).status, 200,
          "destroy")


@case("ais object cp, within and between buckets")
def _(c, p):
    create_bucket(p, "other")
    for to in ("ais/@#/cli/copy", "ais/@#/other/copy of a"):
        where = urllib.parse.quote(to, safe="")
        r = via(p, "PUT", "/v1/objects/cli/dir/a.bin?latest-ver=false&object_to=" + where +
                "&provider=ais&synchronize=false")
        equal((r.status, r.body), (200, b""), to)
    equal(get(p, "cli", "copy").body, ABC, "within")
    equal(get(p, "other", "copy of a").body, ABC, "between")
    r = via(p, "PUT", "/v1/objects/cli/none?object_to=ais%2F%40%23%2Fcli%2Fx&provider=ais")
    equal(r.status, 404, "no source")
    r = ask(p, "PUT", "/v1/objects/cli/copy?object_to=ais%2F%40%23%2Fnobucket%2Fx&provider=ais")
    if r.status == 307:
        r = via(p, "PUT", "/v1/objects/cli/copy?object_to=ais%2F%40%23%2Fnobucket%2Fx&provider=ais")
    equal(r.status, 404, "no destination")
    contains(r.error()["message"], 'bucket "ais://nobucket" does not exist')


@case("ais object mv")
def _(c, p):
    r = via(p, "POST", "/v1/objects/cli/copy?provider=ais", act("rename-obj", "moved/to"))
    equal(r.status, 200, r.text[:200])
    equal(get(p, "cli", "copy").status, 404, "old name")
    equal(get(p, "cli", "moved/to").body, ABC, "new name")


@case("ais object concat, SDK append: append, append, flush")
def _(c, p):
    def append(verb, handle, piece):
        handle = urllib.parse.quote(handle, safe="")
        return via(p, "PUT", f"/v1/objects/cli/joined?append_handle={handle}&append_type={verb}"
                   "&provider=ais", piece)

    handle = ""
    for piece in (b"one ", b"two ", b"three"):
        r = append("append", handle, piece)
        equal(r.status, 200, f"append: {r.text[:200]}")
        handle = r.header("Ais-Append-Handle")
        true(handle, "Ais-Append-Handle")
    equal(get(p, "cli", "joined").status, 404, "before the flush")
    r = append("flush", handle, b"")
    equal((r.status, r.header("Ais-Append-Handle")), (200, None), "flush")
    equal(get(p, "cli", "joined").body, b"one two three", "after the flush")


@case("custom metadata: PATCH merges, set-new-custom replaces")
def _(c, p):
    path = "/v1/objects/cli/moved/to?provider=ais"
    equal(via(p, "PATCH", path, act("", "", {"a": "1", "b": "2"})).status, 200, "set")
    equal(via(p, "PATCH", path, act("", "", {"b": "3"})).status, 200, "merge")
    equal(sorted(via(p, "HEAD", path).all("Ais-Custom-Md")), ["a=1", "b=3"], "HEAD")
    equal(sorted(get(p, "cli", "moved/to").all("Ais-Custom-Md")), ["a=1", "b=3"], "GET")
    equal(via(p, "PATCH", path + "&set-new-custom=true", act("", "", {"c": "4"})).status, 200,
          "replace")
    equal(via(p, "HEAD", path).all("Ais-Custom-Md"), ["c=4"], "HEAD")
    entry = page(p, "cli", listing("0", "name,custom", prefix="moved"))["entries"][0]
    equal(entry["custom-md"], "[c:4]", "in a list")
    put(p, "cli", "moved/to", ABC)
    equal(via(p, "HEAD", path).all("Ais-Custom-Md"), [], "a PUT drops it")


# ---- aisloader

@case("aisloader: list, create, put by chunks with a checksum, get, list, destroy")
def _(c, p):
    r = ask(p, "GET", "/v1/buckets?presence=2&provider=ais", act("list", "loader"))
    equal(r.status, 200, "list buckets")
    create_bucket(p, "loader")
    for i in range(20):
        first = ask(p, "PUT", f"/v1/objects/loader/{i}?provider=ais&skip_vc=true", ABC,
                    {"Ais-Checksum-Type": "xxhash", "Ais-Checksum-Value": ABC_XXH})
        equal(first.status, 307, "PUT")
        to = urllib.parse.urlsplit(first.header("Location"))
        r = ask(to.port, "PUT", f"{to.path}?{to.query}", ABC, {
            "Ais-Checksum-Type": "xxhash", "Ais-Checksum-Value": ABC_XXH,
            "User-Agent": "aisloader",
            "Referer": f"{c.url}/v1/objects/loader/{i}?provider=ais&skip_vc=true",
            "Content-Length": "3"})
        equal(r.status, 200, f"PUT at the target: {r.text[:200]}")
        equal(r.header("Ais-Version"), "1", "skip_vc starts again")
        equal(get(p, "loader", str(i)).body, ABC, "GET")
    r = chunked(p, "/v1/objects/loader/chunked?provider=ais&skip_vc=true")
    equal(r.status, 200, f"PUT by chunks: {r.text[:200]}")
    equal(get(p, "loader", "chunked").body, ABC, "GET of it")
    result = page(p, "loader", listing("8192"), {"Accept": "application/msgpack"})
    equal(len(result["Entries"]), 21, "list")
    r = ask(p, "DELETE", "/v1/buckets/loader?provider=ais", act("destroy-bck"))
    equal(r.status, 200, "destroy")


def chunked(p, path):
    """A body without a length, first to the gateway, then to the target."""
    headers = {"Transfer-Encoding": "chunked", "Ais-Checksum-Type": "xxhash",
               "Ais-Checksum-Value": ABC_XXH}
    first = ask(p, "PUT", path, iter([ABC[:1], ABC[1:]]), headers)
    equal(first.status, 307, "PUT by chunks")
    to = urllib.parse.urlsplit(first.header("Location"))
    return ask(to.port, "PUT", f"{to.path}?{to.query}", iter([ABC[:1], ABC[1:]]), headers)


@case("ais rmb, and what it leaves")
def _(c, p):
    equal(len(names(page(p, "other", listing("17", "name")))), 1, "list first")
    r = ask(p, "DELETE", "/v1/buckets/other?provider=ais", act("destroy-bck"))
    equal(r.status, 200, r.text[:200])
    r = ask(p, "HEAD", "/v1/buckets/other?provider=ais")
    equal(r.status, 404, "HEAD")
    contains(r.error()["message"], 'bucket "ais://other" does not exist')
    r = ask(p, "GET", "/v1/objects/other/o?provider=ais")
    equal((r.status, r.error()["tcode"]), (404, "ErrBckNotFound"), "GET at the gateway")


def main():
    with Cluster("ais_data", 18340) as cluster:
        return case.run(cluster, cluster.port)


sys.exit(main())
