# SPDX-License-Identifier: BSD-2-Clause
"""
Real daemons in network namespaces: each node has an address of its own on three networks.

A test begins with isolate(): all namespaces, mounts and processes are below it and end with it,
however it ends. Nothing outside changes.
"""

import argparse
import contextlib
import ctypes
import fcntl
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
sys.path += [os.path.join(ROOT, "selftests", "client"), os.path.join(ROOT, "tools")]
# pylint: disable=wrong-import-position
import cluster_nodes
from cluster_nodes import NETS
from faults import Power, Shim, build_shim, run
from harness import Mismatch, true
from wireclient import ask

SKIP = 4
INSIDE = "PAGEWIRE_NETRING"
NET_NUMBERS = {name: i + 1 for i, (name, _, _) in enumerate(NETS)}
NEEDED = ("unshare", "nsenter", "ip", "nft", "mkfs.ext4", "mount", "gcc")


def isolate():
    """Go on in namespaces of our own: the program is started anew inside them."""
    if os.environ.get(INSIDE):
        prepare()
        return
    if os.geteuid() != 0:
        skip("not root: namespaces and mounts need it")
    for tool in NEEDED:
        if not shutil.which(tool):
            skip(f"no {tool}; tools/install-deps --tests installs it")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child=SIGKILL",
                          "--mount-proc", "--propagation", "private", sys.executable, "-u",
                          *sys.argv])


def skip(why):
    print(why)
    sys.exit(SKIP)


def end_on_signal(number, _):
    sys.exit(128 + number)


def prepare():
    # the first process of a namespace gets no signal that it has not asked for
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end_on_signal)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    run("mount", "-t", "tmpfs", "none", "/run")
    os.makedirs("/run/netns")
    run("ip", "link", "set", "lo", "up")
    for name, number in NET_NUMBERS.items():
        run("ip", "link", "add", name, "type", "bridge")
        run("ip", "address", "add", f"10.71.{number}.1/24", "dev", name)
        run("ip", "link", "set", name, "up")


# ---- folders: locked while in use, so that those of killed tests are known

def lock_folder(path):
    """A descriptor that holds the lock, or nothing."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd


def new_folder(name):
    scratch = os.path.join(ROOT, "build", "scratch")
    os.makedirs(scratch, exist_ok=True)
    for old in glob.glob(os.path.join(scratch, "net-*")):
        with contextlib.suppress(OSError):
            fd = lock_folder(old)
            if fd is not None and time.time() - os.stat(old).st_mtime > 60:
                shutil.rmtree(old, ignore_errors=True)
            if fd is not None:
                os.close(fd)
    return tempfile.mkdtemp(prefix=f"net-{name}.", dir=scratch)


class Ring(cluster_nodes.Cluster):
    """A cluster in namespaces; ends with the with-block."""

    def __init__(self, name, gateways=1, targets=3, mountpaths=1, settings=None):
        super().__init__(new_folder(name))
        self.lock = lock_folder(self.dir)
        self.args = argparse.Namespace(port=8080, gateways=gateways, targets=targets,
                                       mountpaths=mountpaths)
        self.settings = settings or {}
        self.children, self.shims = {}, {}
        self.open_files = {}  # RLIMIT_NOFILE by node
        self.library = None

    def __enter__(self):
        self.found(self.args)
        self.library = build_shim(self.dir)
        for node in self.nodes:
            self.plug(node)
        return self

    def __exit__(self, kind, *_):
        for node in self.nodes:
            if kind:
                sys.stderr.write(f"--- log of {node['node']}\n{self.last_log(node, 30)}\n")
            self.kill(node["node"])
            run("ip", "netns", "delete", node["node"], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)
        os.close(self.lock)

    # ---- networks

    def plug(self, node):
        """Its namespace, and a cable to each network."""
        name = node["node"]
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "lo", "up")
        for net, number in NET_NUMBERS.items():
            run("ip", "link", "add", self.cable(node, net), "type", "veth", "peer", "name", net,
                "netns", name)
            run("ip", "-n", name, "address", "add", f"10.71.{number}.{10 + node['index']}/24",
                "dev", net)
            run("ip", "-n", name, "link", "set", net, "up")
            run("ip", "link", "set", self.cable(node, net), "master", net, "up")

    @staticmethod
    def cable(node, net):
        """The end of its cable that we hold."""
        return f"{node['node']}-{net}"

    @staticmethod
    def address(node, net):
        return f"10.71.{NET_NUMBERS[net]}.{10 + node['index']}"

    def url(self, node, net):
        return f"http://{self.address(node, net)}:{self.port(node, net)}"

    def cable_down(self, name, net):
        run("ip", "link", "set", self.cable(self.node(name), net), "down")

    def cable_up(self, name, net):
        run("ip", "link", "set", self.cable(self.node(name), net), "up")

    def nft(self, name, text):
        """Rules in the node's own namespace."""
        run("ip", "netns", "exec", name, "nft", text)

    def cut(self, name, net, incoming=True, outgoing=True):
        """Drop what the node receives from a network, or sends to it, or both."""
        self.lose(name, net, 100, incoming, outgoing)

    def lose(self, name, net, percent, incoming=True, outgoing=True):
        """Drop so many of a hundred packets, at random."""
        chance = f"numgen random mod 100 < {percent} " if percent < 100 else ""
        self.nft(name, "add table inet ring")
        for wanted, hook, word in ((incoming, "input", "iifname"), (outgoing, "output", "oifname")):
            if not wanted:
                continue
            self.nft(name, f"add chain inet ring {hook} {{ type filter hook {hook} priority 0; }}")
            self.nft(name, f'add rule inet ring {hook} {word} "{net}" {chance}drop')

    def heal(self, name):
        run("ip", "netns", "exec", name, "nft", "delete table inet ring", check=False)

    # ---- nodes

    def write_config(self, node, settings):
        own = {"host_net.hostname": self.address(node, "public"),
               "host_net.hostname_intra_control": self.address(node, "control"),
               "host_net.hostname_intra_data": self.address(node, "data"),
               "proxy.primary_url": self.url(self.first(), "control")}
        super().write_config(node, {**own, **settings, **self.settings})

    def spawn(self, node):
        config = self.path(node, "config.json")
        env = {k: v for k, v in os.environ.items() if k not in ("NOTIFY_SOCKET", INSIDE)}
        shim = self.shims.get(node["node"])
        preload = [f"{k}={v}" for k, v in shim.environment().items()] if shim else []
        if node["node"] in self.open_files:
            preload += ["prlimit", f"--nofile={self.open_files[node['node']]}"]
        with open(self.path(node, "log"), "ab") as log:
            child = subprocess.Popen(["nsenter", f"--net=/run/netns/{node['node']}", "env",
                                      *preload, os.path.realpath(cluster_nodes.DAEMON), "--config",
                                      config],
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                     cwd=self.dir, env=env, start_new_session=True)
        self.children[node["node"]] = child
        return child

    def process(self, node):
        child = self.children.get(node["node"])
        if child is None or child.poll() is not None:
            return cluster_nodes.Process(0, "")
        return cluster_nodes.Process(child.pid, self.path(node, "config.json"))

    def pid(self, name):
        return self.children[name].pid

    def alive(self, name):
        child = self.children.get(name)
        return child is not None and child.poll() is None

    def up(self, *names):
        """Start these nodes, or all, and wait until the cluster has them."""
        nodes = [self.node(n) for n in names] or self.nodes
        for node in nodes:
            self.write_config(node, {})
        try:
            self.start(nodes)
        except cluster_nodes.Failed as e:
            raise Mismatch(str(e)) from e

    def down(self, name, limit=30):
        """SIGTERM, and the exit status."""
        self.children[name].terminate()
        try:
            return self.children[name].wait(limit)
        except subprocess.TimeoutExpired as e:
            raise Mismatch(f"{name} does not end within {limit} s of SIGTERM") from e

    def kill(self, name):
        child = self.children.get(name)
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            child.wait()

    def restart(self, name):
        """Kill, start, wait; return the seconds."""
        self.kill(name)
        began = time.monotonic()
        self.up(name)
        return time.monotonic() - began

    def wait_end(self, name, limit=20):
        """Until it has ended by itself."""
        try:
            return self.children[name].wait(limit)
        except subprocess.TimeoutExpired as e:
            raise Mismatch(f"{name} has not ended within {limit} s") from e

    def not_ready(self, nodes):
        primary = self.first()
        if not self.process(primary):
            return next((f"{n['node']} does not answer" for n in nodes
                         if self.status(n, "/v1/health") != 200), "")
        status = self.status(primary, "/v1/health?prr=true")
        if status != 200:
            return f"{primary['node']} answers {status or 'nothing'} to health?prr=true"
        members = self.members(primary)
        for node in nodes:
            if node["id"] not in members:
                return f"{node['node']} has not joined"
            status = self.status(node, "/v1/health?readiness=true")
            if status != 200:
                return f"{node['node']} answers {status or 'nothing'} to health?readiness=true"
        return ""

    def status(self, node, path, net="public", timeout=5):
        """Of a GET; 0 when nobody answers."""
        try:
            return ask(self.address(node, net), self.port(node, net), "GET", path,
                       timeout=timeout).status
        except OSError:
            return 0

    def members(self, node):
        """Who the node believes is in the cluster."""
        try:
            r = ask(self.address(node, "public"), self.port(node, "public"), "GET",
                    "/v1/daemon?what=smap", timeout=5)
            smap = r.json()
            return set(smap["pmap"] or {}) | set(smap["tmap"] or {})
        except (OSError, Mismatch, KeyError):
            return set()

    # ---- disks

    def shim(self, name, power=False):
        """The node's rules; it runs with them from its next start on."""
        if name not in self.shims:
            node = self.node(name)
            folder = os.path.join(self.dir, f"shim-{name}")
            self.shims[name] = Shim(self.library, folder)
            if power:
                self.shims[name].power = Power(self.path(node) + "/", folder)
        return self.shims[name]

    def mountpaths(self, node):
        return [self.path(node, f"mp{i + 1}") for i in range(self.state["mountpaths"])]

    def blobs(self):
        """Files of objects on all targets, those of no use included: number, and leftovers."""
        count, strays = 0, []
        for node in self.nodes:
            for path in self.mountpaths(node) if node["role"] == "target" else []:
                for folder, _, names in os.walk(os.path.join(path, "blob")):
                    if os.path.basename(folder) == "tmp":
                        strays += [os.path.join(folder, n) for n in names]
                    else:
                        count += sum(not n.endswith(".meta") for n in names)
                strays += [os.path.join(path, "work", n)
                           for n in os.listdir(os.path.join(path, "work"))]
        return count, strays

    def no_orphans(self, objects):
        count, strays = self.blobs()
        true(count == objects and not strays,
             f"{count} files of {objects} objects, temporary: {strays[:5]}")

    # ---- requests

    def gateway(self, name="g1"):
        node = self.node(name)
        return self.address(node, "public"), self.port(node, "public")

    def metric(self, name, metric):
        """Sum of a counter over its labels."""
        node = self.node(name)
        r = ask(self.address(node, "public"), self.port(node, "public"), "GET", "/metrics")
        values = [line.rsplit(" ", 1)[1] for line in r.text.splitlines()
                  if line.split("{")[0].split(" ")[0] == metric]
        true(values, f"{name} has no metric {metric}")
        return sum(float(v) for v in values)
