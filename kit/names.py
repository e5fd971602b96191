"""What a sandbox name, a fleet domain and a run-as pair may look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kit.errors import Refused, shown

LABEL_LIMIT = 19  # three names and two "--" must fit one DNS label of 63 characters
LABEL_RULE = f"1 to {LABEL_LIMIT} characters of a-z, 0-9 and single inner hyphens"
RESERVED_NAMES = frozenset({"probe", "amap-l1-probe"})
ID_LIMIT = 4294967294

_LABEL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DOMAIN_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")
_DECIMAL = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)


def check_label(value: object, where: str) -> str:
    """`value` when it is an OpenShell label (sandbox or workspace name); Refused names `where`."""
    if not isinstance(value, str):
        raise Refused(f"{where} must be a string, not {type(value).__name__}: write one OpenShell name")
    if len(value) > LABEL_LIMIT or _LABEL.fullmatch(value) is None:
        raise Refused(f"{where} is {shown(value)}, which is no OpenShell name: use {LABEL_RULE}")
    return value


def check_member(value: object, where: str) -> str:
    """`value` when it may name a fleet member: a label that no throwaway probe of the suite uses."""
    name = check_label(value, where)
    if name in RESERVED_NAMES:
        raise Refused(f"{where} is {shown(name)}, a name kept for a throwaway probe: rename that member")
    return name


def check_domain(value: object, where: str) -> str:
    """`value` when it is a lower-case DNS name: labels of 1 to 63, 253 in all, no trailing dot."""
    labels = value.split(".") if isinstance(value, str) else []
    if not labels or len(str(value)) > 253 or any(_DOMAIN_LABEL.fullmatch(label) is None for label in labels):
        raise Refused(
            f"{where} is {shown(value)}: write a lower-case domain such as agents.example.org, without a port"
        )
    return str(value)


def check_word(value: str, what: str) -> str:
    """`value` when it is one printable word: not empty, no white space, no control character."""
    if not value or not value.isprintable() or any(character.isspace() for character in value):
        raise Refused(f"{what} is {shown(value)}: give one word without white space or control characters")
    return value


def check_image(value: str) -> str:
    """`value` when it may be an image's name: no flag, and of the characters that a reference can have."""
    if _IMAGE.fullmatch(value) is None:
        raise Refused(f"--image is {shown(value)}, which is no image's name: give the tag of step 1")
    return value


@dataclass(frozen=True)
class RunAs:
    """The one uid and gid of the image's account, the router's container and every sandbox (D7)."""

    uid: int
    gid: int

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}"


def parse_run_as(text: str) -> RunAs:
    """`UID:GID` in plain decimals, each 1..4294967294; root and anything else is Refused."""
    parts = text.split(":")
    if len(parts) == 2 and "0" in parts:
        raise Refused(f"--run-as is {shown(text)}, which names root: give the uid:gid of an ordinary account")
    if len(parts) != 2 or any(_DECIMAL.fullmatch(part) is None or int(part) > ID_LIMIT for part in parts):
        raise Refused(
            f"--run-as is {shown(text)}: give UID:GID as two plain numbers from 1 to {ID_LIMIT}, "
            'as in "$(id -u):$(id -g)"'
        )
    return RunAs(*map(int, parts))


def check_caller(caller: RunAs) -> None:
    """Root is refused: whatever it writes, the sandboxes' uid could not use (D7)."""
    if caller.uid == 0 or caller.gid == 0:
        raise Refused(
            f"this process runs as {caller}, and root is refused: run it as the account the sandboxes will use"
        )
