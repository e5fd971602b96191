"""The collectors of pass criteria 1, 2 and 5 on a host that is a directory and a few answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from receiver_samples import ROW, answer
from request_samples import ALPHA, BETA, N1, N2, outcome, placed, private, ran, result
from scripted_lab import ScriptedHost, assert_as_planned, scripted_lab, write

from pytest_amap.checks import pass_criterion_1, pass_criterion_2, pass_criterion_5
from pytest_amap.commands import Command
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, verdict

REQUEST = "00000001"
SUBMITTED = f"Submitted request {REQUEST} to the relay drop-box (/opt/amap/lanes/outbox).\nResult will appear at: x\n"
SESSION = answer(main=7, rows=[ROW])


def host_of(lab: Lab) -> ScriptedHost:
    host: Any = lab.host
    assert isinstance(host, ScriptedHost)
    return host


def reverse_lab(tmp_path: Path, *, held: bool = True, delivered: bool = False) -> Lab:
    """A router that judges the request while it is being submitted."""
    lab: Lab
    verdict_of = ("accepted", "peer_routed", N2) if delivered else ("queued_for_human", "recipient_not_allowlisted")

    def submit(command: Command) -> Ran:
        subject = command.argv[command.argv.index("--subject") + 1]
        draft = {"to": [ALPHA], "subject": subject, "body_text": "-", "reply_to_message_id": None}
        if held:
            write(delegating.held_copy(lab, "beta", REQUEST), {"req_id": REQUEST, "draft": draft})
        if delivered:
            write(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", REQUEST))
            write(delegating.notice_file(lab, "alpha", N2), {"message": {"subject": subject}})
        write(delegating.private_result(lab, "beta", REQUEST), private(*verdict_of))
        write(lab.home.router_state / "status.json", {"admitted": ["alpha", "beta"]})
        return ran(SUBMITTED, ended="2000-01-01T00:00:00.000Z")

    answers = {
        "submit from beta": submit,
        "submit-result of beta": lambda command: ran(json.dumps(result(*verdict_of))),
        "the router's log": lambda command: ran(),
    }
    lab, _ = scripted_lab(tmp_path, answers)
    return lab


def test_a_reverse_task_that_is_held_is_pass_and_named_as_left_behind(tmp_path: Path) -> None:
    lab = reverse_lab(tmp_path)
    seen = pass_criterion_5.collect(lab)
    assert verdict(pass_criterion_5.judge(seen))[0] is PASS
    assert seen.subject == f"L1 reverse task {lab.host.evidence.run}: never granted"
    assert not [argv for argv in host_of(lab).argvs if "--reply-to-id" in argv]
    assert any(REQUEST in left for left in lab.run.left)
    assert_as_planned(lab, pass_criterion_5.plan, host_of(lab).argvs)


def test_a_reverse_task_that_is_delivered_is_fail_on_every_count(tmp_path: Path) -> None:
    parts = pass_criterion_5.judge(pass_criterion_5.collect(reverse_lab(tmp_path, held=False, delivered=True)))
    assert [part.outcome for part in parts] == [PASS, FAIL, UNKNOWN, FAIL, FAIL, FAIL]


def test_a_reverse_task_that_nobody_could_submit_is_unknown_and_leaves_nothing(tmp_path: Path) -> None:
    lab, _ = scripted_lab(tmp_path, {"submit": lambda command: ran(exit=1, stderr="sandbox not found")})
    assert verdict(pass_criterion_5.judge(pass_criterion_5.collect(lab)))[0] is UNKNOWN
    assert lab.run.left == {}


def test_a_router_that_never_answers_is_unknown(tmp_path: Path) -> None:
    answers = {
        "submit from beta": lambda command: ran(SUBMITTED),
        "submit-result of beta": lambda command: ran("pending\n"),
        "the router's log": lambda command: ran(),
    }
    parts = pass_criterion_5.judge(pass_criterion_5.collect(scripted_lab(tmp_path, answers)[0]))
    assert {part.outcome for part in parts} == {UNKNOWN}


TASK = Delegation("alpha", "beta", REQUEST, N1, submitted=ran(SUBMITTED))


def delegated_lab(tmp_path: Path, answers: dict[str, Any], **options: Any) -> Lab:
    """The files that a delegation and its reply leave."""
    lab, _ = scripted_lab(tmp_path, answers, **options)
    write(delegating.audit_log(lab, "beta"), placed(N1, "alpha", "beta", REQUEST) + outcome(N1, "delivered"))
    write(delegating.audit_log(lab, "alpha"), placed(N2, "beta", "alpha", "00000000", N1))
    write(delegating.private_result(lab, "alpha", REQUEST), private("accepted", "peer_routed", N1))
    write(delegating.notice_file(lab, "beta", N1), {"message": {"from": ALPHA}})
    write(delegating.message_file(lab, "beta", N1), {"notice_id": N1, "body_text": "-"})
    write(delegating.notice_file(lab, "alpha", N2), {"message": {"from": BETA, "in_reply_to": N1}})
    write(lab.home.lane("alpha", "outbox") / "processed" / f"req-{REQUEST}.json", {"req_id": REQUEST})
    write(lab.home.lane("alpha", "outbox") / "results" / f"{REQUEST}.json", result("accepted", "peer_routed", N1))
    write(lab.home.roster / "roster.json", {"router": "r"})
    return lab


def connector() -> dict[str, Any]:
    return {
        "sessions in": lambda command: SESSION,
        "submit-result of alpha": lambda command: ran(json.dumps(result("accepted", "peer_routed", N1))),
        "the router's state": lambda command: ran("running\n"),
    }


def test_a_delegation_is_judged_by_the_routers_files_as_they_stand_now(tmp_path: Path) -> None:
    lab = delegated_lab(tmp_path, connector())
    seen = pass_criterion_2.collect(lab, TASK)
    assert verdict(pass_criterion_2.judge(seen))[0] is PASS
    assert seen.delegation.reply == N2
    assert_as_planned(lab, pass_criterion_2.plan, host_of(lab).argvs)


@pytest.mark.parametrize("gone", ["message_file", "notice_file"])
def test_what_the_router_placed_and_is_not_there_is_fail(tmp_path: Path, gone: str) -> None:
    lab = delegated_lab(tmp_path, connector())
    member, notice = ("beta", N1) if gone == "message_file" else ("alpha", N2)
    getattr(delegating, gone)(lab, member, notice).unlink()
    assert verdict(pass_criterion_2.judge(pass_criterion_2.collect(lab, TASK)))[0] is FAIL


def test_a_delegation_that_was_never_placed_is_unknown(tmp_path: Path) -> None:
    lab, _ = scripted_lab(tmp_path, connector())
    parts = pass_criterion_2.judge(pass_criterion_2.collect(lab, Delegation("alpha", "beta", problem="no router")))
    assert [part.outcome for part in parts] == [UNKNOWN] * 5 + [PASS] * 2


VALIDATE = """
SCHEMA_FOR_PREFIX = dict.fromkeys(("roster-", "request-", "result-", "message-", "peer-"), "x.schema.json")
def check_document(name, document): return ["$: bad"] if document.get("bad") or not document else []
"""


@pytest.fixture
def documents_lab(tmp_path: Path) -> Lab:
    def validate(command: Command) -> Ran:
        done = subprocess.run(command.argv, capture_output=True, text=True, timeout=60)
        return ran(done.stdout, exit=done.returncode, stderr=done.stderr, ended="2100-01-01T00:00:00.000Z")

    lab = delegated_lab(tmp_path, {"validate.py": validate})
    write(tmp_path / "spec" / "fixtures" / "validate.py", VALIDATE)
    return lab


def outcomes(lab: Lab) -> dict[str, str]:
    parts = pass_criterion_1.judge(pass_criterion_1.collect(lab, TASK))
    return {part.name.split()[0]: str(part.outcome) for part in parts if " conform to " in part.name}


def test_every_class_that_stands_on_the_host_is_checked(documents_lab: Lab) -> None:
    found = outcomes(documents_lab)
    made = ("roster-", "request-", "result-", "message-", "peer-")
    assert {prefix: found[prefix] for prefix in made} == dict.fromkeys(made, "PASS")
    assert {outcome for prefix, outcome in found.items() if prefix not in made} == {"UNKNOWN"}
    assert_as_planned(documents_lab, pass_criterion_1.plan, host_of(documents_lab).argvs)


@pytest.mark.parametrize(
    "judges",
    ["return []", "return ''", "return None", "return (e for e in ())", "return {}", "print('0 documents')"],
)
def test_a_validator_that_refuses_nothing_passes_nothing(documents_lab: Lab, tmp_path: Path, judges: str) -> None:
    lenient = VALIDATE.replace('return ["$: bad"] if document.get("bad") or not document else []', judges)
    assert lenient != VALIDATE
    write(tmp_path / "spec" / "fixtures" / "validate.py", lenient)
    assert set(outcomes(documents_lab).values()) == {"UNKNOWN"}


def test_a_validator_that_takes_the_specs_own_invalid_fixture_passes_nothing_of_its_class(
    documents_lab: Lab, tmp_path: Path
) -> None:
    fixtures = tmp_path / "spec" / "fixtures" / "invalid"
    write(fixtures / "peer-refused.json", {"bad": True})
    write(fixtures / "result-taken.json", {"fine": "by this validator"})
    write(fixtures / "message-no-json.json", "{")
    found = outcomes(documents_lab)
    assert (found["peer-"], found["result-"], found["message-"]) == ("PASS", "UNKNOWN", "PASS")


@pytest.mark.parametrize("ends", ["raise SystemExit(0)", "import os; os._exit(0)", "import sys; sys.exit()"])
def test_a_validator_that_ends_with_0_while_it_is_loaded_passes_nothing(
    documents_lab: Lab, tmp_path: Path, ends: str
) -> None:
    write(tmp_path / "spec" / "fixtures" / "validate.py", f"{VALIDATE}\n{ends}\n")
    parts = pass_criterion_1.judge(pass_criterion_1.collect(documents_lab, TASK))
    assert verdict(parts)[0] is UNKNOWN
    assert PASS not in {part.outcome for part in parts}


def test_only_documents_by_name_are_checked_and_a_bad_one_is_found(documents_lab: Lab, tmp_path: Path) -> None:
    outbox = documents_lab.home.lane("beta", "outbox")
    for name in ("evil.json", "req-a.b.json", "req-x.json.tmp"):
        write(outbox / name, {"bad": True})
    (outbox / "req-link.json").symlink_to(write(tmp_path / "elsewhere.json", {"bad": True}))
    assert outcomes(documents_lab)["request-"] == "PASS"
    write(outbox / "req-b.json", {"bad": True})
    assert outcomes(documents_lab)["request-"] == "FAIL"


def test_a_folder_behind_a_link_leaves_its_class_open(documents_lab: Lab, tmp_path: Path) -> None:
    results = documents_lab.home.lane("beta", "outbox") / "results"
    shutil.rmtree(results)
    results.symlink_to(os.fspath(tmp_path))
    assert outcomes(documents_lab)["result-"] == "UNKNOWN"
