"""Step 3: the host's files, and this deployment's provider profile."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kit import files as kit_files
from kit import jsontext, prepare, profile
from kit.home import PROFILE_ID
from kit.names import RunAs
from pytest_amap.checks import unknown_6
from pytest_amap.commands import InProcess, Planned
from pytest_amap.evidence import chain
from pytest_amap.failures import StepFailed
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, cli, text
from pytest_amap.steps.image import inside

PATHS = 'printf "node=%s\\nclaude=%s\\n" "$(readlink -f "$(command -v node)")" "$(readlink -f "$(command -v claude)")"'
_PATH = re.compile(r"(node|claude)=(/[\x21-\x7e]+)")

LISTED = 100
"""How many profiles the CLI asks the gateway for; what comes after them is never shown."""

IDLE = "so nothing is imported"


@dataclass(frozen=True)
class Profile:
    """The provider profile in use: the image's real binaries, and what listing it after an import showed."""

    binaries: tuple[str, ...]


def kit(action: str, lab: Lab, *words: str) -> InProcess:
    """The kit's own command line for what a step does in process."""
    argv = ("amap", "kit", action, "--home", os.fspath(lab.home.path), *words, "--apply")
    return InProcess(argv, f"kit {action}, in process", "unless every path is present")


def plan_host(lab: Lab) -> list[Planned]:
    words = ["--fleet", os.fspath(lab.ground.fleet_file), "--run-as", f"{os.getuid()}:{os.getgid()}"]
    restart = ["--restart-policy"] if lab.options.restart_policy else []
    return [kit("prepare", lab, *words, "--image", lab.options.image, *restart)]


def plan_profile(lab: Lab) -> list[Planned]:
    path = os.fspath(lab.home.profile)
    differs = "if the listed copy differs"
    return [
        inside(lab, PATHS, "the image's binaries"),
        kit("profile", lab, "--binary", "<node path>", "--binary", "<claude path>"),
        lab.commands.profiles(),
        lab.commands.providers(),
        lab.commands.lint(path).only("unless it is listed already"),
        lab.commands.import_profile(path).only("unless it is listed already"),
        lab.commands.update_profile(PROFILE_ID, update_file(lab)).only(differs),
        lab.commands.profiles().only("after an import or an update"),
    ]


@pytest.fixture(scope="session")
def prepared_host(gateway: unknown_6.Seen, lab: Lab) -> Lab:
    """Step 3: payload, lanes, policies, create commands, fleet and fragment, written by the kit."""
    caller = RunAs(os.getuid(), os.getgid())
    with kit_files.locked(lab.home):
        plan = prepare.plan(
            lab.home,
            lab.ground.fleet_file,
            run_as=caller,
            caller=caller,
            image=lab.options.image,
            connector=lab.ground.siblings["connector"].path,
            examples=lab.options.repository / "examples",
            restart_policy=lab.options.restart_policy,
        )
        write(lab, "prepared_host", "kit prepare", plan)
    manifest = next(item.wanted.content for item in plan.items if item.wanted.path == lab.home.payload_manifest)
    lab.run.facts["payload"] = f"manifest sha256 {chain.digest(manifest or b'')}"
    return lab


def write(lab: Lab, fixture: str, label: str, plan: kit_files.Plan) -> None:
    """Apply a plan of the kit, or say that it is already so; what it found is recorded."""
    lab.host.note(label, "the kit, in process", {"lines": plan.lines(), "notes": list(plan.notes)})
    if plan.done:
        lab.run.already.setdefault(fixture, "every path is present")
        return
    lab.run.already.pop(fixture, None)
    number = next(step.number for step in lab.run.suite.steps if step.fixture == fixture)
    if not lab.options.acts_on(number):
        raise StepFailed(
            f"{label} would write {sum(i.state != 'present' for i in plan.items)} paths; run step {number} first"
        )
    kit_files.apply(plan)
    lab.host.note(f"{label} applied", "the kit, in process", {"lines": plan.lines(applied=True)})


@pytest.fixture(scope="session")
def provider_profile(prepared_host: Lab, agent_image: str) -> Profile:
    """Step 3: the profile with the image's real paths, imported once; a copy that differs is updated."""
    lab = prepared_host
    binaries = image_binaries(lab.host.run(inside(lab, PATHS, "the image's binaries")))
    template = lab.options.repository / "providers" / f"{PROFILE_ID}.json"
    with kit_files.locked(lab.home):
        write(lab, "provider_profile", "kit profile", profile.plan(lab.home, template, binaries))
    wanted = profile.render(profile.load(template), binaries)
    check_provider(lab)
    copies = listed(lab)
    lab.run.facts["profile"] = "listed before this run and equal to the file"
    if not copies or profile.same(wanted, copies[0]):
        bring(lab, wanted, copies)
    return Profile(tuple(binaries))


def bring(lab: Lab, wanted: dict[str, Any], copies: list[dict[str, Any]]) -> None:
    """Import it, or update the one copy that differs; then it must be listed once, and equal."""
    lab.run.already.pop("provider_profile", None)
    if not lab.options.acts_on(3):
        raise StepFailed("the gateway lists no equal copy of the provider profile; run step 3 first")
    path = os.fspath(lab.home.profile)
    if copies:
        write_update(lab, profile.with_resource_version(wanted, copies[0].get("resource_version")))
        must(lab.host.run(lab.commands.update_profile(PROFILE_ID, update_file(lab))), "the profile's update")
    else:
        must(lab.host.run(lab.commands.lint(path)), "the profile's lint")
        must(lab.host.run(lab.commands.import_profile(path)), "the profile's import")
    after = listed(lab)
    differences = profile.same(wanted, after[0]) if after else ["it is not listed"]
    if differences:
        raise StepFailed(
            f"after the {'update' if copies else 'import'} the listing must equal the file, "
            f"saw {'; '.join(differences)}"
        )
    did = "updated" if copies else "imported"
    lab.run.facts["profile"] = f"{did} by this run; the listing's fields equal the file, so a rerun does not update"


def update_file(lab: Lab) -> str:
    return os.fspath(lab.home.providers / f"{PROFILE_ID}.update.json")


def write_update(lab: Lab, document: dict[str, Any]) -> None:
    """By the kit's writer, which follows no link out of the home."""
    wanted = kit_files.document(Path(update_file(lab)), jsontext.render(document))
    with kit_files.locked(lab.home):
        kit_files.apply(kit_files.plan(lab.home, [wanted]))


def image_binaries(ran: Ran) -> list[str]:
    """node's and claude's real paths, each once; there is no default."""
    found = [match for line in ran.stdout.splitlines() if line.strip() and (match := _PATH.fullmatch(line.strip()))]
    names = [match[1] for match in found]
    if not ran.ok or sorted(names) != ["claude", "node"]:
        raise StepFailed(f"the image must name node's and claude's real paths, saw {ran.said}; build the image anew")
    return list(dict.fromkeys(match[2] for match in sorted(found, key=lambda m: m[1], reverse=True)))


def listed(lab: Lab) -> list[dict[str, Any]]:
    """The gateway's copies of our profile: at most one, in this workspace's scope."""
    ran = lab.host.run(lab.commands.profiles())
    found = ran.parsed(cli.profiles)
    if isinstance(found, Unreadable):
        raise StepFailed(f"provider list-profiles could not be read ({found.why}), {IDLE}; mend that and run it again")
    ours = [one for one in found if one.get("id") == PROFILE_ID]
    if len(found) >= LISTED and not ours:
        raise StepFailed(
            f"provider list-profiles shows {len(found)} profiles, {PROFILE_ID} not among them, and the CLI asks for "
            f"no more than {LISTED}, {IDLE}; delete profiles not in use"
        )
    if len(ours) > 1:
        raise StepFailed(
            f"the gateway lists {len(ours)} copies of {PROFILE_ID}, one is wanted, {IDLE}; delete the others yourself"
        )
    if ours and (ours[0].get("scope") or "workspace") != "workspace":
        raise StepFailed(
            f"{PROFILE_ID} is listed in the scope {ours[0]['scope']}, wanted workspace, {IDLE}; delete it yourself"
        )
    return ours


def check_provider(lab: Lab) -> None:
    """An older provider of that name would win over the profile, whatever its type and key."""
    ran = lab.host.run(lab.commands.providers())
    found = ran.parsed(cli.providers)
    if isinstance(found, Unreadable):
        raise StepFailed(f"provider list could not be read ({found.why}), {IDLE}; mend that and run it again")
    if found.next_page_token:
        raise StepFailed(f"provider list has more pages than the one read here, {IDLE}; delete providers not in use")
    for provider in found.providers:
        if provider.name == PROFILE_ID and provider.type != PROFILE_ID:
            raise StepFailed(f"a provider named {PROFILE_ID} has the type {provider.type}, {IDLE}; delete it yourself")


def must(ran: Ran, what: str) -> None:
    """Every line of a diagnostic matters: the useful text is rarely on the first."""
    if not ran.ok:
        said = " / ".join(line.strip() for line in text.lines(ran.stderr) if line.strip()) or ran.said
        raise StepFailed(f"{what} must succeed, saw {said}")
