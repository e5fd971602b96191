"""`docker`: build, image inspect, images, run, ps, inspect, logs, start, stop, rm, version, info, context."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from .. import settings
from ..sabotage import runtime
from . import manage, run, show, template
from .errors import DockerError

Words = list[str]


def version(words: Words) -> int:
    number = f"{settings.current().docker}-rehearsal"
    data = {
        "Client": {"Version": number, "ApiVersion": "1.52", "Os": "linux", "Arch": "amd64", "Context": "default"},
        "Server": {"Version": number, "ApiVersion": "1.52", "Os": "linux", "Arch": "amd64"},
    }
    return show.formatted(words, data, f"Client:\n Version: {number}\n\nServer:\n Version: {number}")


def info(words: Words) -> int:
    data = {
        "ServerVersion": f"{settings.current().docker}-rehearsal",
        "Name": "amap-rehearsal",
        "Driver": "rehearsal",
        "SecurityOptions": [],
        "OperatingSystem": settings.REHEARSAL,
    }
    return show.formatted(words, data, "\n".join(f"{name}: {value}" for name, value in data.items()))


def context(words: Words) -> int:
    if words[:1] == ["show"]:
        print("default")
        return 0
    if words[:1] == ["inspect"]:
        data = {"Name": "default", "Endpoints": {"docker": {"Host": "unix:///var/run/docker.sock"}}}
        return show.formatted(words[1:], data, "default")
    raise DockerError(f"docker: unknown command: docker context {' '.join(words)}", 1)


COMMANDS: dict[str, Callable[[Words], int]] = {
    "build": run.build,
    "buildx": run.buildx,
    "run": run.run,
    "ps": show.ps,
    "inspect": show.inspect,
    "image": show.image,
    "images": show.images,
    "container": show.container,
    "logs": show.logs,
    "start": manage.start,
    "stop": manage.stop,
    "restart": manage.restart,
    "rm": manage.remove,
    "version": version,
    "info": info,
    "context": context,
}


def main(argv: Words) -> int:
    words = list(argv)
    while words and words[0] in ("-c", "--context", "-H", "--host", "-l", "--log-level"):
        words = words[2:]
    if words[:1] in (["--version"], ["-v"]):
        print(f"Docker version {settings.current().docker}-rehearsal, build {settings.REHEARSAL}")
        return 0
    if not words or words[0] in ("--help", "-h", "help"):
        print("Usage:  docker [OPTIONS] COMMAND\n\nCommands:\n" + "".join(f"  {name}\n" for name in COMMANDS), end="")
        return 0
    if words[0] not in COMMANDS:
        print(f"docker: unknown command: docker {words[0]}\n\nRun 'docker --help'", file=sys.stderr)
        return 1
    try:
        return runtime.guard(words, lambda: COMMANDS[words[0]](words[1:]))
    except (DockerError, template.TemplateError) as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return getattr(error, "code", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
