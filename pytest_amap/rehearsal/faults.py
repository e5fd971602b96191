"""The faults a rehearsal can plant: one defect each, put where the real world would have it, never into the suite.

usage: python faults.py      (prints one fault a line: its name, what it breaks, the outcomes it must lead to)

This module is data. What plants a fault stands under its name in one of the tables of `sabotage/`.
"""

from __future__ import annotations

from dataclasses import dataclass

FAIL, UNKNOWN, PASS = "FAIL", "UNKNOWN", "PASS"


@dataclass(frozen=True)
class Fault:
    """`outcomes` are the checks it concerns and what each must become; PASS where the suite must not be misled.

    One that is planted `at_creation` needs a home in which the thing has not been made yet.
    """

    name: str
    breaks: str
    outcomes: dict[str, str]
    at_creation: bool = False

    def __str__(self) -> str:
        outcomes = " ".join(f"{check}={outcome}" for check, outcome in self.outcomes.items())
        return f"{self.name:<30} {self.breaks}  {outcomes}"


def _fail(*checks: str) -> dict[str, str]:
    return dict.fromkeys(checks, FAIL)


def _unknown(*checks: str) -> dict[str, str]:
    return dict.fromkeys(checks, UNKNOWN)


def _pass(*checks: str) -> dict[str, str]:
    return dict.fromkeys(checks, PASS)


_PC3 = _fail("pass_criterion_3")

LANES = (
    Fault("inbox-writable", "the inbox lane is mounted writable", _fail("pass_criterion_3", "unknown_2")),
    Fault("inbox-open", "the inbox lane takes writes at both layers", _fail("pass_criterion_3", "unknown_2")),
    Fault(
        "inbox-overlaid",
        "a writable directory of the sandbox's own lies over the inbox",
        _fail("pass_criterion_3", "unknown_2"),
    ),
    Fault(
        "inbox-is-a-copy",
        "the inbox lane is a copy made when its sandbox started",
        {**_PC3, "unknown_2": UNKNOWN},
    ),
    Fault("inbox-by-another-way", "a volume is the inbox's directory as well, and takes writes", _PC3),
    Fault("peer-writable", "the peer lane is mounted writable", _PC3),
    Fault("payload-writable", "the payload is mounted writable", {**_PC3, "unknown_5": UNKNOWN}),
    Fault("payload-open", "the payload takes writes at both layers", {**_PC3, "unknown_5": FAIL}),
    Fault("roster-writable", "the roster is mounted writable", _PC3),
    Fault("lane-of-another-member", "the inbox lane is another member's directory", _PC3),
    Fault("extra-bind", "one more host directory is mounted", _PC3),
    Fault("writable-submount", "a writable mount lies below the read-only inbox", _PC3),
    Fault("source-remade", "the inbox's directory was made anew after its sandbox started", _PC3),
    Fault(
        "peer-remade",
        "the peer lane's directory was made anew after its sandbox started",
        _fail("pass_criterion_3", "unknown_1"),
    ),
    Fault(
        "peer-is-a-copy",
        "the peer lane is a copy made when its sandbox started",
        _fail("pass_criterion_3", "unknown_1"),
    ),
    Fault(
        "peer-notices-empty",
        "the peer lane is a mirror in which new notices are empty",
        _fail("pass_criterion_3", "unknown_1"),
    ),
    Fault("outbox-read-only", "the outbox lane is mounted read-only", {**_PC3, "unknown_2": UNKNOWN}),
    Fault("peer-unmounted", "the peer lane is not mounted at all", {**_PC3, "unknown_3": UNKNOWN}),
)

POLICY = (
    Fault("inbox-unlisted", "the policy does not list the inbox", {**_PC3, "unknown_3": UNKNOWN}),
    Fault("inbox-listed-twice", "the policy lists the inbox read-only and read-write", _PC3),
    Fault("writable-parent", "the policy lists a parent of the lanes read-write", _PC3),
    Fault("look-alike-path", "the policy lists a path that only begins like the inbox", _PC3),
    Fault("landlock-best-effort", "the policy's compatibility is best_effort", _PC3),
    Fault(
        "landlock-missing",
        "no ruleset is applied though one is listed",
        _fail("pass_criterion_3", "unknown_3"),
    ),
    Fault("lane-skipped", "the ruleset leaves out the inbox, which the policy lists", _unknown("unknown_3")),
    Fault("exec-unconfined", "commands run by exec escape the ruleset", _fail("pass_criterion_3", "unknown_3")),
    Fault("peer-granted-anyway", "the gateway adds the peer lane to every policy", _unknown("unknown_3")),
    Fault("peer-ruled-anyway", "the ruleset lets the peer lane be read, whatever the policy lists", _fail("unknown_3")),
    Fault(
        "landlock-v2-rights",
        "the ruleset leaves truncation out, as ABI 2 does; the mount still refuses it",
        _pass("pass_criterion_3", "unknown_2"),
    ),
    Fault("policy-in-flow-style", "the policy is printed in YAML's flow style", _pass("pass_criterion_3")),
    Fault(
        "policy-unreadable",
        "the policy is printed as something else",
        _unknown("pass_criterion_3", "unknown_3", "unknown_7"),
    ),
)

_PC4_FAIL, _PC4_UNKNOWN = _fail("pass_criterion_4"), _unknown("pass_criterion_4")

NETWORK = (
    Fault("network-open", "the mail host is reachable", _PC4_FAIL),
    Fault("mail-reached-unlogged", "the mail host is reachable, and the log says nothing", _PC4_FAIL),
    Fault("denial-unlogged", "denials are not logged", _PC4_FAIL),
    Fault("denial-stale", "only an older denial is in the log", _PC4_FAIL),
    Fault("denial-of-look-alike", "the log names a host that only begins like the mail host", _PC4_FAIL),
    Fault("denial-of-another-program", "the log names a denial of another program alone", _PC4_UNKNOWN),
    Fault("denial-called-allowed", "the log calls the denied connection allowed", _PC4_FAIL),
    Fault("provider-unreachable", "no binary may reach the provider's endpoint", _PC4_UNKNOWN),
    Fault("provider-binaries-differ", "the provider's endpoint is for binaries that the image has not", _PC4_UNKNOWN),
    Fault("network-closed", "no host can be reached at all", _PC4_UNKNOWN),
    Fault("denial-logged-late", "a denial reaches the log two seconds late", _pass("pass_criterion_4")),
    Fault("logs-failing", "the logs command fails", _PC4_UNKNOWN),
    Fault("logs-empty", "the logs command prints nothing", _PC4_UNKNOWN),
    Fault("logs-garbled", "log lines have another form", _PC4_UNKNOWN),
    Fault(
        "denials-by-connect",
        "denials are EACCES at connect, as later releases have it",
        _pass("pass_criterion_4"),
    ),
    Fault(
        "denials-by-proxy",
        "denials are a proxy's 403, as earlier releases have it",
        _pass("pass_criterion_4"),
    ),
)

_PROBED = _unknown("unknown_2", "unknown_3")

TOOLS = (
    Fault(
        "exec-silent",
        "exec of a probe ends with 0 and prints nothing",
        _unknown("unknown_1", "unknown_2", "unknown_3", "unknown_7"),
    ),
    Fault("exec-not-found", "exec of a probe says that there is no such sandbox", _PROBED),
    Fault("exec-not-ready", "exec of a probe says that the sandbox is not ready", _PROBED),
    Fault("exec-permission-denied", "the gateway denies the exec of a probe", _PROBED),
    Fault("exec-command-missing", "the probe's interpreter is missing: exit code 127", _PROBED),
    Fault("exec-not-executable", "the probe's interpreter cannot be run: exit code 126", _PROBED),
    Fault("exec-hangs", "exec of a probe never ends", _unknown("unknown_2")),
    Fault("exec-answer-cut", "a probe's answer is cut short", _unknown("unknown_2", "unknown_3")),
    Fault("exec-answers-twice", "a line in a probe's form comes before its answer", _PROBED),
    Fault("exec-answers-another", "exec prints the answer of another probe", _PROBED),
    Fault("exec-delivery-failure", "exec fails after a probe has answered", _pass("unknown_2")),
    Fault("exec-flood", "a probe prints 50 MB instead of its answer", _unknown("unknown_2")),
    Fault(
        "colours-in-pipes",
        "answers hold colour codes although they go to a pipe",
        _pass("unknown_2", "unknown_6"),
    ),
    Fault("notices-beside-json", "notices stand on stderr beside every answer", _pass("unknown_2", "unknown_6")),
    Fault("probe-refused-by-interceptor", "an interceptor refuses the throwaway sandbox", _unknown("unknown_3")),
    Fault("probe-not-created", "the throwaway sandbox cannot be created", _unknown("unknown_3")),
    Fault("probe-not-deleted", "the throwaway sandbox cannot be deleted", _unknown("unknown_3")),
    Fault(
        "sandbox-made-anew",
        "another sandbox has a member's name once probes are run",
        _unknown("pass_criterion_4", "unknown_2"),
    ),
    Fault(
        "restart-in-words-alone",
        "a sandbox is stopped and started in words alone: its main process goes on",
        _unknown("unknown_4", "unknown_5"),
    ),
    Fault("start-fails", "a stopped sandbox does not start again", _unknown("unknown_4", "unknown_5")),
    Fault("create-stays-error", "a sandbox does not come up and stays in phase Error", _unknown("unknown_2")),
    Fault(
        "docker-failing",
        "docker cannot tell a sandbox's containers",
        _unknown("pass_criterion_3", "unknown_3", "unknown_1"),
    ),
    Fault(
        "container-missing", "no container bears a sandbox's id", _unknown("pass_criterion_3", "unknown_3", "unknown_1")
    ),
    Fault("two-lane-containers", "two containers of one sandbox bear the lanes", _unknown("pass_criterion_3")),
    Fault("inspect-garbled", "docker inspect prints no JSON for a sandbox", _unknown("pass_criterion_3")),
    Fault("source-rewritten", "the runtime mounts other directories than it was given", _PC3),
)

_PC5_FAIL = _fail("pass_criterion_5")

ROUTER = (
    Fault("reverse-granted", "the router's task graph lets everyone task everyone", _PC5_FAIL),
    Fault("other-domain", "the router serves another fleet domain", _unknown("pass_criterion_5")),
    Fault("held-copy-removed", "the router keeps no copy of a held request", _PC5_FAIL),
    Fault("held-reason-wrong", "the held request bears another reason", _PC5_FAIL),
    Fault("held-yet-delivered", "a notice of the held request lies in the recipient's lane", _PC5_FAIL),
    Fault("router-user", "the router's container runs as another user", _fail("unknown_7"), at_creation=True),
    Fault("router-inspect-failing", "docker cannot tell the router's user", _unknown("unknown_7")),
    Fault("held-yet-mailed", "a notice of the held request lies in the recipient's mail lane", _PC5_FAIL),
    Fault(
        "audit-log-cut", "the recipient's audit log begins anew while a request is held", _unknown("pass_criterion_5")
    ),
    Fault("result-garbled", "the router's private results are no JSON", _unknown("pass_criterion_5")),
    Fault("held-copy-garbled", "the router's copy of a held request is no JSON", _unknown("pass_criterion_5")),
    Fault(
        "audit-garbled",
        "the router's audit logs hold a line that is no JSON",
        _unknown("pass_criterion_2", "pass_criterion_5"),
    ),
    Fault(
        "notice-of-nobody",
        "a notice that no audit log knows appears while a request is held",
        _unknown("pass_criterion_5"),
    ),
    Fault("router-log-refusals", "the router's log is full of refusals of other members", _pass("pass_criterion_5")),
    Fault(
        "router-restarting",
        "the router's container ends at once, again and again",
        _unknown("pass_criterion_5"),
    ),
    Fault("document-invalid", "a document in a lane does not conform to its schema", _fail("pass_criterion_1")),
    Fault("document-cut", "a message document ends in its middle", _fail("pass_criterion_1")),
    Fault("request-invalid", "a processed request has a field that no schema knows", _fail("pass_criterion_1")),
    Fault("roster-stale", "the router cannot replace an older router's roster", _unknown("pass_criterion_1")),
    Fault(
        "roster-stalls",
        "the router writes its roster once and never again",
        _unknown("pass_criterion_1"),
        at_creation=True,
    ),
    Fault(
        "roster-invalid",
        "the roster has a value that its schema does not allow",
        _fail("pass_criterion_1"),
        at_creation=True,
    ),
    Fault(
        "roster-schema-1",
        "the roster is in the form of the router's older releases",
        _unknown("pass_criterion_1"),
        at_creation=True,
    ),
    Fault("mail-arrives", "a mail notice turns up where mail was declared absent", _fail("pass_criterion_1")),
    Fault(
        "document-unreadable", "a notice cannot be read by anybody", {"pass_criterion_1": UNKNOWN, "unknown_7": FAIL}
    ),
    Fault("validator-broken", "the spec's validator cannot be loaded", _unknown("pass_criterion_1")),
    Fault("validator-lenient", "the spec's validator finds no error in anything", _unknown("pass_criterion_1")),
    Fault("validator-without-roster", "the spec's validator has no schema for rosters", _unknown("pass_criterion_1")),
    Fault("schema-misnamed", "the spec's validator names a schema file that is missing", _unknown("pass_criterion_1")),
    Fault("reply-notice-missing", "the reply's notice never reaches the lane", _fail("pass_criterion_2")),
    Fault("reply-misbound", "the reply's notice names another notice than the task's", _fail("pass_criterion_2")),
    Fault(
        "body-missing",
        "a delivered notice loses its message document",
        {"pass_criterion_1": UNKNOWN, "pass_criterion_2": FAIL, "unknown_7": UNKNOWN},
    ),
    Fault("outcome-failed-first", "the first attempt at delivery fails", _pass("pass_criterion_2")),
    Fault("outcome-held-first", "a notice is held before it is delivered", _pass("pass_criterion_2")),
    Fault("notice-mode", "notices are readable by group and others", _fail("unknown_7")),
    Fault(
        "notice-hidden",
        "a placed notice disappears from the host again",
        _unknown("pass_criterion_1", "unknown_1", "unknown_7"),
    ),
)

AGENT = (
    Fault(
        "silent-refusal",
        "a refusing session says nothing, so that silence counts as delivered",
        _fail("unknown_4", "unknown_5"),
    ),
    Fault(
        "setting-ignored",
        "a session takes its operator's value, whatever the local files tighten",
        _fail("unknown_4", "unknown_5"),
    ),
    Fault("provider-key-refused", "the provider takes no key", _unknown("pass_criterion_2")),
    Fault("never-replies", "the receiver answers no delegation", _unknown("pass_criterion_2", "unknown_4")),
    Fault("main-process-ends", "a sandbox's main process ends soon after its start", _unknown("unknown_2")),
    Fault("two-sessions", "two sessions run below the main process", _fail("pass_criterion_2")),
    Fault("no-session-socket", "a session has no messaging socket", _fail("pass_criterion_2")),
    Fault("key-file-missing", "a session's key file is missing", _fail("pass_criterion_2")),
    Fault("first-run-question", "a session waits for an answer to its first question", _unknown("pass_criterion_2")),
    Fault("daemon-down", "the delivery daemon cannot start", _unknown("pass_criterion_2", "unknown_4")),
    Fault("never-a-turn", "a delivered message never becomes a turn", _unknown("unknown_4")),
    Fault("socket-elsewhere", "the session's socket lies outside /tmp and /sandbox", _fail("unknown_4")),
    Fault(
        "settings-left-behind",
        "a settings.local.json is left from an earlier crash",
        _unknown("unknown_4", "unknown_5"),
        at_creation=True,
    ),
    Fault("workspace-lost", "/sandbox is empty after a stop and a start", _unknown("unknown_4", "unknown_5")),
    Fault(
        "payload-holds",
        "the payload's settings hold messages instead of accepting them",
        _fail("unknown_5"),
        at_creation=True,
    ),
    Fault("payload-refuses", "the payload's settings refuse messages", _fail("pass_criterion_2"), at_creation=True),
)

IDENTITY = (
    Fault("uid-differs", "sandboxes run as another uid", _fail("unknown_7")),
    Fault("gid-differs", "sandboxes run as another gid", _fail("unknown_7")),
    Fault("uid-unmapped", "a user namespace hides the uid: everything is 65534 inside", _fail("unknown_7")),
    Fault("policy-uid", "the effective policy names another uid", _fail("unknown_7")),
)

_U6_FAIL, _U6_UNKNOWN = _fail("unknown_6"), _unknown("unknown_6")

GATEWAY = (
    Fault("gateway-bridge-listener", "the gateway also listens on the Docker bridge's address", _U6_FAIL),
    Fault("gateway-any-address", "the gateway listens on 0.0.0.0, by its environment, with a clean file", _U6_FAIL),
    Fault("gateway-any-ipv6", "the gateway also listens on every IPv6 address", _U6_FAIL),
    Fault("gateway-any-both", "the gateway listens on one socket for every address of both families", _U6_FAIL),
    Fault("gateway-bind-in-file", "gateway.toml names an address that is not loopback", _U6_FAIL),
    Fault("gateway-health-open", "gateway.toml binds the health port to every address", _U6_FAIL),
    Fault("gateway-oidc-table", "gateway.toml has an oidc table", _U6_FAIL),
    Fault("gateway-oidc-dotted", "gateway.toml has oidc as dotted keys", _U6_FAIL),
    Fault("gateway-oidc-inline", "gateway.toml has oidc as an inline table", _U6_FAIL),
    Fault("gateway-unauthenticated", "gateway.toml allows unauthenticated users", _U6_FAIL),
    Fault("gateway-mtls-off", "gateway.toml asks no client for a certificate", _U6_FAIL),
    Fault("gateway-reached-elsewhere", "gateway.toml sends sandboxes' supervisors to another host", _U6_FAIL),
    Fault("gateway-podman-socket", "gateway.toml gives the Docker driver Podman's socket", _U6_FAIL),
    Fault("gateway-file-newer", "gateway.toml was edited, and the gateway not started again", _U6_UNKNOWN),
    Fault("gateway-other-setting", "gateway.toml has a setting that the posture does not rest on", _pass("unknown_6")),
    Fault("gateway-setting-misplaced", "enable_bind_mounts stands in another table", _U6_FAIL),
    Fault("gateway-schema-string", 'the schema version is the string "2"', _U6_FAIL),
    Fault("gateway-file-unreadable", "gateway.toml is no TOML, and preflight says so", _U6_FAIL),
    Fault("gateway-podman", "gateway.toml selects Podman", _U6_FAIL),
    Fault("gateway-daemon-down", "preflight is content, but no gateway runs", _U6_FAIL),
    Fault("service-other-config", "a drop-in names another configuration file, which has an oidc table", _U6_FAIL),
    Fault("service-set-environment", "the user manager's environment opens the metrics port", _U6_FAIL),
    Fault("service-drop-in-open", "a drop-in opens the metrics port, and there is no user bus", _U6_FAIL),
    Fault("service-environment-d", "environment.d opens the metrics port, and there is no user bus", _U6_FAIL),
    Fault("service-undecided", "a drop-in's file is not known without a user bus", _U6_UNKNOWN),
    Fault("service-wrapped", "a drop-in starts the gateway by a shell", _U6_UNKNOWN),
    Fault("service-manager-silent", "the user manager does not tell its environment", _U6_UNKNOWN),
    Fault("no-user-bus", "there is no user bus to ask for the service", _pass("unknown_6")),
    Fault("preflight-red", "the gateway's preflight refuses a key that its documents name", _U6_FAIL),
    Fault("preflight-missing", "the gateway's preflight cannot be run", _U6_UNKNOWN),
    Fault("status-garbled", "the gateway's status is in another form", _U6_UNKNOWN),
    Fault("foreign-sandbox", "a stranger's sandbox runs in another workspace", _U6_FAIL),
    Fault("listing-garbled", "the listing of all sandboxes is no JSON", _U6_UNKNOWN),
    Fault("key-readable", "a private key of the gateway is readable by group and others", _U6_FAIL),
    Fault("ss-glued", "ss glues its first two columns", _pass("unknown_6")),
    Fault("ss-unparsable", "ss prints the gateway's row in another form", _U6_UNKNOWN),
    Fault("ss-failing", "ss fails", _U6_UNKNOWN),
    Fault(
        "comments-that-look-wrong",
        "comments and strings of gateway.toml name oidc and 0.0.0.0",
        _pass("unknown_6"),
    ),
)

GROUPS = (
    ("Lanes", "in the mounts of a sandbox, when it starts", LANES),
    ("Policy", "in the effective policy, in the ruleset that is applied, or in the listing", POLICY),
    ("Network", "in a sandbox's way out, in its log, or in the `logs` command", NETWORK),
    ("Tools", "in what `openshell` and `docker` answer", TOOLS),
    ("Router and documents", "in the router's container and in files, the moment they are written", ROUTER),
    ("Agent", "in the session program, in its settings and in its directory", AGENT),
    ("Identity", "in the account that a sandbox runs as, and in the policy's word for it", IDENTITY),
    (
        "Gateway",
        "in `gateway.toml`, the service, its environment, listeners, and `ss`, after the start",
        GATEWAY,
    ),
)
FAULTS = tuple(fault for _, _, group in GROUPS for fault in group)
BY_NAME = {fault.name: fault for fault in FAULTS}


if __name__ == "__main__":
    for fault in FAULTS:
        print(fault)
