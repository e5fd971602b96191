"""Unknown 2: what makes it PASS, FAIL and UNKNOWN; only the probe's own errno counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from receiver_samples import answer
from request_samples import ran
from writing_samples import ABSENT, ATTEMPT, THERE, but

from pytest_amap.checks.unknown_2 import Seen, judge
from pytest_amap.checks.writing import Attempt
from pytest_amap.observations import build, plain, referring
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, verdict

SILENT = ran()
HOLDS = {
    "as it should be": ATTEMPT,
    "A49 exec reports late trouble after the answer": but(inbox=replace(ATTEMPT.inbox, exit=1, stderr="Error:   × x")),
    "A04 a notice beside the answer": but(
        inbox=replace(ATTEMPT.inbox, stdout="using sandbox\n" + ATTEMPT.inbox.stdout)
    ),
}
BROKEN = {
    "another layer refuses": but(inbox=answer(errno="EACCES", gone=None)),
    "A29 EPERM is no EROFS": but(inbox=answer(errno="EPERM", gone=None)),
    "the write works": but(inbox=answer(errno=None, gone=None), on_host=THERE),
    "the write works, somewhere else": but(inbox=answer(errno=None, gone=None)),
    "A01 silence, and the file is on the host": but(inbox=SILENT, on_host=THERE),
    "EROFS, and the file is on the host all the same": but(on_host=THERE),
    "the write works though the control did not": but(inbox=answer(errno=None), outbox=answer(errno="ENOSPC")),
}
OPEN = {
    "A01 silence": (but(inbox=SILENT), "no answer"),
    "A03 no such sandbox": (but(inbox=ran(exit=1, stderr="Error:   × sandbox not found")), "not found"),
    "A29 the gateway's permission denied": (but(inbox=ran(exit=1, stderr="Error:   × Permission denied")), "no answer"),
    "the interpreter is missing": (but(inbox=ran(exit=127, stderr="python3: not found")), "not found"),
    "the interpreter cannot be run": (but(inbox=ran(exit=126, stderr="python3: Permission denied")), "no answer"),
    "no end in time": (but(inbox=replace(ran(exit=None), timed_out=True)), "no answer in time"),
    "a message without an errno": (but(inbox=ran(exit=1, stderr="OSError: [Errno 30] Read-only file system")), "30"),
    "an answer cut short": (but(inbox=replace(ATTEMPT.inbox, stdout='AMAP-PROBE {"err')), "no answer"),
    "an answer without an errno": (but(inbox=answer(pid=1)), "named no errno"),
    "an errno that is no name": (but(inbox=answer(errno=30)), "named no errno"),
    "the lane is not there": (but(inbox=answer(errno="ENOENT")), "no refusal"),
    "a file of that name was there before": (but(before=THERE, on_host=THERE, inbox=answer(errno="EEXIST")), "EEXIST"),
    "the control is refused": (but(outbox=answer(errno="EROFS", gone=None)), "EROFS"),
    "the control says nothing": (but(outbox=SILENT), "no answer"),
    "the control's file stays": (but(outbox=answer(errno=None, gone=False)), "still there"),
    "the control's file stays on the host": (but(outbox_on_host=THERE), "still there"),
}


@pytest.mark.parametrize("attempt", HOLDS.values(), ids=HOLDS)
def test_pass(attempt: Attempt) -> None:
    assert verdict(judge(Seen(attempt)))[0] is PASS


@pytest.mark.parametrize("attempt", BROKEN.values(), ids=BROKEN)
def test_fail(attempt: Attempt) -> None:
    assert verdict(judge(Seen(attempt)))[0] is FAIL


@pytest.mark.parametrize(("attempt", "named"), OPEN.values(), ids=OPEN)
def test_unknown_names_why(attempt: Attempt, named: str) -> None:
    outcome, reason = verdict(judge(Seen(attempt)))
    assert outcome is UNKNOWN
    assert named in reason


def test_a_place_that_cannot_be_looked_at_is_no_file() -> None:
    assert not but(on_host=replace(ABSENT, kind="unreadable", problem="EACCES")).created


def test_it_survives_a_record() -> None:
    seen = Seen(ATTEMPT)
    assert build(Seen, json.loads(json.dumps(plain(seen)))) == seen
    assert referring(seen)["attempt"]["inbox"] == {"record": "step-8/ran.json"}
