"""Step 1: when the image is taken as it is, when it is built, and what stops the step."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from request_samples import AT
from scripted_lab import Answer, ScriptedHost, assert_as_planned, said, scripted_lab

from pytest_amap.failures import StepFailed
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import image

HELP = """Options:
  --settings <file-or-json>
  --mcp-config <configs...>
  --dangerously-skip-permissions
"""
MEASURED = f"2.1.284 (Claude Code)\n---\n{HELP}error: unknown option '{image.NO_FLAG}'\n"


def shown(lab: Lab, **changes: str) -> Ran:
    labels = image.labels(lab) | {f"{image.LABEL}.{name.replace('_', '-')}": text for name, text in changes.items()}
    return said(json.dumps([{"Id": "sha256:1", "Config": {"Labels": labels}}]))


def step(
    tmp_path: Path, *, built: Answer | None = None, measured: str | Ran = MEASURED, **options: Any
) -> tuple[Lab, ScriptedHost]:
    lab, host = scripted_lab(tmp_path, {}, **options)
    host.answers |= {
        "the image": shown(lab),
        "build the image": built or said(),
        "Claude Code in the image": measured if isinstance(measured, Ran) else said(measured),
    }
    return lab, host


def run(lab: Lab) -> str:
    return str(image.agent_image.__wrapped__(lab))  # type: ignore[attr-defined]


def test_an_image_with_the_wanted_labels_is_taken_as_it_is(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    assert run(lab) == "amap-openshell-agent"
    assert host.ran("build") == 0
    assert "agent_image" in lab.run.already
    assert lab.run.facts["image"] == "amap-openshell-agent sha256:1"
    assert_as_planned(lab, image.plan, host.argvs)


@pytest.mark.parametrize(
    "before",
    [
        {"dockerfile": "another"},
        {"run_as": "4242:4242"},
        {"claude_code_version": "2.1.283"},
    ],
    ids=str,
)
def test_any_label_that_differs_means_a_build(tmp_path: Path, before: dict[str, str]) -> None:
    lab, host = step(tmp_path)
    told: list[str] = []
    lab.run.say = told.append
    host.answers["the image"] = [shown(lab, **before), shown(lab)]
    run(lab)
    ((_, was),) = before.items()
    assert [f" is {was}, wanted " in line for line in told] == [True]
    assert host.ran("build") == 1
    assert "agent_image" not in lab.run.already
    build = next(argv for argv in host.argvs if "build" in argv)
    assert f"SANDBOX_UID={os.getuid()}" in build
    assert "CLAUDE_CODE_VERSION=2.1.284" in build


UNLABELLED = ("[{}]", '[{"Id": "sha256:1"}]', '[{"Id": "sha256:1", "Config": null}]', '[{"Config": {"Labels": null}}]')


@pytest.mark.parametrize(
    "answer",
    [
        said(exit=1, stderr="No such image"),
        *map(said, ("", "[]", "{}", "nonsense", "[null]", "[{}, {}]", "null", *UNLABELLED)),
    ],
    ids=lambda ran: ran.said,
)
def test_an_image_that_is_not_there_or_not_described_is_built(tmp_path: Path, answer: Ran) -> None:
    lab, host = step(tmp_path)
    host.answers["the image"] = [answer, shown(lab)]
    run(lab)
    assert host.ran("build") == 1


def test_a_build_that_fails_stops_with_its_last_lines_and_takes_no_older_image(tmp_path: Path) -> None:
    lab, host = step(tmp_path, built=said(exit=1, stderr="#5 0.1\ngroupadd: GID '1000' already exists\n"))
    host.answers["the image"] = shown(lab, dockerfile="older")
    with pytest.raises(StepFailed, match="GID '1000' already exists"):
        run(lab)
    assert host.ran("Claude Code in the image") == 0


COMMAND = 'set -eu;     if [ "$exact" = no ]; then exit 1; fi;     npm install -g'
DEPRECATED = "DEPRECATED: The legacy builder is deprecated\n            Install the buildx component\n\n"
CLASSIC = f"""Step 8/11 : RUN {COMMAND}
 ---> Running in f09c5fdeec66
\x1b[91mnpm error code ETARGET
\x1b[0m\x1b[91mnpm could not install it
\x1b[0m
"""
BUILDKIT = f"""#6 [3/5] RUN useradd
#6 0.178 a warning
#6 DONE 0.3s
#7 [4/5] RUN {COMMAND}
#7 sha256:58de084980b9b31a36da8ffc61e6a1c818f5b6c87d48fc81e5d1ee43cf6e3772
#7 0.492 npm error code ETARGET
#7 0.503 npm could not install it
#7 ERROR: executor failed running [/bin/sh -c {COMMAND}]: exit code: 1
------
 > [4/5] RUN {COMMAND}:
------
executor failed running [/bin/sh -c {COMMAND}]: exit code: 1
"""
NO_BASE = """#3 [internal] load metadata for example.org/x:1
#3 ERROR: failed to do request: no such host
------
failed to solve: failed to do request: no such host
"""


@pytest.mark.parametrize(
    ("stdout", "stderr", "said"),
    [
        (
            CLASSIC,
            f"{DEPRECATED}The command returned a non-zero code: 1\n",
            "The command returned a non-zero code: 1 / npm error code ETARGET / npm could not install it",
        ),
        (
            CLASSIC.split("\x1b")[0],
            f"{DEPRECATED}manifest unknown\n",
            f"manifest unknown / Step 8/11 : RUN {COMMAND} / ---> Running in f09c5fdeec66",
        ),
        ("", BUILDKIT, "npm error code ETARGET / npm could not install it"),
        ("", NO_BASE, "failed to do request: no such host"),
        ("one\ntwo\n", "", "one / two"),
    ],
    ids=["classic", "classic, its own error", "BuildKit", "no base image", "stdout alone"],
)
def test_a_failed_build_is_told_in_the_failing_commands_own_words(stdout: str, stderr: str, said: str) -> None:
    assert image.last_lines(Ran((), 1, stdout, stderr, AT, AT)) == said


def test_a_build_without_an_end_says_so(tmp_path: Path) -> None:
    lab, host = step(tmp_path, built=said(exit=None, timed_out=True))
    host.answers["the image"] = said(exit=1)
    with pytest.raises(StepFailed, match="no end within its deadline"):
        run(lab)


def test_builder_noise_is_no_failure(tmp_path: Path) -> None:
    lab, host = step(tmp_path, built=said(stderr="DEPRECATED: The legacy builder is deprecated\n"))
    host.answers["the image"] = [said(exit=1, stderr="No such image"), shown(lab)]
    run(lab)


def test_an_image_that_differs_after_its_build_is_not_used(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["the image"] = shown(lab, dockerfile="older")
    with pytest.raises(StepFailed, match=r"just built differs.*look at image/Dockerfile"):
        run(lab)


def test_a24_a_build_that_ends_well_and_leaves_no_image_is_told_with_what_may_keep_it(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    host.answers["the image"] = said(exit=1, stderr="Error: No such image: x")
    with pytest.raises(StepFailed, match=r"not there \(Error: No such image: x\); unset BUILDX_BUILDER"):
        run(lab)


def test_an_image_without_an_id_could_not_be_told_from_another(tmp_path: Path) -> None:
    """Step 4 knows by the id whether a sandbox was made from an older image."""
    lab, host = step(tmp_path)
    host.answers["the image"] = said(shown(lab).stdout.replace("Id", "ID"))
    with pytest.raises(StepFailed, match="must show the image's Id"):
        run(lab)


def test_a_recipe_that_cannot_be_read_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    lab, host = step(tmp_path)
    lab.options = replace(lab.options, repository=tmp_path)
    with pytest.raises(StepFailed, match=r"image/Dockerfile cannot be read \(ENOENT\)"):
        run(lab)
    assert host.labels == []
    assert "dockerfile=<digest of image/Dockerfile>" in " ".join(image.build(lab).argv)


def test_outside_the_selection_nothing_is_built(tmp_path: Path) -> None:
    lab, host = step(tmp_path, from_step=4)
    host.answers["the image"] = said(exit=1, stderr="No such image")
    with pytest.raises(StepFailed, match="run step 1 first"):
        run(lab)
    assert host.ran("build") == 0


@pytest.mark.parametrize(
    ("measured", "named"),
    [
        ("2.1.283 (Claude Code)\n---\n" + HELP, "holds Claude Code 2.1.283, wanted 2.1.284"),
        ("sh: claude: not found\n---\n" + HELP, "could not be read"),
        ("", "could not be read"),
        ("2.1.284\n---\n" + HELP, "could not be read"),
        ("2.1.284 (Claude Code)\n2.1.285 (Claude Code)\n---\n" + HELP, "could not be read"),
        ("\x00\ufffd" * 400, "could not be read"),
        ("2.1.284 (Claude Code)\n---\n", "lists no --settings, --dangerously-skip-perm"),
        (said(MEASURED, exit=1), "must run in the image"),
        (said("2.1.284 (Claude Code)\n", exit=1, stderr="claude: broken\n"), "saw claude: broken"),
        (said(exit=255, stderr="exec /usr/bin/sh: exec format error\n"), "saw exec /usr/bin/sh: exec format error"),
        (said(exit=None, timed_out=True), "saw no end within its deadline"),
        (MEASURED.replace("--settings", "--settings-file"), "lists no --settings; pin"),
        (MEASURED.replace("--dangerously", "--allow-dangerously"), "lists no --dangerously-skip-permissions; pin"),
        (MEASURED.replace(image.NO_FLAG, "--mcp-config"), "knows no --mcp-config; pin"),
        (MEASURED.partition("error:")[0] + "Welcome\n", f"must refuse {image.NO_FLAG} by name, saw .*Welcome; pin"),
    ],
)
def test_what_the_image_really_holds_decides(tmp_path: Path, measured: str | Ran, named: str) -> None:
    lab, _ = step(tmp_path, measured=measured)
    with pytest.raises(StepFailed, match=named):
        run(lab)


def test_a_notice_before_the_version_does_not_matter(tmp_path: Path) -> None:
    lab, _ = step(tmp_path, measured="a notice\n" + MEASURED)
    run(lab)
    assert lab.run.facts["claude_code"] == "2.1.284"


def test_the_digest_follows_the_dockerfile(tmp_path: Path) -> None:
    lab, _ = step(tmp_path)
    other = tmp_path / "checkout"
    (other / "image").mkdir(parents=True)
    (other / "image" / "Dockerfile").write_text("FROM scratch\n")
    changed = replace(lab, options=replace(lab.options, repository=other))
    assert image.labels(lab) != image.labels(changed)
