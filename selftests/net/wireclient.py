# SPDX-License-Identifier: BSD-2-Clause
"""Requests to nodes that have addresses of their own."""

import http.client
import itertools
import json
import urllib.parse

from harness import Response, act, equal, quote, true


def ask(host, port, method, target, body=None, headers=None, timeout=30):
    """One request on a connection of its own. A dict is sent as JSON. No answer is an OSError."""
    sent = {"Content-Type": "application/json"} if isinstance(body, (dict, list)) else {}
    sent.update(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request(method, target, body, sent)
        r = connection.getresponse()
        return Response(r.status, r.getheaders(), r.read())
    except http.client.HTTPException as e:
        raise ConnectionResetError(f"{type(e).__name__}: {e}") from e
    finally:
        connection.close()


class NotReached(OSError):
    """The request did not come to a target: nothing can have changed."""


class Client:
    """Gateways in turn, each a host and a port, and the targets they send us to."""

    def __init__(self, *gateways, timeout=30):
        self.gateways, self.timeout = itertools.cycle(gateways), timeout

    def ask(self, method, target, body=None, headers=None):
        return ask(*next(self.gateways), method, target, body, headers, self.timeout)

    def via(self, method, target, body=None, headers=None):
        """At the gateway, then at the target it names. Else the gateway's answer, marked so."""
        try:
            first = self.ask(method, target, body, headers)
        except OSError as e:
            raise NotReached(f"gateway: {e}") from e
        if first.status != 307:
            first.by_gateway = True
            return first
        to = urllib.parse.urlsplit(first.header("Location"))
        try:
            return ask(to.hostname, to.port, method, f"{to.path}?{to.query}", body, headers,
                       self.timeout)
        except ConnectionRefusedError as e:
            raise NotReached(f"target: {e}") from e

    @staticmethod
    def path(bucket, name, query=""):
        return f"/v1/objects/{bucket}/{quote(name)}?provider=ais{query}"

    def put(self, bucket, name, data, headers=None):
        return self.via("PUT", self.path(bucket, name), data, headers)

    def get(self, bucket, name):
        return self.via("GET", self.path(bucket, name))

    def head(self, bucket, name):
        return self.via("HEAD", self.path(bucket, name))

    def delete(self, bucket, name):
        return self.via("DELETE", self.path(bucket, name))

    def rename(self, bucket, name, to):
        return self.via("POST", self.path(bucket, name), act("rename-obj", to))

    def patch(self, bucket, name, pairs):
        return self.via("PATCH", self.path(bucket, name), act("", "", pairs))

    def create_bucket(self, bucket):
        r = self.ask("POST", f"/v1/buckets/{bucket}?provider=ais", act("create-bck"))
        equal(r.status, 200, f"create {bucket}: {r.text[:300]}")

    def destroy_bucket(self, bucket):
        return self.ask("DELETE", f"/v1/buckets/{bucket}?provider=ais", act("destroy-bck"))

    def list_all(self, bucket, props="name,size,version", pagesize=0):
        """Every entry, page by page; a name that comes twice is a mistake."""
        value = {"uuid": "", "props": props, "prefix": "", "pagesize": pagesize,
                 "continuation_token": "", "start_after": "", "flags": "0", "target": "",
                 "time_format": ""}
        entries = {}
        while True:
            r = self.ask("GET", f"/v1/buckets/{bucket}?provider=ais", act("list", "", value))
            equal(r.status, 200, f"list {bucket}: {r.text[:300]}")
            page = r.json()
            for e in page["entries"] or []:
                true(e["name"] not in entries, f"{e['name']} is listed once")
                entries[e["name"]] = e
            if not page["continuation_token"]:
                return entries
            value["uuid"], value["continuation_token"] = page["uuid"], page["continuation_token"]
