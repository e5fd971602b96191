"""`docker ps|inspect|images|image inspect|logs`."""

from __future__ import annotations

import json
import re
import sys
import time
from datetime import UTC, datetime
from typing import Any

from .. import containers
from ..images import library
from . import flags, objects, template
from .errors import DockerError, no_such_container, no_such_object


def formatted(words: list[str], data: dict[str, Any], plain: str) -> int:
    """Print `data` by --format, as JSON for `json`, or `plain`."""
    wanted = flags.read(words, "f/format", "").last("format")
    if wanted == "json":
        print(json.dumps(data))
    else:
        print(template.render(wanted, data) if wanted else plain)
    return 0


def inspect(words: list[str]) -> int:
    found = flags.read(words, "f/format type", "s/size")
    shown, missing = [], []
    for name in found.words:
        item = objects.find(name)
        if item is None and not found.has("type"):
            try:
                item = objects.image(library.find(name))
            except library.NoSuchImage:
                item = None
        if item is None:
            missing.append(name)
        else:
            shown.append(item)
    _print_objects(shown, found.last("format"))
    if missing:
        sys.stdout.flush()
        raise no_such_object(missing[0])
    return 0


def image(words: list[str]) -> int:
    if words[:1] in (["ls"], ["list"]):
        return images(words[1:])
    if words[:1] != ["inspect"]:
        raise DockerError(f"docker: unknown command: docker image {' '.join(words)}")
    found = flags.read(words[1:], "f/format", "")
    shown = []
    for name in found.words:
        try:
            shown.append(objects.image(library.find(name)))
        except library.NoSuchImage as error:
            _print_objects([], found.last("format"))
            sys.stdout.flush()
            raise DockerError(f"Error response from daemon: No such image: {error}") from None
    _print_objects(shown, found.last("format"))
    return 0


def _print_objects(shown: list[dict[str, Any]], wanted: str) -> None:
    if not wanted or wanted == "json":
        print(json.dumps(shown, indent=None if wanted else 4))
    else:
        for item in shown:
            print(template.render(wanted, item))


def images(words: list[str]) -> int:
    found = flags.read(words, "f/filter format", "q/quiet a/all no-trunc")
    rows = [["REPOSITORY", "TAG", "IMAGE ID", "CREATED"]]
    for item in library.everything():
        short = item.id.removeprefix("sha256:")[:12]
        for tag in item.tags or ("<none>:<none>",):
            name, _, version = tag.rpartition(":")
            rows.append([name, version, short, item.created[:19]])
    if found.has("quiet"):
        print("\n".join(row[2] for row in rows[1:]))
    else:
        _print_table(rows)
    return 0


def container(words: list[str]) -> int:
    known = {"ls": ps, "list": ps, "inspect": inspect, "logs": logs}
    if not words or words[0] not in known:
        raise DockerError(f"docker: unknown command: docker container {' '.join(words)}")
    return known[words[0]](words[1:])


def ps(words: list[str]) -> int:
    found = flags.read(words, "f/filter format n/last", "a/all q/quiet no-trunc l/latest s/size")
    filters = [text.partition("=") for text in found.all("filter")]
    everything = found.has("all") or any(name == "status" for name, _, _ in filters)
    rows = []
    for item in objects.everything():
        if (everything or item["State"]["Running"]) and _matches(item, filters):
            rows.append(_row(item, found.has("no-trunc")))
    wanted = found.last("format")
    if found.has("quiet"):
        print("".join(f"{row['ID']}\n" for row in rows), end="")
    elif wanted in ("", "table"):
        heads = ["CONTAINER ID", "IMAGE", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES"]
        keys = ["ID", "Image", "Command", "RunningFor", "Status", "Ports", "Names"]
        _print_table([heads, *([row[key] for key in keys] for row in rows)])
    elif wanted == "json":
        print("".join(json.dumps({k: v for k, v in row.items() if k != "Label"}) + "\n" for row in rows), end="")
    else:
        wanted = wanted.removeprefix("table ").replace("\\t", "\t").replace("\\n", "\n")
        print("".join(template.render(wanted, row) + "\n" for row in rows), end="")
    return 0


def _matches(item: dict[str, Any], filters: list[tuple[str, str, str]]) -> bool:
    by_name: dict[str, list[bool]] = {}
    for name, _, value in filters:
        by_name.setdefault(name, []).append(_matches_one(item, name, value))
    # Labels must all match; the values of any other filter are alternatives.
    return all(all(hits) if name == "label" else any(hits) for name, hits in by_name.items())


def _matches_one(item: dict[str, Any], name: str, value: str) -> bool:
    if name == "name":
        try:
            bare = item["Name"].removeprefix("/")
            return bool(re.search(value, bare) or re.search(value, item["Name"]))
        except re.error:
            return False
    if name == "label":
        key, equals, wanted = value.partition("=")
        labels = item["Config"]["Labels"] or {}
        return key in labels and (not equals or labels[key] == wanted)
    if name == "status":
        return item["State"]["Status"] == value
    if name == "id":
        return item["Id"].startswith(value)
    if name == "ancestor":
        return value in (item["Config"]["Image"], item["Image"])
    raise DockerError(f"Error response from daemon: invalid filter '{name}'")


def _row(item: dict[str, Any], whole: bool) -> dict[str, Any]:
    labels = item["Config"]["Labels"] or {}
    image_name = item["Config"]["Image"]
    if image_name.startswith("sha256:") and not whole:
        image_name = image_name.removeprefix("sha256:")[:12]
    state = item["State"]
    status = {
        "running": "Up",
        "restarting": f"Restarting ({state['ExitCode']})",
        "exited": f"Exited ({state['ExitCode']})",
        "created": "Created",
    }[state["Status"]]
    age = _ago(state["StartedAt"] if state["Running"] else item["Created"])
    return {
        "ID": item["Id"] if whole else item["Id"][:12],
        "Names": item["Name"].removeprefix("/"),
        "Image": image_name,
        "Command": json.dumps(" ".join([item["Path"], *item["Args"]])[:20]),
        "CreatedAt": item["Created"],
        "RunningFor": f"{_ago(item['Created'])} ago",
        "State": state["Status"],
        "Status": f"{status} {age}{'' if state['Running'] else ' ago'}".strip(),
        "Ports": "",
        "Labels": ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        "Label": lambda key: labels.get(key, ""),
        "Mounts": ",".join(mount["Source"] for mount in item["Mounts"]),
        "Networks": item["HostConfig"]["NetworkMode"],
        "Size": "0B",
    }


def _ago(moment: str) -> str:
    try:
        since = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return ""
    seconds = int((datetime.now(UTC) - since).total_seconds())
    return f"{seconds} seconds" if seconds < 120 else f"{seconds // 60} minutes"


def logs(words: list[str]) -> int:
    found = flags.read(words, "n/tail since until", "f/follow t/timestamps details")
    if len(found.words) != 1:
        raise DockerError("docker: 'docker logs' requires 1 argument")
    item = objects.find(found.words[0])
    if item is None:
        raise no_such_container(found.words[0])
    since = _moment(found.last("since"))
    lines = [line for line in containers.logs(item["Id"]) if line[0] >= since]
    if found.last("tail", "all") != "all":
        count = int(found.last("tail"))
        lines = lines[-count:] if count else []
    seen = 0
    while True:
        for moment, stream, text in lines[seen:]:
            stamp = f"{moment} " if found.has("timestamps") else ""
            print(f"{stamp}{text}", file=sys.stdout if stream == "stdout" else sys.stderr, flush=True)
        if not found.has("follow"):
            return 0
        seen = len(lines)
        time.sleep(0.1)
        lines = [line for line in containers.logs(item["Id"]) if line[0] >= since]


def _moment(text: str) -> str:
    """RFC 3339, seconds since 1970 or a duration like `10m`, as the log's own moments."""
    if not text:
        return ""
    duration = re.fullmatch(r"(\d+)([smh])", text)
    if duration:
        seconds = time.time() - int(duration[1]) * {"s": 1, "m": 60, "h": 3600}[duration[2]]
    elif re.fullmatch(r"\d+(\.\d+)?", text):
        seconds = float(text)
    else:
        return text
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
