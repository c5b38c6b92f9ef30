# SPDX-License-Identifier: BSD-2-Clause
"""The nodes of a local cluster: their folders, configs, processes, and when they are ready."""

import contextlib
import fcntl
import http.client
import json
import os
import random
import re
import secrets
import select
import signal
import socket
import string
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
DAEMON = os.environ.get("PAGEWIRED") or os.path.join(HERE, "..", "build", "pagewired")
DEFAULT_DIR = os.path.join(HERE, "..", "build", "cluster")
HOST = "127.0.0.1"
READY_S = 60  # a start that takes longer has failed
DOUBT_S = 3  # members that run are heard sooner
STOP_S = 45  # more than the daemon's own limit for draining
POLL_S = 0.05
NODES_MAX = 1000  # the ports of each network are so many
PID_MAX = 1 << 22
NODE_NAME = re.compile("[gt][1-9][0-9]{0,8}")
NETS = (("public", "port", 0), ("control", "port_intra_control", 1000),
        ("data", "port_intra_data", 2000))
# keys this tool writes itself: two clusters would collide, or nodes lose each other
OWN_KEYS = ("role", "node_id", "state_dir", "fspaths", "host_net", "proxy.primary_url")


class Failed(Exception):
    """The request cannot be done: exit 1."""


class Usage(Exception):
    """The request itself is wrong: exit 2."""


class Damaged(Failed):
    """cluster.json is not what this tool wrote."""


@contextlib.contextmanager
def calm():
    """Ctrl-C does not break off what is cleaned up here."""
    before = None
    with contextlib.suppress(ValueError):  # not in the main thread: none comes here
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


# ---- processes

def is_ours(pid, config):
    """Does this process run with exactly this config file? A reused pid does not."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return os.fsencode(config) in f.read().split(b"\0")
    except OSError:
        return False


class Process:
    """A handle on a running daemon that no reuse of its pid can confuse."""

    def __init__(self, pid, config):
        self.pid, self.fd = pid, -1
        with contextlib.suppress(OSError):
            self.fd = os.pidfd_open(pid) if 0 < pid <= PID_MAX else -1
        if self.fd >= 0 and not is_ours(pid, config):
            os.close(self.fd)
            self.fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.fd >= 0:
            os.close(self.fd)

    def __bool__(self):
        return self.fd >= 0

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.fd, number)

    def ended_within(self, seconds):
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(max(0, seconds) * 1000))


# ---- the cluster's own record

class Cluster:
    def __init__(self, folder):
        self.dir = os.path.abspath(folder)
        self.file = os.path.join(self.dir, "cluster.json")
        self.state = None

    def load(self):
        try:
            with open(self.file, encoding="utf-8") as f:
                self.state = json.load(f)
            check_state(self.state)
        except FileNotFoundError:
            self.state = None
        except (ValueError, RecursionError) as e:
            self.state = None
            raise Damaged(f"{self.file} is damaged ({e}); restore it, or remove the cluster: "
                          f"tools/local-cluster down --purge --dir {self.dir}") from e
        return self

    def need(self):
        if not self.state:
            self.refuse_remains()
            raise Failed(f"no cluster in {self.dir}; start one: tools/local-cluster up")

    def remains(self):
        """Nodes as their folders show them, for want of a record."""
        try:
            names = os.listdir(self.dir)
        except NotADirectoryError as e:
            raise Usage(f"--dir {self.dir}: this is no folder") from e
        except FileNotFoundError:
            names = []
        return [{"node": name} for name in sorted(names) if NODE_NAME.fullmatch(name) and
                os.path.isfile(os.path.join(self.dir, name, "config.json"))]

    def refuse_remains(self):
        names = [n["node"] for n in self.remains()]
        if names:
            some = ", ".join(names[:5]) + (", ..." if names[5:] else "")
            raise Failed(f"{self.dir} holds {some}, but their cluster.json is missing; restore it, "
                         "or remove the cluster: "
                         f"tools/local-cluster down --purge --dir {self.dir}")

    def is_there(self):
        """Whether the folder is one of ours, be it damaged."""
        return os.path.lexists(self.file) or bool(self.remains())

    def save(self):
        temporary = self.file + ".new"
        with open(temporary, "w", encoding="utf-8") as f:
            json.dump(self.state, f, indent=1)
            f.flush()
            os.fsync(f.fileno())
        os.rename(temporary, self.file)

    @contextlib.contextmanager
    def locked(self, damaged=False):
        """
        One verb that changes something at a time; others wait here. What it made of a folder
        goes again when no cluster comes of it. With damaged, a damaged record counts as none.
        """
        lock = os.path.join(self.dir, ".lock")
        try:
            made = not os.path.lexists(self.dir)
            fd = take_lock(lock)
        except (FileExistsError, NotADirectoryError) as e:
            raise Usage(f"--dir {self.dir}: this is no folder") from e
        try:
            try:
                self.load()
            except Damaged:
                if not damaged:
                    raise
            yield self
        finally:
            with calm():
                if os.path.isdir(self.dir) and not self.is_there():
                    with contextlib.suppress(OSError):
                        os.unlink(lock)
                        if made:
                            os.rmdir(self.dir)
                os.close(fd)

    @property
    def nodes(self):
        return self.state["nodes"] if self.state else []

    def node(self, name):
        self.need()
        for n in self.nodes:
            if n["node"] == name:
                return n
        raise Failed(f"no node {name}; there are {', '.join(n['node'] for n in self.nodes)}")

    def first(self):
        return self.nodes[0]

    def path(self, node, *parts):
        return os.path.join(self.dir, node["node"], *parts)

    def port(self, node, net):
        offset = next(o for name, _, o in NETS if name == net)
        return self.state["port"] + offset + node["index"]

    def url(self, node, net):
        return f"http://{HOST}:{self.port(node, net)}"

    def process(self, node):
        pid = 0
        with contextlib.suppress(OSError, ValueError):
            with open(self.path(node, "pid"), encoding="ascii") as f:
                pid = int(f.read(32))
        return Process(pid, self.path(node, "config.json"))

    def last_log(self, node, lines=15):
        with contextlib.suppress(OSError):
            with open(self.path(node, "log"), "rb") as f:
                f.seek(max(0, os.path.getsize(f.fileno()) - 65536))
                return b"\n".join(f.read().splitlines()[-lines:]).decode(errors="replace")
        return ""

    # ---- making nodes

    def found(self, args):
        os.makedirs(self.dir, exist_ok=True)
        secret = os.path.join(self.dir, "join.secret")
        fd = os.open(secret, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="ascii") as f:
            f.write(secrets.token_hex(32) + "\n")
        self.state = {"port": args.port or 8080, "mountpaths": args.mountpaths or 2, "set": {},
                      "next": {"index": 0, "gateway": 1, "target": 1}, "nodes": []}
        for _ in range(args.gateways or 1):
            self.new_node("gateway")
        for _ in range(3 if args.targets is None else args.targets):
            self.new_node("target")

    def new_node(self, role):
        following = self.state["next"]
        letters = string.ascii_letters + string.digits
        node = {"node": f"{role[0]}{following[role]}", "role": role, "index": following["index"],
                "id": ("p" if role == "gateway" else "t") + "".join(
                    random.SystemRandom().choice(letters) for _ in range(8))}
        following[role] += 1
        following["index"] += 1
        self.nodes.append(node)
        return node

    def write_config(self, node, settings):
        """Folders and config.json of a node."""
        os.makedirs(self.path(node, "state"), exist_ok=True)
        config = {
            "role": node["role"], "node_id": node["id"], "state_dir": self.path(node, "state"),
            "host_net": {"hostname": HOST, "hostname_intra_control": HOST,
                         "hostname_intra_data": HOST},
            "proxy": {"primary_url": self.url(self.first(), "control")},
            "auth": {"intra_cluster": {
                "node_join_secret_path": os.path.join(self.dir, "join.secret")}},
            "keepalivetracker": {"proxy": {"interval": "1s"}, "target": {"interval": "1s"}},
            "timeout": {"startup_time": "2s"},
        }
        for net, key, _ in NETS:
            config["host_net"][key] = str(self.port(node, net))
        if node["role"] == "target":
            paths = [self.path(node, f"mp{i + 1}") for i in range(self.state["mountpaths"])]
            for path in paths:
                os.makedirs(path, exist_ok=True)
            config["fspaths"] = {path: "" for path in paths}
        for key, value in settings.items():
            put_key(config, key, value)
        temporary = self.path(node, "config.json.new")
        with open(temporary, "w", encoding="utf-8") as f:
            json.dump(config, f, indent=1)
        os.rename(temporary, self.path(node, "config.json"))

    def configure(self, pairs):
        """Write every node's config with what --set asks for, each pair checked by the daemon."""
        settings = dict(self.state["set"])
        for pair in pairs:
            key, text = split_pair(pair)
            line = ""
            for value in readings(text):
                self.write_config(self.first(), {**settings, key: value})
                line = self.check(self.first())
                if not line:
                    break
            if line:
                # the file it names goes away
                words = re.sub(r"^(pagewired: )?\S*/config\.json(:[0-9]+)?: ", "", line)
                raise Usage(f"--set {pair}: {words}")
            settings[key] = value
        for node in self.nodes:
            self.write_config(node, settings)
            line = self.check(node)
            if line:
                raise Usage(line)
        self.state["set"] = settings

    def check(self, node):
        """The daemon's own words on what is wrong with a node's config, or nothing."""
        command = [DAEMON, "--check-config", self.path(node, "config.json")]
        r = run_daemon(command)
        if r.returncode == 0:
            return ""
        words = (r.stderr + r.stdout).strip() or f"exit {r.returncode}"
        if r.returncode == 2:
            return words
        raise Failed(f"{' '.join(command)}: {words}")

    def check_ports(self, nodes):
        for node in nodes:
            for net, _, _ in NETS:
                port = self.port(node, net)
                with socket.socket() as s:
                    # a connection of an earlier run that lingers is no listener
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    try:
                        s.bind((HOST, port))
                    except OSError as e:
                        raise Failed(f"{HOST}:{port} ({net} port of {node['node']}): {e.strerror}; "
                                     "end what listens there, or choose another --port") from e

    # ---- starting and waiting

    def spawn(self, node):
        config = self.path(node, "config.json")
        environment = {k: v for k, v in os.environ.items() if k != "NOTIFY_SOCKET"}
        with open(self.path(node, "log"), "ab") as log:
            log.write(f"--- {node['node']} starts\n".encode())
            log.flush()
            try:
                child = subprocess.Popen([os.path.realpath(DAEMON), "--config", config],
                                         stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         cwd=self.dir, env=environment, start_new_session=True)
            except OSError as e:
                raise Failed(f"{DAEMON}: {e.strerror}; build it first: make") from e
        try:
            with open(self.path(node, "pid.new"), "w", encoding="ascii") as f:
                f.write(f"{child.pid}\n")
            os.rename(self.path(node, "pid.new"), self.path(node, "pid"))
        except BaseException:
            with calm():
                child.kill()
                child.wait()
            raise
        return child

    def start(self, nodes):
        """Start these and wait until the cluster has them; on failure end what was started."""
        children = {}
        try:
            for node in nodes:
                children[node["node"]] = self.spawn(node)
            self.wait_ready(nodes, children)
        except BaseException:
            with calm():
                for child in children.values():
                    child.kill()
                    child.wait()
            raise

    def wait_ready(self, nodes, children):
        until = time.monotonic() + READY_S
        missing = "nothing yet"
        while time.monotonic() < until:
            for node in nodes:
                code = children[node["node"]].poll() if node["node"] in children else None
                if code is not None:
                    raise Failed(f"{node['node']} ended with {exit_text(code)}; its last lines:\n"
                                 f"{self.last_log(node)}")
            missing = self.not_ready(nodes)
            if not missing:
                return
            self.stop_at_refusal(nodes)
            if self.waits_for_members(nodes, time.monotonic() + READY_S - until):
                return
            time.sleep(POLL_S)
        logs = "".join(f"\n--- {n['node']}:\n{self.last_log(n, 5)}" for n in nodes)
        raise Failed(f"not ready within {READY_S} s: {missing}; last lines:{logs}")

    def stop_at_refusal(self, nodes):
        """A node whose join is not possible asks on for ever; this tool does not wait for that."""
        for node in nodes:
            this_start = self.last_log(node, 50).rpartition(" starts\n")[2].splitlines()
            said = next((s for s in reversed(this_start) if " cluster.join" in s), "")
            if " cluster.join " in said and ("status 401" in said or "status 501" in said):
                raise Failed(f"{node['node']} was refused: {said}")

    def waits_for_members(self, nodes, waited):
        """A primary that lost metadata serves, but changes nothing until the others are back."""
        first = self.first()
        this_start = self.last_log(first, 50).rpartition(" starts\n")[2].splitlines()
        doubts = [line for line in this_start if " cluster.doubt " in line]
        if not doubts or " cluster.started " in "\n".join(this_start):
            return False
        if len(nodes) > 1 or waited < DOUBT_S or any(
                get(self.port(n, "public"), "/v1/health?readiness=true")[0] != 200 for n in nodes):
            return False
        print(f"{first['node']} waits for all members: {doubts[0]}", file=sys.stderr)
        return True

    def not_ready(self, nodes):
        """What these nodes still lack to serve, or nothing."""
        first = self.first()
        if not self.process(first):
            # nobody to join: its own port answering is all there is to wait for
            return next((f"{n['node']} does not answer" for n in nodes
                         if get(self.port(n, "public"), "/v1/health")[0] != 200), "")
        status, _ = get(self.port(first, "public"), "/v1/health?prr=true")
        if status != 200:
            return f"{first['node']} answers {status or 'nothing'} to health?prr=true"
        status, body = get(self.port(first, "public"), "/v1/daemon?what=smap")
        try:
            smap = json.loads(body)
            members = set(smap["pmap"]) | set(smap["tmap"])
        except (ValueError, KeyError, TypeError):
            return f"{first['node']} answers {status or 'nothing'} to what=smap"
        for node in nodes:
            if node["id"] not in members:
                return f"{node['node']} has not joined"
            status, _ = get(self.port(node, "public"), "/v1/health?readiness=true")
            if status != 200:
                return f"{node['node']} answers {status or 'nothing'} to health?readiness=true"
        return ""


# ---- small helpers

def take_lock(path):
    """The locked file; never one that somebody has removed in the meantime."""
    while True:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(path)):
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 1 << 31


def check_state(state):
    """Raise ValueError where a record is not of the form that Cluster.found() makes."""
    def want(true, what):
        if not true:
            raise ValueError(f"{what}: not as this tool wrote it")

    want(isinstance(state, dict), "the whole")
    want(is_count(state.get("port")) and 0 < state["port"] <= 65535, "port")
    want(is_count(state.get("mountpaths")) and state["mountpaths"] > 0, "mountpaths")
    want(isinstance(state.get("set"), dict), "set")
    following = state.get("next")
    want(isinstance(following, dict) and
         all(is_count(following.get(key)) for key in ("index", "gateway", "target")), "next")
    nodes = state.get("nodes")
    want(isinstance(nodes, list) and nodes, "nodes")
    for n in nodes:
        want(isinstance(n, dict) and isinstance(n.get("node"), str) and
             NODE_NAME.fullmatch(n["node"]), "the name of a node")
        want(n.get("role") in ("gateway", "target"), f"role of {n['node']}")
        want(is_count(n.get("index")) and n["index"] < 65536, f"index of {n['node']}")
        want(isinstance(n.get("id"), str) and n["id"].isalnum(), f"id of {n['node']}")


def get(port, path, timeout=5):
    return call("GET", port, path, timeout=timeout)


def call(method, port, path, value=None, timeout=5):
    """Status and body; status 0 when nobody answers."""
    connection = http.client.HTTPConnection(HOST, port, timeout=timeout)
    try:
        body = None if value is None else json.dumps(value)
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def run_daemon(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=20, check=False)
    except OSError as e:
        raise Failed(f"{command[0]}: {e.strerror}; build it first: make") from e
    except subprocess.TimeoutExpired as e:
        raise Failed(f"{' '.join(command)} does not end") from e


def split_pair(pair):
    key, sep, value = pair.partition("=")
    if not sep or not key:
        raise Usage(f"--set {pair}: KEY=VALUE is wanted")
    if any(key == own or key.startswith(own + ".") for own in OWN_KEYS):
        raise Usage(f"--set {pair}: {key} is chosen by this tool")
    return key, value


def readings(text):
    """The JSON values a text on the command line can stand for, the likeliest first."""
    with contextlib.suppress(ValueError):
        value = json.loads(text)
        if not isinstance(value, str):
            yield value
    yield text


def put_key(config, key, value):
    *groups, last = key.split(".")
    for group in groups:
        config = config.setdefault(group, {})
        if not isinstance(config, dict):
            raise Usage(f"--set {key}: {group} is no group of keys")
    config[last] = value


def exit_text(code):
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


def message(body):
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return json.loads(body)["message"]
    return body.decode(errors="replace").strip()


def is_cluster_wide(key):
    """As the daemon's own table says: a key of the cluster's stored config."""
    lines = run_daemon([DAEMON, "--help=rst"]).stdout.splitlines()
    at = lines.index(f"``{key}``") if f"``{key}``" in lines else len(lines)
    return "cluster-wide" in "".join(lines[at + 1:at + 2])
