"""amap-spec's own validator, run as a program: foreign code never enters this process. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_amap import probes
from pytest_amap.commands import Command, unrecorded
from pytest_amap.observations import Ran
from pytest_amap.parsers import Unreadable, shown

PROGRAM = f"""
import errno, importlib.util, json, os, stat, sys
sys.dont_write_bytecode = True
CAP, STEP = 1 << 20, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW

class Unfit(Exception): pass

def load(checkout):
    spec = importlib.util.spec_from_file_location("validate", os.path.join(checkout, "fixtures", "validate.py"))
    module = sys.modules["validate"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def read(path):  # no link is followed anywhere on the way, since an agent may put one into its outbox
    *folders, last = path.strip("/").split("/")
    here = os.open("/", STEP)
    try:
        for folder in folders:
            below = os.open(folder, STEP, dir_fd=here)
            os.close(here)
            here = below
        opened = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)
    with os.fdopen(opened, "rb", closefd=True) as stream:
        info = os.fstat(opened)
        if not stat.S_ISREG(info.st_mode): raise Unfit("not a regular file")
        data = stream.read(CAP + 1)
    if len(data) > CAP: raise Unfit("larger than 1 MiB")
    return data, info.st_mtime

def check(module, name, path):
    try: text, written = read(path)
    except OSError as error: return [], errno.errorcode.get(error.errno, str(error)), None
    except Unfit as error: return [], str(error), None
    try: document = json.loads(text.decode("utf-8"))
    except ValueError as error: return ["$: not JSON in UTF-8 (%s)" % error], None, written
    except RecursionError: return [], "RecursionError: nested too deeply", written
    return (*judged(module, name, document), written)

def judged(module, name, document):
    try:
        errors = module.check_document(name, document)
        if not isinstance(errors, (list, tuple)): raise TypeError("%s is no list of errors" % type(errors).__name__)
        return [str(error)[:500] for error in errors], None
    except SystemExit: return [], "no schema"
    except Exception as error: return [], "%s: %s" % (type(error).__name__, str(error)[:300])

def invalid(checkout, prefix):
    yield prefix + "live.json", {{}}
    folder = os.path.join(checkout, "fixtures", "invalid")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if not (name.startswith(prefix) and name.endswith(".json")): continue
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as stream: document = json.load(stream)
        except (OSError, ValueError): continue
        yield name, document

def main(checkout, documents):
    try: module = load(checkout); schemas = {{str(p): str(s) for p, s in module.SCHEMA_FOR_PREFIX.items()}}
    except (Exception, SystemExit) as error:
        sys.exit("validate.py could not be loaded: %s: %s" % (type(error).__name__, error))
    found = []
    for name, path in json.loads(documents):
        errors, problem, written = check(module, name, path)
        found.append(dict(name=name, path=path, errors=errors, problem=problem, written=written))
    strict = [prefix for prefix in schemas if all(judged(module, *one)[0] for one in invalid(checkout, prefix))]
    print({probes.MARK!r} + json.dumps(dict(prefixes=schemas, strict=strict, documents=found)), flush=True)

main(*sys.argv[1:])
""".lstrip()

LONGEST = 60_000
"""Characters of one list of documents; the kernel takes 128 KiB in one argument."""

NOT_DOCUMENTS = frozenset({"ENOENT", "ELOOP", "not a regular file"})
"""Moved on between listing and reading, or no file at all: nothing that a connector reads."""


@dataclass(frozen=True)
class Document:
    """A document to check: its class by prefix, such as "peer-", and its absolute path."""

    prefix: str
    path: str

    @property
    def name(self) -> str:
        """What the validator picks the schema by (runbook step 8, Pass criterion 1)."""
        return f"{self.prefix}live.json"


@dataclass(frozen=True)
class Checked:
    """What the validator said of one document; `problem` is why it said nothing, or None.

    `written` is the file's own time, in seconds since the epoch.
    """

    name: str
    path: str
    errors: tuple[str, ...]
    problem: str | None
    written: float | None = None

    @property
    def counts(self) -> bool:
        return self.problem not in NOT_DOCUMENTS


@dataclass(frozen=True)
class Answer:
    """One run of the validator; `schemas` is its own table of prefix and schema file.

    `strict` are the prefixes of which it refused an empty object and the spec's own invalid fixtures, the control:
    where it takes one of those, its taking of a document says nothing.
    """

    schemas: dict[str, str]
    documents: tuple[Checked, ...]
    strict: frozenset[str]


def command(checkout: str, documents: str, timeout: float) -> Command:
    """`documents` is a JSON list of [name, path].

    python3 is isolated (-I), so that neither the working directory nor a user's packages stand in for its library.
    """
    argv = ("python3", "-I", "-c", PROGRAM, checkout, documents)
    return unrecorded("validate.py of the spec checkout", argv, timeout)


def batches(documents: Iterable[Document]) -> list[str]:
    """The documents as arguments of `command`; at least one, so that the table is known."""
    found: list[list[str]] = [[]]
    length = 0
    for document in documents:
        text = json.dumps([document.name, document.path])
        if length + len(text) > LONGEST and found[-1]:
            found.append([])
            length = 0
        found[-1].append(text)
        length += len(text) + 2
    return [f"[{', '.join(batch)}]" for batch in found]


def answer(ran: Ran) -> Answer | Unreadable:
    """The validator's answer, or why there is none."""
    said = probes.printed(ran)
    if isinstance(said, Unreadable):
        return Unreadable(f"validate.py gave no answer ({ran.said})")
    schemas, listed, strict = said.get("prefixes"), said.get("documents"), said.get("strict", [])
    if not isinstance(schemas, dict) or not isinstance(listed, list) or not isinstance(strict, list):
        return Unreadable(f"expected prefixes and documents of validate.py, saw {shown(said)}")
    checked = [_checked(item) for item in listed]
    if None in checked:
        return Unreadable(f"expected a name, a path and errors of each document, saw {shown(listed)}")
    return Answer(schemas, tuple(item for item in checked if item), frozenset(map(str, strict)))


def _checked(item: object) -> Checked | None:
    if not isinstance(item, dict):
        return None
    name, path, errors, problem = (item.get(key) for key in ("name", "path", "errors", "problem"))
    if not isinstance(name, str) or not isinstance(path, str) or not isinstance(problem, (str, type(None))):
        return None
    if not isinstance(errors, list) or not all(isinstance(error, str) for error in errors):
        return None
    written = item.get("written")
    return Checked(name, path, tuple(errors), problem, written if isinstance(written, float) else None)
