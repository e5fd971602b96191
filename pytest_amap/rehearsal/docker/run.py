"""`docker build` and `docker run`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .. import containers
from ..boxes.start import StartFailed
from ..images import build as builder
from ..images import library
from ..images.dockerfile import DockerfileError
from . import flags
from .errors import DockerError


def build(words: list[str]) -> int:
    found = flags.read(
        words,
        "build-arg label t/tag f/file network progress platform target iidfile",
        "q/quiet no-cache pull force-rm rm load",
    )
    if len(found.words) != 1:
        raise DockerError("ERROR: docker: 'docker build' requires 1 argument", 1)
    context = Path(found.words[0])
    recipe = Path(found.last("file")) if found.has("file") else context / "Dockerfile"
    if not context.is_dir():
        raise DockerError(f"ERROR: unable to prepare context: path {str(context)!r} not found", 1)
    if not recipe.is_file():
        raise DockerError(f"ERROR: failed to read dockerfile: open {recipe}: no such file or directory", 1)
    arguments, labels = _pairs(found.all("build-arg")), _pairs(found.all("label"))
    try:
        image = builder.build(context, recipe, arguments, labels, found.all("tag"))
    except (DockerfileError, StartFailed) as error:
        raise DockerError(f"ERROR: failed to build: failed to solve: {error}", 1) from None
    if found.has("quiet"):
        print(image.id)
    else:
        print(f"#done writing image {image.id}", file=sys.stderr)
    if found.has("iidfile"):
        Path(found.last("iidfile")).write_text(image.id)
    return 0


def buildx(words: list[str]) -> int:
    if words[:1] == ["build"]:
        return build(words[1:])
    raise DockerError(f"docker: unknown command: docker buildx {' '.join(words)}", 1)


def run(words: list[str]) -> int:
    found = flags.read(
        words,
        "name restart network u/user e/env v/volume w/workdir entrypoint l/label platform pull h/hostname stop-timeout",
        "d/detach rm i/interactive t/tty init read-only",
        stop_at_word=True,
    )
    if not found.words:
        raise DockerError("docker: 'docker run' requires at least 1 argument", 125)
    image, *command = found.words
    wish = containers.Wish(
        image=image,
        command=tuple(command),
        name=found.last("name"),
        user=found.last("user"),
        workdir=found.last("workdir"),
        entrypoint=found.last("entrypoint") or None,
        environment=_pairs(found.all("env")),
        labels=_pairs(found.all("label")),
        binds=tuple(found.all("volume")),
        network=found.last("network", "bridge"),
        restart=found.last("restart", "no"),
        remove=found.has("rm"),
    )
    try:
        record = containers.create(wish)
    except library.NoSuchImage as error:
        raise DockerError(
            f"Unable to find image '{error}' locally\ndocker: Error response from daemon: pull access denied for "
            f"{image}, repository does not exist or may require 'docker login'\n\nRun 'docker run --help'",
            125,
        ) from None
    except containers.NameTaken as taken:
        raise DockerError(
            f'docker: Error response from daemon: Conflict. The container name "/{wish.name}" is already in use by '
            f'container "{taken}". You have to remove (or rename) that container to be able to reuse that name.',
            125,
        ) from None
    try:
        if not found.has("detach"):
            return containers.attached(record)
        containers.detached(record)
    except StartFailed as error:
        shutil.rmtree(containers.directory(record["id"]), ignore_errors=True)
        text = f"docker: Error response from daemon: failed to create task for container: {error}"
        raise DockerError(text, 125) from None
    print(record["id"])
    return 0


def _pairs(words: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}
