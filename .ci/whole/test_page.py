"""The page's own part: complete without script, inert whatever the text, bounded, readable in both modes."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_sample import HOSTILE, RUN, check_result, command, only, record_of, rehearsal_of, run_of

from pytest_amap.catalogue import L1
from pytest_amap.report import page, page_records
from pytest_amap.report.html_text import element_id, record_link
from pytest_amap.report.page_assets import DARK, LIGHT
from pytest_amap.report.page_timeline import Stretch, stretches
from pytest_amap.results import Declared, Fact, RunResult, StepResult
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN

VOID = {"meta", "input", "br"}
OBSERVATION = {"path": f"step-2/{RUN}-003-read.json", "label": "read", "source": "/etc/x", "observed": {"text": "<b>"}}


class Page(HTMLParser):
    """What a browser would make of the page: elements with their attributes, and whether tags balance."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]


def page_of(run: RunResult, *records: dict[str, Any]) -> Page:
    found = Page(page.summary(run, records))
    assert found.open == []
    return found


def assert_inert(found: Page) -> None:
    """One script and one style, ours; no handler, no image, no link but to this page or a record beside it."""
    assert len(found.all("script")) == len(found.all("style")) == 1
    assert {tag for tag, _ in found.elements} & {"img", "iframe", "object", "form", "base", "video", "svg"} == set()
    attributes = {name for _, given in found.elements for name in given}
    assert [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "action")] == []
    links = [str(link["href"]) for link in found.all("a")]
    assert [link for link in links if not re.fullmatch(r"#[a-z-]+|\.\./\.\./[A-Za-z0-9][A-Za-z0-9._/-]*", link)] == []
    assert [name for name in found.ids() if not re.fullmatch(r"[a-z0-9._-]+", name)] == []


def test_the_checks_stand_in_report_order_with_a_word_each() -> None:
    run = run_of(check_result("unknown_3", UNKNOWN), check_result("pass_criterion_3", FAIL))
    rows = [row for row in page_of(run).all("tr") if "data-outcome" in row]
    assert [row["id"] for row in rows] == [f"check-{check_id}" for check_id in L1.ids]
    assert [row["data-outcome"] for row in rows] == [result.outcome for result in run.checks]


def test_a_check_says_what_is_asked_expected_and_seen() -> None:
    text = page_of(run_of(check_result("unknown_2", FAIL, "EACCES"))).text
    assert f"Asked: {L1.check('unknown_2').asks} (runbook step 8, Unknown 2)" in text
    assert f"FAIL errno expected EROFS seen EACCES Records: {record_of(16)}" in text


def test_what_is_not_pass_is_open_at_once() -> None:
    found = page_of(run_of(check_result("unknown_3", UNKNOWN)))
    assert [name for name in found.all("details") if "open" in name] == [{"open": None}]


@pytest.mark.parametrize(
    ("run", "title"),
    [
        (run_of(), f"PASS: l1 run {RUN}"),
        (rehearsal_of(check_result("unknown_3", UNKNOWN)), f"REHEARSAL: UNKNOWN: l1 run {RUN}"),
        (only("unknown_3", FAIL), f"FAIL (1 of 12 checks): l1 run {RUN}"),
        (run_of(steps=(StepResult(9, "cleanup", "failed", "why"),)), f"UNKNOWN: l1 run {RUN}"),
        (run_of(replay_of="rehearsal run x"), f"REHEARSAL: PASS: l1 run {RUN}"),
    ],
    ids=["pass", "rehearsal", "partial", "step-failed", "replayed-rehearsal"],
)
def test_title(run: RunResult, title: str) -> None:
    assert page.title(run) == title


def test_a_rehearsal_is_unmistakable_and_a_live_run_has_no_such_word() -> None:
    assert page_of(rehearsal_of()).text.startswith("REHEARSAL This ran on the rehearsal host.")
    assert "REHEARSAL" not in page_of(run_of()).text


def test_the_banner_names_what_was_declared_failed_and_interrupted() -> None:
    steps = (StepResult(4, "sandboxes", "failed", "exit 1"),)
    text = page_of(run_of(steps=steps, interrupted="SIGTERM", replay_of="live run x")).text
    for sentence in (
        "Declared, not observed: directory-: this deployment emits none",
        "Step 4 (sandboxes) failed: exit 1",
        "Interrupted by SIGTERM",
        "Replay of live run x",
    ):
        assert sentence in text


def test_a_check_that_was_not_selected_shows_the_earlier_outcome() -> None:
    found = page_of(only("unknown_3"))
    assert sum(row.get("data-outcome") == "not selected" for row in found.all("tr")) == 11
    assert "UNKNOWN not selected unknown_2 Unknown 2:" in found.text
    assert "Earlier: PASS in run 20261128T080000Z (same identity); information, not a verdict." in found.text


def test_each_outcome_has_a_filter_with_a_label() -> None:
    boxes = [box["value"] for box in page_of(only("unknown_3")).all("input")]
    assert boxes == ["PASS", "FAIL", "UNKNOWN", "not selected"]
    assert [box["value"] for box in page_of(run_of()).all("input")] == ["PASS", "FAIL", "UNKNOWN"]


def test_filters_are_hidden_where_no_script_shows_them() -> None:
    assert "hidden" in next(iter(page_of(run_of()).all("fieldset")))


def test_a_command_stands_with_its_check_copyable_and_linked() -> None:
    found = page_of(run_of(), command(40, exit=13, stdout="", stderr="denied\n"))
    assert "openshell sandbox exec --name alpha -- sh -c 'echo '\"'\"'it is'\"'\"''" in found.text
    assert f"exit 13 , 1.5 s · {record_of(40)}" in found.text
    assert {"href": f"../../{record_of(40)}"} in found.all("a")
    assert "Output: 1 line stderr denied" in found.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"exit": None}, "did not run"), ({"exit": None, "timed_out": True}, "no answer in time"), ({}, "exit 0")],
)
def test_how_a_command_ended(changes: dict[str, Any], words: str) -> None:
    assert words in page_of(run_of(), command(40, **changes)).text


def test_an_observation_shows_its_source_and_what_was_seen() -> None:
    found = page_of(run_of(), OBSERVATION | {"step": 2, "check": ""})
    assert "Step 2: 1 record" in found.text
    assert '/etc/x observed · step-2/20261129T120000Z-003-read.json Output: 3 lines observed { "text": "<b>" }' in (
        found.text
    )


def test_steps_facts_and_leftovers_are_there() -> None:
    text = page_of(run_of()).text
    assert "1 agent_image already 1.0 s as asked" in text
    assert "landlock_abi 4" in text
    assert "beta was restarted twice" in text


def hostile_page(text: str) -> Page:
    run = run_of(
        check_result("unknown_2", FAIL, text, reason=text, records=(text,)),
        facts=(Fact(text, text),),
        declared=(Declared(text, text),),
        steps=(StepResult(3, text, text, text),),
        posture=text,
        left=(text,),
        run=text,
        started=text,
        head=text,
        interrupted=text,
    )
    records = [
        command(1, path=text, argv=[text], label=text, stdout=text, stderr=text, exit=text, started=text),
        command(2, check=text, step=text),
        {"path": text, "source": text, "observed": {text: text}, "label": text, "step": 3, "check": ""},
        {},
    ]
    return page_of(run, *records)


def test_hostile_text_is_only_text() -> None:
    found = hostile_page(HOSTILE)
    assert_inert(found)
    assert "<script>alert(1)</script>" in found.text
    assert not re.search("[\u202a-\u202e\udc80-\udcff]", found.text)


@given(st.text(st.characters(codec=None) | st.sampled_from("<>&\"'/\\\n")))
@settings(max_examples=6)
def test_any_text_leaves_the_page_inert_and_encodable(text: str) -> None:
    found = hostile_page(text)
    assert_inert(found)
    found.text.encode()


@pytest.mark.parametrize(
    "name",
    ["../../../etc/passwd", "/etc/passwd", "javascript:alert(1)", "a//b", "a/../x", "https://x.example/", "", "a b"],
)
def test_a_record_name_that_is_no_path_below_evidence_is_no_link(name: str) -> None:
    assert "href" not in record_link(name)


@pytest.mark.parametrize("text", ["x" * 100_000, "<" * 100_000, "é" * 100_000, "\x1b" * 100_000])
def test_two_hundred_commands_stay_below_five_megabytes(text: str) -> None:
    records = [command(number, argv=["sh", "-c", text], stdout=text, stderr=text) for number in range(200)]
    began = time.process_time()
    size = len(page.summary(run_of(), records).encode())
    assert size < 4_500_000
    assert time.process_time() - began < 20


def test_a_few_commands_show_64_kib_a_stream_and_say_what_is_cut() -> None:
    assert page_records.text_limit([command(1, stdout="x" * 100_000)]) == 64 * 1024
    assert f"[{100_000 - 65536} more characters]" in page_of(run_of(), command(1, stdout="x" * 100_000)).text


def test_the_timeline_joins_what_follows_each_other() -> None:
    records = [
        command(1, check="", step=3, started="2026-11-29T12:00:00Z", ended="2026-11-29T12:00:02Z"),
        command(2, check="", step=3, started="2026-11-29T12:00:02Z", ended="2026-11-29T12:00:03Z"),
        command(3, started="2026-11-29T12:00:05Z", ended="2026-11-29T12:00:04Z"),
        command(4, check="", step=3, started="never", ended=None),
        {"time": "2026-11-29T12:00:06Z", "step": 4},
    ]
    begin = 1795953600.0
    assert stretches(records) == [
        Stretch("step 3", begin, begin + 3, 2),
        Stretch("unknown_2", begin + 5, begin + 5, 1),
        Stretch("step 4", begin + 6, begin + 6, 1),
    ]


def test_element_ids_are_of_safe_characters() -> None:
    assert element_id("Check", 'x" onload="<é') == "check-x-onload-"


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast(colours: dict[str, str]) -> None:
    pairs = [(name, back) for name in ("fg", "soft", "link", "pass", "fail") for back in ("bg", "card")]
    pairs += [("on", back) for back in ("pass", "fail", "unknown", "other", "rehearsal")]
    assert [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


def test_the_whole_is_unknown_where_nothing_was_asked() -> None:
    assert page.whole(run_of(checks=())) is UNKNOWN
    assert page.whole(run_of()) is PASS
