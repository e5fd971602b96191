"""YAML as a policy needs it: no alias, tag or duplicate key, no scalar of YAML 1.1 alone."""

from __future__ import annotations

import re
from typing import Any

import yaml

from . import Unreadable, shown

LIMIT = 256 * 1024
"""Characters that are read; OpenShell takes no policy of more."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"}


def document(text: str) -> Any:
    """The one YAML document that `text` is, or Unreadable.

    A plain scalar is a bool, null, decimal integer or text.
    """
    if len(text) > LIMIT:
        return Unreadable(f"expected at most {LIMIT} characters of YAML, saw {len(text)}")
    try:
        node = yaml.compose(text, Loader=_Loader)
        return _value(node) if node is not None else Unreadable("expected YAML, saw nothing")
    except RecursionError:
        return Unreadable("expected YAML, saw it nested too deeply to be read")
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        return Unreadable(f"expected YAML, saw a mistake: {shown(' '.join(str(error).split()))}")


class _Loader(yaml.BaseLoader):
    """Composes nodes, scalars unresolved: a tag that is not of the three was written by hand."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def _value(node: yaml.Node) -> Any:
    if node.tag not in _TAGS:
        raise yaml.YAMLError(f"the tag {node.tag}")
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    text: str = node.value
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return text
    return int(text) if _INTEGER.fullmatch(text) else _WORDS.get(text, text)


def _mapping(node: yaml.MappingNode) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, item in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.YAMLError("a key that is no word")
        if key.value in read:
            raise yaml.YAMLError(f"the key {key.value!r} twice")
        read[key.value] = _value(item)
    return read
