"""Faults in what the `openshell` command line answers."""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable

from .. import layout, planted, sandboxes
from ..openshell.arguments import Arguments
from ..openshell.errors import CliError, refused

Run = Callable[[], int]
Answer = Callable[[tuple[str, ...], Arguments, Run], int]

_PROBED = ("/opt/amap/lanes/inbox", "/opt/amap/lanes/peer", "mail.example.org")
_EXEC = ("sandbox", "exec")
_MARK = "AMAP-PROBE "


def guard(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
    """Run an `openshell` command, through the planted faults that concern it."""
    for name in planted.among(ANSWERS):
        run = functools.partial(ANSWERS[name], words, arguments, run)
    return run()


def _on(concerned: Callable[[tuple[str, ...], Arguments], bool], instead: Run) -> Answer:
    """`instead` in the place of the commands it concerns."""
    return lambda words, arguments, run: instead() if concerned(words, arguments) else run()


def _is(*command: str) -> Callable[[tuple[str, ...], Arguments], bool]:
    return lambda words, arguments: words == command


def _probing(words: tuple[str, ...], arguments: Arguments) -> bool:
    """A probe's exec: later than every gate, which asks for sessions alone."""
    text = "\n".join(arguments.trailing)
    return words == _EXEC and any(mark in text for mark in _PROBED) and "submit" not in text


def _of_probe(*command: str) -> Callable[[tuple[str, ...], Arguments], bool]:
    """Commands on the throwaway sandbox: its main process is a sleep, its name no member's."""

    def concerned(words: tuple[str, ...], arguments: Arguments) -> bool:
        names = {arguments.last("name"), *arguments.positionals}
        throwaway = {item["name"] for item in sandboxes.everything() if item["command"][:1] == ["sleep"]}
        return words == command and (arguments.trailing[:1] == ["sleep"] or bool(names & throwaway))

    return concerned


def _fails(message: str, *causes: str) -> Run:
    def instead() -> int:
        raise CliError(message, causes)

    return instead


def _refuses(status: str, message: str) -> Run:
    def instead() -> int:
        raise refused(status, message)

    return instead


def _says(text: str, code: int) -> Run:
    def instead() -> int:
        print(text, file=sys.stderr)
        return code

    return instead


def _flood() -> int:
    for _ in range(800):
        sys.stdout.write("x" * 65535 + "\n")
    return 0


def _hang() -> int:
    while True:
        signal.pause()


def _undelivered(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
    code = run()
    if not _probing(words, arguments):
        return code
    raise CliError("exec output delivery failed", ("the output streams stayed open for 30s after the command ended",))


def _filter(concerned: Callable[[tuple[str, ...], Arguments], bool], change: Callable[[str], str]) -> Answer:
    """The command runs; what it prints is changed."""

    def answer(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
        if not concerned(words, arguments):
            return run()
        code, printed = _printed(run)
        sys.stdout.write(change(printed))
        return code

    return answer


def _printed(run: Run) -> tuple[int, str]:
    """The exit code and what went to descriptor 1, which exec hands into the sandbox."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        try:
            os.dup2(file.fileno(), 1)
            code = run()
            sys.stdout.flush()
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return code, file.read().decode(errors="replace")


def _in_words_alone(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
    """Stop and start end well, and `get` tells of both; the main process goes on."""
    stopped = layout.DISK / "stopped-in-words"
    if words == ("sandbox", "stop"):
        stopped.touch()
        return 0
    if words == ("sandbox", "start"):
        stopped.unlink(missing_ok=True)
        return 0
    return (
        _filter(_is("sandbox", "get"), lambda text: text.replace('"Ready"', '"Stopped"'))(words, arguments, run)
        if stopped.exists()
        else run()
    )


def _made_anew(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
    """Since the first probe a sandbox's name is another one's."""
    since = layout.DISK / "made-anew"
    if _probing(words, arguments):
        since.touch()
    if not since.exists() or words != ("sandbox", "get"):
        return run()
    return _filter(_is(*words), lambda text: re.sub(r'("id": ")[^"]+', r"\g<1>0-another-sandbox", text))(
        words, arguments, run
    )


def _policy_listing(words: tuple[str, ...], arguments: Arguments) -> bool:
    return words == ("sandbox", "get") and arguments.has("policy-only")


def _plain_text(words: tuple[str, ...], arguments: Arguments) -> bool:
    """Real colours never were in JSON, and exec's output is the sandbox's own."""
    return words not in (_EXEC, ("sandbox", "connect"), ("logs",)) and arguments.last("output") != "json"


def _notice(words: tuple[str, ...], arguments: Arguments, run: Run) -> int:
    print("A newer openshell is available: see the release notes.", file=sys.stderr)
    return run()


def _flow_style(text: str) -> str:
    import yaml  # of all commands only this fault's needs it

    return yaml.safe_dump(yaml.safe_load(text), default_flow_style=True)


def _embolden(text: str) -> str:
    """As 0.0.x prints its headings and labels, also to a pipe."""
    return re.sub(r"(?m)^(\s*)([\w ]+:)", "\\1\x1b[1m\\2\x1b[22m", text)


ANSWERS: dict[str, Answer] = {
    "exec-silent": _on(_probing, lambda: 0),
    "exec-not-found": _on(_probing, _refuses("NotFound", "sandbox 'alpha' not found")),
    "exec-not-ready": _on(
        _probing, _fails("sandbox 'alpha' is not ready (phase: Provisioning); wait for it to reach Ready state")
    ),
    "exec-permission-denied": _on(_probing, _refuses("PermissionDenied", "Permission denied")),
    "exec-command-missing": _on(_probing, _says("/bin/bash: line 1: python3: command not found", 127)),
    "exec-not-executable": _on(_probing, _says("/bin/bash: line 1: /usr/bin/python3: Permission denied", 126)),
    "exec-flood": _on(_probing, _flood),
    "exec-hangs": _on(_probing, _hang),
    "exec-answer-cut": _filter(_probing, lambda text: text[: len(_MARK) + 9]),
    "exec-answers-twice": _filter(_probing, lambda text: f'{_MARK}{{"errno": "EROFS", "reached": false}}\n{text}'),
    "exec-answers-another": _filter(_probing, lambda text: re.sub(r'"asked": \["/opt[^"]*', '"asked": ["/usr', text)),
    "exec-delivery-failure": _undelivered,
    "status-garbled": _filter(_is("status"), lambda text: "Gateway: up\n"),
    "logs-failing": _on(_is("logs"), _fails("transport error", "error reading a body from connection")),
    "logs-empty": _filter(_is("logs"), lambda text: ""),
    "logs-garbled": _filter(_is("logs"), lambda text: re.sub(r"[\[\]]", "|", text)),
    "policy-in-flow-style": _filter(_policy_listing, _flow_style),
    "policy-unreadable": _filter(_policy_listing, lambda text: "{policy: [not: yaml\n"),
    "colours-in-pipes": _filter(_plain_text, _embolden),
    "notices-beside-json": _notice,
    "probe-refused-by-interceptor": _on(
        _of_probe("sandbox", "create"),
        _refuses("PermissionDenied", "amap-openshell interceptor: the sandbox is no member of this fleet"),
    ),
    "probe-not-created": _on(
        _of_probe("sandbox", "create"), _fails("sandbox entered error phase while provisioning: ContainerExited: 128")
    ),
    "probe-not-deleted": _on(_of_probe("sandbox", "delete"), _fails("transport error", "connection reset")),
    "restart-in-words-alone": _in_words_alone,
    "sandbox-made-anew": _made_anew,
    "start-fails": _on(_is("sandbox", "start"), _fails("timed out after 300s waiting for sandbox to reach Ready")),
    "listing-garbled": _filter(_is("sandbox", "list"), lambda text: text.replace("{", "<").replace("[", "<")),
}
