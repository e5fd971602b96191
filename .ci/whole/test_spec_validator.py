"""The program that asks a spec checkout's validate.py, run for real on a small one."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from request_samples import ran

from pytest_amap.checks import validator
from pytest_amap.checks.validator import Answer, Checked, Document
from pytest_amap.parsers import Unreadable

VALIDATE = """
from __future__ import annotations
import dataclasses
print("a note of its own")
SCHEMA_FOR_PREFIX = {"peer-": "peer-notice.schema.json", "result-": "result.schema.json"}

@dataclasses.dataclass
class Needs: its: "own module"

def check_document(name, document):
    if not any(name.startswith(prefix) for prefix in SCHEMA_FOR_PREFIX):
        raise SystemExit("unmapped")
    if document == "no schema file":
        open("/nowhere/peer-notice.schema.json")
    if document == "trouble":
        raise KeyError("x")
    return [] if document == {"name": name} else ["$: one", "$: two"]
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "spec"
    (place / "fixtures").mkdir(parents=True)
    (place / "fixtures" / "validate.py").write_text(VALIDATE)
    return place


def ask(checkout: Path, *documents: Document) -> Answer | Unreadable:
    command = validator.command(os.fspath(checkout), validator.batches(documents)[0], 60)
    done = subprocess.run(command.argv, capture_output=True, text=True, timeout=60, cwd=checkout)
    return validator.answer(ran(done.stdout, exit=done.returncode, stderr=done.stderr))


def check(checkout: Path, path: Path, prefix: str = "peer-") -> Checked:
    answer = ask(checkout, Document(prefix, os.fspath(path)))
    assert isinstance(answer, Answer)
    assert len(answer.documents) == 1
    return answer.documents[0]


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_error_and_the_table_come_back(checkout: Path) -> None:
    good = written(checkout / "good.json", '{"name": "peer-live.json"}')
    bad = written(checkout / "bad.json", "{}")
    answer = ask(checkout, Document("peer-", os.fspath(good)), Document("result-", os.fspath(bad)))
    assert isinstance(answer, Answer)
    assert answer.schemas == {"peer-": "peer-notice.schema.json", "result-": "result.schema.json"}
    assert [document.errors for document in answer.documents] == [(), ("$: one", "$: two")]
    assert not list(checkout.rglob("__pycache__"))


@pytest.mark.parametrize("text", ["{", "", b"\xff\xfe{}", "NaN garbage"])
def test_what_is_no_json_is_an_error_of_the_document(checkout: Path, text: str | bytes) -> None:
    found = check(checkout, written(checkout / "document.json", text))
    assert found.problem is None
    assert "not JSON in UTF-8" in found.errors[0]


def test_an_unmapped_class_and_a_broken_validator_are_no_verdict(checkout: Path) -> None:
    document = written(checkout / "document.json", '"trouble"')
    assert check(checkout, document, "roster-").problem == "no schema"
    assert check(checkout, document).problem == "KeyError: 'x'"
    lost = check(checkout, written(checkout / "lost.json", '"no schema file"'))
    assert (lost.counts, (lost.problem or "").split(":")[0]) == (True, "FileNotFoundError")
    deep = written(checkout / "deep.json", "[" * 100_000 + "]" * 100_000)
    assert (check(checkout, deep).problem or "").startswith("RecursionError")


def test_no_link_is_followed_and_no_other_file_is_opened(checkout: Path) -> None:
    document = written(checkout / "document.json", '{"name": "peer-live.json"}')
    link, folder, pipe = checkout / "link.json", checkout / "folder", checkout / "pipe.json"
    link.symlink_to(document)
    folder.symlink_to(checkout)
    os.mkfifo(pipe)
    assert check(checkout, link).problem == "ELOOP"
    assert check(checkout, folder / "document.json").problem == "ENOTDIR"
    assert check(checkout, pipe).problem == "not a regular file"
    assert check(checkout, checkout / "absent.json").problem == "ENOENT"
    assert not any(check(checkout, path).counts for path in (link, pipe, checkout / "absent.json"))
    assert check(checkout, document).counts


def test_a_huge_document_is_not_read(checkout: Path) -> None:
    huge = written(checkout / "huge.json", json.dumps("x" * (1 << 20)))
    assert check(checkout, huge).problem == "larger than 1 MiB"


def test_a_checkout_without_a_validator_says_so(tmp_path: Path) -> None:
    answer = ask(tmp_path)
    assert isinstance(answer, Unreadable)
    assert "validate.py could not be loaded: FileNotFoundError" in answer.why


def test_a_json_module_in_the_working_directory_changes_nothing(checkout: Path) -> None:
    written(checkout / "json.py", "raise SystemExit('shadowed')")
    assert check(checkout, written(checkout / "good.json", '{"name": "peer-live.json"}')).errors == ()
