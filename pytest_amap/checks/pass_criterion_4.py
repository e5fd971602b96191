"""Pass criterion 4: a direct network call to a mail API is denied, and the log says so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_amap import probes
from pytest_amap.checks.log_lines import begun, by_name_alone, events, of_the_probe, reaches_back, unread
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
ALLOWED, DENIED = ("ALLOWED",), ("DENIED", "BLOCKED")
FORBIDDEN = 403
_TLS = re.compile(r"certificate|SSL", re.IGNORECASE)
WINDOW = 2000
"""Lines of the log that are asked for."""


@dataclass(frozen=True)
class Seen:
    """`before` is the log as it was before the call."""

    member: str
    id: str
    before: Ran
    call: Ran
    log: Ran
    control: Ran
    control_log: Ran
    policy: Ran
    phase: Ran
    binaries: tuple[str, ...]


def plan(lab: Lab) -> Iterable[Planned]:
    member = lab.sender
    yield lab.commands.logs(member.name)
    yield call(member)
    yield control(member, "<node>")
    yield lab.commands.policy_of(member.name)
    yield lab.commands.get(member.name)


def call(member: Member) -> Command:
    return member.probing(probes.fetch(f"https://{MAIL}"), f"{member.name} calls {MAIL}")


def control(member: Member, node: str) -> Command:
    return member.probing(
        probes.node_fetch(node, f"https://{PROVIDER}/"), f"{member.name} calls {PROVIDER} by a listed binary"
    )


def collect(sender: Member, profile: Profile) -> Seen:
    lab = sender.lab
    before = lab.host.run(lab.commands.logs(sender.name))
    denied = lab.host.run(call(sender))
    log = await_line(sender, before, denied, MAIL, DENIED)
    node = next((path for path in profile.binaries if path.rsplit("/", 1)[-1].startswith("node")), profile.binaries[0])
    allowed = lab.host.run(control(sender, node))
    seen = Seen(
        member=sender.name,
        id=sender.id,
        before=before,
        call=denied,
        log=log,
        control=allowed,
        control_log=await_line(sender, before, allowed, PROVIDER, ALLOWED),
        policy=lab.host.run(lab.commands.policy_of(sender.name)),
        phase=lab.host.run(lab.commands.get(sender.name)),
        binaries=tuple(profile.binaries),
    )
    lab.run.facts["provider_connection"] = opener(seen)
    return seen


def await_line(sender: Member, before: Ran, after: Ran, host: str, actions: tuple[str, ...]) -> Ran:
    """The log is asynchronous: ask until the line of this call is there, or the deadline is over.

    Which program reached the provider is for the judge; a denial that only another program met is waited past.
    """

    def done(log: Ran) -> bool | None:
        found = events(log, before, host, after, actions)
        return True if any(actions == ALLOWED or of_the_probe(one) for one in found) else None

    lab = sender.lab
    seconds = lab.options.deadlines.log
    return lab.host.wait_command(
        f"the log line about {host}", lab.commands.logs(sender.name), done, seconds=seconds
    ).last


def judge(seen: Seen) -> list[Part]:
    reached = control_part(seen)
    return [
        reached,
        only_beside(reached.outcome, refused(seen)),
        only_beside(reached.outcome, logged(seen)),
        rules(seen),
        still_ready(seen.member, seen.id, seen.phase),
    ]


def control_part(seen: Seen) -> Part:
    """A sandbox without any network would "deny" everything."""
    name = f"control: {PROVIDER} is reached by a listed binary"
    want = "an answer, or an ALLOWED line of a listed binary, of this run"
    records = (seen.control.record, seen.control_log.record)
    allowed = events(seen.control_log, seen.before, PROVIDER, seen.control, ALLOWED)
    if of_listed := [one for one in allowed if one.binary in seen.binaries]:
        return Part(name, PASS, want, of_listed[-1].line, records)
    answer = probes.answer(seen.control)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, *records)
    if answer.get("reached") is not True:
        return unknown(name, want, f"{answer.get('error') or 'no answer'}, and no such line", *records)
    if denied := events(seen.control_log, seen.before, PROVIDER, seen.control, DENIED):
        return unknown(name, want, denied[-1].line, *records)
    return Part(name, PASS, want, f"HTTP status {answer.get('status')}", records)


def refused(seen: Seen) -> Part:
    """Any client error will do, since one denial has several; but the call must have been made."""
    name, want, records = f"the call to {MAIL} fails", "any client error", (seen.call.record, seen.log.record)
    if opened := [one for one in lines_about_it(seen, ALLOWED) if not by_name_alone(one)]:
        return decided(name, False, want, opened[-1].line, *records)
    answer = probes.answer(seen.call)
    if isinstance(answer, Unreadable):
        return unknown(name, want, answer, *records)
    said = f"{answer.get('error') or 'no error'} {answer.get('errno') or ''} {answer.get('text') or ''}".strip()
    if answer.get("reached") is True:
        if answer.get("status") == FORBIDDEN and not all(map(by_name_alone, lines_about_it(seen, DENIED))):
            return decided(name, True, want, "HTTP status 403, which the log calls a denial", *records)
        return decided(name, False, want, f"it was reached, HTTP status {answer.get('status')}", *records)
    if not was_made(seen.call):
        return unknown(name, want, f"{said}: the probe made no call", *records)
    if _TLS.search(said):
        return unknown(name, want, f"{said}: somebody answered the connection", *records)
    return decided(name, True, want, said, *records)


def was_made(call: Ran) -> bool:
    """Whether the probe came to use the network: an answer, or an error of a socket, which alone has an errno."""
    answer = probes.answer(call)
    return not isinstance(answer, Unreadable) and (answer.get("reached") is True or bool(answer.get("errno")))


def lines_about_it(seen: Seen, actions: tuple[str, ...]) -> list[logs.NetEvent]:
    """The call's own lines, in the log as it was awaited and in the one read after the control."""
    both = (seen.log, seen.control_log)
    return [event for log in both for event in events(log, seen.before, MAIL, seen.call, actions)]


def logged(seen: Seen) -> Part:
    """A failing call alone may have many reasons; only the log's own line is the denial.

    That it is missing contradicts the sentence where the call was made, and the log can be read, reaches back to it
    and has gone on since.
    """
    name, want = "the denial is logged", f"a DENIED or BLOCKED line about {MAIL}, not older than the call"
    records = (seen.before.record, seen.log.record, seen.control_log.record)
    if not seen.before.ok:
        return unknown(name, want, f"what was logged before could not be read ({seen.before.said})", *records)
    found = lines_about_it(seen, DENIED)
    if own := [one for one in found if of_the_probe(one)]:
        return decided(name, True, want, own[-1].line, *records)
    if found:
        return unknown(name, want, f"a denial of another program or port alone: {found[-1].line}", *records)
    if not seen.log.ok:
        return unknown(name, want, f"the log could not be read ({seen.log.said})", *records)
    if not was_made(seen.call):
        return unknown(name, want, "no such line, and the probe made no call", *records)
    since, entries = begun(seen.call), logs.entries(seen.log.stdout)
    if not entries:
        return unknown(name, want, "the log is empty or not in the known form", *records)
    if not reaches_back(seen.log, seen.before, since, WINDOW):
        return unknown(name, want, f"the log's {len(entries)} lines do not reach back to the call", *records)
    odd = [line for log in (seen.log, seen.control_log) for line in unread(log, seen.before, MAIL, since)]
    if odd:
        return unknown(name, want, f"a line that could not be read: {odd[0][:200]}", *records)
    later = {*entries, *logs.entries(seen.control_log.stdout)} - {*logs.entries(seen.before.stdout)}
    if not any(entry.epoch >= since for entry in later):
        return unknown(name, want, "the log has no line at all since the call, by its own clock", *records)
    old = logs.about(logs.network(seen.log.stdout), MAIL)
    return decided(name, False, want, f"{len(entries)} lines, none of them; older ones about it: {len(old)}", *records)


def rules(seen: Seen) -> Part:
    """What the policy opens at all: the provider's endpoint and nothing else."""
    name, want, record = (
        "the policy opens the provider's endpoint alone",
        f"only {PROVIDER_POLICY} with {PROVIDER}",
        seen.policy.record,
    )
    found = seen.policy.parsed(policy.policy)
    if isinstance(found, Unreadable):
        return unknown(name, want, found, record)
    if odd := [key for key, rule in found.network.items() if not has_endpoints(rule)]:
        return unknown(name, want, f"rules that could not be read: {listed(odd)}", record)
    extra = [key for key in found.network if key != PROVIDER_POLICY]
    hosts = {str(endpoint.get("host")) for rule in found.network.values() for endpoint in rule["endpoints"]}
    if odd := [key for key in found.extra if key.startswith("network")]:
        return unknown(name, want, f"settings that this suite does not know: {listed(odd)}", record)
    wrong = [*(f"rule {key}" for key in extra), *(f"host {host}" for host in sorted(hosts - {PROVIDER}))]
    return decided(name, not wrong, want, listed(wrong) if wrong else listed(sorted(hosts), "no network rule"), record)


def has_endpoints(rule: object) -> bool:
    endpoints = rule.get("endpoints") if isinstance(rule, dict) else None
    return isinstance(endpoints, list) and all(isinstance(one, dict) for one in endpoints)


def opener(seen: Seen) -> str:
    """The runbook's question which of the two listed binaries opens the connection, answered by the log."""
    found = {
        e.binary
        for log in (seen.log, seen.control_log)
        for e in logs.about(logs.network(log.stdout), PROVIDER)
        if e.action == "ALLOWED" and e.binary
    }
    return (
        f"connections to {PROVIDER} were opened by {listed(sorted(found))}"
        if found
        else "not measured: no ALLOWED line"
    )
