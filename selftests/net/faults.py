# SPDX-License-Identifier: BSD-2-Clause
"""Failing disks: rules of the preload shim, power cuts, small file systems."""

import errno
import mmap
import os
import random
import struct
import subprocess

from harness import Mismatch, true

HERE = os.path.dirname(os.path.realpath(__file__))
RULES = 24
CONTROL_SIZE = 256 * (RULES + 1)
HEAD = struct.Struct("<IIIIIII4x224s")  # struct rule of shim.c
CALLS = ("none", "open", "write", "read", "fsync", "fdatasync", "fallocate", "ftruncate", "link",
         "rename", "unlink", "setxattr", "copy", "accept")
ACTIONS = ("none", "fail", "kill-before", "kill-after", "delay")


def build_shim(folder):
    """The shim as a library in this folder."""
    library = os.path.join(folder, "shim.so")
    r = subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra",
                        "-Wno-unused-parameter", "-Werror", "-fPIC", "-shared", "-o", library,
                        os.path.join(HERE, "shim.c"), "-pthread"],
                       capture_output=True, text=True, check=False)
    true(r.returncode == 0, f"shim.c does not build: {r.stderr}")
    return library


# ---- rules

class Shim:
    """The rules of one node; they hold over restarts until cleared."""

    def __init__(self, library, folder):
        self.library, self.folder = library, folder
        os.makedirs(folder, exist_ok=True)
        self.file = os.path.join(folder, "control")
        with open(self.file, "wb") as f:
            f.truncate(CONTROL_SIZE)
        with open(self.file, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), CONTROL_SIZE)
        self.count = 0
        self.power = None

    def environment(self):
        env = {"LD_PRELOAD": self.library, "PAGEWIRE_SHIM_CONTROL": self.file}
        if self.power:
            env.update(self.power.environment())
        return env

    def rule(self, action, call, path, value=0, nth=1, times=0):
        """From the nth call on whose path fits the pattern: so many of them, or all."""
        true(self.count < RULES, "a free rule")
        at = 256 * (1 + self.count)
        packed = HEAD.pack(0, CALLS.index(call), value, nth - 1, times, 0, 0, path.encode())
        self.map[at:at + HEAD.size] = packed
        self.map[at:at + 4] = struct.pack("<I", ACTIONS.index(action))
        self.count += 1
        self.map[0:4] = struct.pack("<I", self.count)
        return self.count - 1

    def fail(self, call, path, error, nth=1, times=0):
        return self.rule("fail", call, path, getattr(errno, error), nth, times)

    def kill(self, when, call, path, nth=1):
        return self.rule(f"kill-{when}", call, path, 0, nth, 1)

    def delay(self, call, path, milliseconds):
        return self.rule("delay", call, path, milliseconds)

    def counts(self, rule):
        """How many calls fitted, and how many were hit."""
        return struct.unpack_from("<II", self.map, 256 * (1 + rule) + 20)

    def hits(self, rule):
        return self.counts(rule)[1]

    def clear(self):
        self.map[0:4] = struct.pack("<I", 0)
        self.map[256:CONTROL_SIZE] = bytes(CONTROL_SIZE - 256)
        self.count = 0


# ---- power cuts

NOTE = struct.Struct("<IIIIQQQQ")
WRITE, XATTR, SYNC, NAME, RENAME, UNLINK = range(1, 7)


class Note:
    """One change as the shim noted it before it was made."""

    def __init__(self, head, rest):
        (self.kind, path_len, other_len, self.shadow, self.ino, self.off, self.size,
         payload) = head
        self.path = os.fsdecode(rest[:path_len])
        self.other = os.fsdecode(rest[path_len:path_len + other_len])
        self.payload = rest[path_len + other_len:path_len + other_len + payload]


class Power:
    """What a node changed below its folder since the sync that would have made it last."""

    def __init__(self, under, folder):
        self.under, self.folder = under, folder
        self.journal = os.path.join(folder, "journal")
        self.shadows = os.path.join(folder, "shadows")
        os.makedirs(self.shadows, exist_ok=True)

    def environment(self):
        return {"PAGEWIRE_SHIM_JOURNAL": self.journal, "PAGEWIRE_SHIM_UNDER": self.under,
                "PAGEWIRE_SHIM_SHADOW": self.shadows}

    def notes(self):
        with open(self.journal, "rb") as f:
            data = f.read()
        at = 0
        while at + NOTE.size <= len(data):
            head = NOTE.unpack_from(data, at)
            size = head[1] + head[2] + head[7]
            yield Note(head, data[at + NOTE.size:at + NOTE.size + size])
            at += NOTE.size + size

    def pending(self):
        """In order: what no sync has covered."""
        left = []
        for n in self.notes():
            if n.kind == SYNC:
                # fdatasync(2) need not keep xattrs
                left = [p for p in left if p.ino != n.ino or (p.kind == XATTR and not n.off)]
            else:
                left.append(n)
        return left

    def cut(self, seed=None):
        """Take back what was not synced: all of it, or that of a random half of files."""
        pending = self.pending()
        lost = {n.ino for n in pending}
        if seed is not None:
            pick = random.Random(seed)
            lost = {ino for ino in sorted(lost) if pick.random() < 0.5}
        undo = [n for n in reversed(pending) if n.ino in lost]
        files = self.open_files({n.ino for n in undo if n.kind in (WRITE, XATTR)})
        try:
            for n in undo:
                self.take_back(n, files)
        finally:
            for fd in files.values():
                os.close(fd)
        self.forget()
        return len(undo), len(pending)

    def forget(self):
        """What was pending has reached the disk, or is lost."""
        with open(self.journal, "wb"):
            pass
        for name in os.listdir(self.shadows):
            os.unlink(os.path.join(self.shadows, name))

    def open_files(self, inodes):
        found = {}
        for root in (self.under, self.shadows):
            for folder, _, names in os.walk(root):
                for name in names:
                    path = os.path.join(folder, name)
                    ino = os.lstat(path).st_ino
                    if ino in inodes and ino not in found:
                        found[ino] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        return found

    def take_back(self, n, files):
        fd = files.get(n.ino)
        if n.kind == WRITE and fd is not None:
            if n.payload:
                os.pwrite(fd, n.payload, n.off)
            os.ftruncate(fd, n.size)
        elif n.kind == XATTR and fd is not None:
            if n.size == (1 << 64) - 1:
                try:
                    os.removexattr(fd, n.other)
                except OSError:
                    pass
            else:
                os.setxattr(fd, n.other, n.payload)
        elif n.kind == NAME and os.path.lexists(n.path):
            os.unlink(n.path)
        elif n.kind == RENAME and os.path.lexists(n.path):
            os.rename(n.path, n.other)
            self.back_from_shadow(n)
        elif n.kind == UNLINK:
            self.back_from_shadow(n)

    def back_from_shadow(self, n):
        if n.shadow and not os.path.lexists(n.path):
            os.link(os.path.join(self.shadows, f"{n.size}-{n.shadow}"), n.path)


# ---- small file systems

def mount_small(image, where, mebibytes, *options):
    """An ext4 of this size; it goes with the test's mount namespace."""
    with open(image, "wb") as f:
        f.truncate(mebibytes << 20)
    os.makedirs(where, exist_ok=True)
    run("mkfs.ext4", "-q", "-F", "-m", "0", *options, image)
    run("mount", "-o", "loop", image, where)


def free_bytes(where):
    s = os.statvfs(where)
    return s.f_bavail * s.f_frsize


def fill(where, leave=0):
    """One file that takes all room but this; return its path."""
    path = os.path.join(where, "filler")
    with open(path, "ab", buffering=0) as f:  # closing would write again what did not fit
        while True:
            size = min(free_bytes(where) - leave, 1 << 20)
            if size <= 0:
                return path
            try:
                f.write(bytes(size))
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise
                return path


def run(*command, check=True):
    r = subprocess.run(command, capture_output=True, text=True, check=False,
                       stdin=subprocess.DEVNULL)
    if check and r.returncode:
        raise Mismatch(f"{' '.join(command)}: exit {r.returncode}: {r.stderr.strip()}")
    return r.stdout


# ---- steps

BLOB, FOLDER, STATE = "*/blob/*", "*/blob/??", "*/state/*"
INDEX = "*/meta/data.mdb"
ROOT_PAGE = INDEX + "#synced"  # written through a descriptor of its own, O_DSYNC
STORE_STEPS = (("open a new blob", "open", FOLDER), ("allocate", "fallocate", BLOB),
               ("write data", "write", BLOB), ("copy data", "copy", BLOB),
               ("sync data", "fdatasync", BLOB), ("set the xattr", "setxattr", BLOB),
               ("sync the blob", "fsync", "*/blob/??/*"), ("name the blob", "link", BLOB),
               ("sync its folder", "fsync", FOLDER), ("write the index", "write", INDEX),
               ("sync the index", "fdatasync", INDEX),
               ("write the root page", "write", ROOT_PAGE),
               ("unlink the old blob", "unlink", BLOB))
WORK, WORKS = "*/mp?/work/*", "*/mp?/work"
WORK_STEPS = (("open a work file", "open", WORK), ("write to it", "write", WORK),
              ("sync it", "fdatasync", WORK), ("sync the work folder", "fsync", WORKS),
              ("set its xattr", "setxattr", WORK), ("sync it with the xattr", "fsync", WORK),
              ("rename it", "rename", BLOB))
STATE_STEPS = (("open a state file", "open", STATE), ("write a state file", "write", STATE),
               ("sync a state file", "fsync", STATE), ("rename a state file", "rename", STATE))


def count_steps(shim, steps, operation, check):
    """
    How often each step is made by an operation that nothing disturbs. It calls what it is given
    when its preparations are over; check() returns when it has ended.
    """
    rules = []
    operation(lambda: rules.extend(shim.delay(call, path, 0) for _, call, path in steps))
    check("undisturbed")
    counts = [shim.counts(rule)[0] for rule in rules]
    shim.clear()
    return counts
