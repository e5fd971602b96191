"""The person's --junitxml said our way: its readers show a skip as good, and an UNKNOWN is none. Pure."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from pytest_amap.verdicts import FAIL, PASS

OUTCOME, REASON, RECORDS = "amap_outcome", "amap_reason", "amap_records"
"""Properties of a check's test case."""

REHEARSAL = "REHEARSAL"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>'


def told(xml: str, rehearsal: bool) -> str:
    """pytest's document, each check that is UNKNOWN an error in it, and every suite of a rehearsal called one."""
    root = ET.fromstring(xml)
    for suite in root.iter("testsuite"):
        for case in suite.iter("testcase"):
            _tell(suite, case)
        name = suite.get("name", "")
        if rehearsal and not name.startswith(REHEARSAL):
            suite.set("name", f"{REHEARSAL} {name}".strip())
    return _HEAD + ET.tostring(root, encoding="unicode")


def _tell(suite: ET.Element, case: ET.Element) -> None:
    """A check without PASS has a failure or an error; pytest knows its UNKNOWN as skipped, or even as passed."""
    said = {known.get("name"): known.get("value", "") for known in case.iter("property")}
    outcome, reason = said.get(OUTCOME, PASS.value), said.get(REASON, "")
    if outcome == PASS.value or case.find("failure") is not None or case.find("error") is not None:
        return
    for skipped in case.findall("skipped"):
        case.remove(skipped)
        _count(suite, "skipped", -1)
    tag, total = ("failure", "failures") if outcome == FAIL.value else ("error", "errors")
    ET.SubElement(case, tag, type=outcome, message=reason).text = f"{outcome}: {reason}"
    _count(suite, total, 1)


def _count(suite: ET.Element, name: str, more: int) -> None:
    suite.set(name, str(int(suite.get(name, "0")) + more))
