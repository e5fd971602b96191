"""Pass criterion 1's judge, by tables of observations."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from judge_tables import part_of
from request_samples import AT, N1, N2, ran

from pytest_amap import probes
from pytest_amap.checks import validator
from pytest_amap.checks.pass_criterion_1 import CLASSES, Folder, Seen, judge
from pytest_amap.checks.validator import Document
from pytest_amap.observations import Listing, Ran, build, plain
from pytest_amap.results import Declared
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN, Outcome, verdict

HOME = "/srv/amap"
OUTBOX, PEER = f"{HOME}/instances/alpha/outbox", f"{HOME}/instances/beta/peer"
INBOX = f"{HOME}/instances/alpha/inbox"
SCHEMAS = {prefix: f"{prefix}x.schema.json" for prefix in CLASSES}
OWN = {
    "roster-": f"{HOME}/roster/roster.json",
    "request-": f"{OUTBOX}/processed/req-00000001.json",
    "result-": f"{OUTBOX}/results/00000001.json",
    "peer-": f"{PEER}/notices/notice-{N1}.json",
    "message-": f"{PEER}/messages/notice-{N1}.json",
}
MADE_NOWHERE = ("directory-", "notice-", "identity-")
DECLARED = tuple(Declared(prefix, "no such service here") for prefix in MADE_NOWHERE)


BEGUN = "2026-11-29T11:55:00.250Z"
NOW, SINCE = (datetime.fromisoformat(text).timestamp() for text in (AT, BEGUN))


def checked(
    prefix: str, path: str, errors: Iterable[str] = (), problem: str | None = None, written: float | None = NOW - 60
) -> dict[str, Any]:
    return {"name": f"{prefix}live.json", "path": path, "errors": list(errors), "problem": problem, "written": written}


def said(*documents: dict[str, Any], schemas: dict[str, str] = SCHEMAS, strict: Iterable[str] = CLASSES) -> Ran:
    return ran(probes.MARK + json.dumps({"prefixes": schemas, "strict": list(strict), "documents": documents}))


def seen_of(*documents: dict[str, Any], **changes: Any) -> Seen:
    """What is seen where the validator said this of these documents, and all folders could be listed."""
    seen = Seen(
        home=HOME,
        folders=(
            Folder("notice-", Listing(f"{INBOX}/notices", (), record="step-8/inbox.json")),
            Folder("result-", Listing(f"{OUTBOX}/results", (), record="step-8/results.json")),
        ),
        documents=tuple(Document(one["name"].removesuffix("live.json"), one["path"]) for one in documents),
        answers=(said(*documents),),
        own={
            "request-": (f"{OUTBOX}/req-00000001.json", OWN["request-"]),
            "result-": (OWN["result-"],),
            "peer-": (OWN["peer-"],),
            "message-": (OWN["message-"],),
        },
        since=BEGUN,
    )
    return replace(seen, **changes)


def but(prefix: str, *documents: dict[str, Any], **changes: Any) -> Seen:
    """The good run, with other documents of one class."""
    others = [checked(other, path) for other, path in OWN.items() if other != prefix]
    return seen_of(*others, *documents, **{"declared": DECLARED, **changes})


GOOD = but("", declared=())


part = partial(part_of, judge)


def test_exactly_the_classes_that_this_stack_does_not_make_stay_unknown() -> None:
    outcome, reason = verdict(judge(GOOD))
    assert outcome is UNKNOWN
    assert [prefix for prefix in CLASSES if f"no {prefix} document" in reason] == list(MADE_NOWHERE)
    open_parts = [one.name.split()[0] for one in judge(GOOD) if one.outcome is not PASS]
    assert open_parts == list(MADE_NOWHERE)


def test_declared_classes_are_no_part_and_the_rest_is_pass() -> None:
    parts = judge(replace(GOOD, declared=(*DECLARED, Declared("unknown_3", "an interceptor is on"))))
    assert verdict(parts)[0] is PASS
    assert not [one for one in parts if one.name.startswith(MADE_NOWHERE)]
    assert all(one.records for one in parts)


def test_what_was_seen_survives_its_record() -> None:
    seen = replace(GOOD, declared=DECLARED)
    again = build(Seen, json.loads(json.dumps(plain(seen))))
    assert again == seen
    assert judge(again) == judge(seen)


PEER_TWO = f"{PEER}/notices/notice-{N2}.json"


@pytest.mark.parametrize(
    ("seen", "words", "expected", "says"),
    [
        (but("peer-", checked("peer-", OWN["peer-"])), "peer-", PASS, f"instances/beta/peer/notices/notice-{N1}.json"),
        (but("peer-", checked("peer-", OWN["peer-"], ["$.kind: no", "$: bad"])), "peer-", FAIL, "$.kind: no; $: bad"),
        (
            but("peer-", checked("peer-", OWN["peer-"]), checked("peer-", PEER_TWO, ["$: bad"])),
            "peer-",
            FAIL,
            f"errors in 1 of 2: instances/beta/peer/notices/notice-{N2}.json: $: bad",
        ),
        (but("request-", checked("request-", OWN["request-"], ["$: not JSON"])), "request-", FAIL, "not JSON"),
        (but("peer-"), "peer-", UNKNOWN, "no peer- document"),
        (but("peer-", checked("peer-", PEER_TWO)), "peer-", UNKNOWN, "this run's own is not among them"),
        (but("peer-", checked("peer-", OWN["peer-"], problem="EACCES")), "peer-", UNKNOWN, "EACCES"),
        (but("peer-", checked("peer-", OWN["peer-"], problem="larger than 1 MiB")), "peer-", UNKNOWN, "1 MiB"),
        (but("roster-", checked("roster-", OWN["roster-"], problem="ENOENT")), "roster-", UNKNOWN, "no roster-"),
        (
            but("request-", checked("request-", OWN["request-"]), checked("request-", "/x", problem="ELOOP")),
            "request-",
            PASS,
            "1 conform",
        ),
        (
            but("request-", checked("request-", f"{OUTBOX}/req-00000001.json", problem="ENOENT")),
            "request-",
            UNKNOWN,
            "no request- document",
        ),
    ],
)
def test_a_class_is_judged_by_all_its_documents(seen: Seen, words: str, expected: Outcome, says: str) -> None:
    found = part(seen, words)
    assert (found.outcome, says in found.seen) == (expected, True), found.seen
    assert verdict(judge(seen))[0] is expected


MAIL = f"{INBOX}/notices/notice-{N2}.json"
MAIL_DECLARED = tuple(one for one in DECLARED if one.what != "notice-")


def mail(*times: float | None) -> Seen:
    """A run that makes mail notices, written at these times."""
    return but("", *(checked("notice-", MAIL, written=time) for time in times), declared=MAIL_DECLARED)


def rosters(time: float | None, **changes: Any) -> Seen:
    return but("roster-", checked("roster-", OWN["roster-"], written=time), **changes)


@pytest.mark.parametrize(
    ("seen", "expected"),
    {
        "a mail of this run": (mail(NOW - 1), PASS),
        "in the millisecond of the planting": (mail(SINCE), PASS),
        "one of this run beside one of an earlier run": (mail(SINCE - 3600, NOW - 1), PASS),
        "a mail of an earlier run": (mail(SINCE - 1), UNKNOWN),
        "of a clock that was set back since": (mail(NOW + 3600), UNKNOWN),
        "of no known time": (mail(None), UNKNOWN),
        "this run's roster": (rosters(NOW - 4), PASS),
        "the roster of a router that writes no more": (rosters(SINCE - 5), UNKNOWN),
        "a roster of tomorrow": (rosters(NOW + 86400), UNKNOWN),
        "nobody knows when the delegation began": (rosters(NOW - 4, since=""), UNKNOWN),
        "the router's own time, in seconds": (rosters(NOW - 4, since="2026-11-29T11:55:00Z"), PASS),
        "a time with another zone": (rosters(NOW - 4, since="2026-11-29T13:55:00+02:00"), PASS),
        "a leap second": (rosters(NOW - 4, since="2026-11-29T11:59:60Z"), UNKNOWN),
    }.values(),
)
def test_a_document_of_no_known_request_is_this_runs_by_its_time(seen: Seen, expected: Outcome) -> None:
    assert verdict(judge(seen))[0] is expected, verdict(judge(seen))


def test_an_old_document_that_is_wrong_is_wrong_all_the_same() -> None:
    old = checked("notice-", MAIL, ["$: bad"], written=SINCE - 3600)
    assert verdict(judge(but("", old, declared=MAIL_DECLARED)))[0] is FAIL


def test_a_validator_that_takes_an_empty_object_takes_anything() -> None:
    documents = [checked(prefix, path) for prefix, path in OWN.items()]
    lenient = said(*documents, strict=[prefix for prefix in CLASSES if prefix != "peer-"])
    seen = replace(GOOD, declared=DECLARED, answers=(said(*documents), lenient))
    assert "that is empty, or invalid" in part(seen, "peer- documents").seen
    assert [one.name for one in judge(seen) if one.outcome is not PASS] == [part(seen, "peer- documents").name]


def test_a_folder_that_cannot_be_listed_leaves_its_class_open() -> None:
    locked = Folder("result-", Listing(f"{OUTBOX}/results", (), "symlink"))
    seen = but("", folders=(locked,))
    assert (part(seen, "result-").outcome, part(seen, "peer-").outcome) == (UNKNOWN, PASS)
    gone = Folder("notice-", Listing(f"{INBOX}/notices", (), "EACCES"))
    assert part(but("", folders=(gone,)), "declared: no notice-").outcome is UNKNOWN


def test_a_spec_without_a_class_leaves_it_open() -> None:
    unmapped = {"roster-": "no schema"}
    documents = [checked(prefix, path, problem=unmapped.get(prefix)) for prefix, path in OWN.items()]
    old = {prefix: schema for prefix, schema in SCHEMAS.items() if prefix != "roster-"}
    seen = replace(GOOD, declared=DECLARED, answers=(said(*documents, schemas=old),))
    assert "has no schema for roster-" in part(seen, "roster-").seen
    assert verdict(judge(seen))[0] is UNKNOWN


def test_a_class_that_only_the_spec_knows_is_a_question_too() -> None:
    documents = [checked(prefix, path) for prefix, path in OWN.items()]
    answer = said(*documents, schemas={**SCHEMAS, "receipt-": "receipt.schema.json"})
    newer = replace(GOOD, declared=DECLARED, answers=(answer,))
    assert part(newer, "receipt-").outcome is UNKNOWN
    assert verdict(judge(replace(newer, declared=(*DECLARED, Declared("receipt-", "none")))))[0] is PASS


def test_a_declared_class_that_turns_up_contradicts_the_declaration() -> None:
    there = f"{INBOX}/notices/notice-{N2}.json"
    found = part(but("", checked("notice-", there)), "declared: no notice-")
    assert found.outcome is FAIL
    assert "declared as not covered, but instances/alpha/inbox/notices" in found.seen


def test_a_declaration_of_nothing_known_is_said() -> None:
    seen = but("", declared=(*DECLARED, Declared("directory", "no hyphen"), Declared("notice", "typo")))
    assert [one.outcome for one in judge(seen) if "the declaration of" in one.name] == [UNKNOWN, UNKNOWN]
    assert part(seen, "'directory'").outcome is UNKNOWN


@pytest.mark.parametrize(
    "answers",
    [
        (),
        (ran(""),),
        (ran(exit=1, stderr="validate.py could not be loaded: FileNotFoundError"),),
        (ran(exit=None, stderr="python3: No such file or directory"),),
        (ran(probes.MARK + '{"prefixes": [], "documents": []}'),),
        (ran(probes.MARK + '{"prefixes": {}, "documents": [{"name": 1}]}'),),
    ],
)
def test_a_validator_that_gives_no_answer_decides_nothing(answers: tuple[Ran, ...]) -> None:
    assert verdict(judge(replace(GOOD, declared=DECLARED, answers=answers)))[0] is UNKNOWN


def test_a_document_without_an_answer_keeps_the_check_open() -> None:
    seen = replace(GOOD, declared=DECLARED)
    more = replace(seen, documents=(*seen.documents, Document("peer-", PEER_TWO)))
    assert part(more, "validator checked").outcome is UNKNOWN
    assert PEER_TWO in part(more, "validator checked").seen


def test_many_documents_make_several_commands() -> None:
    documents = [Document("peer-", f"{PEER}/notices/notice-{number:064d}.json") for number in range(2000)]
    batches = validator.batches(documents)
    assert len(batches) > 1
    assert all(len(batch) < 100_000 for batch in batches)
    assert [tuple(one) for batch in batches for one in json.loads(batch)] == [(d.name, d.path) for d in documents]
    assert validator.batches([]) == ["[]"]
