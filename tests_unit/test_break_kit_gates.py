"""Step 0's gates by evidence: what the tools list and say, not what a name or a number promises."""

from __future__ import annotations

import ctypes
import errno
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_lab import small_lab

from pytest_amap.commands import Command
from pytest_amap.failures import StepRefused
from pytest_amap.host import survey
from pytest_amap.observations import Ran
from pytest_amap.steps import prerequisites

DOCKER = "Client: Docker Engine - Community\n Version: 29.8.1\n\nServer: Docker Engine - Community\n"
NEEDED = {
    "create": (
        *("--name", "--from", "--provider", "--auto-providers", "--policy", "--driver-config-json", "--env"),
        *("--detach", "--tty"),
    ),
    "exec": ("--name", "--timeout", "--env"),
}
BARE = {verb: "".join(f"      {flag} <VALUE>\n" for flag in flags) for verb, flags in NEEDED.items()}
CREATE = f"{BARE['create']}      --label <LABEL>\n      --restart-policy <POLICY>\n"
EXEC = f"{BARE['exec']}      --no-tty\n      --no-login-shell\n"


def ran(stdout: str, exit: int = 0) -> Ran:
    return Ran((), exit, stdout, "", False, "", "", 0.0)


def ask(
    tmp_path: Path,
    *,
    create: Ran | None = None,
    execute: str = EXEC,
    runtime: str = DOCKER,
    restart_policy: bool = False,
) -> tuple[str, str]:
    def help_text(command: Command) -> Ran:
        return create or ran(CREATE) if "create" in command.argv else ran(execute)

    answers = {
        "openshell version": lambda command: ran("openshell 0.1.10\n"),
        "docker version": lambda command: ran("29.8.1\n"),
        "container runtime": lambda command: ran(runtime),
        "sandbox": help_text,
    }
    lab = small_lab(tmp_path, answers, restart_policy=restart_policy)
    lab.run.kind = "live"
    return prerequisites.ask_versions(lab)


@pytest.mark.parametrize(
    "create",
    [
        pytest.param(ran(CREATE.replace("restart-policy", "restart")), id="not-listed"),
        pytest.param(ran(CREATE.replace("--restart-policy", "--no-restart-policy")), id="part-of-another-flag"),
        pytest.param(ran("", exit=1), id="no-help"),
    ],
)
def test_a_restart_policy_that_create_does_not_list_is_refused_before_anything_is_made(
    tmp_path: Path, create: Ran
) -> None:
    with pytest.raises(StepRefused, match="lists no --restart-policy"):
        ask(tmp_path, create=create, restart_policy=True)


def test_nobody_asked_for_a_restart_policy(tmp_path: Path) -> None:
    assert ask(tmp_path, create=ran(BARE["create"])) == ("openshell 0.1.10", "29.8.1")


def test_a_restart_policy_that_is_listed_is_used(tmp_path: Path) -> None:
    assert ask(tmp_path, restart_policy=True) == ("openshell 0.1.10", "29.8.1")


@pytest.mark.parametrize(("verb", "flag"), [(verb, flag) for verb, flags in NEEDED.items() for flag in flags])
def test_a_flag_that_the_suite_gives_and_help_does_not_list_is_refused_by_name(
    tmp_path: Path, verb: str, flag: str
) -> None:
    texts = {"create": CREATE, "exec": EXEC}
    texts[verb] = texts[verb].replace(f"{flag} ", f"{flag}-other ")
    with pytest.raises(StepRefused, match=rf"sandbox {verb} --help' must list .* saw no {flag}; install"):
        ask(tmp_path, create=ran(texts["create"]), execute=texts["exec"])


def test_flags_are_those_of_the_commands_themselves(tmp_path: Path) -> None:
    assert prerequisites.needed(small_lab(tmp_path, {})) == NEEDED


def test_colours_hide_no_flag(tmp_path: Path) -> None:
    coloured = ran(CREATE.replace("--", "\x1b[1m--").replace(" <", "\x1b[0m <"))
    assert ask(tmp_path, create=coloured, restart_policy=True) == ("openshell 0.1.10", "29.8.1")


@pytest.mark.parametrize(
    "runtime",
    [
        pytest.param("Client: Podman Engine\nVersion: 4.9.3\n", id="podman-docker"),
        pytest.param(DOCKER.replace("Server: Docker Engine - Community", "Server: Podman Engine"), id="its-socket"),
    ],
)
def test_podman_at_either_end_of_docker_is_refused(tmp_path: Path, runtime: str) -> None:
    with pytest.raises(StepRefused, match="is Podman"):
        ask(tmp_path, runtime=runtime)


def test_both_ends_of_the_runtime_are_asked(tmp_path: Path) -> None:
    lab = small_lab(tmp_path, {})
    assert prerequisites.version_commands(lab)[-1].argv == ("docker", "version")


@pytest.mark.parametrize(
    ("answer", "number", "abi"),
    [(4, 0, 4), (-1, errno.ENOSYS, 0), (-1, errno.EOPNOTSUPP, 0), (-1, errno.EPERM, None)],
)
def test_a_landlock_that_may_not_be_asked_is_not_one_that_is_absent(
    monkeypatch: pytest.MonkeyPatch, answer: int, number: int, abi: int | None
) -> None:
    class Call:
        restype: object = None

        def __call__(self, *words: object) -> int:
            ctypes.set_errno(number)
            return answer

    monkeypatch.setattr(survey.platform, "system", lambda: "Linux")
    monkeypatch.setattr(survey.ctypes, "CDLL", lambda *args, **more: SimpleNamespace(syscall=Call()))
    assert survey.landlock_abi() == abi
