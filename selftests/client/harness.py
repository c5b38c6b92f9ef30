# SPDX-License-Identifier: BSD-2-Clause
"""What the client tests share: a scratch cluster, raw requests, cases that pass or fail."""

import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGEWIRE = os.path.join(ROOT, "build", "pagewire")
LONG = bool(os.environ.get("LONG"))
HOST = "127.0.0.1"


class Mismatch(Exception):
    """The answer is not what was documented."""


def equal(got, want, what=""):
    if got != want:
        raise Mismatch(f"{what}: got {got!r}, want {want!r}"[:2000])


def true(condition, what):
    if not condition:
        raise Mismatch(what)


def contains(text, part, what=""):
    if part not in text:
        raise Mismatch(f"{what}: {part!r} is not in {text!r}"[:2000])


def wait_for(condition, seconds, what):
    """Until a condition holds; there is no event to wait on across processes but asking."""
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise Mismatch(f"not within {seconds} s: {what}")
        time.sleep(0.05)


# ---- the cluster

class Cluster:
    """A cluster in a scratch folder on ports of its own; ends with the with-block."""

    def __init__(self, name, port, *options):
        self.name, self.port, self.options = name, port, options
        self.folder = None

    def __enter__(self):
        scratch = os.path.join(ROOT, "build", "scratch")
        os.makedirs(scratch, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix=self.name + ".", dir=scratch)
        try:
            self.verb("up", "--port", str(self.port), *self.options)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        if kind:
            for node in self.names():
                sys.stderr.write(f"--- log of {node}\n")
                text = subprocess.run([self.tool(), "logs", node, "--dir", self.dir],
                                      capture_output=True, check=False).stdout
                sys.stderr.write(text[-4000:].decode(errors="replace"))
        subprocess.run([self.tool(), "down", "--purge", "--dir", self.dir], check=False,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    @staticmethod
    def tool():
        return os.path.join(ROOT, "tools", "local-cluster")

    @property
    def dir(self):
        return os.path.join(self.folder, "cluster")

    @property
    def url(self):
        return f"http://{HOST}:{self.port}"

    def verb(self, *words):
        r = subprocess.run([self.tool(), *words, "--dir", self.dir], capture_output=True,
                           text=True, check=False)
        if r.returncode:
            raise Mismatch(f"local-cluster {' '.join(words)}: exit {r.returncode}: {r.stderr}")
        return r.stdout

    def nodes(self):
        """As `status -j` prints them."""
        return json.loads(self.verb("status", "-j"))

    def names(self):
        with contextlib.suppress(Mismatch, ValueError):
            return [n["node"] for n in self.nodes()]
        return []

    def public_port(self, node):
        return int(next(n for n in self.nodes() if n["node"] == node)["public"].split(":")[1])

    def targets(self):
        return {n["id"]: int(n["public"].split(":")[1]) for n in self.nodes()
                if n["role"] == "target"}


# ---- requests, exactly as given: nothing is followed, encoded or added

class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def all(self, name):
        return [v for k, v in self.headers if k.lower() == name.lower()]

    def header(self, name, default=None):
        values = self.all(name)
        return values[0] if values else default

    @property
    def text(self):
        return self.body.decode(errors="replace")

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as e:
            raise Mismatch(f"status {self.status}, no JSON: {self.body[:300]!r}") from e

    def error(self):
        """The documented error object, of the body or of a HEAD's header."""
        text = self.header("Hdr-Error") or self.text
        try:
            return json.loads(text)
        except ValueError as e:
            raise Mismatch(f"status {self.status}, no error JSON: {text[:300]!r}") from e


def ask(port, method, target, body=None, headers=None, timeout=30):
    """One request on a connection of its own. A dict or list is sent as JSON."""
    sent = {"Content-Type": "application/json"} if isinstance(body, (dict, list)) else {}
    sent.update(headers or {})
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        chunked = sent.get("Transfer-Encoding") == "chunked"
        connection.request(method, target, body, sent, encode_chunked=chunked)
        r = connection.getresponse()
        return Response(r.status, r.getheaders(), r.read())
    finally:
        connection.close()


def via(port, method, target, body=None, headers=None):
    """At the gateway, which must redirect, then at the target it names."""
    first = ask(port, method, target, body, headers)
    equal(first.status, 307, f"{method} {target} at the gateway ({first.text[:300]})")
    equal(first.header("Cache-Control"), "no-store", "Cache-Control of the redirect")
    to = urllib.parse.urlsplit(first.header("Location"))
    true(to.port and to.port != port, f"Location {first.header('Location')} names a target")
    return ask(to.port, method, f"{to.path}?{to.query}", body, headers)


def act(action, name="", value=None):
    """The control body that all clients send in full."""
    return {"action": action, "name": name, "value": value}


def quote(name):
    return urllib.parse.quote(name, safe="/")


def put(port, bucket, name, data, headers=None):
    r = via(port, "PUT", f"/v1/objects/{bucket}/{quote(name)}?provider=ais", data, headers)
    equal(r.status, 200, f"PUT {name}: {r.text[:300]}")
    return r


def get(port, bucket, name, headers=None):
    return via(port, "GET", f"/v1/objects/{bucket}/{quote(name)}?provider=ais", None, headers)


def create_bucket(port, bucket):
    r = ask(port, "POST", f"/v1/buckets/{bucket}?provider=ais", act("create-bck"))
    equal(r.status, 200, f"create {bucket}: {r.text[:300]}")


def list_all(port, bucket, props="name,size", pagesize=0, prefix=""):
    """Every entry of a bucket, page by page."""
    value = {"uuid": "", "props": props, "prefix": prefix, "pagesize": pagesize,
             "continuation_token": "", "start_after": "", "flags": "0", "target": "",
             "time_format": ""}
    entries = []
    while True:
        r = ask(port, "GET", f"/v1/buckets/{bucket}?provider=ais", act("list", "", value))
        equal(r.status, 200, f"list {bucket}: {r.text[:300]}")
        page = r.json()
        entries += page["entries"] or []
        if not page["continuation_token"]:
            return entries
        value["uuid"], value["continuation_token"] = page["uuid"], page["continuation_token"]


# ---- cases

class Cases:
    """The cases of one file, in order; a failed one does not stop the rest."""

    def __init__(self):
        self.cases = []

    def __call__(self, name):
        def add(function):
            self.cases.append((name, function))
            return function
        return add

    def run(self, *args):
        """Run all with these arguments. Return the exit status of the program."""
        failed = 0
        for name, function in self.cases:
            try:
                function(*args)
                print(f"ok - {name}", flush=True)
            except Mismatch as e:
                failed += 1
                print(f"not ok - {name}\n#   {e}", flush=True)
            except Exception:  # whatever a client raised is the finding
                failed += 1
                print(f"not ok - {name}", flush=True)
                traceback.print_exc(file=sys.stdout)
        print(f"{len(self.cases) - failed} of {len(self.cases)} cases passed", flush=True)
        return 1 if failed else 0
