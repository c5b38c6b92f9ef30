#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `make lint` checks of the sources themselves: who includes whom, sizes, documentation."""

import os
import re
import subprocess
import sys

FILE_LINES, HEADER_LINES, FUNCTION_LINES, PARAMETERS, COLUMNS = 600, 250, 60, 6, 100
INCLUDE_PATHS = ("tools/include", ".", "daemon")
BUILD = "build"

PUBLIC = {"smap/smap.h", "ktls/ktls.h", "bpf/skm.h", "transport/xport.h"}
LIBRARIES = {"smap": {"smap"}, "ktls": {"ktls"}, "bpf": {"bpf"}, "transport": {"transport"}}
# A room of the daemon sees itself and what stands on a lower level.
LEVELS = {"core": 0, "loop": 1, "http": 2, "tls": 2, "steer": 3, "store": 3, "cluster": 4,
          "auth": 4, "jobs": 5, "api": 6, "s3": 6, "wire": 7}

# Variables that outlive a call: each with its reason. Everything else is passed along.
STATE = {
    ("daemon/log.c", None): "the only logger: its sink and its last MiB serve the whole process",
    ("daemon/loop/loop.c", "current"): "a thread's own loop, which callbacks cannot be handed",
    ("daemon/store/guard.c", None): "one handler a process; a fault finds its thread's guards",
    ("daemon/http/client.c", "multi_key"): "libcurl's handle of each thread, ended with the thread",
}
LICENCES = (
    (re.compile(r"^bpf/.*\.bpf\.c$"), "GPL-2.0-only OR BSD-2-Clause"),
    (re.compile(r"^selftests/vm/.*\.c$"), None),  # kernel modules are GPL-2.0-only
)
# nothing can be written into these: texts of licences, inputs byte for byte
NO_SPDX = re.compile(r"^LICENSE$|/seeds_[^/]*/|\.json$")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")

findings = []


def found(path, line, text):
    findings.append(f"{path}:{line}: {text}")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def tracked():
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return sorted(n for n in names if os.path.isfile(n))


# ---- include direction

def room(path):
    """The room a file belongs to."""
    parts = path.split("/")
    if path.startswith("tools/include/base/"):
        return "base"
    if parts[0] == "daemon":
        if len(parts) > 2:
            return parts[1]
        return "wire" if parts[1] in ("main.c", "wire.c") else "core"
    if parts[0] in ("tools", "selftests") and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def may_include(path, other):
    """May a file of ours include another file of ours?"""
    here, there = room(path), room(other)
    if here == there or there == "base" or here in ("selftests/unit", "selftests/fuzz"):
        return True
    if here == "base":
        return False
    if here == "transport":
        return other in ("ktls/ktls.h", "bpf/skm.h")
    if here in LEVELS:
        return other in PUBLIC or (there in LEVELS and LEVELS[there] < LEVELS[here])
    if here in LIBRARIES:
        return False
    return other in PUBLIC  # tools and the other rings are users like any other


def resolve(path, name):
    for folder in (os.path.dirname(path), *INCLUDE_PATHS):
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(candidate):
            return candidate
    return None


def check_includes(path, text):
    for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', text, re.M):
        line = text.count("\n", 0, m.start()) + 1
        other = resolve(path, m[2])
        if other is None:
            if m[1] == '"' and not m[2].endswith(".skel.h"):
                found(path, line, f'include "{m[2]}" is no file of ours; write <{m[2]}>')
        elif m[1] == '"' and not may_include(path, other):
            found(path, line, f"{room(path)} may not include {other}")


# ---- sizes

def parameters(signature):
    """Number of parameters of the outermost parentheses that close last."""
    close = signature.rfind(")")
    depth, commas, i = 0, 0, close
    while i >= 0:
        c = signature[i]
        depth += (c == ")") - (c == "(")
        commas += c == "," and depth == 1
        if depth == 0:
            break
        i -= 1
    inside = signature[i + 1:close].strip()
    return 0 if inside in ("", "void") else commas + 1


def without_attributes(text):
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)


def check_functions(path, lines):
    for start, line in enumerate(lines):
        if line != "{":
            continue
        first = start
        while first and lines[first - 1] and not re.match(r"[#}]|.*\*/$|.*;$", lines[first - 1]):
            first -= 1
        signature = without_attributes(" ".join(lines[first:start]))
        name = re.search(r"(\w+)\s*\(", signature)
        name = name[1] if name else "?"
        end = next((i for i in range(start, len(lines)) if lines[i].startswith("}")), start)
        if end - start + 1 > FUNCTION_LINES:
            found(path, start + 1, f"{name}() has {end - start + 1} lines, "
                  f"{FUNCTION_LINES} at most")
        if parameters(signature) > PARAMETERS:
            found(path, start + 1, f"{name}() has {parameters(signature)} parameters, "
                  f"{PARAMETERS} at most; an options struct carries more")


def check_sizes(path, lines):
    limit = HEADER_LINES if path.endswith(".h") else FILE_LINES
    if len(lines) > limit:
        found(path, len(lines), f"{len(lines)} lines, {limit} at most")
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > COLUMNS:
            found(path, number, f"{len(line.expandtabs(8))} columns, {COLUMNS} at most")


# ---- documentation of what headers declare

def header_items(text):
    """Top-level pieces of a header in order: (kind, line, text), kind comment, blank, code."""
    line, i = 1, 0
    while i < len(text):
        m = re.compile(r"/\*.*?\*/[ \t]*\n?", re.S).match(text, i)
        if m:
            yield "comment", line, m[0]
        else:
            m = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*\n?").match(text, i)
            if m:
                yield "directive", line, m[0]
            else:
                m = re.compile(r"[ \t]*\n").match(text, i)
                if m:
                    yield "blank", line, m[0]
                else:
                    end = code_end(text, i)
                    m = re.compile(r".{%d}[ \t]*(?:/\*[^\n]*\*/)?[ \t]*\n?" % (end - i),
                                   re.S).match(text, i)
                    yield "code", line, m[0]
        line += m[0].count("\n")
        i = m.end()


def code_end(text, i):
    """Past the `;` or the closing brace that ends a declaration or definition."""
    depth, n = 0, i
    while n < len(text):
        if text.startswith("/*", n):
            n = text.find("*/", n) + 1
        elif text[n] in "({":
            depth += 1
        elif text[n] in ")}":
            depth -= 1
            if depth == 0 and text[n] == "}" and not re.match(r"\s*(\w+|__attribute__.*?)?\s*;",
                                                              text[n + 1:n + 80]):
                return n + 1
        elif text[n] == ";" and depth == 0:
            return n + 1
        n += 1
    return len(text)


def declared_function(code):
    """The name of the function this declares or defines, or nothing."""
    head = without_attributes(re.sub(r"/\*.*?\*/", "", code, flags=re.S)).split("{")[0]
    if head.lstrip().startswith(("typedef", "extern \"C\"", "_Static_assert")) or "=" in head:
        return None
    m = re.search(r"\b(\w+)\s*\([^*]", head + " ")
    return m[1] if m and "(" in head else None


def check_header(path, text):
    documented = False
    for kind, line, piece in header_items(text):
        if kind == "comment":
            documented = True
            continue
        if kind != "code":
            documented = False  # a blank line ends what a comment speaks of
            continue
        name = declared_function(piece)
        if name and not documented:
            found(path, line, f"{name}() has no comment above it")
        if name and parameters(without_attributes(piece.split("{")[0])) > PARAMETERS:
            found(path, line, f"{name}() has more than {PARAMETERS} parameters")


# ---- licences, and words of unfinished work

def check_spdx(path, lines):
    if NO_SPDX.search(path):
        return
    want = next((w for pattern, w in LICENCES if pattern.search(path)), "BSD-2-Clause")
    m = re.search(r"SPDX-License-Identifier: (.*?)\s*(\*/|-->|$)", "\n".join(lines[:3]), re.M)
    if not m:
        found(path, 1, "no SPDX-License-Identifier in the first three lines")
    elif want and m[1].strip() != want:
        found(path, 1, f"licence {m[1].strip()}, {want} is wanted")


# ---- state that outlives a call

def check_state(sources):
    objects = [o for o in (f"{BUILD}/{s[:-2]}.o" for s in sources) if os.path.isfile(o)]
    if not objects:
        return
    out = subprocess.run(["nm", "-A", "-f", "sysv", "--defined-only", *objects], check=True,
                         capture_output=True, text=True).stdout
    for line in out.splitlines():
        m = re.match(r"(?:.*?/)?%s/([^:]+)\.o:(\S+)\s*\|.*\|\s*(\S+)\s*$" % BUILD, line)
        if not m:
            continue
        source, symbol, section = m[1] + ".c", m[2], m[3]
        if not re.match(r"\.(data|bss|tdata|tbss)\b|\*COM\*", section):
            continue
        if (section.startswith(".data.rel.ro") or (source, None) in STATE or
                (source, symbol) in STATE):
            continue
        found(source, 1, f"{symbol} outlives a call ({section}); make it const or pass it along")


def main():
    files = tracked()
    for path in files:
        text = read(path)
        lines = text.splitlines()
        check_spdx(path, lines)
        if path.endswith((".c", ".h")):
            check_includes(path, text)
            check_functions(path, lines)
        if path.endswith((".c", ".h", ".py", ".sh")) or text.startswith("#!"):
            check_sizes(path, lines)
            if not path.startswith("tools/build/lint"):
                for number, line in enumerate(lines, 1):
                    if UNFINISHED.search(line):
                        found(path, number, "unfinished work is not committed")
        if path.endswith(".h") and not path.startswith("selftests/"):
            check_header(path, text)
    check_state([f for f in files if f.endswith(".c") and not f.startswith("selftests/")])
    for line in findings:
        print(line)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
