"""Made-up delegations and rounds, for the judges of unknown_4 and unknown_5."""

from __future__ import annotations

import json

from request_samples import N1, N2, N3, outcome, placed, ran, read, result

from pytest_amap import probes
from pytest_amap.delegations import Delegation
from pytest_amap.observations import Ran, Read
from pytest_amap.rounds import LOCAL, REFUSE, Restart, Restore, Round

BY_SETTING = "receiver refuses cross-session messages: crossSessionInbound is not `accept` in this sandbox"
BY_APPROVAL = "held by the receiving sandbox."
SILENCE = "inferred: receiver accepted the frame and issued no negative receipt within 30s"


def answer(**found: object) -> Ran:
    return ran(probes.MARK + json.dumps(found) + "\n")


def history(notice: str, *outcomes: tuple[str, str]) -> str:
    lines = (outcome(notice, word, detail) for word, detail in outcomes)
    return placed(notice, "alpha", "beta", "00000001") + "".join(lines)


def replies(notice: str = "") -> str:
    return placed(N2, "beta", "alpha", "00000009", notice) if notice else ""


def delegation(*outcomes: tuple[str, str], reply: bool = True) -> Delegation:
    return Delegation(
        "alpha",
        "beta",
        request="00000001",
        notice=N1,
        receiver_audit=read(history(N1, *outcomes)),
        sender_audit=read(replies(N1 if reply else "")),
    )


ANSWERED = delegation(("delivered", SILENCE))
ROW = "claude\t-\t-\t7\t/tmp/cc-socks/7.sock\t/sandbox/.claude/sessions/7.ab.key"


def lists(since: str) -> Ran:
    """The lister's answer, of a main process that started then."""
    return answer(main=2, since=since, rows=[ROW])


STOPPED = ran(json.dumps({"id": "id-2", "name": "beta", "workspace": "default", "phase": "Stopped"}))
RESTARTED = Restart("", before=lists("700"), stop=ran(), stopped=STOPPED, start=ran(), ready=lists("900"))
STATE_ABSENT, STATE_OURS = answer(state="absent"), answer(state="ours")


def round_of(
    *outcomes: tuple[str, str],
    path: str = LOCAL,
    reply: bool = False,
    after: tuple[tuple[str, str], ...] = (("delivered", SILENCE),),
    kept: Ran = STATE_OURS,
    restore: Restore | None = None,
    problem: str = "",
) -> Round:
    """A round that went as it should, with these outcomes before and after the receiver was put back."""
    task = Delegation(
        "alpha",
        "beta",
        request="00000001",
        notice=N3,
        receiver_audit=read(history(N3, *outcomes)),
        sender_audit=read(replies(N3 if reply else "")),
    )
    end: Read | None = read(history(N3, *outcomes, *after))
    return Round(
        "beta",
        path,
        REFUSE,
        problem,
        state=STATE_ABSENT,
        put=answer(errno=None),
        restart=RESTARTED,
        kept=kept,
        replies=read(""),
        task=task,
        told=ran(json.dumps(result("accepted", "peer_routed", N3))),
        restore=restore or Restore(taken=STATE_ABSENT, restart=RESTARTED),
        end=end,
    )


REFUSING = round_of(("held", BY_SETTING))


def not_begun(problem: str, path: str = LOCAL) -> Round:
    return Round("beta", path, REFUSE, problem, state=answer(state="other"))
