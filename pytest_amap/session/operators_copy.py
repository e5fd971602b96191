"""The operator's own copy of the report: replaced only while it is byte-equal to a draft of ours."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_amap.evidence.chain import digest

DRAWN = "drafts.sha256"
"""Below evidence/: the digest of every text that was put into the copy, one a line, also of one drawn again."""


def replace(root: Path, name: str, text: bytes) -> bool:
    """Put `text` into root/name, whole; False, and nothing written, where a person has edited it."""
    if edited(root, name):
        return False
    descriptor = os.open(root / DRAWN, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{digest(text)}\n")
    copy, part = root / name, root / f".{name}.part"
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as drawn:
        drawn.write(text)
        drawn.flush()
        os.fsync(drawn.fileno())
    part.replace(copy)
    return True


def edited(root: Path, name: str) -> bool:
    """Whether something stands there that is neither a sealed draft nor a text that was put there before."""
    copy = root / name
    if not os.path.lexists(copy):
        return False
    if copy.is_symlink() or not copy.is_file():
        return True
    content = copy.read_bytes()
    known = (root / DRAWN).read_text().split() if (root / DRAWN).is_file() else []
    drafts = (draft for draft in root.glob(f"runs/*/{name}") if draft.is_file())
    return digest(content) not in known and all(draft.read_bytes() != content for draft in drafts)
