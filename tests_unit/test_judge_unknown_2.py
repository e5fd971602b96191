"""Unknown 2: what makes it PASS, FAIL and UNKNOWN; only the probe's own errno counts."""

from __future__ import annotations

from dataclasses import replace

import judge_tables
import pytest
from container_samples import sandbox
from receiver_samples import answer
from request_samples import ran
from writing_samples import ABSENT, ATTEMPT, LANE, THERE, but, refused

from pytest_amap.checks.unknown_2 import Seen, judge
from pytest_amap.checks.writing import Attempt
from pytest_amap.observations import Ran
from pytest_amap.verdicts import PASS, UNKNOWN, verdict

SILENT = ran()


def seen(attempt: Attempt, standing: Ran | None = None) -> Seen:
    return Seen("alpha", "id-1", attempt, standing or sandbox())


HOLDS = {
    "as it should be": ATTEMPT,
    "A49 exec reports late trouble after the answer": but(inbox=replace(ATTEMPT.inbox, exit=1, stderr="Error:   × x")),
    "A04 a notice beside the answer": but(
        inbox=replace(ATTEMPT.inbox, stdout="using sandbox\n" + ATTEMPT.inbox.stdout)
    ),
}
BROKEN = {
    "another layer refuses": but(inbox=refused("EACCES")),
    "A29 EPERM is no EROFS": but(inbox=refused("EPERM")),
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
    "EROFS of a read-only root where no lane is mounted": (but(inbox=refused("EROFS", [9, 2])), "another directory"),
    "EACCES in a directory that is no lane": (but(inbox=refused("EACCES", [9, 2])), "another directory"),
    "EROFS, but not where": (but(inbox=refused("EROFS", "ENOENT")), "could not be told"),
    "EROFS, but the host's lane is a link": (but(inbox_lane=replace(LANE, kind="symlink")), "could not be told"),
    "EROFS, but the host cannot look": (but(on_host=replace(ABSENT, kind="unreadable")), "unreadable"),
    "EROFS for a file that was there before": (but(before=THERE, on_host=THERE), "file"),
    "the control was in another directory": (but(outbox=answer(errno=None, gone=True, folder=[9, 3])), "another dir"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(lambda attempt: judge(seen(attempt)), HOLDS, BROKEN, OPEN)


@pytest.mark.parametrize(
    ("standing", "named"),
    {
        "made anew under its name": (sandbox(identity="id-9"), "id-9, which is not the recorded one"),
        "the last used one was shown": (sandbox(name="beta"), "sandbox beta"),
        "gone": (ran(exit=1, stderr="Error:   × sandbox not found"), "not found"),
    }.values(),
)
def test_what_another_sandbox_answers_says_nothing(standing: Ran, named: str) -> None:
    outcome, reason = verdict(judge(seen(ATTEMPT, standing)))
    assert outcome is UNKNOWN
    assert named in reason


def test_that_it_ended_since_takes_nothing_back() -> None:
    assert verdict(judge(seen(ATTEMPT, sandbox("Completed"))))[0] is PASS


def test_a_place_that_cannot_be_looked_at_is_no_file() -> None:
    assert not but(on_host=replace(ABSENT, kind="unreadable", problem="EACCES")).created
