#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The AIStore Python SDK, unpatched. Run with the python3 of each venv in build/."""

import hashlib
import importlib.metadata
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from harness import Cases, Cluster, Mismatch, ask, contains, equal, true

try:
    from aistore import Client
    from aistore.sdk.errors import AISError, ErrBckAlreadyExists, ErrBckNotFound, ErrObjNotFound
    from aistore.sdk.list_object_flag import ListObjectFlag
except ImportError as missing:
    print(f"no aistore in this python: {missing}; tools/install-deps --tests")
    sys.exit(4)

case = Cases()
VERSION = importlib.metadata.version("aistore")
MIB = 1 << 20
SIZES = [0, 1, 2, 4095, 4096, 4097, 16383, 16384, 32767, 32768, 32769, 65535, 65536, 65537,
         MIB - 1, MIB, MIB + 1, 3 * MIB + 7, 8 * MIB, 8 * MIB + 1, 16 * MIB, 33 * MIB, 64 * MIB]


def sizes():
    """1,000 sizes of 0 B to 64 MiB: the edges, and mostly small ones."""
    chance = random.Random(7)
    return SIZES + [int(2 ** chance.uniform(0, 17)) for _ in range(1000 - len(SIZES))]


def content(i, size):
    """Bytes of an object, not the same as any other's."""
    block = hashlib.sha256(b"%d" % i).digest() * 32768  # 1 MiB
    return (block * (size // MIB + 1))[:size]


def raises(kind, function, *args):
    try:
        function(*args)
    except kind as e:
        return e
    raise Mismatch(f"no {kind.__name__} from {function}")


class State:
    """What the cases share: the client and what the bucket holds."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.client = Client(cluster.url)
        self.bucket = self.client.bucket("sdk")
        self.objects = {f"data/{i:04}-{size}": (i, size) for i, size in enumerate(sizes())}

    def data(self, name):
        return content(*self.objects[name])


@case("cluster info")
def _(s):
    cluster = s.client.cluster()
    true(cluster.is_ready(), "is_ready()")
    info = cluster.get_info()
    equal((len(info.tmap), len(info.pmap)), (3, 1), "nodes")
    equal(cluster.get_primary_url(), s.cluster.url, "primary")
    true(len(cluster.get_uuid()) >= 9, "uuid")
    equal(set(info.tmap), set(s.cluster.targets()), "targets")
    performance = cluster.get_performance()
    equal(set(performance), set(info.tmap), "get_performance()")
    for node in info.tmap:
        true(cluster.get_node_log(node), f"log of {node}")


@case("create a bucket; again; head; list")
def _(s):
    s.bucket.create()
    raises(ErrBckAlreadyExists, s.bucket.create)
    s.bucket.create(exist_ok=True)
    contains(s.bucket.head()["Ais-Bucket-Props"], '"xxhash2"')
    contains([b.name for b in s.client.cluster().list_buckets()], "sdk")
    raises(ErrBckNotFound, s.client.bucket("nosuch").delete)
    s.client.bucket("nosuch").delete(missing_ok=True)
    for bad in ("*", ".", " ", "#x"):
        raises(AISError, s.client.bucket(bad).create)


@case("put 1,000 objects of 0 B to 64 MiB")
def _(s):
    with tempfile.TemporaryDirectory(dir=s.cluster.folder) as folder:
        for name in s.objects:
            writer = s.bucket.object(name).get_writer()
            if len(name) % 2:
                writer.put_content(s.data(name))
            else:
                path = os.path.join(folder, "file")
                with open(path, "wb") as f:
                    f.write(s.data(name))
                writer.put_file(path)


@case("list by pages")
def _(s):
    got, page = [], s.bucket.list_objects(page_size=64)
    while True:
        true(len(page.entries) <= 64, "page size")
        got += [(e.name, e.size) for e in page.entries]
        if not page.continuation_token:
            break
        page = s.bucket.list_objects(page_size=64, uuid=page.uuid,
                                     continuation_token=page.continuation_token)
    want = sorted((name, size) for name, (_, size) in s.objects.items())
    equal(got == want, True, f"{len(got)} entries by pages")
    equal([(e.name, e.size) for e in s.bucket.list_all_objects()] == want, True, "all at once")
    it = s.bucket.list_objects_iter(page_size=100, prefix="data/01", props="name,size,checksum")
    entries = list(it)
    equal(len(entries), 100, "by prefix")
    true(all(e.checksum for e in entries), "checksums")
    flags = [ListObjectFlag.NAME_ONLY]
    equal([e.size for e in s.bucket.list_all_objects(prefix="data/0005", flags=flags)], [0],
          "names only")


@case("read all 1,000 whole")
def _(s):
    for name in s.objects:
        got = s.bucket.object(name).get_reader().read_all()
        equal(got == s.data(name), True, f"bytes of {name}")


@case("head and attributes")
def _(s):
    for name in list(s.objects)[:40]:
        _, size = s.objects[name]
        o = s.bucket.object(name)
        head = o.head()  # headers in 1.25, attributes in 2.0
        got = head.size if hasattr(head, "size") else int(head.get("Content-Length", 0))
        equal(got, size, f"head of {name}")
        attributes = o.get_reader().attributes
        equal((attributes.size, attributes.obj_version, attributes.checksum_type),
              (size, "1", "xxhash2"), name)
        equal(attributes.custom_metadata, {}, "custom metadata")
        true(len(attributes.checksum_value) == 16 and attributes.access_time, "checksum, atime")
        equal(o.props.size, size, "props")


@case("ranged read")
def _(s):
    name = max(s.objects, key=lambda n: s.objects[n][1])
    data, o = s.data(name), s.bucket.object(name)
    for text, want in (("bytes=0-0", data[:1]), ("bytes=5-100", data[5:101]),
                       ("bytes=67000000-", data[67000000:]), ("bytes=-1000", data[-1000:])):
        equal(o.get_reader(byte_range=text).read_all() == want, True, text)


@case("a read resumes where its target was killed")
def _(s):
    name = max(s.objects, key=lambda n: s.objects[n][1])
    location = ask(s.cluster.port, "GET", f"/v1/objects/sdk/{name}?provider=ais").header("Location")
    owner = next(n["node"] for n in s.cluster.nodes() if f"//{n['public']}/" in location)
    file = s.bucket.object(name).get_reader(chunk_size=64 * 1024).as_file(max_resume=5)
    got = file.read(2 * MIB)
    s.cluster.verb("kill", owner)
    s.cluster.verb("start", owner)
    got += file.read()
    equal(got == s.data(name), True, "bytes")


@case("custom metadata")
def _(s):
    o = s.bucket.object(next(iter(s.objects)))
    o.get_writer().set_custom_props({"color": "red", "owner": "me"})
    equal(o.get_reader().attributes.custom_metadata, {"color": "red", "owner": "me"}, "set")
    o.get_writer().set_custom_props({"color": "blue"})
    equal(o.get_reader().attributes.custom_metadata, {"color": "blue", "owner": "me"}, "merged")
    o.get_writer().set_custom_props({"only": "this"}, replace_existing=True)
    equal(o.get_reader().attributes.custom_metadata, {"only": "this"}, "replaced")


@case("append")
def _(s):
    writer = s.bucket.object("appended").get_writer()
    handle = writer.append_content(b"one ")
    handle = writer.append_content(b"two ", handle)
    equal(writer.append_content(b"", handle, flush=True), "", "flush")
    equal(s.bucket.object("appended").get_reader().read_all(), b"one two ", "bytes")
    s.bucket.object("appended").delete()


@case("copy an object")
def _(s):
    other = s.client.bucket("sdk-copies").create(exist_ok=True)
    for name in list(s.objects)[:30]:
        s.bucket.object(name).copy(other.object("copy/" + name))
        equal(other.object("copy/" + name).get_reader().read_all() == s.data(name), True, name)
    equal(len(other.list_all_objects()), 30, "copies")
    other.delete()


@case("summary and info")
def _(s):
    summary = s.bucket.summary()
    equal(int(summary["ObjCount"]["obj_count_present"]), 1000, "summary")
    equal(int(summary["TotalSize"]["size_all_present_objs"]),
          sum(size for _, size in s.objects.values()), "bytes")
    _, info = s.bucket.info()
    equal(int(info["ObjCount"]["obj_count_present"]), 1000, "info")


@case("delete many; the job; jobs list")
def _(s):
    doomed = list(s.objects)[100:200]
    job = s.bucket.objects(obj_names=doomed).delete()
    s.client.job(job_id=job, job_kind="delete-listrange").wait(timeout=60)
    for name in doomed:
        del s.objects[name]
    equal(len(s.bucket.list_all_objects()), 900, "left")
    status = s.client.job(job_id=job).status()
    equal((status.uuid, status.err, bool(status.end_time)), (job, "", True), "status")
    jobs = s.client.cluster().list_jobs_status(job_kind="delete-listrange")
    contains([j.uuid for j in jobs], job)
    equal([j for j in s.client.cluster().list_running_jobs() if job in j], [], "running")
    details = s.client.job(job_id=job).get_details()
    true(details.list_snapshots(), "snapshots")
    job = s.bucket.objects(obj_template="data/02{00..09}-none").delete()
    s.client.job(job_id=job, job_kind="delete-listrange").wait(timeout=60)
    equal(len(s.bucket.list_all_objects()), 900, "a template that meets nothing")


@case("delete one, and what is missing")
def _(s):
    name = list(s.objects)[200]
    s.bucket.object(name).delete()
    del s.objects[name]
    raises(ErrObjNotFound, s.bucket.object(name).get_reader().read_all)
    raises(AISError, s.bucket.object(name).head)


@case("names that need quoting")
def _(s):
    for name in ("sp ace", "per%cent", "%25", "ha#sh", "quest?ion", "back\\slash", "你好", "a+b"):
        o = s.bucket.object("odd/" + name)
        o.get_writer().put_content(name.encode())
        equal(o.get_reader().read_all(), name.encode(), name)
        o.delete()


@case("rename the bucket")
def _(s):
    job = s.bucket.rename("sdk-renamed")
    s.client.job(job_id=job, job_kind="move-bck").wait(timeout=60)
    s.bucket = s.client.bucket("sdk-renamed")
    equal(len(s.bucket.list_all_objects()), len(s.objects), "objects")
    for name in list(s.objects)[::20]:
        equal(s.bucket.object(name).get_reader().read_all() == s.data(name), True, name)
    equal([b.name for b in s.client.cluster().list_buckets()], ["sdk-renamed"], "buckets")


direct = Cases()


@direct("without request signing: direct=True reads at the target")
def _(s):
    s.bucket.create()
    for name in list(s.objects)[:60]:
        s.bucket.object(name).get_writer().put_content(s.data(name))
        got = s.bucket.object(name).get_reader(direct=True).read_all()
        equal(got == s.data(name), True, name)


@direct("without request signing: num_workers reads in parallel")
def _(s):
    name = max(list(s.objects)[:60], key=lambda n: s.objects[n][1])
    reader = s.bucket.object(name).get_reader(num_workers=4)
    equal(b"".join(bytes(c) for c in reader) == s.data(name), True, name)
    with s.bucket.object(name).get_reader(num_workers=3, chunk_size=MIB).read_all() as whole:
        equal(whole.tobytes() == s.data(name), True, "read_all()")


@direct("without request signing: writing at the target is still refused")
def _(s):
    port = next(iter(s.cluster.targets().values()))
    raises(AISError, Client(f"http://127.0.0.1:{port}").bucket("sdk").object(
        "x").get_writer().put_content, b"x")


def main():
    print(f"aistore {VERSION}", flush=True)
    with Cluster("sdk", 18400) as cluster:
        failed = case.run(State(cluster))
    with Cluster("sdk", 18400, "--set", "auth.intra_cluster.request_auth=false") as cluster:
        return direct.run(State(cluster)) | failed


if __name__ == "__main__":
    sys.exit(main())
