"""Sandboxes of the rehearsal host: what the kernel lets their processes do, what is logged, what outlives a stop."""

from __future__ import annotations

import re
from typing import Any

import pytest
import world_bench

folder = world_bench.folder

PROBE = """
import errno, os, socket, sys, urllib.request
lanes = "/opt/amap/lanes/"
def tried(act):
    try:
        act()
        return "ok"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
def move():
    os.makedirs(lanes + "outbox/processed", exist_ok=True)
    os.rename(lanes + "outbox/new", lanes + "outbox/processed/new")
    os.unlink(lanes + "outbox/processed/new")
def listen(folder):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(folder + "/a.sock")
        os.unlink(folder + "/a.sock")
def fetch():
    urllib.request.urlopen("https://mail.example.org", timeout=10)
def provider():
    with socket.create_connection(("api.anthropic.com", 443), 5) as connection:
        connection.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        connection.recv(100)
acts = {
    "create in inbox": lambda: create(lanes + "inbox/new"),
    "truncate in inbox": lambda: os.truncate(lanes + "inbox/document", 0),
    "create in peer": lambda: create(lanes + "peer/new"),
    "list inbox": lambda: os.listdir(lanes + "inbox"),
    "list peer": lambda: os.listdir(lanes + "peer"),
    "stat peer": lambda: os.stat(lanes + "peer"),
    "create in outbox": lambda: create(lanes + "outbox/new"),
    "move in outbox": move,
    "create in /sandbox": lambda: create("/sandbox/new"),
    "create in /tmp": lambda: create("/tmp/new"),
    "create in /usr": lambda: create("/usr/new"),
    "create in /etc": lambda: create("/etc/new"),
    "socket in /tmp": lambda: listen("/tmp"),
    "list the channel": lambda: os.listdir("/.openshell/channel"),
    "read pid 1's environment": lambda: open("/proc/1/environ").read(),
    "fetch mail": fetch,
    "connect to an address": lambda: socket.create_connection(("1.1.1.1", 443), 5),
    "provider by python": provider,
}
for name, act in acts.items():
    print(name, tried(act), sep=": ")
with open("/proc/self/status") as status:
    fields = dict(line.split(":", 1) for line in status)
print("capabilities:", int(fields["CapEff"], 16) | int(fields["CapBnd"], 16))
print("no new privileges:", fields["NoNewPrivs"].strip())
print("ids:", os.getuid(), os.getgid())
print("parent:", os.getppid())
"""

DENIED = """
def denied(name):
    rows = run("openshell", "logs", name)["out"].splitlines()
    return {word.partition(":")[0] for row in rows if " DENIED " in row for word in row.split()}
"""
"""Words of a log's rows about what was denied: a denial is logged a moment after it was told."""

PROGRAM = f"""
{world_bench.FLEET}
{DENIED}
main = "echo main is up; env | sort; echo $$ > /sandbox/main; exec sleep 300"
seen["create"] = create("alpha", "sh", "-c", main)
asleep = lambda: inside("alpha", "pgrep", "-cx", "sleep")["out"].strip() == "1"
until(asleep)
seen["again"] = create("alpha", "true")
seen["probe"] = inside("alpha", "python3", "-c", {PROBE!r})
seen["node"] = inside("alpha", "node", "-e", "0", "https://api.anthropic.com/")
seen["environment"] = inside("alpha", "env", flags=("--env", "OWN=1"))
seen["first"] = inside("alpha", "cat", "/proc/1/cmdline")
seen["seven"] = inside("alpha", "sh", "-c", "echo out; echo err >&2; exit 7")
seen["missing"] = inside("alpha", "no-such-program")
began = time.monotonic()
seen["slow"] = inside("alpha", "sleep", "30", flags=("--timeout", "1"))
seen["slow"]["seconds"] = time.monotonic() - began
until(asleep)
seen["left"] = inside("alpha", "pgrep", "-c", "sleep")
(home / "inbox" / "late").write_text("x")
seen["late"] = inside("alpha", "ls", "/opt/amap/lanes/inbox")
until(lambda: {{"mail.example.org", "api.anthropic.com"}} <= denied("alpha"))
seen["logs"] = run("openshell", "logs", "alpha")
seen["screen"] = run("openshell", "sandbox", "connect", "alpha")
seen["policy"] = run("openshell", "sandbox", "get", "alpha", "--policy-only")
seen["get"] = run("openshell", "sandbox", "get", "alpha", "-o", "json")
seen["stop"] = run("openshell", "sandbox", "stop", "alpha")
seen["stopped"] = run("openshell", "sandbox", "get", "alpha", "-o", "json")
seen["not ready"] = inside("alpha", "true")
seen["start"] = run("openshell", "sandbox", "start", "alpha")
until(asleep)
seen["kept"] = inside("alpha", "cat", "/sandbox/new", "/sandbox/main")
seen["ends"] = create("ends", "sh", "-c", "exit 3", flags=())
seen["ended"] = run("openshell", "sandbox", "get", "ends", "-o", "json")
seen["delete"] = run("openshell", "sandbox", "delete", "ends")
seen["delete again"] = run("openshell", "sandbox", "delete", "ends")
seen["disk"] = run("grep", "-rlF", os.environ["ANTHROPIC_API_KEY"], "/run/amap/host", "/run/amap/home")
"""


@pytest.fixture(scope="module")
def seen(folder: Any) -> dict[str, Any]:
    return world_bench.observe(folder, PROGRAM)


@pytest.fixture(scope="module")
def tried(seen: dict[str, Any]) -> dict[str, str]:
    assert seen["probe"]["code"] == 0, seen["probe"]
    return dict(line.split(": ", 1) for line in seen["probe"]["out"].splitlines())


@pytest.mark.parametrize(
    ("act", "answer"),
    [
        ("create in inbox", "EROFS"),
        ("truncate in inbox", "EROFS"),
        ("create in peer", "EROFS"),
        ("list inbox", "ok"),
        ("list peer", "EACCES"),
        ("stat peer", "ok"),
        ("create in outbox", "ok"),
        ("move in outbox", "ok"),
        ("create in /sandbox", "ok"),
        ("create in /tmp", "ok"),
        ("create in /usr", "EROFS"),
        ("create in /etc", "EROFS"),
        ("socket in /tmp", "ok"),
        ("list the channel", "EACCES"),
        ("read pid 1's environment", "EACCES"),
        ("connect to an address", "EACCES"),
        ("provider by python", "ECONNRESET"),
        ("capabilities", "0"),
        ("no new privileges", "1"),
        ("parent", "1"),
    ],
)
def test_the_kernel_answers(tried: dict[str, str], act: str, answer: str) -> None:
    assert tried[act] == answer


def test_a_process_has_the_policys_ids(tried: dict[str, str]) -> None:
    assert tried["ids"] == "1000 1000"


def test_a_refused_name_is_logged_and_fails_as_a_look_up(tried: dict[str, str], seen: dict[str, Any]) -> None:
    assert "Temporary failure in name resolution" in tried["fetch mail"]
    assert "NET:REFUSE [MED] DENIED mail.example.org:53 [reason:policy_dns_ineligible]" in seen["logs"]["out"]


def test_only_a_listed_binary_reaches_the_provider(seen: dict[str, Any]) -> None:
    assert seen["node"]["out"].startswith('AMAP-PROBE {"reached": true')
    allowed = re.findall(r"ALLOWED (\S+)\(\d+\) -> api\.anthropic\.com:443 \[policy:(\w+) ", seen["logs"]["out"])
    assert set(allowed) == {("/usr/local/bin/node", "_provider_amap_claude_code")}
    assert re.search(r"DENIED /usr/bin/python3\S*\(\d+\) -> api\.anthropic\.com:443 ", seen["logs"]["out"])


def test_log_lines_have_openshells_form_and_name_the_engine(seen: dict[str, Any]) -> None:
    form = re.compile(r"\[\d+\.\d{3}\] \[(sandbox|gateway)\s*\] \[\w+\s*\] \[[^\]]+\] .+")
    lines = seen["logs"]["out"].splitlines()
    assert all(form.fullmatch(line) for line in lines)
    assert any("engine:rehearsal" in line for line in lines)
    # The policy lists seven paths read-only; its provider's network rule brings along /var/log of the baseline.
    text = seen["logs"]["out"]
    assert "Applying Landlock filesystem sandbox [abi:V3 compat:HardRequirement ro:8 rw:4]" in text
    assert "Landlock ruleset built [rules_applied:12 skipped:0]" in text


def test_exec_has_an_environment_of_its_own_with_the_providers_placeholder(seen: dict[str, Any]) -> None:
    environment = dict(line.split("=", 1) for line in seen["environment"]["out"].splitlines())
    assert environment["ANTHROPIC_API_KEY"] == "openshell:resolve:env:ANTHROPIC_API_KEY"
    assert environment["OWN"] == "1"
    assert environment["HOME"] == "/sandbox"
    assert not [name for name in environment if name.startswith("AMAP_")]


def test_the_real_key_lies_in_the_providers_record_alone(seen: dict[str, Any]) -> None:
    assert seen["disk"]["out"].split() == ["/run/amap/host/state/openshell/gateway/providers/amap-claude-code.json"]


def test_the_supervisor_shows_no_path_of_its_host(seen: dict[str, Any]) -> None:
    assert seen["first"]["out"].startswith("/.openshell/runtime/openshell-sandbox\0--bootstrap\0")


def test_exec_keeps_streams_and_exit_codes_apart(seen: dict[str, Any]) -> None:
    assert (seen["seven"]["code"], seen["seven"]["out"], seen["seven"]["err"]) == (7, "out\n", "err\n")
    assert seen["missing"]["code"] == 127


def test_exec_that_takes_too_long_is_ended(seen: dict[str, Any]) -> None:
    assert seen["slow"]["code"] == 124
    assert seen["slow"]["seconds"] < 5
    assert seen["left"]["out"].strip() == "1", "the main process's own sleep is the only one left"


def test_what_the_host_writes_is_seen_at_once(seen: dict[str, Any]) -> None:
    assert seen["late"]["out"].split() == ["document", "late"]


def test_the_main_process_is_shown_on_its_terminal(seen: dict[str, Any]) -> None:
    assert "main is up" in seen["screen"]["out"]
    assert "TERM=xterm-256color" in seen["screen"]["out"]


def test_the_policy_comes_back_with_the_providers_rule(seen: dict[str, Any]) -> None:
    lines = seen["policy"]["out"].splitlines()
    assert "    - /opt/amap/lanes/inbox" in lines
    assert "  run_as_user: '1000'" in lines
    assert "  _provider_amap_claude_code:" in lines
    assert "      - path: /usr/local/bin/node" in lines


def test_stop_keeps_identity_and_workspace(seen: dict[str, Any]) -> None:
    assert '"phase": "Ready"' in seen["get"]["out"]
    assert '"phase": "Stopped"' in seen["stopped"]["out"]
    assert seen["start"]["code"] == 0
    assert seen["kept"]["out"].strip() == "2", "the main process is pid 2 again, and its files are there"


def test_an_ended_main_process_ends_the_sandbox(seen: dict[str, Any]) -> None:
    assert seen["ends"]["code"] == 3
    assert '"phase": "Error"' in seen["ended"]["out"]


def test_a_name_is_taken_once_and_a_second_delete_is_no_error(seen: dict[str, Any]) -> None:
    assert seen["again"]["code"] == 1
    assert "already exists" in seen["again"]["err"]
    assert seen["delete"]["out"] == "✓ Deleted sandbox ends\n"
    assert seen["delete again"]["code"] == 0


def test_exec_before_ready_says_the_phase(seen: dict[str, Any]) -> None:
    assert seen["not ready"]["code"] == 1
    assert "(phase: Stopped)" in " ".join(seen["not ready"]["err"].replace("│", " ").split())


AFTER_A_BOOT = """
seen["list"] = run("openshell", "sandbox", "list", "-o", "json")
until(lambda: inside("alpha", "pgrep", "-x", "sleep")["code"] == 0)
seen["main"] = inside("alpha", "cat", "/sandbox/main")
seen["beta"] = run("openshell", "sandbox", "get", "beta", "-o", "json")
seen["half"] = run("openshell", "sandbox", "get", "half", "-o", "json")
"""

BEFORE_A_BOOT = f"""
{world_bench.FLEET}
for name in ("alpha", "beta"):
    create(name, "sh", "-c", "echo $$ >> /sandbox/main; exec sleep 300")
until(lambda: inside("alpha", "pgrep", "-x", "sleep")["code"] == 0)
run("openshell", "sandbox", "stop", "beta")
seen["list"] = run("openshell", "sandbox", "list", "-o", "json")
source = next(path for path in Path("/run/amap/host").rglob("sandbox.json") if '"alpha"' in path.read_text())
record = json.loads(source.read_text())
record.update(id="00000000-0000-4000-8000-000000000000", name="half", phase="Provisioning", started_at=None)
half = source.parents[1] / record["id"]
half.mkdir()
(half / "sandbox.json").write_text(json.dumps(record))
"""


def test_the_disk_outlives_the_world(tmp_path: Any, folder: Any) -> None:
    import json

    before = world_bench.observe(tmp_path, BEFORE_A_BOOT)
    after = world_bench.observe(tmp_path, AFTER_A_BOOT)
    ids = [
        {(item["name"], item["id"]) for item in json.loads(one["list"]["out"])["sandboxes"]} for one in (before, after)
    ]
    assert ids[0] < ids[1]
    assert after["main"]["out"] == "2\n2\n", "it ran once in each world, with the same /sandbox"
    assert json.loads(after["beta"]["out"])["phase"] == "Stopped"
    half = json.loads(after["half"]["out"])
    assert (half["phase"], half["id"]) == ("Ready", "00000000-0000-4000-8000-000000000000")


A_KILLED_CREATE = f"""
{world_bench.FLEET}
def keepers(group):
    found = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    others = [pid for pid in found if os.getpgid(pid) != group]
    return [pid for pid in others if b"sandbox\\0create" in Path("/proc", str(pid), "cmdline").read_bytes()]
def killed(*argv):
    caller = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    until(lambda: keepers(caller.pid))
    os.killpg(caller.pid, 9)
    return caller.wait()
run, ordinary = killed, run
seen["killed"] = create("alpha", "sleep", "300")
run = ordinary
state = lambda: run("openshell", "sandbox", "get", "alpha", "-o", "json")
until(lambda: '"phase": "Provisioning"' not in state()["out"])
seen["state"] = state()
"""


def test_a_create_that_is_killed_is_finished_by_its_host(tmp_path: Any, folder: Any) -> None:
    seen = world_bench.observe(tmp_path, A_KILLED_CREATE)
    assert '"phase": "Ready"' in seen["state"]["out"], seen


@pytest.mark.parametrize(
    ("style", "error"),
    [
        ("connect", "[Errno 13] Permission denied"),
        ("proxy", "403"),
    ],
)
def test_other_styles_of_denial(tmp_path: Any, folder: Any, style: str, error: str) -> None:
    program = f"""
{world_bench.FLEET}
{DENIED}
knobs = Path("/run/amap/host/settings.json")
knobs.write_text(json.dumps({{**json.loads(knobs.read_text()), "denial": {style!r}}}))
create("alpha", "sleep", "300")
seen["probe"] = inside("alpha", "python3", "-c", {PROBE!r})
until(lambda: "mail.example.org" in denied("alpha"))
seen["logs"] = run("openshell", "logs", "alpha")
"""
    seen = world_bench.observe(tmp_path, program)
    assert error in dict(text.split(": ", 1) for text in seen["probe"]["out"].splitlines())["fetch mail"]
    line = r"NET:OPEN \[MED\] DENIED /usr/bin/python3\S*\(\d+\) -> mail\.example\.org:443 "
    assert re.search(line, seen["logs"]["out"])
