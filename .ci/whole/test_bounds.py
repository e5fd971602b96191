"""Output of any size and any bytes: no crash, a bounded memory, a small record and a small page."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from pytest_amap.commands import Command
from pytest_amap.evidence import chain, verify
from pytest_amap.evidence.redaction import Redactor
from pytest_amap.evidence.store import Evidence
from pytest_amap.host import process
from pytest_amap.host.host import Host
from pytest_amap.report import page_records

KEY = "sk-canary-7Zq9+Of/A=Wm2xLk4vT8bRf6YhPd3"
MIB = 1 << 20

PROGRAMS = {
    "50 MB": "import sys\nfor n in range(50): sys.stdout.write(('x' * 99 + chr(10)) * 10_000)",
    "one line of 10 MB": "import sys\nsys.stdout.write('y' * 10_000_000)",
    "no UTF-8": "import os\nos.write(1, bytes(range(256)) * 4096)",
    "NUL bytes": "import os\nos.write(1, bytes(3_000_000)); os.write(2, bytes(3_000_000))",
    "escapes": "import sys\nsys.stdout.write((chr(27) + '[31m') * 600_000)",
    "half a character at each cut": "import sys\nsys.stdout.buffer.write(b'a' + 'é'.encode() * 1_000_000)",
}


def host(tmp_path: Path, key: str = KEY) -> Host:
    store = Evidence.open(tmp_path / "evidence", Redactor({"ANTHROPIC_API_KEY": key}), host="rehearsal")
    return Host(store, environ={"PATH": "/usr/bin:/bin"}, cwd=str(tmp_path), key=None, say=lambda text: None)


def command(program: str) -> Command:
    return Command((sys.executable, "-c", program), "flood", 60)


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_output_becomes_a_record(name: str, tmp_path: Path) -> None:
    doorway, begun = host(tmp_path), time.monotonic()
    ran = doorway.run(command(PROGRAMS[name]))
    assert ran.exit == 0
    path = doorway.evidence.root / ran.record
    assert path.stat().st_size < 13 * MIB, "two streams of at most 1 MiB, each byte escaped"
    record = json.loads(path.read_bytes())
    if len(ran.stdout.encode()) > chain.CAP:
        assert record["stdout_bytes"] == len(ran.stdout.encode())
        assert record["stdout_sha256"] == chain.digest(ran.stdout.encode())
        assert "[... cut here: " in record["stdout"]
    else:
        assert record["stdout"] == ran.stdout
    doorway.evidence.seal([])
    assert verify.problems(doorway.evidence.folder) == []
    assert time.monotonic() - begun < 60


def test_a_page_shows_little_of_many_large_records(tmp_path: Path) -> None:
    doorway = host(tmp_path)
    ran = doorway.run(command(PROGRAMS["escapes"]))
    record = {**json.loads((doorway.evidence.root / ran.record).read_bytes()), "path": ran.record}
    records = [record] * 100
    assert len(page_records.listed(records, page_records.text_limit(records))) < 5 * MIB


def test_a_secret_on_either_side_of_a_cut_is_hidden(tmp_path: Path) -> None:
    """The whole is redacted before it is cut, so no cut can leave a half."""
    half = chain.CAP // 2
    around = f"b'a' * {half - 20} + {KEY.encode()!r} + b'b' * 3_000_000 + {KEY.encode()!r} + b'c' * {half - 20}"
    program = f"import os\nos.write(1, {around})"
    doorway = host(tmp_path)
    ran = doorway.run(command(program))
    data = (doorway.evidence.root / ran.record).read_bytes()
    assert KEY[:12].encode() not in data
    assert KEY[-12:].encode() not in data
    assert doorway.evidence.redactor.leaks(data) == []


def test_more_than_is_read_back_keeps_head_and_tail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process, "LARGEST", 1000)
    program = "import os\nos.write(1, b'a' * 5000 + b'b' * 5000)"
    found = process.run((sys.executable, "-c", program), cwd=str(tmp_path), env={}, timeout=60).stdout
    assert found.startswith(b"a" * 500)
    assert found.endswith(b"b" * 500)
    assert b"[9000 bytes not read]" in found


ALONE = """
import resource, sys
sys.path[:0] = [{checkout!r}, {tests!r}]
from pathlib import Path
from test_bounds import PROGRAMS, command, host
doorway = host(Path({place!r}))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
doorway.run(command(PROGRAMS["50 MB"]))
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_is_a_few_times_the_output(tmp_path: Path) -> None:
    """In a process of its own, since the high-water mark never falls."""
    tests = Path(__file__).resolve().parent
    program = ALONE.format(checkout=str(tests.parents[1]), tests=str(tests), place=str(tmp_path))
    done = process.run((sys.executable, "-c", program), cwd=str(tmp_path), env={}, timeout=120)
    before, after = (int(word) << 10 for word in done.stdout.split())
    assert after - before < 600 * MIB, f"{(after - before) // MIB} MiB for 50 MB of output"
