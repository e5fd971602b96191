"""Step 0's gates by evidence: what the tools list and say, not what a name or a number promises."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripted_lab import scripted_lab

from pytest_amap.catalogue import L1
from pytest_amap.commands import Command
from pytest_amap.failures import StepRefused
from pytest_amap.host import survey
from pytest_amap.observations import Ran
from pytest_amap.options import Options
from pytest_amap.session import plans
from pytest_amap.steps import flags, prerequisites
from pytest_amap.steps.flags import CREATE, EXEC, Words

DOCKER = "Client: Docker Engine - Community\n Version: 29.8.1\n\nServer: Docker Engine - Community\n"
GIVEN = {
    CREATE: (
        *("--name", "--from", "--provider", "--auto-providers", "--policy", "--driver-config-json", "--env"),
        *("--detach", "--tty"),
    ),
    EXEC: ("--name", "--no-tty", "--no-login-shell", "--timeout", "--env"),
    ("gateway", "info"): ("-o",),
    ("sandbox", "list"): ("--all-workspaces", "-o", "--page-token", "--names"),
    ("sandbox", "get"): ("--output", "--policy-only"),
    ("logs",): ("--source", "--level", "-n"),
    ("provider", "list-profiles"): ("-o",),
    ("provider", "profile", "lint"): ("-f",),
    ("provider", "profile", "import"): ("-f",),
    ("provider", "profile", "update"): ("-f",),
    ("provider", "list"): ("-o",),
}
WITHOUT = ("--no-tty", "--no-login-shell")
NEEDED = [(words, flag) for words, given in GIVEN.items() for flag in given if flag not in WITHOUT]
BARE = {words: "".join(f"  {flag} <VALUE>\n" for flag in given) for words, given in GIVEN.items()}
ALL_OF_CREATE = f"{BARE[CREATE]}  --label <LABEL>\n  --restart-policy <POLICY>\n"


def ran(stdout: str, exit: int = 0) -> Ran:
    return Ran((), exit, stdout, "", False, "", "", 0.0)


def ask(
    tmp_path: Path, *, listed: Mapping[Words, Ran] | None = None, runtime: str = DOCKER, restart_policy: bool = False
) -> tuple[str, str]:
    texts = {words: ran(text) for words, text in BARE.items()} | {CREATE: ran(ALL_OF_CREATE)} | dict(listed or {})

    def answer(command: Command) -> Ran:
        return texts[command.argv[1:-1]]

    answers = {
        "openshell version": lambda command: ran("openshell 0.1.10\n"),
        "docker version": lambda command: ran("29.8.1\n"),
        "container runtime": lambda command: ran(runtime),
        "": answer,
    }
    lab, _ = scripted_lab(tmp_path, answers, restart_policy=restart_policy)
    lab.run.kind = "live"
    return prerequisites.ask_versions(lab)


@pytest.mark.parametrize(
    "create",
    [
        pytest.param(ran(ALL_OF_CREATE.replace("restart-policy", "restart")), id="not-listed"),
        pytest.param(ran(ALL_OF_CREATE.replace("--restart-policy", "--no-restart-policy")), id="part-of-another-flag"),
        pytest.param(ran("", exit=1), id="no-help"),
    ],
)
def test_a_restart_policy_that_create_does_not_list_is_refused_before_anything_is_made(
    tmp_path: Path, create: Ran
) -> None:
    with pytest.raises(StepRefused, match="lists no --restart-policy"):
        ask(tmp_path, listed={CREATE: create}, restart_policy=True)


def test_nobody_asked_for_a_restart_policy(tmp_path: Path) -> None:
    assert ask(tmp_path, listed={CREATE: ran(BARE[CREATE])}) == ("openshell 0.1.10", "29.8.1")


def test_a_restart_policy_that_is_listed_is_used(tmp_path: Path) -> None:
    assert ask(tmp_path, restart_policy=True) == ("openshell 0.1.10", "29.8.1")


@pytest.mark.parametrize(("words", "flag"), NEEDED)
def test_a_flag_that_the_suite_gives_and_help_does_not_list_is_refused_by_name(
    tmp_path: Path, words: Words, flag: str
) -> None:
    other = ran(BARE[words].replace(f"{flag} ", f"{flag}-other "))
    with pytest.raises(StepRefused, match=rf"saw no {flag} in 'openshell {' '.join(words)} --help'; install"):
        ask(tmp_path, listed={words: other})


def test_all_that_is_not_listed_is_named_together(tmp_path: Path) -> None:
    with pytest.raises(StepRefused, match=r"no -n in 'openshell logs --help', no -o in 'openshell provider list "):
        ask(tmp_path, listed={("logs",): ran("  --source  --level"), ("provider", "list"): ran("none")})


def test_a_help_that_cannot_be_read_refuses_nothing(tmp_path: Path) -> None:
    assert ask(tmp_path, listed=dict.fromkeys(GIVEN, ran("", exit=1))) == ("openshell 0.1.10", "29.8.1")


def test_flags_are_those_of_the_commands_themselves(tmp_path: Path) -> None:
    assert flags.given(scripted_lab(tmp_path, {})[0]) == GIVEN


def test_no_planned_command_gives_a_flag_that_is_not_looked_up() -> None:
    book = plans.Book.of(Options(openshell="openshell"))
    planned = [one for step in plans.STEPS for one in book.step(step)]
    planned += [one for check in L1.ids for one in book.check(check)]
    for argv in (one.argv for one in planned if isinstance(one, Command) and one.argv[0] == "openshell"):
        words, given = flags.parted(argv)
        known = {"--help", "--version", flags.LABEL}.union(*(GIVEN[one] for one in GIVEN if words[: len(one)] == one))
        assert set(given) <= known, f"{' '.join(words)} is given {set(given) - known}"


def test_colours_hide_no_flag(tmp_path: Path) -> None:
    coloured = ran(ALL_OF_CREATE.replace("--", "\x1b[1m--").replace(" <", "\x1b[0m <"))
    assert ask(tmp_path, listed={CREATE: coloured}, restart_policy=True) == ("openshell 0.1.10", "29.8.1")


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
    lab, _ = scripted_lab(tmp_path, {})
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
