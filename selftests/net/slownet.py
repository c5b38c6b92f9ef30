# SPDX-License-Identifier: BSD-2-Clause
"""A cable that is longer than it looks: frames between a node and its network arrive late."""

import collections
import fcntl
import os
import select
import socket
import struct
import threading
import time

from faults import run

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x2, 0x1000, 0x4000
SOL_PACKET, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING = 263, 15, 23
ETH_P_ALL = 3
FRAME = 70000  # segments not cut yet included


class Delay:
    """While the with-block lasts. Both ends pass what is left to compute on along as it is."""

    def __init__(self, ring, name, net, milliseconds):
        self.cable, self.net = ring.cable(ring.node(name), net), net
        self.seconds = milliseconds / 1000
        self.tap_name = self.cable + "-d"
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.relay, daemon=True)

    def __enter__(self):
        self.tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(self.tap, TUNSETIFF,
                    struct.pack("16sH", self.tap_name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
        self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.raw.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self.raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.raw.setblocking(False)
        self.raw.bind((self.cable, 0))
        run("ip", "link", "set", self.cable, "nomaster")
        run("ip", "link", "set", self.cable, "promisc", "on")
        run("ip", "link", "set", self.tap_name, "master", self.net, "up")
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.raw.close()
        os.close(self.tap)  # which removes the device
        run("ip", "link", "set", self.cable, "promisc", "off", "master", self.net)

    def relay(self):
        waiting = collections.deque()
        while not self.ended.is_set():
            limit = 0.1
            if waiting:
                limit = min(limit, max(0, waiting[0][0] - time.monotonic()))
            ready, _, _ = select.select([self.tap, self.raw], [], [], limit)
            due = time.monotonic() + self.seconds
            try:
                if self.tap in ready:
                    waiting.append((due, self.raw.send, os.read(self.tap, FRAME)))
                if self.raw in ready:
                    waiting.append((due, self.to_tap, self.raw.recv(FRAME)))
                while waiting and waiting[0][0] <= time.monotonic():
                    _, send, frame = waiting.popleft()
                    send(frame)
            except OSError:
                pass  # a frame is lost, as on any network

    def to_tap(self, frame):
        os.write(self.tap, frame)
