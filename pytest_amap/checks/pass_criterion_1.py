"""Pass criterion 1: the spec's validator accepts what the connector reads and writes.

It asks one class after the other, on the documents that stand on the host. Outbox documents are the agents' own to
write, so theirs is a statement about format alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kit.home import Home
from pytest_amap import instants
from pytest_amap.catalogue import L1
from pytest_amap.checks import validator
from pytest_amap.checks.validator import Answer, Checked, Document
from pytest_amap.commands import Look, Planned
from pytest_amap.delegations import Delegation
from pytest_amap.host.lab import Lab
from pytest_amap.judging import decided, listed, unknown
from pytest_amap.observations import Listing, Ran
from pytest_amap.parsers import Unreadable
from pytest_amap.results import Declared
from pytest_amap.verdicts import Part

CLASSES = ("directory-", "roster-", "notice-", "request-", "result-", "identity-", "message-", "peer-")
"""The classes of contract 3.1 (facts: amap.md 1.3). A spec may know fewer, or more."""

NOTICE = re.compile(r"notice-[A-Za-z0-9_-]{1,64}\.json")
REQUEST = re.compile(r"req-[A-Za-z0-9_-]{1,64}\.json")
RESULT = re.compile(r"[A-Za-z0-9_-]{1,64}\.json")


@dataclass(frozen=True)
class Place:
    """A directory of documents of one class, and what their names look like."""

    prefix: str
    path: str
    names: re.Pattern[str]


@dataclass(frozen=True)
class Folder:
    """A place as it was listed."""

    prefix: str
    listing: Listing


@dataclass(frozen=True)
class Seen:
    """`own` maps a class to the paths at which this run's own document of it may stand; of the other classes it is one
    written after `since`, when the delegation was planted."""

    home: str
    folders: tuple[Folder, ...]
    documents: tuple[Document, ...]
    answers: tuple[Ran, ...]
    own: dict[str, tuple[str, ...]]
    since: str
    declared: tuple[Declared, ...] = ()


def places(home: Home, member: str) -> tuple[Place, ...]:
    """Where one member's documents lie on the host (facts: amap.md 2.3)."""
    inbox, peer, outbox = (os.fspath(home.lane(member, lane)) for lane in ("inbox", "peer", "outbox"))
    return (
        Place("notice-", f"{inbox}/notices", NOTICE),
        Place("message-", f"{inbox}/messages", NOTICE),
        Place("peer-", f"{peer}/notices", NOTICE),
        Place("message-", f"{peer}/messages", NOTICE),
        Place("request-", outbox, REQUEST),
        Place("request-", f"{outbox}/processed", REQUEST),
        Place("result-", f"{outbox}/results", RESULT),
    )


def own_documents(home: Home, task: Delegation) -> dict[str, tuple[str, ...]]:
    """This run's document of each class that a delegation makes; no path where there is none."""
    peer, outbox = os.fspath(home.lane(task.receiver, "peer")), os.fspath(home.lane(task.sender, "outbox"))
    request, notice = f"req-{task.request}.json", f"notice-{task.notice}.json"
    return {
        "request-": (f"{outbox}/{request}", f"{outbox}/processed/{request}") if task.request else (),
        "result-": (f"{outbox}/results/{task.request}.json",) if task.request else (),
        "peer-": (f"{peer}/notices/{notice}",) if task.notice else (),
        "message-": (f"{peer}/messages/{notice}",) if task.notice else (),
    }


def planted(task: Delegation) -> str:
    """When the delegation began; "" where nothing tells it."""
    placement = task.placement()
    return task.submitted.started if task.submitted else placement.ts if placement else ""


def checkout(lab: Lab) -> str:
    return os.fspath(lab.ground.siblings["spec"].path)


def plan(lab: Lab) -> Iterable[Planned]:
    for member in lab.fleet.members:
        for place in places(lab.home, member):
            yield Look(place.path, f"{place.prefix} documents of {member}")
    yield validator.command(checkout(lab), "<documents>", lab.options.deadlines.command)


def collect(lab: Lab, delegation: Delegation) -> Seen:
    """List the documents of every class and have the spec's validator read them."""
    folders = []
    documents = [Document("roster-", os.fspath(lab.home.roster / "roster.json"))]
    for member in lab.fleet.members:
        for place in places(lab.home, member):
            listing = lab.host.listing(place.path, f"{place.prefix} documents of {member}")
            folders.append(Folder(place.prefix, listing))
            named = [name for name in listing.names if place.names.fullmatch(name)]
            documents += [Document(place.prefix, f"{place.path}/{name}") for name in named]
    seconds = lab.options.deadlines.command
    asked = [validator.command(checkout(lab), batch, seconds) for batch in validator.batches(documents)]
    return Seen(
        home=os.fspath(lab.home.path),
        folders=tuple(folders),
        documents=tuple(documents),
        answers=tuple(lab.host.run(command) for command in asked),
        own=own_documents(lab.home, delegation),
        since=planted(delegation),
        declared=lab.options.declared,
    )


def judge(seen: Seen) -> list[Part]:
    answers = [validator.answer(ran) for ran in seen.answers]
    answered = [answer for answer in answers if isinstance(answer, Answer)]
    parts = [asked(seen, answers)]
    if answered:
        schemas, strict = answered[0].schemas, frozenset.intersection(*(answer.strict for answer in answered))
        checked = [document for answer in answered for document in answer.documents if document.counts]
        declared = {declaration.what: declaration.reason for declaration in seen.declared}
        for prefix in dict.fromkeys((*CLASSES, *schemas)):
            of_class = tuple(document for document in checked if document.name == f"{prefix}live.json")
            found = Class(seen, prefix, schemas.get(prefix, ""), of_class, prefix in strict)
            parts += found.declared_away(declared[prefix]) if prefix in declared else [found.conforms()]
        parts += strangers(seen.declared, (*CLASSES, *schemas))
    return parts


def asked(seen: Seen, answers: Sequence[Answer | Unreadable]) -> Part:
    """The positive control: the validator answered for every document it was asked about."""
    name, want = "the spec's validator checked the documents", "an answer for each"
    records = tuple(ran.record for ran in seen.answers)
    for answer in answers:
        if isinstance(answer, Unreadable):
            return unknown(name, want, answer, *records)
    told = {(d.name, d.path) for answer in answers if isinstance(answer, Answer) for d in answer.documents}
    silent = [document.path for document in seen.documents if (document.name, document.path) not in told]
    if silent or not answers:
        return unknown(name, want, f"none for {listed(silent, 'anything')}", *records)
    return decided(name, True, want, f"{len(told)} answers", *records)


def strangers(declared: Iterable[Declared], prefixes: Iterable[str]) -> Iterable[Part]:
    """A declaration that names neither a class nor a check would silently declare nothing."""
    known = {*prefixes, *L1.ids}
    for declaration in declared:
        if declaration.what not in known:
            want = f"one of {', '.join(sorted(set(prefixes)))}, or a check's id"
            yield unknown(f"the declaration of {declaration.what!r}", want, "it names nothing known")


@dataclass(frozen=True)
class Class:
    """One class of documents: what was found of it, and its schema by the spec's table, or "".

    `strict` tells whether the validator refused what is no document of it.
    """

    seen: Seen
    prefix: str
    schema: str
    checked: tuple[Checked, ...]
    strict: bool

    @property
    def records(self) -> tuple[str, ...]:
        folders = tuple(folder.listing.record for folder in self.folders)
        return (*(ran.record for ran in self.seen.answers), *(record for record in folders if record))

    @property
    def folders(self) -> list[Folder]:
        return [folder for folder in self.seen.folders if folder.prefix == self.prefix]

    def shown(self, path: str) -> str:
        return path.removeprefix(f"{self.seen.home}/")

    def unlisted(self) -> list[str]:
        return [f"{self.shown(f.listing.path)} ({f.listing.problem})" for f in self.folders if f.listing.problem]

    def conforms(self) -> Part:
        """Every document of the class conforms, this run's own among them; none is UNKNOWN."""
        name = f"{self.prefix} documents conform to {self.schema or 'their schema'}"
        want = "no error in any of them"
        wrong = [f"{self.shown(d.path)}: {'; '.join(d.errors)}" for d in self.checked if d.errors]
        if wrong:
            said = f"errors in {len(wrong)} of {len(self.checked)}: {' | '.join(wrong)}"
            return decided(name, False, want, said, *self.records)
        if why := self.open_question():
            return unknown(name, want, why, *self.records)
        conforming = listed(self.shown(document.path) for document in self.checked)
        return decided(name, True, want, f"{len(self.checked)} conform: {conforming}", *self.records)

    def open_question(self) -> str:
        """Why nothing can be said of the class though no error was found, or ""."""
        if not self.schema:
            return f"this spec's validator has no schema for {self.prefix}: use a spec of contract 3.1 or later"
        unread = [f"{self.shown(d.path)} ({d.problem})" for d in self.checked if d.problem]
        if unread:
            return f"not checked: {listed(unread)}"
        if unlisted := self.unlisted():
            return f"not listed: {listed(unlisted)}"
        if not self.checked:
            return f"no {self.prefix} document; where nothing here makes any, --declare '{self.prefix}: REASON'"
        if not self.strict:
            return f"the validator also takes a {self.prefix} document that is empty, or invalid by the spec's fixtures"
        if missing := self.none_of_this_run():
            return f"{len(self.checked)} conform, but this run's own is not among them: {missing}"
        return ""

    def none_of_this_run(self) -> str:
        """Why no document here is this run's: another path, or another time than from its delegation until now."""
        own = self.seen.own.get(self.prefix)
        if own is not None:
            here = any(document.path in own for document in self.checked)
            return "" if here else " or ".join(map(self.shown, own)) or "the delegation made none"
        since, until = instants.epoch(self.seen.since), instants.epoch(max(ran.ended for ran in self.seen.answers))
        if since is None or until is None:
            return "when its delegation began is not known"
        times = [document.written for document in self.checked]
        young = any(written is not None and since <= written <= until for written in times)
        return "" if young else f"none was written since its delegation, {self.seen.since}"

    def declared_away(self, reason: str) -> list[Part]:
        """No part where a declared class is absent; one that turns up contradicts the declaration."""
        name, want = f"declared: no {self.prefix} document", f"none ({reason})"
        if self.checked:
            there = listed(self.shown(document.path) for document in self.checked)
            return [decided(name, False, want, f"declared as not covered, but {there} is there", *self.records)]
        if unlisted := self.unlisted():
            return [unknown(name, want, f"not listed: {listed(unlisted)}", *self.records)]
        return []
