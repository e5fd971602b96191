"""The images on this host: by tag, by id, and the base images a recipe may start from."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import layout, store
from ..boxes.rootfs import INTERPRETER

AGENT = layout.ENGINE / "pytest_amap" / "rehearsal" / "agent"
SCRATCH = ".build-"
_PASSWD = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
_GROUP = "root:x:0:\nnogroup:x:65534:\n"


@dataclass
class Config:
    """What containers of an image start with."""

    user: str = ""
    workdir: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Image:
    """One image: `id` is `sha256:...`, `root` holds the files it adds, `created` is RFC 3339."""

    id: str
    tags: tuple[str, ...]
    created: str
    config: Config
    root: str


class NoSuchImage(Exception):
    """Nothing on this host answers to that reference."""


def reference(name: str) -> str:
    """A name without a tag means `latest`."""
    return name if ":" in name.rsplit("/", 1)[-1] or name.startswith("sha256:") else f"{name}:latest"


def everything() -> Iterator[Image]:
    for path in sorted(layout.IMAGES.glob("*/image.json")):
        record = store.load(path)
        if record is not None:
            yield _from_record(record)


def find(name: str) -> Image:
    wanted = reference(name)
    for image in everything():
        bare = image.id.removeprefix("sha256:")
        if wanted in image.tags or name == image.id or (len(name) >= 12 and bare.startswith(name)):
            return image
    raise NoSuchImage(wanted)


def root_of(identity: str) -> str:
    """Where the files of the image with this id lie."""
    return str(layout.IMAGES / identity.removeprefix("sha256:") / "root")


def add(identity: str, tags: list[str], config: Config, scratch: Path) -> Image:
    """Keep a built tree under `identity` (64 hex digits); its tags move here from older images."""
    home = layout.IMAGES / identity
    created = store.now()
    with store.locked():
        for image in everything():
            if set(image.tags) & set(tags):
                kept = [tag for tag in image.tags if tag not in tags]
                _save(Image(image.id, tuple(kept), image.created, image.config, image.root))
        shutil.rmtree(home, ignore_errors=True)
        scratch.rename(home)
        image = Image(f"sha256:{identity}", tuple(tags), created, config, root_of(identity))
        _save(image)
    return image


def base(name: str, scratch: Path) -> Config:
    """Fill `scratch`/root as the base image `name` has it; NoSuchImage when nobody here has one."""
    root = scratch / "root"
    family = name.split(":")[0].removeprefix("docker.io/").removeprefix("library/")
    if family not in ("node", "python", "debian", "ubuntu"):
        return _inherit(find(name), root)
    (root / "usr/local/bin").mkdir(parents=True)
    (root / "etc").mkdir()
    account = "node:x:1000:1000::/home/node:/bin/bash\n" if family == "node" else ""
    (root / "etc/passwd").write_text(_PASSWD + account)
    (root / "etc/group").write_text(_GROUP + ("node:x:1000:\n" if family == "node" else ""))
    (root / "usr/local/lib/rehearsal").mkdir(parents=True)
    if family == "node":
        interpreter = root / INTERPRETER.lstrip("/")
        interpreter.touch(0o755)
        install(AGENT / "node.py", root / "usr/local/bin/node")
    if family == "python":
        (root / "usr/local/bin/python3").symlink_to("/usr/bin/python3")
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    return Config(environment={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})


def install(source: Path, target: Path) -> None:
    """A program of the image: the stand-in's source, run by the image's own interpreter."""
    lines = source.read_text().splitlines(keepends=True)
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    target.write_text(f"#!{INTERPRETER}\n" + "".join(lines))
    target.chmod(0o755)


def scratch_directory() -> Path:
    return Path(tempfile.mkdtemp(prefix=SCRATCH, dir=layout.IMAGES))


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _inherit(image: Image, root: Path) -> Config:
    shutil.copytree(image.root, root, symlinks=True)
    return Config(**asdict(image.config))


def _save(image: Image) -> None:
    record: dict[str, Any] = {
        "id": image.id,
        "tags": list(image.tags),
        "created": image.created,
        "config": asdict(image.config),
    }
    store.save(layout.IMAGES / image.id.removeprefix("sha256:") / "image.json", record)


def _from_record(record: dict[str, Any]) -> Image:
    config = Config(**record["config"])
    return Image(record["id"], tuple(record["tags"]), record["created"], config, root_of(record["id"]))
