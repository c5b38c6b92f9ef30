#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the `ais` command asks of the cluster, its nodes and its jobs, replayed."""

import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from calls import NO_BUCKET, fill, job_done, new_job, props_of, query
from harness import Cases, Cluster, act, ask, contains, create_bucket, equal, true
from shapes import (CLUSTER_CONFIG, CLUSTER_INFO, INT_TEXT, MOUNTPATH, NODE_STATUS, PROPS, SMAP,
                    SNAP, SNODE, STATUS, MapOf, shape)

case = Cases()


KINDS = ("rebalance", "lru", "cleanup-store", "resilver", "ec-encode", "make-n-copies", "rechunk",
         "copy-listrange", "archive", "list", "get-batch", "download", "copy-bck", "move-bck",
         "delete-listrange", "evict-listrange", "prefetch-listrange", "promote", "summary-bck")


# ---- the ais command: jobs and cluster

@case("ais job show: one query a kind")
def _(c, p):
    for kind in KINDS:
        r = query("qryxstats", p, {"id": "", "kind": kind, "bck": NO_BUCKET, "show_active": None,
                                   "node": "", "buckets": []})
        equal(r.status, 200, f"{kind}: {r.text[:200]}")
        shape(r.json(), MapOf([SNAP]), kind)
    equal(query("qryxstats", p, None).status, 400, "without a body")
    r = query("qryxstats", p, {"id": "nosuchjob9", "kind": ""})
    equal(r.status, 404, "unknown ID")


@case("ais wait: status by kind and by ID; lists of all and of what runs")
def _(c, p):
    r = query("status", p, {"id": "", "kind": "delete-listrange", "bck": NO_BUCKET})
    equal(r.status, 200, r.text[:200])
    shape(r.json(), STATUS)
    equal(r.header("Content-Type"), "text/plain; charset=utf-8", "Content-Type")
    equal(query("status", p, {"id": "nosuchjob9"}).status, 404, "unknown ID")
    body = {"kind": "", "node": "", "show_active": False}
    r = query("status_all", p, body)
    equal(r.status, 200, "status_all")
    shape(r.json(), [STATUS])
    true("delete-listrange" in {s["kind"] for s in r.json()}, "finished jobs are listed")
    r = query("running_all", p, {"kind": "", "node": "", "show_active": True})
    equal(r.status, 200, "running_all")
    shape(r.json(), [str])


@case("ais show cluster: smap, node_status of each node, cluster_config, backends")
def _(c, p):
    smap = ask(p, "GET", "/v1/daemon?what=smap").json()
    shape(smap, SMAP)
    equal((len(smap["pmap"]), len(smap["tmap"])), (1, 3), "nodes")
    equal(smap["proxy_si"]["public_net"]["direct_url"], c.url, "primary")
    for node in [*smap["pmap"], *smap["tmap"]]:
        r = ask(p, "GET", "/v1/reverse/daemon?what=node_status", None,
                {"Ais-Node-Id": node, "Accept": "application/msgpack"})
        equal(r.status, 200, f"node_status of {node}: {r.text[:200]}")
        equal(r.header("Content-Type"), "application/json; charset=utf-8", "Content-Type")
        check_node_status(r.json(), node)
    equal(query("backends", p, None).json(), [], "backends")
    equal(query("cluster_config", p, None).status, 200, "cluster_config")


def check_node_status(status, node):
    shape(status, NODE_STATUS, node)
    equal(status["snode"]["daemon_id"], node, "snode")
    true(status["ais_version"].startswith("5.0"), "ais_version")
    equal(status["cluster"]["flags"] & 6, 6, "flags: node and cluster started")
    if status["snode"]["daemon_type"] == "target":
        shape(status["capacity"]["mountpaths"], MapOf(MOUNTPATH, 2), "mountpaths")
        true(int(status["capacity"]["total_avail"]) > 0, "total_avail")
    else:
        equal(status["capacity"]["mountpaths"], None, "mountpaths of a gateway")


@case("ais show config cluster, node; ais config cluster K=V")
def _(c, p):
    version = query("cluster_config", p, None).json()["config_version"]
    for node in c.nodes():
        r = ask(p, "GET", "/v1/reverse/daemon?what=config", None, {"Ais-Node-Id": node["id"]})
        equal(r.status, 200, r.text[:200])
        shape(r.json(), {**CLUSTER_CONFIG, "confdir": str, "log_dir": str,
                         "fspaths": MapOf(str), "host_net": {
                             "hostname": str, "port": INT_TEXT, "hostname_intra_control": str,
                             "port_intra_control": INT_TEXT, "port_intra_data": INT_TEXT}})
        equal(len(r.json()["fspaths"]), 2 if node["role"] == "target" else 0, "fspaths")
        equal(r.json()["host_net"]["port"], node["public"].split(":")[1], "port")
    r = ask(p, "PUT", "/v1/cluster/set-config?checksum.type=sha256")
    equal(r.status, 200, r.text[:200])
    config = query("cluster_config", p, None).json()
    equal(config["checksum"]["type"], "sha256", "checksum.type")
    true(int(config["config_version"]) > int(version), "config_version")
    create_bucket(p, "bysha")
    equal(props_of(p, "bysha")["checksum"]["type"], "sha256", "a new bucket takes it")
    r = ask(p, "PUT", "/v1/cluster", act("set-config", "", {"checksum": {"type": "xxhash2"}}))
    equal(r.status, 200, r.text[:200])
    equal(query("cluster_config", p, None).json()["checksum"]["type"], "xxhash2", "set back")
    for node in c.nodes():
        port = int(node["public"].split(":")[1])
        equal(ask(port, "GET", "/v1/daemon?what=config").json()["checksum"]["type"], "xxhash2",
              f"{node['node']} has it")


@case("ais show log, show remote-cluster")
def _(c, p):
    for node in c.nodes():
        r = ask(p, "GET", "/v1/reverse/daemon?what=log&severity=info", None,
                {"Ais-Node-Id": node["id"]})
        equal(r.status, 200, r.text[:200])
        true(r.body, f"log of {node['node']} is not empty")
    equal(query("remote", p, None).json(), {"a": [], "ver": 0}, "remote")
    equal(ask(p, "GET", "/v1/reverse/daemon?what=config").status, 400, "no node named")
    equal(ask(p, "GET", "/v1/reverse/daemon?what=config", None,
              {"Ais-Node-Id": "tNOTHERE9"}).status, 404, "unknown node")


@case("what each node says of itself")
def _(c, p):
    for node in c.nodes():
        port = int(node["public"].split(":")[1])
        def what(word, port=port):
            r = ask(port, "GET", "/v1/daemon?what=" + word)
            equal(r.status, 200, f"{word}: {r.text[:200]}")
            return r
        shape(what("smap").json(), SMAP)
        snode = what("snode").json()
        shape(snode, {**SNODE, "verifying_key": str})
        equal((snode["daemon_id"], snode["flags"]), (node["id"], 0), "snode")
        bmd = what("bmd").json()
        shape(bmd, {"providers": {"ais": {"@#": MapOf(PROPS, 1)}}, "uuid": str,
                    "version": INT_TEXT})
        equal(what("software_version").text.strip(), "5.0.1", "software_version")
        check_node_status(what("node_status").json(), node["id"])
        true(what("log").body, "log")
    shape(query("smap", p, None).json(), SMAP)
    shape(query("bmd", p, None).json(), {"uuid": str, "version": INT_TEXT})


@case("health, all forms, at every node")
def _(c, p):
    for node in c.nodes():
        port = int(node["public"].split(":")[1])
        r = ask(port, "GET", "/v1/health")
        equal((r.status, r.body), (200, b""), "plain")
        uptimes = (r.header("Ais-Node-Uptime"), r.header("Ais-Cluster-Uptime"))
        equal(uptimes != (None, None), node["role"] == "gateway", "uptimes")
        equal(ask(port, "GET", "/v1/health?readiness=true").status, 200, "readiness")
        equal(ask(port, "HEAD", "/v1/health").status, 200, "HEAD")
        r = ask(port, "GET", "/v1/health?cii=true")
        shape(r.json(), CLUSTER_INFO)
        equal(r.json()["flags"] & 6, 6, "flags")
    equal(ask(p, "GET", "/v1/health?prr=true").status, 200, "prr")


@case("metrics at every node")
def _(c, p):
    for node in c.nodes():
        r = ask(int(node["public"].split(":")[1]), "GET", "/metrics")
        equal(r.status, 200, node["node"])
        true(r.header("Content-Type").startswith("text/plain"), "Content-Type")
        if node["role"] == "target":
            contains(r.text, "pagewire_responses_total{", "the paths of responses")


def main():
    with Cluster("ais_cluster", 18360) as cluster:
        fill(cluster.port, "cli")
        r = ask(cluster.port, "DELETE", "/v1/buckets/cli?provider=ais",
                act("delete-listrange", "", {"objnames": ["many/000"], "template": ""}))
        job_done(cluster.port, new_job(r), "delete-listrange")
        return case.run(cluster, cluster.port)


sys.exit(main())
