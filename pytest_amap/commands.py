"""Commands as data: dry run and run use the same builders, so they cannot diverge. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

DETACH = "\x10\x11"
"""Ctrl-P Ctrl-Q (OpenShell docs/how-it-works/sandboxes/overview.mdx:263-272)."""
SCREEN = 30.0
"""Seconds to show a terminal and to detach from it."""


@dataclass(frozen=True)
class Deadlines:
    """How long, in seconds, each kind of command or wait may take; all from facts of live runs."""

    command: float = 300
    build: float = 3600
    create: float = 900
    exec: float = 120
    ready: float = 600
    phase: float = 300
    roster: float = 180
    delivery: float = 900
    reply: float = 1800
    log: float = 60


@dataclass(frozen=True)
class Command:
    """One command: argv, what it is for, its deadline in seconds, and when it runs ("" = always).

    `with_key` is true for `sandbox create` alone: no other command sees the API key. `keys` are typed, a
    moment after its first output, on a terminal of the command's own; without any it has none.
    """

    argv: tuple[str, ...]
    label: str
    timeout: float
    with_key: bool = False
    when: str = ""
    env: tuple[tuple[str, str], ...] = ()
    keys: str = ""

    def only(self, when: str) -> Command:
        return replace(self, when=when)

    def shown(self) -> str:
        """As a person would type it; long in-sandbox programs stay whole, so that it can be copied."""
        return shlex.join((*(f"{name}={value}" for name, value in self.env), *self.argv))


@dataclass(frozen=True)
class Look:
    """One host file or directory that is read, for the dry run's plan."""

    path: str
    label: str
    when: str = ""


@dataclass(frozen=True)
class InProcess:
    """What the suite does itself, without a program; `argv` is the same by hand."""

    argv: tuple[str, ...]
    label: str
    when: str = ""

    def shown(self) -> str:
        return shlex.join(self.argv)


Planned = Command | Look | InProcess


@dataclass(frozen=True)
class Commands:
    """Builders of every command of the suite, with this run's names and deadlines.

    The flags are OpenShell v0.1.2's (crates/openshell-cli/src/main.rs:466-475 for --workspace, 1594-1727 for
    the sandbox commands, 917-1161 for providers). --workspace is always given, so that no
    ambient OPENSHELL_WORKSPACE moves a command.
    """

    openshell: str = "openshell"
    gateway: str = "openshell-gateway"
    docker: str = "docker"
    workspace: str = "default"
    deadlines: Deadlines = field(default_factory=Deadlines)
    exec_flags: tuple[str, ...] = ("--no-tty", "--no-login-shell")
    """Those of the two that `sandbox exec --help` lists."""

    def sandbox(self, *words: str, label: str, timeout: float = 0, **more: object) -> Command:
        argv = (self.openshell, "--workspace", self.workspace, *words)
        return Command(argv, label, timeout or self.deadlines.command, **more)  # type: ignore[arg-type]

    def plain(self, *words: str, label: str) -> Command:
        return Command((self.openshell, *words), label, self.deadlines.command)

    def runtime(self, *words: str, label: str, timeout: float = 0) -> Command:
        return Command((self.docker, *words), label, timeout or self.deadlines.command)

    def version(self) -> Command:
        return self.plain("--version", label="openshell version")

    def docker_version(self) -> Command:
        return self.runtime("version", "--format", "{{.Server.Version}}", label="docker version")

    def help_of(self, *words: str) -> Command:
        return self.plain(*words, "--help", label=f"{' '.join(words)} flags")

    def execute(
        self, name: str, argv: Sequence[str], *, label: str, env: Iterable[tuple[str, str]] = (), timeout: float = 0
    ) -> Command:
        """`sandbox exec`: its own limit is inside ours, so that the CLI can still say what happened."""
        limit = timeout or self.deadlines.exec
        flags = [word for key, value in env for word in ("--env", f"{key}={value}")]
        words = ("sandbox", "exec", "--name", name, *self.exec_flags, "--timeout", f"{limit:.0f}", *flags, "--", *argv)
        return self.sandbox(*words, label=label, timeout=limit + 60)

    def get(self, name: str) -> Command:
        return self.sandbox("sandbox", "get", name, "--output", "json", label=f"sandbox get {name}")

    def screen(self, name: str) -> Command:
        """What the main process's terminal shows; nothing but the detach keys is typed (main.rs:1730)."""
        return self.sandbox("sandbox", "connect", name, label=f"screen of {name}", timeout=SCREEN, keys=DETACH)

    def policy_of(self, name: str) -> Command:
        return self.sandbox("sandbox", "get", name, "--policy-only", label=f"policy of {name}")

    def list_all(self) -> Command:
        return self.plain("sandbox", "list", "--all-workspaces", "--names", label="sandboxes in every workspace")

    def stop(self, name: str) -> Command:
        return self.sandbox("sandbox", "stop", name, label=f"stop {name}", timeout=self.deadlines.phase + 60)

    def start(self, name: str) -> Command:
        return self.sandbox("sandbox", "start", name, label=f"start {name}", timeout=self.deadlines.phase + 60)

    def delete(self, name: str) -> Command:
        return self.sandbox("sandbox", "delete", name, label=f"delete {name}")

    def logs(self, name: str) -> Command:
        words = ("logs", name, "--source", "sandbox", "--level", "info", "-n", "2000")
        return self.sandbox(*words, label=f"log of {name}")

    def providers(self) -> Command:
        return self.sandbox("provider", "list", "-o", "json", label="providers")

    def profiles(self) -> Command:
        return self.sandbox("provider", "list-profiles", "-o", "json", label="provider profiles")

    def lint(self, path: str) -> Command:
        return self.sandbox("provider", "profile", "lint", "-f", path, label="lint the provider profile")

    def import_profile(self, path: str) -> Command:
        return self.sandbox("provider", "profile", "import", "-f", path, label="import the provider profile")

    def update_profile(self, profile: str, path: str) -> Command:
        words = ("provider", "profile", "update", profile, "-f", path)
        return self.sandbox(*words, label="update the provider profile")

    def containers_of(self, sandbox_id: str, prefix: str) -> Command:
        words = ("ps", "-aq", "--no-trunc", "--filter", f"label={prefix}/sandbox-id={sandbox_id}")
        return self.runtime(*words, label="containers of the sandbox")

    def context(self) -> Command:
        """Which engine the runtime's command speaks to; DOCKER_HOST counts in it."""
        words = ("context", "inspect", "--format", "{{.Name}} ({{.Endpoints.docker.Host}})")
        return self.runtime(*words, label="container context")

    def inspect(self, *ids: str, label: str = "inspect containers") -> Command:
        return self.runtime("inspect", *ids, label=label)


def unrecorded(label: str, argv: Iterable[str], timeout: float) -> Command:
    """A command of the host itself, neither openshell nor the container runtime."""
    return Command(tuple(argv), label, timeout)
