"""Pass criterion 4: a direct network call to a mail API is denied, and the log says so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pytest_amap import probes
from pytest_amap.checks.standing import still_ready
from pytest_amap.commands import Command, Planned
from pytest_amap.judging import decided, listed, only_beside, unknown
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, logs, policy
from pytest_amap.verdicts import PASS, Part

if TYPE_CHECKING:
    from pytest_amap.host.lab import Lab, Member
    from pytest_amap.steps.prepare import Profile

MAIL, PROVIDER = "mail.example.org", "api.anthropic.com"
PROVIDER_POLICY = "_provider_amap_claude_code"
DENIED = ("DENIED", "BLOCKED")
WINDOW = 2000
"""Lines of the log that are asked for."""


@dataclass(frozen=True)
class Seen:
    member: str
    call: Ran
    log: Ran
    control: Ran
    control_log: Ran
    policy: Ran
    phase: Ran
    binaries: tuple[str, ...]


def plan(lab: Lab) -> Iterable[Planned]:
    member = lab.sender
    yield call(member)
    yield lab.commands.logs(member.name)
    yield control(member, "<node>")
    yield lab.commands.policy_of(member.name)
    yield lab.commands.get(member.name)


def call(member: Member) -> Command:
    return member.probing(probes.fetch(f"https://{MAIL}"), f"{member.name} calls {MAIL}")


def control(member: Member, node: str) -> Command:
    return member.probing(probes.node_fetch(node, f"https://{PROVIDER}/"), f"{member.name} calls {PROVIDER} by a listed binary")


def collect(sender: Member, profile: Profile) -> Seen:
    lab = sender.lab
    denied = lab.host.run(call(sender))
    log = await_line(sender, denied, MAIL, DENIED)
    node = next((path for path in profile.binaries if path.rsplit("/", 1)[-1].startswith("node")), profile.binaries[0])
    allowed = lab.host.run(control(sender, node))
    seen = Seen(
        member=sender.name,
        call=denied,
        log=log,
        control=allowed,
        control_log=await_line(sender, allowed, PROVIDER, ("ALLOWED",)),
        policy=lab.host.run(lab.commands.policy_of(sender.name)),
        phase=lab.host.run(lab.commands.get(sender.name)),
        binaries=tuple(profile.binaries),
    )
    lab.run.facts["provider_connection"] = opener(seen)
    return seen


def await_line(sender: Member, after: Ran, host: str, actions: tuple[str, ...]) -> Ran:
    """The log is asynchronous: ask until the line of this call is there, or the deadline is over."""

    def done(log: Ran) -> bool | None:
        return True if log.ok and events(log, host, after, actions) else None

    lab = sender.lab
    seconds = lab.options.deadlines.log
    return lab.host.wait_command(f"the log line about {host}", lab.commands.logs(sender.name), done, seconds=seconds).last


def events(log: Ran, host: str, after: Ran, actions: tuple[str, ...]) -> list[logs.NetEvent]:
    """Lines about exactly that host, not older than the call."""
    since = datetime.fromisoformat(after.started).timestamp()
    found = logs.about(logs.network(log.stdout), host)
    return [event for event in found if event.action in actions and event.epoch >= since]


def judge(seen: Seen) -> list[Part]:
    reached = control_part(seen)
    return [
        reached,
        only_beside(reached.outcome, refused(seen)),
        only_beside(reached.outcome, logged(seen)),
        rules(seen),
        still_ready(seen.member, seen.phase),
    ]


def control_part(seen: Seen) -> Part:
    """A sandbox without any network would "deny" everything."""
    name, want = f"control: {PROVIDER} is reached by a listed binary", "an answer, or an ALLOWED line of a listed binary, of this run"
    records = (seen.control.record, seen.control_log.record)
    lines = [event for event in events(seen.control_log, PROVIDER, seen.control, ("ALLOWED",)) if event.binary in seen.binaries]
    if lines:
        return Part(name, PASS, want, lines[-1].line, records)
    answer = probes.answer(seen.control)
    if not isinstance(answer, Unreadable) and answer.get("reached") is True:
        return Part(name, PASS, want, f"HTTP status {answer.get('status')}", records)
    said = answer if isinstance(answer, Unreadable) else f"{answer.get('error')}, and no such line"
    return unknown(name, want, said, *records)


def refused(seen: Seen) -> Part:
    name, want, record = f"the call to {MAIL} fails", "any client error", seen.call.record
    answer = probes.answer(seen.call)
    if events(seen.log, MAIL, seen.call, ("ALLOWED",)):
        return decided(name, False, want, "the log says ALLOWED", record, seen.log.record)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, record)
    if answer.get("reached") is True and not tunnel_refused(answer):
        return decided(name, False, want, f"it was reached, HTTP status {answer.get('status')}", record)
    return decided(name, True, want, f"{answer.get('error') or 'HTTP error'} {answer.get('errno') or ''} {answer.get('text') or ''}".strip(), record)


def tunnel_refused(answer: object) -> bool:
    """A proxy's own 403 is its refusal, not the mail host's answer."""
    found = dict(answer)  # type: ignore[call-overload]
    return found.get("status") == 403 and "policy_denied" in str(found.get("text"))


def logged(seen: Seen) -> Part:
    """A failing call alone may have many reasons; only the log's own line is the denial."""
    name, want, record = "the denial is logged", f"a DENIED or BLOCKED line about {MAIL}, not older than the call", seen.log.record
    if not seen.log.ok:
        return unknown(name, want, f"the log could not be read ({seen.log.said})", record)
    if found := events(seen.log, MAIL, seen.call, DENIED):
        return decided(name, True, want, found[-1].line, record)
    entries = logs.entries(seen.log.stdout)
    if not entries:
        return unknown(name, want, "the log is empty or not in the known form", record)
    since = datetime.fromisoformat(seen.call.started).timestamp()
    if len(entries) >= WINDOW and entries[0].epoch >= since:
        return unknown(name, want, f"the last {WINDOW} lines do not reach back to the call", record)
    if odd := [line for line in logs.unparsed(seen.log.stdout) if MAIL in line]:
        return unknown(name, want, f"a line about it that could not be read: {odd[0][:200]}", record)
    old = logs.about(logs.network(seen.log.stdout), MAIL)
    return decided(name, False, want, f"{len(entries)} lines, none of them; older ones about it: {len(old)}", record)


def rules(seen: Seen) -> Part:
    """What the policy opens at all: the provider's endpoint and nothing else."""
    name, want, record = "the policy opens the provider's endpoint alone", f"only {PROVIDER_POLICY} with {PROVIDER}", seen.policy.record
    found = policy.policy(seen.policy.stdout) if seen.policy.ok else Unreadable(seen.policy.said)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, record)
    extra = [key for key in found.network if key != PROVIDER_POLICY]
    hosts = {
        str(endpoint.get("host"))
        for rule in found.network.values() if isinstance(rule, dict)
        for endpoint in rule.get("endpoints") or () if isinstance(endpoint, dict)
    }
    wrong = [*(f"rule {key}" for key in extra), *(f"host {host}" for host in sorted(hosts - {PROVIDER}))]
    return decided(name, not wrong, want, listed(wrong) if wrong else listed(sorted(hosts), "no network rule"), record)


def opener(seen: Seen) -> str:
    """The runbook's question which of the two listed binaries opens the connection, answered by the log."""
    found = {e.binary for log in (seen.log, seen.control_log) for e in logs.about(logs.network(log.stdout), PROVIDER) if e.action == "ALLOWED" and e.binary}
    return f"connections to {PROVIDER} were opened by {listed(sorted(found))}" if found else "not measured: no ALLOWED line"
