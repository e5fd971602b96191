"""Which faults this world was asked to plant."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from . import layout, store


@functools.cache
def everything() -> frozenset[str]:
    return frozenset(store.load(layout.FAULTS) or ())


def among(names: Iterable[str]) -> list[str]:
    """The planted ones that a table has, in the table's own order."""
    return [name for name in names if name in everything()]
