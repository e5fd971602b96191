"""`docker build`: every instruction is followed, every RUN really runs, in a box whose package managers are ours."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from ..boxes import start
from ..boxes.spec import BoxSpec, Mount
from . import library, tool
from .dockerfile import DockerfileError, Instruction, command, pairs, parse, substitute
from .library import Config, Image

_TOOLS = "/.rehearsal/bin"


class Build:
    """One build: the recipe's variables, the configuration so far, and the tree under construction."""

    def __init__(self, context: Path, arguments: dict[str, str], scratch: Path) -> None:
        self.context, self.arguments, self.scratch = context, arguments, scratch
        self.root = scratch / "root"
        self.config = Config()
        self.variables: dict[str, str] = {}
        self.based = False

    def values(self) -> dict[str, str]:
        return {**self.variables, **self.config.environment}

    def follow(self, instruction: Instruction) -> None:
        word, rest = instruction.word, instruction.rest
        if word == "ARG":
            name, equals, default = substitute(rest, self.values()).partition("=")
            if name in self.arguments or equals:
                self.variables[name] = self.arguments.get(name, default.strip("\"'"))
            return
        if word == "FROM":
            self.start_from(substitute(rest, self.variables))
            return
        if not self.based:
            raise DockerfileError("no build stage in current context")
        if word == "RUN":
            self.run(rest)
        elif word == "ENV":
            self.config.environment.update(pairs(rest, self.values()))
        elif word == "LABEL":
            self.config.labels.update(pairs(rest, self.values()))
        elif word == "USER":
            self.config.user = substitute(rest, self.values())
        elif word == "WORKDIR":
            self.config.workdir = os.path.normpath(os.path.join(self.config.workdir, substitute(rest, self.values())))
            self.place(self.config.workdir).mkdir(parents=True, exist_ok=True)
        elif word in ("COPY", "ADD"):
            self.copy(shlex.split(substitute(rest, self.values())))
        elif word == "ENTRYPOINT":
            self.config.entrypoint, self.config.command = command(rest), []
        elif word == "CMD":
            self.config.command = command(rest)

    def start_from(self, name: str) -> None:
        name = name.split(" ")[0]
        try:
            self.config = library.base(name, self.scratch)
        except library.NoSuchImage:
            raise DockerfileError(
                f"failed to resolve source metadata for docker.io/library/{name}: not found"
            ) from None
        self.variables, self.based = {}, True

    def place(self, path: str) -> Path:
        """Where an absolute path of the image lies in the tree; only what the image may own."""
        if path.startswith(("/usr/", "/bin", "/lib", "/sbin")) and not path.startswith("/usr/local"):
            raise DockerfileError(f"the rehearsal's images have the host's {path}: nothing can be put there")
        return self.root / path.lstrip("/")

    def copy(self, words: list[str]) -> None:
        *sources, target = [word for word in words if not word.startswith("--")]
        mode = next((word.partition("=")[2] for word in words if word.startswith("--chmod=")), None)
        into = os.path.normpath(os.path.join(self.config.workdir, target))
        for pattern in sources:
            found = sorted(self.context.glob(pattern.removeprefix("/").removeprefix("./") or "."))
            if not found:
                raise DockerfileError(f'failed to calculate checksum of ref: "/{pattern}": not found')
            for source in found:
                to = self.place(into)
                if source.is_dir():
                    skip = shutil.ignore_patterns("__pycache__", ".git")
                    shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True, ignore=skip)
                    continue
                if target.endswith("/") or to.is_dir() or len(found) + len(sources) > 2:
                    to = to / source.name
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, to)
                if mode:
                    to.chmod(int(mode, 8))

    def run(self, rest: str) -> None:
        argv = command(rest)
        environment = {"HOME": "/root", **self.values()}
        environment["PATH"] = f"{_TOOLS}:{environment['PATH']}"
        spec = BoxSpec(
            name="buildkitsandbox",
            directory=str(self.scratch),
            control=str(self.scratch / "control"),
            uid=0,
            gid=0,
            image_root=str(self.root),
            command=tuple(argv),
            workdir=self.config.workdir,
            environment=environment,
            mounts=(Mount(str(self.scratch / "tools"), "/.rehearsal", True),),
            writable_image=True,
        )
        with open(os.devnull) as nothing:
            code = start.attached(spec, (nothing.fileno(), 2, 2))
        if code:
            raise DockerfileError(f'process "{shlex.join(argv)}" did not complete successfully: exit code: {code}')


def build(context: Path, recipe: Path, arguments: dict[str, str], labels: dict[str, str], tags: list[str]) -> Image:
    """Build and keep an image. Raises DockerfileError; progress goes to stderr."""
    text = recipe.read_text()
    scratch = library.scratch_directory()
    try:
        _lay_out_tools(scratch / "tools")
        work = Build(context, arguments, scratch)
        instructions = parse(text)
        for number, instruction in enumerate(instructions, 1):
            print(f"#{number} {instruction.word} {instruction.rest.splitlines()[0][:100]}", file=sys.stderr, flush=True)
            work.follow(instruction)
        if not work.based:
            raise DockerfileError("no build stage in current context")
        work.config.labels.update(labels)
        for leftover in ("tools", "mnt"):
            shutil.rmtree(scratch / leftover, ignore_errors=True)
        identity = library.digest(text.encode(), repr(work.config).encode(), _content(work.root))
        return library.add(identity, [library.reference(tag) for tag in tags], work.config, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _content(root: Path) -> bytes:
    """Names and bytes of the whole tree: the same recipe over the same files is the same image."""
    parts = []
    for path in sorted(root.rglob("*")):
        parts.append(str(path.relative_to(root)).encode())
        if path.is_symlink():
            parts.append(os.readlink(path).encode())
        elif path.is_file():
            parts.append(path.read_bytes())
    return library.digest(*parts).encode()


def _lay_out_tools(directory: Path) -> None:
    (directory / "bin").mkdir(parents=True)
    (directory / "agent").mkdir()
    source = Path(tool.__file__).read_text()
    for name in tool.TOOLS:
        program = directory / "bin" / name
        program.write_text(source)
        program.chmod(0o755)
    library.install(library.AGENT / "claude.py", directory / "agent" / "claude")
