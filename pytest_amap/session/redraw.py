"""--only-step 9: draw the newest run's report again from its results, without a run and without a host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kit.errors import Refused
from kit.home import check_home
from pytest_amap.catalogue import L1
from pytest_amap.evidence.recorded import RESULTS, EvidenceError, read_object
from pytest_amap.host import lock, survey
from pytest_amap.options import Options
from pytest_amap.report import earlier, markdown, places
from pytest_amap.results import RunResult
from pytest_amap.session import operators_copy
from pytest_amap.session.finish import REPORTS

PLAN = "step 9: draw the report of the newest run again from its results.json; no command is run, no run is opened"


def redraw(options: Options) -> Iterator[str]:
    """The lines to print; raises EvidenceError when there is nothing to draw or nowhere to put it."""
    if not options.home:
        raise EvidenceError("AMAP_OPENSHELL_HOME is not set: export it, or give --amap-home")
    try:
        home = check_home(options.home, [options.repository])
        if not home.path.is_dir():
            raise Refused(f"{home.path} does not exist: name the home of the run")
        held = lock.HomeLock(home.path, options.pid)
    except (Refused, lock.Held, OSError) as error:
        raise EvidenceError(f"{options.shown(str(error))}; nothing was drawn") from None
    try:
        newest = next(earlier.finished(home.evidence, L1), None)
        if newest is None:
            shown = options.shown(str(home.evidence))
            raise EvidenceError(
                f"{shown} holds no run with results: ask the checks there first, or name a run's home by --amap-home"
            )
        yield from put(home.evidence, newest, drawn(home.evidence, newest))
    except OSError as error:
        raise EvidenceError(f"cannot draw the report: {error.filename}: {error.strerror}") from None
    finally:
        held.close()


def drawn(evidence: Path, run: RunResult) -> bytes:
    """The draft's text, made by the writer that made the sealed one."""
    known = places.recorded(read_object(evidence / "runs" / run.run / RESULTS))
    return markdown.draft(places.named(run, known)).encode()


def put(evidence: Path, run: RunResult, text: bytes) -> Iterator[str]:
    """Compare with the sealed draft, which never changes, and bring the operator's copy up to date."""
    name = REPORTS[run.host]
    sealed = evidence / "runs" / run.run / name
    same = sealed.is_file() and sealed.read_bytes() == text
    yield f"the report of {run.host} run {run.run} was drawn again and {'is' if same else 'is not'} its sealed draft"
    if run.host != survey.LIVE:
        yield "a rehearsal has no operator's copy, so nothing was written"
    elif not run.complete:
        yield f"{name} is kept: that run did not ask every check"
    elif operators_copy.replace(evidence, name, text):
        yield f"{name} in the evidence folder holds it now"
    else:
        yield f"{name} in the evidence folder was edited and is kept"
