"""Small programs that try one thing inside a sandbox, and how their answers are read. Pure.

Each is run as `python3 -I -c PROGRAM ARG...` by `sandbox exec`, and prints one line: MARK and a JSON object, in which
`asked` repeats the arguments: what a profile, an earlier run or another exec printed is no answer to this question.
Isolated (-I): working directory and home are the agent's, and a json.py or usercustomize.py there would answer for it.
No line with the mark means that the program did not run to its end, whatever the exit status says.
Errors are reported by errno name, so that no locale or wording matters.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, documents
from pytest_amap.parsers.text import lines

MARK = "AMAP-PROBE "

_START = f"""
import errno, json, os, sys
def name(e): return errno.errorcode.get(e.errno, type(e).__name__) if isinstance(e, OSError) else type(e).__name__
def say(**found): print({MARK!r} + json.dumps(dict(found, asked=sys.argv[1:])), flush=True)
"""


def _program(body: str) -> tuple[str, ...]:
    return ("python3", "-I", "-c", _START.strip() + "\n" + textwrap.dedent(body).strip() + "\n")


def create(path: str, *, remove: bool) -> tuple[str, ...]:
    """Create `path` anew: errno is None when that worked. `remove` takes it away again and says whether it is gone.

    `folder` is device and inode of the directory it was tried in: the path alone does not say what stands there.
    """
    body = """
        path, remove = sys.argv[1], sys.argv[2] == "remove"
        try: i = os.stat(os.path.dirname(path)); folder = [i.st_dev, i.st_ino]
        except OSError as e: folder = name(e)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)); error = None
        except OSError as e: error = name(e)
        gone = None
        if remove and error is None:
            try: os.unlink(path)
            except OSError as e: pass
            gone = not os.path.lexists(path)
        say(errno=error, gone=gone, folder=folder)
    """
    return (*_program(body), path, "remove" if remove else "leave")


def append(path: str) -> tuple[str, ...]:
    """Open an existing file for appending; nothing is written. `exists` comes from lstat."""
    body = """
        path = sys.argv[1]
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_APPEND)); error = None
        except OSError as e: error = name(e)
        say(errno=error, exists=os.path.lexists(path))
    """
    return (*_program(body), path)


def names_in(path: str) -> tuple[str, ...]:
    """List a directory: errno is None when that worked; `permitted` is what owner and mode alone would allow."""
    body = """
        try: found, error = sorted(os.listdir(sys.argv[1]))[:2000], None
        except OSError as e: found, error = [], name(e)
        say(errno=error, names=found, permitted=os.access(sys.argv[1], os.R_OK | os.X_OK))
    """
    return (*_program(body), path)


def read(path: str) -> tuple[str, ...]:
    """Read a file of up to 1 MiB, with its owner and mode."""
    body = """
        import stat
        found = dict(errno=None, text=None, uid=None, gid=None, mode=None)
        try:
            info = os.stat(sys.argv[1])
            found.update(uid=info.st_uid, gid=info.st_gid, mode="%o" % stat.S_IMODE(info.st_mode))
            with open(sys.argv[1], "rb") as f: found["text"] = f.read(1 << 20).decode("utf-8", "replace")
        except OSError as e: found["errno"] = name(e)
        say(**found)
    """
    return (*_program(body), path)


def ids() -> tuple[str, ...]:
    """The uid, gid and groups that a process of `sandbox exec` has."""
    return _program("say(uid=os.getuid(), gid=os.getgid(), groups=os.getgroups())")


def fetch(url: str, seconds: int = 15) -> tuple[str, ...]:
    """Open a URL: `reached` with the HTTP status, or the error's class, errno name and text."""
    body = """
        import urllib.error, urllib.request
        found = dict(reached=False, status=None, error=None, errno=None, text="")
        try:
            found.update(reached=True, status=urllib.request.urlopen(sys.argv[1], timeout=float(sys.argv[2])).status)
        except urllib.error.HTTPError as e: found.update(reached=True, status=e.code, text=str(e)[:300])
        except Exception as e:
            cause = getattr(e, "reason", e)
            code = name(cause) if isinstance(cause, OSError) else None
            found.update(error=type(e).__name__, errno=code, text=str(e)[:300])
        say(**found)
    """
    return (*_program(body), url, str(seconds))


NODE_FETCH = (
    "const a=process.argv.slice(1);"
    "const say=(f,code)=>{console.log('AMAP-PROBE '+JSON.stringify({...f,asked:a}));process.exit(code)};"
    "const r=require('https').get(new URL(a[0]),{timeout:15000},s=>say({reached:true,status:s.statusCode},0));"
    "r.on('timeout',()=>r.destroy(new Error('timeout')));"
    "r.on('error',e=>say({reached:false,error:e.code||e.message},1));"
)


def node_fetch(node: str, url: str) -> tuple[str, ...]:
    """The same by node, a binary that the provider's profile lists."""
    return (node, "-e", NODE_FETCH, url)


def sessions(lister: str, home: str) -> tuple[str, ...]:
    """What the payload's lister finds, asked as a module from the main process downwards.

    `sandbox exec` starts its program beside the main process, never below it, so that running the lister itself
    always finds nothing (runbook, "Where its evidence differs from the manual commands"). `since` is when the main
    process started, in clock ticks since boot: pids are used again, and wall clocks are set back.
    """
    body = """
        import importlib.machinery, importlib.util
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader("lister", sys.argv[1])
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lister", loader))
        loader.exec_module(module)
        table = module.process_table(module.PROC)
        mains = sorted(pid for pid in table if module.runs(table[pid], module.MAIN))
        rows = module.rows(module.PROC, sys.argv[2], mains[0]) if mains else []
        lines = [row if isinstance(row, str) else "\\t".join(map(str, row)) for row in rows]
        main = table[mains[0]] if mains else None
        say(main=main and main.pid, since=main and main.start_time, rows=lines)
    """
    return (*_program(body), lister, home)


def put(path: str, text: str) -> tuple[str, ...]:
    """Write a file whole, and only where nothing is; a file that could not be written whole is not left there."""
    body = """
        path, text = sys.argv[1], sys.argv[2].encode()
        def fill(f):
            try:
                if os.write(f, text) != len(text): raise OSError(errno.ENOSPC, "cut short")
            except OSError: os.unlink(path); raise
            finally: os.close(f)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fill(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)); error = None
        except OSError as e: error = name(e)
        say(errno=error)
    """
    return (*_program(body), path, text)


def state(path: str, text: str) -> tuple[str, ...]:
    """Whether `path` is absent, holds exactly `text` ("ours"), or is something else."""
    body = """
        path, text = sys.argv[1], sys.argv[2]
        if not os.path.lexists(path): found = "absent"
        elif os.path.islink(path) or not os.path.isfile(path): found = "other"
        else:
            with open(path, "rb") as f: found = "ours" if f.read(65536) == text.encode() else "other"
        say(state=found)
    """
    return (*_program(body), path, text)


def take_back(path: str, text: str) -> tuple[str, ...]:
    """Remove `path` if it holds exactly `text`; says the state it leaves."""
    body = """
        path, text = sys.argv[1], sys.argv[2]
        if not os.path.lexists(path): found = "absent"
        elif os.path.islink(path) or not os.path.isfile(path): found = "other"
        elif open(path, "rb").read(65536) != text.encode(): found = "other"
        else: os.unlink(path); found = "absent"
        say(state=found)
    """
    return (*_program(body), path, text)


def directory(path: str) -> tuple[str, ...]:
    """Names, modes and owners in a directory, and whether this user can make a file there."""
    body = """
        import stat
        path, entries, error = sys.argv[1], [], None
        try:
            for n in sorted(os.listdir(path))[:200]:
                i = os.lstat(os.path.join(path, n))
                entries.append("%s %d:%d %s" % (stat.filemode(i.st_mode), i.st_uid, i.st_gid, n))
        except OSError as e: error = name(e)
        probe = os.path.join(path, ".amap-probe-%d" % os.getpid())
        try: os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)); os.unlink(probe); writable = None
        except OSError as e: writable = name(e)
        say(errno=error, entries=entries, writable=writable)
    """
    return (*_program(body), path)


def mounts(*targets: str) -> tuple[str, ...]:
    """The sandbox's own mount table, and the device and inode that stand at each target.

    A mount's root lies in the host's file system and would name the machine: it is left out, and the inode says more.
    `ways` are the other mounts, by their place in the table, through which a target, a part of it or what holds it is
    to be reached as well; its own root, the image's, is none.
    """
    body = """
        found, ways = {}, []
        table = [line.split(" ") for line in open("/proc/self/mountinfo").read().splitlines()]
        def holds(one, other): return (other.rstrip("/") + "/").startswith(one.rstrip("/") + "/")
        for target in sys.argv[1:]:
            try: i = os.lstat(target); found[target] = [i.st_dev, i.st_ino]
            except OSError as e: found[target] = name(e)
            for device, root in [line[2:4] for line in table if line[4] == target][-1:]:
                for number, line in enumerate(table):
                    same = line[2] == device and (holds(line[3], root) or holds(root, line[3]))
                    if same and line[4] not in (target, "/"): ways.append([target, number])
        for line in table: line[3] = "/"
        say(text="\\n".join(map(" ".join, table)), inodes=found, ways=ways)
    """
    return (*_program(body), *targets)


def turns(home: str, needle: str) -> tuple[str, ...]:
    """Which transcript entries hold `needle`: type, role and first text, from Claude Code's own *.jsonl files.

    They are the agent's to write: only regular files are read, up to 64 MiB, and no link is followed.
    """
    body = """
        import glob, stat
        def lines(path):
            try: f = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError: return []
            info = os.fstat(f)
            if not stat.S_ISREG(info.st_mode) or info.st_size > 64 << 20: os.close(f); return []
            with os.fdopen(f, encoding="utf-8", errors="replace") as stream: return stream.read(64 << 20).split("\\n")
        found, files = [], sorted(glob.glob(os.path.join(sys.argv[1], ".claude/projects/*/*.jsonl")))[-50:]
        for line in (line for file in files for line in lines(file) if sys.argv[2] in line):
            try: entry = json.loads(line)
            except (ValueError, RecursionError): continue
            if not isinstance(entry, dict): continue
            message = entry.get("message") if isinstance(entry.get("message"), dict) else {}
            content = message.get("content", "")
            blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
            tool = any(b.get("type") == "tool_result" for b in blocks)
            text = content if isinstance(content, str) else next((str(b["text"]) for b in blocks if "text" in b), "")
            found.append(dict(type=str(entry.get("type")), role=str(message.get("role")), tool=tool, text=text[:300]))
        say(files=len(files), found=found[:50])
    """
    return (*_program(body), home, needle)


def answer(ran: Ran) -> Mapping[str, Any] | Unreadable:
    """The object a probe printed; Unreadable, with a reason a person understands, when it printed none."""
    found = printed(ran)
    asked = arguments(ran.argv)
    if isinstance(found, Unreadable) or asked is None or found.get("asked") == asked:
        return found
    return Unreadable("what was printed is no answer to this question")


def printed(ran: Ran) -> Mapping[str, Any] | Unreadable:
    """The one line with the mark: of two answers neither counts."""
    found = [line[len(MARK) :] for line in lines(ran.stdout) if line.startswith(MARK)]
    if len(found) > 1:
        return Unreadable(f"{len(found)} answers were printed, where a probe prints one")
    read = documents.document(found[0]) if found else None
    return read if isinstance(read, dict) else Unreadable(f"the probe gave no answer ({ran.said})")


def arguments(argv: tuple[str, ...]) -> list[str] | None:
    """What follows the program's text in a probe's argv; None where there is no such program."""
    at = next((number for number, word in enumerate(argv) if MARK in word), None)
    return None if at is None else list(argv[at + 1 :])
