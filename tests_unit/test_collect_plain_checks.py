"""The collectors of the six plain checks: what they run is what was planned, and what they see is judged."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from container_samples import bind, container, inspected, sandbox
from posture_samples import INFO, LISTENS, STATUS, TOML, UNIT, listing
from receiver_samples import answer
from request_samples import N1, placed
from scripted_lab import Answer, ScriptedHost, assert_as_planned, said, scripted_lab, unplanned, write

from kit import lanes, policy
from kit.names import RunAs
from pytest_amap import probes
from pytest_amap.checks import pass_criterion_3, pass_criterion_4, unknown_1, unknown_2, unknown_6, unknown_7
from pytest_amap.checks.writing import probe_name
from pytest_amap.commands import Command
from pytest_amap.delegations import Delegation
from pytest_amap.host import delegating
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran, build, plain
from pytest_amap.steps.prepare import Profile
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, Part, verdict

TASK = Delegation("alpha", "beta", "00000001", N1)
MESSAGE = json.dumps({"notice_id": N1})


def outcomes(parts: Iterable[Part]) -> dict[str, Outcome]:
    return {part.name: part.outcome for part in parts}


def survives(seen: Any) -> None:
    assert build(type(seen), json.loads(json.dumps(plain(seen)))) == seen


def notice_lab(tmp_path: Path, answers: Mapping[str, Answer]) -> tuple[Lab, ScriptedHost, Delegation]:
    lab, host = scripted_lab(tmp_path, answers)
    write(delegating.notice_file(lab, "beta", N1), "{}")
    write(delegating.audit_log(lab, "beta"), placed(N1, "alpha", "beta", "00000001"))
    log = host.read(os.fspath(delegating.audit_log(lab, "beta")), "audit log")
    return lab, host, Delegation("alpha", "beta", "00000001", N1, receiver_audit=log)


BOXES = {"containers of": said("c1\n"), "inspect": inspected(container("id-2"))}


def test_unknown_1_looks_at_both_sides(tmp_path: Path) -> None:
    answers = {
        **BOXES,
        "beta lists": answer(errno=None, names=[f"notice-{N1}.json"]),
        "beta reads": answer(errno=None, text="{}"),
    }
    lab, host, task = notice_lab(tmp_path, answers)
    seen = unknown_1.collect(lab.receiver, task)
    assert verdict(unknown_1.judge(seen))[0] is PASS
    assert_as_planned(lab, unknown_1.plan, host.argvs)
    survives(seen)


def test_unknown_1_inspects_nothing_where_no_container_is_found(tmp_path: Path) -> None:
    answers = {"containers of": said(), "container context": said(), "beta lists": said(), "beta reads": said()}
    lab, host, task = notice_lab(tmp_path, answers)
    assert unknown_1.collect(lab.receiver, task).boxes.described == ()
    assert_as_planned(lab, unknown_1.plan, host.argvs)


def writing(lab_path: Path, inbox: Answer | None = None, **more: Answer) -> tuple[Lab, ScriptedHost]:
    named = {name.replace("_", " "): found for name, found in more.items()}
    lab, host = scripted_lab(lab_path, {"sandbox get alpha": sandbox(), **named})
    host.answers["write to alpha's inbox"] = inbox or tried_in(lab, "inbox", errno="EROFS")
    host.answers["write to alpha's outbox"] = tried_in(lab, "outbox", errno=None, gone=True)
    return lab, host


def tried_in(lab: Lab, lane: str, **found: object) -> Ran:
    info = lab.home.lane("alpha", lane).stat()
    return answer(folder=[info.st_dev, info.st_ino], **found)


def test_unknown_2_tries_both_lanes(tmp_path: Path) -> None:
    lab, host = writing(tmp_path)
    seen = unknown_2.collect(lab.sender)
    assert verdict(unknown_2.judge(seen))[0] is PASS
    assert_as_planned(lab, unknown_2.plan, host.argvs)
    survives(seen)


def written(lab: Lab, make: Any = Path.touch) -> Path:
    assert lab.run.evidence is not None
    place = lab.home.lane("alpha", "inbox") / probe_name("unknown_2", lab.run.evidence.run)
    make(place)
    return place


def after(_: Path) -> Ran:
    return said()


def test_a_file_that_should_not_have_appeared_is_fail_and_taken_away_again(tmp_path: Path) -> None:
    lab, host = writing(tmp_path, said())
    host.answers["write to alpha's inbox"] = lambda command: after(written(lab))
    seen = unknown_2.collect(lab.sender)
    assert verdict(unknown_2.judge(seen))[0] is FAIL
    assert list(lab.home.lane("alpha", "inbox").glob(".amap*")) == []


def test_what_cannot_be_taken_away_is_named_and_still_fail(tmp_path: Path) -> None:
    lab, host = writing(tmp_path, said())
    host.answers["write to alpha's inbox"] = lambda command: after(written(lab, Path.mkdir))
    assert verdict(unknown_2.judge(unknown_2.collect(lab.sender)))[0] is FAIL
    assert any("stays in alpha's inbox" in left for left in lab.run.left)


NO_BUS = said(exit=1, stderr="Failed to connect to bus: No medium found")


def posture_lab(tmp_path: Path, **answers: Answer) -> tuple[Lab, ScriptedHost]:
    config = tmp_path / "config" / "openshell"
    write(config / "gateway.toml", TOML)
    write(config / "gateways" / "openshell" / "mtls" / "tls.key", "-")
    (config / "gateways" / "openshell" / "mtls" / "tls.key").chmod(0o600)
    good: dict[str, Answer] = {
        "the gateway's service": NO_BUS,
        "what every service is started with": NO_BUS,
        "preflight": said(),
        "gateway status": said(STATUS),
        "gateway info": said(INFO),
        "listeners": said(LISTENS),
        "sandboxes in every workspace": listing(),
    }
    environ = {"HOME": os.fspath(tmp_path), "XDG_CONFIG_HOME": os.fspath(tmp_path / "config"), "OPENSHELL_GATEWAY": "x"}
    changed = {name.replace("_", " "): found for name, found in answers.items()}
    return scripted_lab(tmp_path, good | changed, environ=environ, posture_accepted="ours alone")


def test_unknown_6_asks_what_was_planned(tmp_path: Path) -> None:
    lab, host = posture_lab(tmp_path)
    seen = unknown_6.collect(lab)
    assert verdict(unknown_6.judge(seen))[0] is PASS
    assert_as_planned(lab, unknown_6.plan, host.argvs)
    assert seen.ambient == ("OPENSHELL_GATEWAY",)
    survives(seen)


def test_unknown_6_reads_every_page(tmp_path: Path) -> None:
    stranger = {"id": "id-9", "name": "gamma", "workspace": "other", "phase": "Ready"}
    lab, host = posture_lab(tmp_path, sandboxes_in_every_workspace=[listing(token="t1"), listing(stranger)])
    seen = unknown_6.collect(lab)
    assert "other/gamma" in verdict(unknown_6.judge(seen))[1]
    assert host.argvs[-1] != host.argvs[-2]
    assert unplanned(host.argvs, unknown_6.plan(lab)) == []


def test_unknown_6_stops_at_pages_without_an_end(tmp_path: Path) -> None:
    lab, _ = posture_lab(tmp_path, sandboxes_in_every_workspace=listing(token="again"))
    seen = unknown_6.collect(lab)
    assert len(seen.sandboxes) == unknown_6.PAGES
    assert verdict(unknown_6.judge(seen))[0] is UNKNOWN


def test_unknown_6_asks_the_user_manager_and_keeps_what_concerns_the_gateway_alone(tmp_path: Path) -> None:
    told = (
        f"HOME={tmp_path}\nTOKEN=hush-hush\nOPENSHELL_BIND_ADDRESS=0.0.0.0:17670\nXDG_CONFIG_HOME={tmp_path}/config\n"
    )
    lab, _ = posture_lab(
        tmp_path, **{"the gateway's service": said(UNIT), "what every service is started with": said(told)}
    )
    seen = unknown_6.collect(lab)
    assert verdict(unknown_6.judge(seen))[0] is FAIL
    assert seen.files.overrides["OPENSHELL_BIND_ADDRESS"] == "0.0.0.0:17670"
    assert "hush-hush" not in repr(seen)
    survives(seen)


def test_unknown_6_does_not_know_what_the_user_manager_does_not_tell(tmp_path: Path) -> None:
    lab, _ = posture_lab(tmp_path, **{"the gateway's service": said(UNIT)})
    outcome, reason = verdict(unknown_6.judge(unknown_6.collect(lab)))
    assert outcome is UNKNOWN
    assert "the user manager's environment is not known" in reason


def test_unknown_7_asks_both_members(tmp_path: Path) -> None:
    text = policy.render(RunAs(os.getuid(), os.getgid()))
    ids = {"uid": os.getuid(), "gid": os.getgid()}
    answers = {
        "the router's user": said(f"{os.getuid()}:{os.getgid()}\n"),
        "policy of": said(text),
        "alpha's ids": answer(**ids),
        "beta's ids": answer(**ids),
        "beta reads the notice": answer(errno=None, text=MESSAGE, mode="600", **ids),
        "beta reads the message": answer(errno=None, text=MESSAGE, mode="644", **ids),
        "sandbox get alpha": sandbox(),
        "sandbox get beta": sandbox(name="beta", identity="id-2"),
    }
    lab, host, task = notice_lab(tmp_path, answers)
    for member in ("alpha", "beta"):
        write(lab.home.policy(member), text)
    seen = unknown_7.collect(lab, task)
    assert verdict(unknown_7.judge(seen))[0] is PASS
    assert_as_planned(lab, unknown_7.plan, host.argvs)
    survives(seen)


def mounted(lab: Lab, member: str) -> Ran:
    rows = lanes.mounts(lab.home, member)
    mounts = [bind(os.fspath(row.source), row.target, rw=not row.read_only) for row in rows]
    return inspected(container(lab.ids[member], mounts))


def kernels(lab: Lab, member: str) -> Ran:
    rows = lanes.mounts(lab.home, member)
    lines = [f"1 1 8:1 / {row.target} {'ro' if row.read_only else 'rw'} - ext4 /dev/x rw" for row in rows]
    inodes = {row.target: [os.stat(row.source).st_dev, os.stat(row.source).st_ino] for row in rows}
    return answer(text="\n".join(lines), inodes=inodes, ways=[])


def fenced_lab(tmp_path: Path) -> tuple[Lab, ScriptedHost]:
    lab, host = writing(tmp_path)
    lab.home.payload.mkdir()
    host.answers |= {
        "sandbox get alpha": sandbox(),
        "containers of": said("c1\n"),
        "inspect": [mounted(lab, "alpha"), mounted(lab, "beta")],
        "policy of": said(policy.render(RunAs(1000, 1000))),
        "alpha's mount table": kernels(lab, "alpha"),
        "beta's mount table": kernels(lab, "beta"),
        **{f"{name} lists an unlisted": answer(errno="EACCES", names=[], permitted=True) for name in ("alpha", "beta")},
        **{f"{name} lists a listed": answer(errno=None, names=["bin"]) for name in ("alpha", "beta")},
    }
    return lab, host


def test_pass_criterion_3_looks_at_both_ends_from_outside_and_inside(tmp_path: Path) -> None:
    lab, host = fenced_lab(tmp_path)
    seen = pass_criterion_3.collect(lab)
    assert verdict(pass_criterion_3.judge(seen))[0] is PASS, verdict(pass_criterion_3.judge(seen))
    assert_as_planned(lab, pass_criterion_3.plan, host.argvs)
    survives(seen)


def test_a_lane_that_was_made_anew_on_the_host_is_another_directory(tmp_path: Path) -> None:
    lab, _ = fenced_lab(tmp_path)
    lane = lab.home.lane("beta", "inbox")
    lane.rename(lane.with_name("old"))
    lane.mkdir()
    outcome, reason = verdict(pass_criterion_3.judge(pass_criterion_3.collect(lab)))
    assert outcome is FAIL
    assert "another directory stands at /opt/amap/lanes/inbox" in reason


def test_a23_where_no_container_is_found_the_context_in_use_is_told(tmp_path: Path) -> None:
    lab, host = fenced_lab(tmp_path)
    host.answers |= {
        "containers of": said(),
        "container context": said("rootless (unix:///run/user/1000/docker.sock)\n"),
    }
    seen = pass_criterion_3.collect(lab)
    outcome, reason = verdict(pass_criterion_3.judge(seen))
    assert outcome is UNKNOWN
    assert "in the context rootless (unix:///run/user/1000/docker.sock)" in reason
    assert host.ran("inspect") == 0
    assert_as_planned(lab, pass_criterion_3.plan, host.argvs)
    survives(seen)


NODE = "/usr/local/bin/node"
LOG = "[9999999999.000] [sandbox] [OCSF ] [ocsf] "
DENIAL = f"{LOG}NET:REFUSE [MED] DENIED mail.example.org:53 [reason:policy_dns_ineligible]\n"
REACHED = f"{LOG}NET:OPEN [INFO] ALLOWED {NODE}(7) -> api.anthropic.com:443 [policy:x engine:opa]\n"
OTHER = f"{LOG}NET:REFUSE [MED] DENIED mail.example.org.evil.test:53 [reason:policy_dns_ineligible]\n"
PROFILE = Profile(("/opt/claude", NODE))


def network_lab(tmp_path: Path, log: Answer) -> tuple[Lab, ScriptedHost]:
    refused = answer(reached=False, status=None, error="URLError", errno="gaierror", text="no such name")
    answers: dict[str, Answer] = {
        "alpha calls mail": refused,
        "alpha calls api": said(),
        "log of alpha": log,
        "the log line": log,
        "policy of": said("version: 1\n"),
        "sandbox get alpha": sandbox(),
    }
    return scripted_lab(tmp_path, answers)


def test_pass_criterion_4_waits_for_the_log_and_names_the_binary(tmp_path: Path) -> None:
    failing = said(exit=1, stderr="Error:   × transport error")
    log = [said(OTHER), failing, said(DENIAL), said(DENIAL), said(DENIAL + REACHED)]
    lab, host = network_lab(tmp_path, log)
    seen = pass_criterion_4.collect(lab.sender, PROFILE)
    assert verdict(pass_criterion_4.judge(seen))[0] is PASS, verdict(pass_criterion_4.judge(seen))
    assert NODE in lab.run.facts["provider_connection"]
    assert_as_planned(lab, pass_criterion_4.plan, host.argvs)
    survives(seen)


@pytest.mark.parametrize(("own", "outcome"), [(DENIAL, PASS), ("", UNKNOWN)])
def test_a_denial_that_another_program_met_is_waited_past(tmp_path: Path, own: str, outcome: Outcome) -> None:
    others = f"{LOG}NET:OPEN [MED] DENIED /usr/bin/curl(9) -> mail.example.org:443 [policy:-]\n"
    lab, _ = network_lab(tmp_path, [said(), said(others), said(others + own), said(others + own + REACHED)])
    seen = pass_criterion_4.collect(lab.sender, PROFILE)
    parts = pass_criterion_4.judge(replace(seen, control_log=said(REACHED)))  # it holds the later lines, too
    assert outcomes(parts)["the denial is logged"] is outcome


def test_a_line_that_was_there_before_the_call_is_not_waited_for(tmp_path: Path) -> None:
    lab, _ = network_lab(tmp_path, said(DENIAL + REACHED))
    found = outcomes(pass_criterion_4.judge(pass_criterion_4.collect(lab.sender, PROFILE)))
    assert PASS not in {found["the denial is logged"], found["the call to mail.example.org fails"]}


def test_a_log_that_never_comes_ends_the_wait(tmp_path: Path) -> None:
    lab, host = network_lab(tmp_path, said())
    found = outcomes(pass_criterion_4.judge(pass_criterion_4.collect(lab.sender, PROFILE)))
    assert found["the denial is logged"] is UNKNOWN
    assert_as_planned(lab, pass_criterion_4.plan, host.argvs)


def test_the_control_is_made_by_node(tmp_path: Path) -> None:
    lab, host = network_lab(tmp_path, [said(), said(DENIAL + REACHED)])
    pass_criterion_4.collect(lab.sender, PROFILE)
    control = next(argv for argv in host.argvs if "api.anthropic.com" in argv[-1])
    inside = control[control.index("--") + 1 :]
    assert inside == probes.node_fetch(NODE, "https://api.anthropic.com/")


@pytest.mark.parametrize("check", [unknown_1, unknown_2, unknown_6, unknown_7, pass_criterion_3, pass_criterion_4])
def test_a_plan_needs_no_sandbox_and_names_every_deadline(tmp_path: Path, check: ModuleType) -> None:
    lab, _ = scripted_lab(tmp_path, {})
    lab.ids.clear()
    planned = [one for one in check.plan(lab) if isinstance(one, Command)]
    assert planned
    assert all(one.timeout > 0 and not one.with_key for one in planned)
