"""Step 3: the kit's files once, and the provider profile imported once, updated when it differs, else left alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from scripted_lab import REPOSITORY, Answer, ScriptedHost, assert_as_planned, said, scripted_lab

from kit import profile
from kit.errors import Refused
from kit.home import PROFILE_ID
from pytest_amap.failures import StepFailed
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.steps import prepare

NODE, CLAUDE = "/usr/local/bin/node", "/usr/local/lib/claude/cli"
TEMPLATE = REPOSITORY / "providers" / f"{PROFILE_ID}.json"
IMPORT, UPDATE, LINT = "import the provider", "update the provider", "lint the provider"


def wanted() -> dict[str, Any]:
    return profile.render(profile.load(TEMPLATE), [NODE, CLAUDE])


def listing(*copies: dict[str, Any]) -> Ran:
    return said(json.dumps([{"id": "other"}, *copies]))


def copy(**changes: Any) -> dict[str, Any]:
    return wanted() | {"resource_version": 3, "source": "user", "scope": "workspace"} | changes


def providers(*found: dict[str, str], token: str = "") -> Ran:
    return said(json.dumps({"providers": list(found), "next_page_token": token}))


def step(tmp_path: Path, profiles: Answer, **options: Any) -> tuple[Lab, ScriptedHost]:
    answers: dict[str, Answer] = {
        "the image's binaries": said(f"node={NODE}\nclaude={CLAUDE}\n"),
        "providers": providers(),
        "provider profiles": profiles,
        LINT: said(),
        IMPORT: said(),
        UPDATE: said(),
    }
    lab, host = scripted_lab(tmp_path, answers, **options)
    lab.home.path.chmod(0o755)
    return lab, host


def run(lab: Lab) -> prepare.Profile:
    return prepare.provider_profile.__wrapped__(lab, "amap-openshell-agent")


def test_a_profile_that_is_not_listed_is_linted_and_imported_once(tmp_path: Path) -> None:
    lab, host = step(tmp_path, [listing(), listing(copy())])
    assert run(lab).binaries == (NODE, CLAUDE)
    assert [host.ran(label) for label in (LINT, IMPORT, UPDATE)] == [1, 1, 0]
    assert "imported" in lab.run.facts["profile"]
    assert json.loads(lab.home.profile.read_text())["binaries"] == [NODE, CLAUDE]
    assert_as_planned(lab, prepare.plan_profile, host.argvs)


def test_an_equal_copy_is_left_alone(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing(copy()))
    run(lab)
    assert [host.ran(label) for label in (LINT, IMPORT, UPDATE)] == [0, 0, 0]
    assert "equal to the file" in lab.run.facts["profile"]
    assert_as_planned(lab, prepare.plan_profile, host.argvs)


@pytest.mark.parametrize(
    "change",
    [
        {"binaries": [NODE]},
        {"endpoints": [wanted()["endpoints"][0] | {"tls": "skip"}]},
        {"endpoints": [wanted()["endpoints"][0] | {"port": 444}]},
        {"endpoints": [*wanted()["endpoints"], {"host": "mail.example.org", "port": 443}]},
        {"credentials": []},
    ],
    ids=["binaries", "tls", "port", "one more host", "credentials"],
)
def test_a_copy_that_differs_is_updated_with_its_version(tmp_path: Path, change: dict[str, Any]) -> None:
    lab, host = step(tmp_path, [listing(copy(**change)), listing(copy())])
    run(lab)
    assert [host.ran(label) for label in (LINT, IMPORT, UPDATE)] == [0, 0, 1]
    sent = json.loads(Path(prepare.update_file(lab)).read_text())
    assert sent["resource_version"] == 3
    assert "updated" in lab.run.facts["profile"]
    assert_as_planned(lab, prepare.plan_profile, host.argvs)


def test_an_update_follows_no_link_out_of_the_home(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing(copy(binaries=[NODE])))
    (tmp_path / "elsewhere").write_text("mine")
    lab.home.providers.mkdir(mode=0o755)
    Path(prepare.update_file(lab)).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="is a symlink"):
        run(lab)
    assert (tmp_path / "elsewhere").read_text() == "mine"
    assert host.ran(UPDATE) == 0


@pytest.mark.parametrize("scope", ["workspace", "", None])
def test_a_scope_that_is_not_stated_is_the_workspaces(tmp_path: Path, scope: str | None) -> None:
    lab, host = step(tmp_path, listing(copy(scope=scope)))
    run(lab)
    assert host.ran(UPDATE) == 0


@pytest.mark.parametrize("version", [0, None, "3", True])
def test_a_copy_without_a_version_is_not_updated(tmp_path: Path, version: object) -> None:
    lab, host = step(tmp_path, listing(copy(binaries=[NODE], resource_version=version)))
    with pytest.raises(Refused, match="resource_version"):
        run(lab)
    assert host.ran(UPDATE) == 0


REFUSALS = {
    "two copies": ({"provider profiles": listing(copy(), copy())}, "2 copies"),
    "another scope": ({"provider profiles": listing(copy(scope="global"))}, "scope global"),
    "a listing that fails": ({"provider profiles": said(exit=1, stderr="Error:   × gone")}, "gone"),
    "a listing that is no JSON": ({"provider profiles": said("NAME TYPE\n")}, "so nothing is imported"),
    "a provider of another type": (
        {"providers": providers({"id": "p1", "name": PROFILE_ID, "type": "anthropic"})},
        "has the type anthropic",
    ),
    "providers that cannot be read": ({"providers": said("{")}, "provider list could not be read"),
    "providers that cannot be asked for": ({"providers": said(exit=1, stderr="gone")}, "gone"),
    "more providers on another page": ({"providers": providers(token="t")}, "more pages than the one"),
    "an image without node": ({"the image's binaries": said(f"node=\nclaude={CLAUDE}\n")}, "build the image anew"),
    "an image that does not run": ({"the image's binaries": said(exit=125, stderr="no daemon")}, "no daemon"),
}


@pytest.mark.parametrize(("answers", "named"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_understood_imports_nothing(tmp_path: Path, answers: dict[str, Answer], named: str) -> None:
    lab, host = step(tmp_path, listing())
    host.answers |= answers
    with pytest.raises(StepFailed, match=named) as refused:
        run(lab)
    assert re.search(r"nothing is imported; \w|; build the image anew", str(refused.value))
    assert [host.ran(label) for label in (LINT, IMPORT, UPDATE)] == [0, 0, 0]


def test_a_provider_of_ours_is_no_obstacle(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing(copy()))
    host.answers["providers"] = providers({"id": "p1", "name": PROFILE_ID, "type": PROFILE_ID})
    run(lab)


def test_a_lint_that_fails_shows_every_line_and_imports_nothing(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing())
    host.answers[LINT] = said(exit=1, stderr="Error:   × 2 problems\n  │ endpoints[0]: no port\n  │ binaries: empty\n")
    with pytest.raises(StepFailed, match=r"2 problems.*no port.*binaries: empty"):
        run(lab)
    assert host.ran(IMPORT) == 0


def test_a_listing_that_the_cli_may_have_cut_shows_nothing_of_ours(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing(*({**copy(), "id": f"other-{number}"} for number in range(100))))
    with pytest.raises(StepFailed, match="no more than 100"):
        run(lab)
    assert host.ran(IMPORT) == 0


@pytest.mark.parametrize(("after", "named"), [([], "not listed"), ([copy(category="other")], "category")])
def test_after_an_import_the_listing_must_equal_the_file(tmp_path: Path, after: list[Any], named: str) -> None:
    lab, _ = step(tmp_path, [listing(), listing(*after)])
    with pytest.raises(StepFailed, match=f"after the import.*{named}"):
        run(lab)


def test_outside_the_selection_nothing_is_written_or_imported(tmp_path: Path) -> None:
    lab, host = step(tmp_path, listing(), from_step=4)
    with pytest.raises(StepFailed, match="run step 3 first"):
        run(lab)
    assert not lab.home.profile.exists()
    assert host.ran(IMPORT) == 0
