# SPDX-License-Identifier: BSD-2-Clause
"""Debian's nginx on a port of its own, as a second reading of RFC 9112."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from harness import Mismatch

HOST = "127.0.0.1"
CONFIG = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log info;
events {{ worker_connections 1024; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    server {{
        listen {host}:{port};
        location / {{ return 200 "ok"; }}
    }}
}}
"""


def binary():
    """Where Debian installs it, which need not be in PATH; None when it is not installed."""
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


class Nginx:
    """Answers 200 to all it finds well-formed; ends with the with-block."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="nginx.")
        self.port = free_port()
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as f:
            f.write(CONFIG.format(folder=self.folder, host=HOST, port=self.port))
        self.child = subprocess.Popen([binary(), "-c", path, "-p", self.folder],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait(self):
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection((HOST, self.port), 1).close()
                return
            except OSError as e:
                if self.child.poll() is not None or time.monotonic() > until:
                    self.child.kill()
                    raise Mismatch(f"nginx does not start: {self.child.stderr.read()}") from e
            time.sleep(0.05)

    def __exit__(self, *_):
        self.child.terminate()
        self.child.wait()
        self.child.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def requests(self):
        """The request lines it has answered."""
        with open(os.path.join(self.folder, "access.log"), encoding="latin-1") as f:
            return [line.split('"')[1] for line in f if line.count('"') >= 2]
