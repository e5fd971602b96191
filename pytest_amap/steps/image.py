"""Step 1: the agent image, recognised by its labels and by the digest of the Dockerfile it was built from."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

import pytest

from kit.commands import MAIN
from pytest_amap.commands import Command, Planned
from pytest_amap.evidence import chain
from pytest_amap.failures import StepFailed
from pytest_amap.host import files
from pytest_amap.host.lab import Lab
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, builds, documents, shown, versions

LABEL = "amap-openshell"
FLAGS = ("--settings", "--dangerously-skip-permissions")
"""Those that the runbook wants to see in --help, which does not list all that Claude Code knows."""

NO_FLAG = "--amap-no-such-flag"
GIVEN = tuple(word if word.startswith("--") else "{}" for word in MAIN[1:])
"""The flags that a sandbox's create command hands to claude, their files left out."""

ANEW = "remove it (docker image rm) so that it is built anew"

ASK = shlex.join(("claude", *GIVEN, NO_FLAG))
MEASURE = f"claude --version && echo --- && claude --help && ! {ASK} 2>&1"
"""Claude Code refuses the first flag that it does not know, by name, and starts no session: NO_FLAG and no other."""


@pytest.fixture(scope="session")
def agent_image(prerequisites: Lab) -> str:
    """Step 1: the image with the pinned Claude Code and this account, built where it is missing or another."""
    lab = prerequisites
    if isinstance(digest := recipe(lab), Unreadable):
        raise StepFailed(digest.why)
    found = lab.host.run(inspect(lab))
    wanted = labels(lab)
    if wrong := differences(found, wanted):
        if not lab.options.acts_on(1):
            raise StepFailed(f"image {lab.options.image}: {wrong}; run step 1 first")
        lab.run.say(f"building image {lab.options.image}: {wrong}")
        built = lab.host.run(build(lab))
        if not built.ok:
            raise StepFailed(f"docker build must end with exit 0, saw {last_lines(built)}")
        found = lab.host.run(inspect(lab))
        if wrong := differences(found, wanted):
            remedy = (
                "look at image/Dockerfile"
                if found.ok
                else "unset BUILDX_BUILDER, whose builder may keep what it builds"
            )
            raise StepFailed(f"the image just built differs: {wrong}; {remedy}")
    else:
        lab.run.already["agent_image"] = "labels and Dockerfile are the wanted ones"
    measure(lab, found)
    return lab.options.image


def plan(lab: Lab) -> list[Planned]:
    return [
        inspect(lab),
        build(lab).only("unless the labels say that it is already so"),
        inspect(lab).only("after a build"),
        inside(lab, MEASURE, "Claude Code in the image"),
    ]


def inspect(lab: Lab) -> Command:
    return lab.commands.runtime("image", "inspect", lab.options.image, label="the image")


def recipe(lab: Lab) -> str | Unreadable:
    """The digest of the Dockerfile."""
    read = files.read(os.fspath(lab.options.repository / "image" / "Dockerfile"))
    if read.text is None:
        return Unreadable(f"image/Dockerfile cannot be read ({read.problem}); restore it from the checkout")
    return chain.digest(read.text.encode())


def labels(lab: Lab) -> dict[str, str]:
    digest = recipe(lab)
    return {
        f"{LABEL}.claude-code-version": lab.ground.claude_version or "<CLAUDE_CODE_VERSION>",
        f"{LABEL}.run-as": f"{os.getuid()}:{os.getgid()}",
        f"{LABEL}.dockerfile": "<digest of image/Dockerfile>" if isinstance(digest, Unreadable) else digest,
    }


def build(lab: Lab) -> Command:
    """The runbook's step 1, with the Dockerfile's digest as a label, so that a changed recipe is noticed."""
    wanted = labels(lab)
    arguments = {
        "CLAUDE_CODE_VERSION": wanted[f"{LABEL}.claude-code-version"],
        "SANDBOX_UID": str(os.getuid()),
        "SANDBOX_GID": str(os.getgid()),
    }
    given = [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    digest = f"{LABEL}.dockerfile={wanted[f'{LABEL}.dockerfile']}"
    words = ("build", *given, "--label", digest, "-t", lab.options.image, "image/")
    return lab.commands.runtime(*words, label="build the image", timeout=lab.options.deadlines.build)


def inside(lab: Lab, script: str, label: str) -> Command:
    """Run a shell line in a throwaway container of the image, without a network."""
    words = ("run", "--rm", "--network", "none", "--entrypoint", "sh", lab.options.image, "-c", script)
    return lab.commands.runtime(*words, label=label)


def differences(ran: Ran, wanted: dict[str, str]) -> str:
    """What keeps the image from being the wanted one; "" when nothing does."""
    if not ran.ok:
        return f"not there ({ran.said})"
    image = described(ran)
    if isinstance(image, Unreadable):
        return f"not known ({image.why})"
    found = image_labels(image)
    wrong = [
        f"{name} is {found.get(name, 'not set')}, wanted {value}"
        for name, value in wanted.items()
        if found.get(name) != value
    ]
    return "; ".join(wrong)


def described(ran: Ran) -> dict[str, Any] | Unreadable:
    """The one image in an answer of `docker image inspect`."""
    read = documents.value(ran.stdout)
    if isinstance(read, list) and len(read) == 1 and isinstance(read[0], dict):
        return read[0]
    return Unreadable(f"docker image inspect must show one image, saw {shown(ran.stdout.strip())}")


def image_labels(image: dict[str, Any]) -> dict[str, str]:
    """Docker leaves out what is empty, or shows it as null."""
    config = image.get("Config")
    found = config.get("Labels") if isinstance(config, dict) else None
    return found if isinstance(found, dict) else {}


def last_lines(ran: Ran) -> str:
    """The end of both streams: Docker's classic builder shows its steps on stdout and its own error on stderr."""
    if ran.timed_out:
        return "no end within its deadline"
    own, steps = (builds.said_at_the_end(stream) for stream in (ran.stderr, ran.stdout))
    lines = [*own[-1:], *steps[-2:]] if own and steps else [*own, *steps][-3:]
    return " / ".join(line[:200] for line in lines) or f"exit {ran.exit}"


def measure(lab: Lab, found: Ran) -> None:
    """The version and the flags that the create command needs, asked of the image itself."""
    identity = documents.words(described(found), "Id")
    if isinstance(identity, Unreadable):
        raise StepFailed(f"docker image inspect must show the image's Id: {identity.why}")
    ran = lab.host.run(inside(lab, MEASURE, "Claude Code in the image"))
    if not ran.ok:
        raise StepFailed(f"claude --version and claude --help must run in the image, saw {last_lines(ran)}; {ANEW}")
    said, _, answer = ran.stdout.partition("\n---\n")
    version = versions.claude(said)
    if isinstance(version, Unreadable):
        raise StepFailed(f"claude --version in the image could not be read ({version.why}); {ANEW}")
    if str(version) != lab.ground.claude_version:
        raise StepFailed(
            f"the image holds Claude Code {version}, wanted {lab.ground.claude_version}; "
            "set CLAUDE_CODE_VERSION to what you measured"
        )
    missing = [flag for flag in FLAGS if not re.search(rf"(?<![\w-]){flag}(?![\w-])", answer)]
    if missing:
        raise StepFailed(f"claude --help in the image lists no {', '.join(missing)}; pin a version that does")
    unknown = re.search(r"unknown option '([^']*)'", answer)
    if unknown is None:
        raise StepFailed(
            f"claude in the image must refuse {NO_FLAG} by name, saw {last_lines(ran)}; pin a version that does"
        )
    if unknown[1] != NO_FLAG:
        raise StepFailed(f"claude in the image knows no {unknown[1]}; pin a version that does")
    lab.run.facts |= {"claude_code": str(version), "image": f"{lab.options.image} {identity[0]}"}
