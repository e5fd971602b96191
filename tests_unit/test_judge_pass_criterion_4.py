"""Pass criterion 4: what makes it PASS, FAIL and UNKNOWN; the log's own clock and words decide."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import judge_tables
from container_samples import sandbox
from receiver_samples import answer
from request_samples import AT, ran

from pytest_amap.checks.pass_criterion_4 import WINDOW, Seen, judge, opener
from pytest_amap.observations import Ran
from pytest_amap.verdicts import FAIL, PASS, UNKNOWN

NOW = datetime.fromisoformat(AT).timestamp()
MAIL, NODE, PYTHON = "mail.example.org", "/usr/local/bin/node", "/usr/bin/python3.12"


def entry(message: str, after: float = 1.0, level: str = "OCSF ", target: str = "ocsf") -> str:
    return f"[{NOW + after:.3f}] [sandbox] [{level}] [{target}] {message}\n"


REFUSE = f"NET:REFUSE [MED] DENIED {MAIL}:53 [reason:policy_dns_ineligible]"
CONNECT = f"NET:OPEN [MED] DENIED {PYTHON}(64) -> {MAIL}:443 [policy:- engine:opa] [reason:no matching policy]"
CURL = CONNECT.replace(PYTHON, "/usr/bin/curl")
HTTP = f"HTTP:CONNECT [MED] BLOCKED CONNECT https://{MAIL}/ [policy:- engine:l7]"
REACHED = f"NET:OPEN [INFO] ALLOWED {NODE}(7) -> api.anthropic.com:443 [policy:_provider_amap_claude_code engine:opa]"
LAUNCH = f"PROC:LAUNCH [INFO] python3 -c PROGRAM https://{MAIL}"
OLD, AHEAD = entry(REFUSE, after=-60), entry(REFUSE, after=3600)
ALLOW = entry(REACHED, after=3)
POLICY = """\
version: 1
filesystem_policy: {read_only: [/usr], read_write: [/sandbox]}
network_policies:
  _provider_amap_claude_code:
    endpoints: [{host: api.anthropic.com, port: 443}]
    binaries: [{path: /usr/local/bin/node}]
"""


def failed(error: str, errno: str | None, text: str) -> Ran:
    return answer(reached=False, status=None, error=error, errno=errno, text=text)


NAME = failed("URLError", "gaierror", "<urlopen error [Errno -3] Temporary failure in name resolution>")
DENIED = failed("URLError", "EACCES", "<urlopen error [Errno 13] Permission denied>")
TUNNEL = failed("URLError", "OSError", "<urlopen error Tunnel connection failed: 403 Forbidden>")
LATE = failed("TimeoutError", "TimeoutError", "timed out")
FORBIDDEN = answer(reached=True, status=403, error=None, errno=None, text="HTTP Error 403: Forbidden")
SELF_SIGNED = failed("URLError", "EPERM", "<urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed>")
NO_SSL = failed("URLError", None, "<urlopen error unknown url type: https>")
NOT_READY = ran(exit=1, stderr="Error:   × sandbox 'alpha' is not ready (phase: Stopped)")

GOOD = Seen(
    member="alpha",
    id="id-1",
    before=ran(OLD),
    call=NAME,
    log=ran(OLD + entry(REFUSE)),
    control=answer(reached=True, status=200),
    control_log=ran(OLD + entry(REFUSE) + ALLOW),
    policy=ran(POLICY),
    phase=sandbox(),
    binaries=(NODE, "/opt/claude"),
)


def but(**changes: object) -> Seen:
    return replace(GOOD, **changes)  # type: ignore[arg-type]


def logged(text: str, call: Ran = NAME, later: str = ALLOW) -> Seen:
    """That text is the log, and the one after the control has the control's line too."""
    return but(call=call, log=ran(text), control_log=ran(text + later))


LOSSY = "warning: the log buffer overflowed; older lines are gone\n"

HOLDS = {
    "A30 a refusal by name": GOOD,
    "A30 a refusal at connect": logged(entry(CONNECT), DENIED),
    "A30 a refusal by the proxy's tunnel": logged(entry(CONNECT), TUNNEL),
    "A30 blocked by the proxy": logged(entry(HTTP), FORBIDDEN),
    "A31 a timeout is a client error too": logged(entry(CONNECT), LATE),
    "A05 the log is coloured": logged("\x1b[33m" + entry(REFUSE).rstrip("\n") + "\x1b[0m\n"),
    "A49 exec reports late trouble after the answer": but(call=replace(NAME, exit=1, stderr="Error:   × x")),
    "logged in the second of the call": logged(entry(REFUSE, after=0)),
    "logged late, after the control": but(log=ran(OLD)),
    "the log of the call failed, the next did not": but(log=ran(exit=1, stderr="Error:   × x")),
    "the control by the log alone": but(control=ran()),
    "the control by its answer alone": but(control_log=ran(OLD + entry(REFUSE))),
    "the name was looked up before it was denied": logged(
        entry(f"DNS:QUERY [INFO] ALLOWED {MAIL}:53") + entry(CONNECT), DENIED
    ),
    "the name was looked up, by a line without a port": logged(
        entry(f"DNS:QUERY [INFO] ALLOWED {MAIL}") + entry(CONNECT), DENIED
    ),
    "a full window that reaches back": logged(entry(LAUNCH, -1) * WINDOW + entry(REFUSE)),
    "a denial of the probe beside one of another program": logged(entry(CURL) + entry(CONNECT), DENIED),
    "nothing was logged before": but(before=ran()),
    "no rule but the provider's": but(policy=ran(POLICY.split("network_policies")[0])),
}
BROKEN = {
    "the host is reached": (logged("", answer(reached=True, status=200)), "it was reached"),
    "it is reached, and says 403 itself": (logged(OLD + entry(LAUNCH), FORBIDDEN), "it was reached"),
    "it is reached though the control is not": (
        but(call=answer(reached=True, status=200), control=NOT_READY, control_log=ran()),
        "it was reached",
    ),
    "the log says ALLOWED": (logged(entry(CONNECT.replace("DENIED", "ALLOWED"))), "ALLOWED"),
    "denied once and allowed once": (logged(entry(REFUSE) + entry(CONNECT.replace("DENIED", "ALLOWED"))), "ALLOWED"),
    "A31 refused and not logged": (logged(OLD + entry(LAUNCH)), "none of them; older ones about it: 1"),
    "only an older denial": (logged(OLD), "older ones about it: 1"),
    "only an older denial, beside what never could be read": (
        but(before=ran(OLD + "banner\n"), log=ran(OLD + "banner\n" + entry(LAUNCH)), control_log=ran(exit=1)),
        "older ones about it: 1",
    ),
    "a denial of a look-alike": (logged(OLD + entry(REFUSE.replace(MAIL, f"{MAIL}.evil.test"))), "none of them"),
    "a denial of a sub-domain": (logged(OLD + entry(REFUSE.replace(MAIL, f"smtp.{MAIL}"))), "none of them"),
    "a 403 of its own, and a denial of the name alone": (logged(entry(REFUSE), FORBIDDEN), "it was reached"),
    "a denial from before, by a clock that was set back": (
        but(before=ran(AHEAD), log=ran(AHEAD + entry(LAUNCH)), control_log=ran(AHEAD + entry(LAUNCH) + ALLOW)),
        "none of them; older ones about it: 1",
    ),
    "a denial from before that was delivered late": (
        logged(OLD + entry(REFUSE, after=-7) + entry(LAUNCH)),
        "older ones about it: 2",
    ),
    "a denial of a name that ends like it": (logged(OLD + entry(REFUSE.replace(MAIL, f"x{MAIL}"))), "none of them"),
    "the policy opens another host": (
        but(policy=ran(POLICY.replace("api.anthropic.com", "example.org"))),
        "example.org",
    ),
    "the policy opens everything below": (
        but(policy=ran(POLICY.replace("api.anth", "'*.anth").replace("c.com", "c.com'"))),
        "*",
    ),
    "the policy has another rule": (
        but(policy=ran(POLICY + f"  mail:\n    endpoints: [{{host: {MAIL}, port: 443}}]\n")),
        f"rule mail, host {MAIL}",
    ),
    "the denial ended the sandbox": (but(phase=sandbox("Error")), "Error"),
}
OPEN = {
    "A01 the call says nothing": (logged(OLD, ran()), "no answer"),
    "A03 the call was not made": (logged(OLD, NOT_READY), "not ready"),
    "A03 the call was not made, and a denial is there": (logged(entry(REFUSE), NOT_READY), "not ready"),
    "the interpreter is missing": (logged(OLD, ran(exit=127, stderr="python3: not found")), "not found"),
    "the interpreter cannot call": (logged(OLD + entry(LAUNCH), NO_SSL), "made no call"),
    "somebody answered with a certificate": (logged(entry(REFUSE), SELF_SIGNED), "answered the connection"),
    "the control is not reached": (
        but(control=answer(reached=False, error="EACCES"), control_log=ran(entry(REFUSE))),
        "EACCES, and no such line",
    ),
    "the control says nothing": (but(control=ran(), control_log=ran(entry(REFUSE))), "no answer"),
    "A32 the control was not made": (but(control=NOT_READY, control_log=ran(entry(REFUSE))), "not ready"),
    "only an unlisted binary reached the provider": (
        but(control=NOT_READY, control_log=ran(entry(REFUSE) + entry(REACHED.replace(NODE, PYTHON), 3))),
        "not ready",
    ),
    "the provider was reached before this run alone": (
        but(control=NOT_READY, control_log=ran(entry(REFUSE) + entry(REACHED, -9))),
        "not ready",
    ),
    "a 403 for the control, and a denial": (
        but(
            control=answer(reached=True, status=403),
            control_log=ran(entry(REFUSE) + entry(REACHED.replace("ALLOWED", "DENIED"), 3)),
        ),
        "DENIED",
    ),
    "the log fails": (
        but(log=ran(exit=1, stderr="Error:   × transport error"), control_log=ran(exit=1)),
        "transport error",
    ),
    "what was logged before cannot be read": (but(before=ran(exit=1, stderr="Error:   × transport")), "transport"),
    "only another program was denied": (logged(entry(CURL), DENIED), "another program or port alone: "),
    "only another port was denied": (
        logged(entry(CONNECT.replace(":443", ":25")), DENIED),
        "another program or port alone: ",
    ),
    "the log is cut": (logged(OLD + entry(LAUNCH), later=ALLOW + ALLOW[:30]), "could not be read"),
    "lines were dropped": (logged(OLD + entry(LAUNCH) + "... 12 lines dropped ...\n"), "12 lines dropped"),
    "a warning beside the log": (
        but(log=ran(OLD + entry(LAUNCH), stderr=LOSSY), control_log=ran(OLD + entry(LAUNCH) + ALLOW, stderr=LOSSY)),
        "overflowed",
    ),
    "the log's clock is slow": (
        logged(OLD + entry(REFUSE, after=-7), later=entry(REACHED, after=-5)),
        "by its own clock",
    ),
    "it was set back, and all that came since is from before": (
        but(before=ran(AHEAD), log=ran(AHEAD), control_log=ran(AHEAD)),
        "by its own clock",
    ),
    "a setting of another OpenShell": (but(policy=ran(POLICY + "network_defaults: {egress: allow}\n")), "network_def"),
    "A31 the log is empty": (logged("", later=""), "empty"),
    "the log has another form": (logged(f"2026-11-29 12:00:01 denied {MAIL}\n", later=""), "known form"),
    "nothing was logged since the call": (logged(OLD, later=""), "no line at all since"),
    "the window does not reach back": (logged(entry(LAUNCH) * WINDOW), "do not reach back"),
    "the log was begun anew meanwhile": (logged(entry(LAUNCH)), "do not reach back"),
    "the last line is cut": (
        logged(OLD + entry(LAUNCH) + entry(CONNECT).split(MAIL)[0], later=""),
        "could not be read: NET:OPEN",
    ),
    "a decision about it in capitals and another word": (
        logged(OLD + entry(REFUSE.replace("DENIED", "REFUSED").replace(MAIL, MAIL.upper()))),
        "REFUSED",
    ),
    "a line about it in another form": (logged(OLD + f"... denied {MAIL} ...\n"), "could not be read"),
    "a decision about it in another word": (logged(OLD + entry(REFUSE.replace("DENIED", "REFUSED"))), "REFUSED"),
    "a decision about it of another form": (logged(OLD + entry(f"NET:OPEN [MED] DENIED <{MAIL}> by rule")), "by rule"),
    "no policy can be read": (but(policy=ran("version: 0\n")), "version"),
    "the policy cannot be asked for": (but(policy=ran(exit=1, stderr="gone")), "gone"),
    "a rule that is no rule": (but(policy=ran(POLICY.split("    endp")[0].rstrip() + " all\n")), "could not be read"),
    "a rule without endpoints": (but(policy=ran(POLICY.replace("endpoints", "targets"))), "could not be read"),
    "the phase cannot be read": (but(phase=ran("{")), "JSON"),
    "another sandbox has its name": (but(phase=sandbox(identity="id-9")), "not the recorded one"),
    "the last used sandbox was shown": (but(phase=sandbox(name="beta")), "not the recorded one"),
    "the sandbox is stopping": (but(phase=sandbox("Stopping")), "Stopping"),
}


test_pass, test_fail, test_unknown = judge_tables.tests_of(judge, HOLDS, BROKEN, OPEN)


def test_every_part_has_been_seen_to_fail_or_not_to_know() -> None:
    names = {part.name for part in judge(GOOD)}
    assert judge_tables.turned(judge, OPEN, UNKNOWN) == names
    assert names - judge_tables.turned(judge, BROKEN, FAIL) == {
        "control: api.anthropic.com is reached by a listed binary"
    }


def test_a_denial_without_its_control_is_not_one() -> None:
    seen = but(control=NOT_READY, control_log=ran(entry(REFUSE)))
    assert PASS not in {part.outcome for part in judge(seen)[:3]}


def test_the_binary_that_opens_the_connection_is_named_from_the_log() -> None:
    assert NODE in opener(GOOD)
    assert "not measured" in opener(but(control_log=ran(entry(REFUSE))))
