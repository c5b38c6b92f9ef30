# SPDX-License-Identifier: BSD-2-Clause
"""JSON as clients decode it: strictly by type. And msgpack, read without a library."""

import struct

from harness import Mismatch


class MapOf:
    """An object whose keys are data."""

    def __init__(self, of, least=0):
        self.of, self.least = of, least


class OneOf:
    """Exactly one of these values."""

    def __init__(self, *values):
        self.values = values


INT_TEXT = "a whole number in quotes"  # 64-bit numbers that JSON readers would round
NUMBER = "a bare number"


def shape(value, spec, where="answer"):
    """Raise where a value has not the shape; keys beyond the spec are allowed."""
    if isinstance(spec, dict):
        if not isinstance(value, dict):
            raise Mismatch(f"{where}: {value!r} is no object"[:500])
        for key, inner in spec.items():
            if key not in value:
                raise Mismatch(f"{where}: no key {key!r} in {list(value)}"[:500])
            shape(value[key], inner, f"{where}.{key}")
    elif isinstance(spec, MapOf):
        if not isinstance(value, dict) or len(value) < spec.least:
            raise Mismatch(f"{where}: {value!r} is no object of {spec.least} or more"[:500])
        for key, inner in value.items():
            shape(inner, spec.of, f"{where}.{key}")
    elif isinstance(spec, list):
        if not isinstance(value, list):
            raise Mismatch(f"{where}: {value!r} is no list"[:500])
        for i, inner in enumerate(value):
            shape(inner, spec[0], f"{where}[{i}]")
    else:
        scalar(value, spec, where)


def scalar(value, spec, where):
    if isinstance(spec, OneOf):
        good = value in spec.values
    elif spec == INT_TEXT:
        good = isinstance(value, str) and value.lstrip("-").isdigit()
    elif spec == NUMBER:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
    elif spec is int:
        good = isinstance(value, int) and not isinstance(value, bool)
    else:
        good = isinstance(value, spec)
    if not good:
        raise Mismatch(f"{where}: {value!r} is not {getattr(spec, 'values', spec)}"[:500])


# ---- what the pages of the API name

NAMESPACE = {"uuid": str, "name": str}
BUCKET = {"name": str, "provider": str, "namespace": NAMESPACE}
NET = {"node_ip_addr": str, "daemon_port": INT_TEXT, "direct_url": str}
SNODE = {"public_net": NET, "intra_data_net": NET, "intra_control_net": NET,
         "daemon_type": OneOf("proxy", "target"), "daemon_id": str, "flags": int,
         "id_digest": int}
SMAP = {"pmap": MapOf(SNODE, 1), "proxy_si": SNODE, "tmap": MapOf(SNODE, 1), "uuid": str,
        "creation_time": str, "version": INT_TEXT}
RATE = {"interval": str, "max_tokens": int, "enabled": bool}
PROPS = {
    "backend_bck": BUCKET, "write_policy": {"data": str, "md": str}, "provider": str,
    "checksum": {"type": str, "validate_cold_get": bool, "validate_warm_get": bool,
                 "validate_obj_move": bool, "enable_read_range": bool},
    "extra": {"aws": dict, "gcp": dict, "oci": dict},
    "rate_limit": {"backend": {**RATE, "num_retries": int},
                   "frontend": {**RATE, "burst_size": int}},
    "ec": {"compression": str, "bundle_multiplier": int, "burst_buffer": int,
           "objsize_limit": int, "data_slices": int, "parity_slices": int, "enabled": bool,
           "disk_only": bool},
    "chunks": {"objsize_limit": str, "max_monolithic_size": str, "chunk_size": str},
    "mirror": {"copies": int, "burst_buffer": int, "enabled": bool},
    "lru": {"dont_evict_time": str, "capacity_upd_time": str, "batch_size": int,
            "enabled": bool},
    "access": INT_TEXT, "features": INT_TEXT, "bid": INT_TEXT, "created": INT_TEXT,
    "versioning": {"enabled": bool, "validate_warm_get": bool, "synchronize": bool},
}
PAGE = {"uuid": str, "continuation_token": str, "entries": (list, type(None)), "flags": int}
SUMMARY = {**BUCKET, "ObjCount": {"obj_count_present": INT_TEXT, "obj_count_remote": INT_TEXT},
           "ObjSize": {"obj_min_size": int, "obj_avg_size": int, "obj_max_size": int},
           "TotalSize": {"size_on_disk": INT_TEXT, "size_all_present_objs": INT_TEXT,
                         "size_all_remote_objs": INT_TEXT, "total_disks_size": INT_TEXT},
           "used_pct": int, "is_present": bool}
STATS = {k: INT_TEXT for k in
         ("loc-objs", "loc-bytes", "out-objs", "out-bytes", "in-objs", "in-bytes")}
SNAP = {"start-time": str, "end-time": str, "bck": BUCKET, "src-bck": BUCKET, "dst-bck": BUCKET,
        "id": str, "kind": str, "abort-err": str, "err": str, "glob.id": INT_TEXT,
        "stats": STATS, "aborted": bool, "is_idle": bool}
STATUS = {"kind": str, "uuid": str, "err": str, "end_time": int, "aborted": bool}
CLUSTER_INFO = {
    "smap": {"Primary": {"pub_url": str, "control_url": str, "id": str}, "uuid": str,
             "version": INT_TEXT},
    "bmd": {"uuid": str, "version": INT_TEXT}, "rmd": {"version": INT_TEXT},
    "config": {"version": INT_TEXT}, "etlmd": {"version": INT_TEXT}, "flags": int}
CAPACITY = {"mountpaths": (dict, type(None)), "cs_err": str, "total_used": INT_TEXT,
            "total_avail": INT_TEXT, "pct_max": int, "pct_avg": int, "pct_min": int}
MOUNTPATH = {"mountpath_label": str, "fs": {"Fs": str, "FsType": str, "FsID": str},
             "disks": [str], "used": INT_TEXT, "avail": INT_TEXT, "pct_used": int}
NODE_STATUS = {
    "snode": SNODE, "tracker": MapOf(NUMBER), "capacity": CAPACITY, "status": str,
    "deployment": str, "ais_version": str, "build_time": str, "k8s_pod_name": str,
    "cluster": CLUSTER_INFO,
    "sys_info": {"mem_used": int, "mem_avail": int, "pct_mem_used": NUMBER,
                 "pct_cpu_used": NUMBER,
                 "load_avg": {"One": NUMBER, "Five": NUMBER, "Fifteen": NUMBER}},
    "smap_version": INT_TEXT}
KEEPALIVE = {"name": str, "interval": str, "factor": int}
CLUSTER_CONFIG = {
    "checksum": PROPS["checksum"], "versioning": PROPS["versioning"], "mirror": PROPS["mirror"],
    "ec": dict, "lru": PROPS["lru"], "rate_limit": PROPS["rate_limit"],
    "keepalivetracker": {"proxy": KEEPALIVE, "target": KEEPALIVE, "num_retries": int,
                         "retry_factor": int},
    "rebalance": {"enabled": bool, "dest_retry_time": str, "burst_buffer": int},
    "log": {"level": INT_TEXT, "max_size": str, "max_total": str},
    "space": {"cleanupwm": int, "lowwm": int, "highwm": int, "out_of_space": int,
              "batch_size": int, "dont_cleanup_time": str},
    "client": {"client_timeout": str, "client_long_timeout": str, "list_timeout": str},
    "timeout": {"cplane_operation": str, "max_keepalive": str, "startup_time": str},
    "proxy": {"primary_url": str, "original_url": str, "discovery_url": str,
              "non_electable": bool},
    "net": {"l4": {"proto": str, "sndrcv_buf_size": int},
            "http": {"use_https": bool, "idle_conn_time": str}, "use_ipv6": bool},
    "auth": dict, "backend": dict, "features": INT_TEXT, "config_version": INT_TEXT,
    "uuid": str, "lastupdate_time": str, "resilver": {"enabled": bool}}
ERROR = {"message": str, "method": str, "url_path": str, "remote_addr": str, "caller": str,
         "node": str, "status": int}


# ---- msgpack

def unpack(data):
    """One msgpack value that fills the data."""
    value, end = unpack_at(data, 0)
    if end != len(data):
        raise Mismatch(f"{len(data) - end} bytes after the msgpack value")
    return value


FIXED = {0xca: ">f", 0xcb: ">d", 0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b",
         0xd1: ">h", 0xd2: ">i", 0xd3: ">q"}
COUNTED = {0xc4: (">B", "bin"), 0xc5: (">H", "bin"), 0xc6: (">I", "bin"), 0xd9: (">B", "str"),
           0xda: (">H", "str"), 0xdb: (">I", "str"), 0xdc: (">H", "list"), 0xdd: (">I", "list"),
           0xde: (">H", "map"), 0xdf: (">I", "map")}


def unpack_at(data, i):
    try:
        first = data[i]
        i += 1
        if first < 0x80:
            return first, i
        if first >= 0xe0:
            return first - 256, i
        if first < 0xc0:
            kind = "map" if first < 0x90 else "list" if first < 0xa0 else "str"
            return contents(data, i, kind, first & (0x0f if first < 0xa0 else 0x1f))
        if first in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[first], i
        if first in FIXED:
            return struct.unpack_from(FIXED[first], data, i)[0], i + struct.calcsize(FIXED[first])
        form, kind = COUNTED[first]
        return contents(data, i + struct.calcsize(form), kind,
                        struct.unpack_from(form, data, i)[0])
    except (IndexError, KeyError, struct.error) as e:
        raise Mismatch(f"no msgpack at byte {i}: {data[i - 1:i + 20].hex()}") from e


def contents(data, i, kind, count):
    if kind in ("str", "bin"):
        if i + count > len(data):
            raise IndexError
        piece = data[i:i + count]
        return (piece.decode() if kind == "str" else piece), i + count
    items = []
    for _ in range(count * (2 if kind == "map" else 1)):
        item, i = unpack_at(data, i)
        items.append(item)
    return (dict(zip(items[::2], items[1::2])) if kind == "map" else items), i
