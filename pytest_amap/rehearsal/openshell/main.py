"""The command table of `openshell`, and the way from argv to an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .. import settings
from ..sabotage import answers, host
from .arguments import Command, Option, read
from .errors import CliError, UsageError, box

_OUTPUT = Option("--output", "FORMAT", "-o", ("table", "yaml", "json"))
_NAME = Option("--name", "NAME", "-n")
_ENV = Option("--env", "KEY=VALUE")
_FILE = Option("--file", "FILE", "-f")

GLOBAL = (
    Option("--gateway", "NAME", "-g", variable="OPENSHELL_GATEWAY"),
    Option("--gateway-endpoint", "URL", variable="OPENSHELL_GATEWAY_ENDPOINT"),
    Option("--gateway-insecure"),
    Option("--workspace", "WORKSPACE", variable="OPENSHELL_WORKSPACE"),
    Option("--color", "WHEN", None, ("auto", "always", "never")),
    Option("--verbose", None, "-v"),
)

_CREATE = (
    Option("--name", "NAME"),
    Option("--from", "IMAGE"),
    Option("--policy", "FILE", variable="OPENSHELL_SANDBOX_POLICY"),
    Option("--provider", "NAME"),
    Option("--driver-config-json", "JSON"),
    _ENV,
    Option("--label", "KEY=VALUE"),
    Option("--tty", conflicts=("--no-tty",)),
    Option("--no-tty"),
    Option("--detach"),
    Option("--auto-providers", conflicts=("--no-auto-providers",)),
    Option("--no-auto-providers"),
    Option("--no-credential-warnings"),
    Option("--approval-mode", "MODE", None, ("manual", "auto")),
    _OUTPUT,
)
_RESTART = Option("--restart-policy", "POLICY", None, ("never", "on-failure", "always"))
_EXEC = (
    _NAME,
    Option("--workdir", "DIR"),
    Option("--timeout", "SECONDS"),
    Option("--tty", conflicts=("--no-tty",)),
    Option("--no-tty"),
    _ENV,
    Option("--no-login-shell"),
)
_LIST = (
    Option("--names", conflicts=("--output", "--ids")),
    Option("--ids", conflicts=("--output",)),
    Option("--all-workspaces"),
    Option("--selector", "KEY=VALUE"),
    Option("--page-size", "N"),
    Option("--page-token", "TOKEN"),
    _OUTPUT,
)
_LOGS = (
    Option("--lines", "LINES", "-n"),
    Option("--tail"),
    Option("--since", "DURATION"),
    Option("--source", "SOURCE", None, ("gateway", "sandbox", "all")),
    Option("--level", "LEVEL", None, ("error", "warn", "info", "debug", "trace")),
)
_ALIASES = {
    "sb": "sandbox",
    "gw": "gateway",
    "lg": "logs",
    "pol": "policy",
    "ws": "workspace",
    "profile": "provider profile",
}


def commands() -> tuple[Command, ...]:
    restart = (_RESTART,) if settings.current().version >= (0, 1, 3) else ()
    return (
        Command(("status",), "Show gateway status", "gateways.status", (_OUTPUT,)),
        Command(("gateway", "add"), "Register a gateway", "gateways.add",
                (Option("--name", "NAME"), Option("--local"), Option("--remote", "SSH")), ("<ENDPOINT>",)),
        Command(("gateway", "list"), "List registered gateways", "gateways.list_", (_OUTPUT,)),
        Command(("gateway", "info"), "Show what the gateway says of itself", "gateways.info", (_OUTPUT,)),
        Command(("gateway", "select"), "Set the active gateway", "gateways.select", (), ("<NAME>",)),
        Command(("sandbox", "create"), "Create a sandbox", "create.create", (*_CREATE, *restart), (), True),
        Command(("sandbox", "get"), "Show a sandbox", "sandbox.get",
                (Option("--policy-only", conflicts=("--output",)), _OUTPUT), ("<NAME>",)),
        Command(("sandbox", "list"), "List sandboxes", "sandbox.list_", _LIST),
        Command(("sandbox", "exec"), "Run a command in a sandbox", "sandbox.execute", _EXEC, (), True),
        Command(("sandbox", "connect"), "Attach to the main process", "sandbox.connect", (), ("<NAME>",)),
        Command(("sandbox", "stop"), "Stop a sandbox", "sandbox.stop", (), ("<NAME>",)),
        Command(("sandbox", "start"), "Start a sandbox", "sandbox.start", (), ("<NAME>",)),
        Command(("sandbox", "delete"), "Delete sandboxes", "sandbox.delete", (Option("--all"),), ("[NAME]...",)),
        Command(("logs",), "Show a sandbox's log", "sandbox.logs", _LOGS, ("<NAME>",)),
        Command(("policy", "get"), "Show a sandbox's policy", "policy.get",
                (Option("--full"), Option("--base", conflicts=("--full",)), _OUTPUT), ("<NAME>",)),
        Command(("provider", "list"), "List providers", "provider.list_", (_OUTPUT,)),
        Command(("provider", "get"), "Show a provider", "provider.get", (), ("<NAME>",)),
        Command(("provider", "create"), "Create a provider", "provider.create",
                (Option("--name", "NAME"), Option("--type", "TYPE"), Option("--credential", "KEY[=VALUE]"))),
        Command(("provider", "delete"), "Delete providers", "provider.delete", (), ("<NAME>...",)),
        Command(("provider", "list-profiles"), "List provider profiles", "provider.list_profiles", (_OUTPUT,)),
        Command(("provider", "profile", "lint"), "Check a profile", "provider.lint", (_FILE,)),
        Command(("provider", "profile", "import"), "Import a profile", "provider.import_", (_FILE, Option("--global"))),
        Command(("provider", "profile", "update"), "Update a profile", "provider.update",
                (_FILE, Option("--global")), ("<ID>",)),
        Command(("provider", "profile", "export"), "Export a profile", "provider.export", (_OUTPUT,), ("<ID>",)),
        Command(("provider", "profile", "delete"), "Delete profiles", "provider.delete_profile", (), ("<ID>...",)),
    )  # fmt: skip


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Global options that stand before the command, and everything from the command on."""
    valued = {name for option in GLOBAL if option.value for name in (option.flag, option.short) if name}
    before: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        before.append(rest.pop(0))
        if before[-1] in valued and rest:
            before.append(rest.pop(0))
    return before, rest


def find(words: list[str]) -> tuple[Command, list[str]]:
    if words and words[0] in _ALIASES:
        words = [*_ALIASES[words[0]].split(), *words[1:]]
    known = commands()
    for command in known:
        if tuple(words[: len(command.words)]) == command.words:
            return command, words[len(command.words) :]
    for depth in (2, 1):
        if any(command.words[:depth] == tuple(words[:depth]) and len(words) >= depth for command in known):
            inner = {command.words[depth] for command in known if command.words[:depth] == tuple(words[:depth])}
            if len(words) > depth and words[depth] not in ("-h", "--help"):
                raise UsageError(f"unrecognized subcommand '{words[depth]}'")
            raise Overview(f"Usage: openshell {' '.join(words[:depth])} <COMMAND>", sorted(inner))
    raise UsageError(f"unrecognized subcommand '{words[0]}'")


class Overview(Exception):
    """Help of a group of commands: its usage line and the words that may follow."""

    def __init__(self, usage: str, words: list[str]) -> None:
        super().__init__(usage)
        self.usage, self.words = usage, words

    def __str__(self) -> str:
        return f"{self.usage}\n\nCommands:\n" + "".join(f"  {word}\n" for word in self.words)


def main(argv: list[str]) -> int:
    usage = "Usage: openshell [OPTIONS] <COMMAND>"
    host.edit()
    before, rest = split(argv)
    if "--version" in before or "-V" in before:
        print(f"openshell {settings.version_text()}")
        return 0
    if not rest or "--help" in before or "-h" in before:
        print(Overview(usage, sorted({command.words[0] for command in commands()})), end="")
        return 0
    try:
        command, words = find(rest)
        usage = command.usage()
        own = words[: words.index("--")] if "--" in words else words
        if "--help" in own or "-h" in own:
            print(command.help(GLOBAL), end="")
            return 0
        arguments = read([*before, *words], command, GLOBAL)
        return answers.guard(command.words, arguments, lambda: command.load()(arguments))
    except Overview as overview:
        print(overview, end="")
        return 0
    except UsageError as error:
        print(f"error: {error}\n\n{usage}\n\nFor more information, try '--help'.", file=sys.stderr)
        return 2
    except CliError as error:
        sys.stdout.flush()
        sys.stderr.write(box(error))
        return error.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
