"""The gateway's service read from systemd's files, and from what systemctl says: what overrides gateway.toml."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_amap.cli.gateway_merge import merged
from pytest_amap.host import posture_files, service_files
from pytest_amap.host.posture_files import GatewayFiles
from pytest_amap.host.service_files import Manager
from pytest_amap.parsers import Unreadable, environment_files, unit_files, units
from pytest_amap.parsers.gateway_settings import ALIAS

OPEN, CLOSED = "0.0.0.0:17670", "127.0.0.1:17670"
PACKAGE = """\
[Unit]
Description=OpenShell gateway
[Service]
Type=simple
Environment=OPENSHELL_LOCAL_TLS_DIR=%h/.local/state/openshell/tls
EnvironmentFile=-%E/openshell/gateway.env
ExecStartPre=/usr/bin/openshell-gateway generate-certs --output-dir %S/openshell/tls
ExecStart=/usr/bin/openshell-gateway
[Install]
WantedBy=default.target
"""


class User:
    """A user's own folders and the system's, all of them made up."""

    def __init__(self, top: Path) -> None:
        self.home, self.system = top / "home", top / "system"
        self.config = self.home / ".config"
        self.put("openshell/gateway.toml", merged(""))

    def put(self, name: str, text: str, top: Path | None = None) -> Path:
        path = (top or self.config) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def unit(self, text: str, top: Path | None = None) -> Path:
        return self.put("systemd/user/openshell-gateway.service", text, top)

    def drop_in(self, text: str, name: str = "10-x.conf", top: Path | None = None) -> Path:
        return self.put(f"systemd/user/openshell-gateway.service.d/{name}", f"[Service]\n{text}\n", top)

    def found(self, **environ: str) -> GatewayFiles:
        return posture_files.locate({"HOME": str(self.home), **environ})


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    made = User(tmp_path)
    lower = tmp_path / "lower"
    monkeypatch.setattr(service_files, "SYSTEM_UNITS", (str(made.system), str(lower)))
    monkeypatch.setattr(service_files, "SYSTEM_ENVIRONMENT", (str(made.system), str(lower)))
    made.unit(PACKAGE, lower)
    return made


def holds(found: GatewayFiles) -> bool:
    return not (found.unread or found.undecided) and all(one.ok for one in found.findings(17670, ALIAS))


def bound(found: GatewayFiles) -> str | None:
    return found.overrides.get("OPENSHELL_BIND_ADDRESS")


def test_the_packages_unit_alone_holds(user: User) -> None:
    found = user.found()
    assert holds(found)
    assert found.overrides == {"OPENSHELL_LOCAL_TLS_DIR": f"{user.home}/.local/state/openshell/tls"}
    assert found.drop_ins == ()


@pytest.mark.parametrize(
    "text",
    [
        f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}",
        f'Environment="A=b c" "OPENSHELL_BIND_ADDRESS={OPEN}"',
        f"Environment = A=b \\\n# a comment between\n  OPENSHELL_BIND_ADDRESS={OPEN}",
        f"Environment=\nEnvironment='OPENSHELL_BIND_ADDRESS={OPEN}'",
        f"ExecStart=\nExecStart=/usr/bin/openshell-gateway --bind-address {OPEN}",
        f"ExecStart=\nExecStart=-@/usr/bin/openshell-gateway gateway --bind-address={OPEN}",
        f"Environment=MORE='--bind-address {OPEN}'\nExecStart=\nExecStart=/usr/bin/openshell-gateway $MORE",
        f"Environment=WHERE={OPEN}\nExecStart=\nExecStart=/usr/bin/openshell-gateway --bind-address=${{WHERE}}",
        "ExecStart=\nExecStart=/usr/bin/openshell-gateway --config %h/other.toml",
        "Environment=OPENSHELL_GATEWAY_CONFIG=%E/other.toml",
        "Environment=XDG_CONFIG_HOME=%h/elsewhere",
        "EnvironmentFile=%h/open.env",
        "EnvironmentFile=-%h/op*.env",
    ],
)
@pytest.mark.parametrize("above", [True, False], ids=["the user's", "the system's"])
def test_a_drop_in_does_not_stay_unseen(user: User, text: str, above: bool) -> None:
    (user.home / "open.env").write_text(f"OPENSHELL_BIND_ADDRESS={OPEN}\n")
    path = user.drop_in(text, top=None if above else user.system)
    assert not holds(user.found())
    assert user.found().drop_ins == (str(path),)
    path.unlink()
    assert holds(user.found())


def test_a_byte_order_mark_hides_no_section(user: User) -> None:
    user.drop_in("").write_text(f"\ufeff[Service]\nEnvironment=OPENSHELL_BIND_ADDRESS={OPEN}\n")
    assert not holds(user.found())


@pytest.mark.parametrize(
    "text",
    [
        "ExecStart=/usr/bin/openshell-gateway --port 17670",  # beside the package's: systemd refuses the unit
        "ExecStart=\nExecStart=/bin/sh -c 'exec openshell-gateway'",
        "ExecStart=\nExecStart=/usr/bin/openshell-gateway --config %y/gateway.toml",
        'ExecStart=\nExecStart=/usr/bin/openshell-gateway "--config',
        "Environment=OPENSHELL_BIND_ADDRESS=%y",
        'Environment="OPENSHELL_BIND_ADDRESS=127.0.0.1',
        "Environment=OPENSHELL_BIND_ADDRESS=127.0.0.1\\x3a17670",
        "EnvironmentFile=%y/gateway.env",
        "EnvironmentFile=-%h",
    ],
)
def test_what_cannot_be_decided_is_said(user: User, text: str) -> None:
    user.drop_in(text)
    found = user.found()
    assert found.unread or found.undecided
    assert all(one.ok for one in found.findings(17670, ALIAS))


@pytest.mark.parametrize("damage", ["not UTF-8", "directory", "folder is a file", "FIFO"])
def test_a_drop_in_that_cannot_be_read_is_said(user: User, damage: str) -> None:
    path = user.drop_in("Environment=A=b")
    path.unlink()
    match damage:
        case "directory":
            path.mkdir()
        case "FIFO":
            os.mkfifo(path)
        case "not UTF-8":
            path.write_bytes(b"[Service]\nEnvironment=OPENSHELL_BIND_ADDRESS=\xff\n")
        case _:
            path.parent.rmdir()
            path.parent.write_text("")
    found = user.found()
    assert holds(found) is (damage == "folder is a file")


def test_names_order_drop_ins_and_the_first_folder_wins_over_the_same_name(user: User) -> None:
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={CLOSED}", "20-b.conf")
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}", "10-a.conf", user.system)
    assert bound(user.found()) == CLOSED
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}", "30-c.conf", user.system)
    assert bound(user.found()) == OPEN
    masked = user.drop_in("", "30-c.conf")
    assert bound(user.found()) == CLOSED
    masked.unlink()
    masked.symlink_to(os.devnull)
    assert bound(user.found()) == CLOSED
    assert holds(user.found())


def test_what_is_no_drop_in_does_not_count(user: User) -> None:
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}", "10-x.conf.off")
    user.drop_in(f"#Environment=OPENSHELL_BIND_ADDRESS={OPEN}\n[Unit]\nEnvironment=OPENSHELL_BIND_ADDRESS={OPEN}")
    assert holds(user.found())


def test_the_users_own_unit_comes_before_the_packages_and_may_be_a_link(user: User, tmp_path: Path) -> None:
    mine = user.put("mine", PACKAGE.replace("openshell-gateway\n[", f"openshell-gateway --bind-address {OPEN}\n["))
    path = user.unit("")
    path.unlink()
    path.symlink_to(mine)
    assert user.found().overrides["--bind-address"] == OPEN
    path.unlink()
    path.symlink_to(os.devnull)
    assert user.found().overrides == {}


def test_a_drop_in_for_a_part_of_the_name_counts(user: User) -> None:
    user.put("systemd/user/openshell-.service.d/x.conf", f"[Service]\nEnvironment=OPENSHELL_BIND_ADDRESS={OPEN}\n")
    assert not holds(user.found())


def test_each_source_wins_over_the_one_before(user: User) -> None:
    """environment.d, Environment=, an environment file, and then what is taken away again."""
    user.put("environment.d/a.conf", f"OPENSHELL_BIND_ADDRESS={OPEN}\n")
    assert bound(user.found()) == OPEN
    drop_in = user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={CLOSED}")
    assert bound(user.found()) == CLOSED
    user.put("openshell/gateway.env", f"OPENSHELL_BIND_ADDRESS={OPEN}\n")
    assert bound(user.found()) == OPEN
    drop_in.write_text("[Service]\nUnsetEnvironment=OPENSHELL_BIND_ADDRESS\n")
    assert bound(user.found()) is None
    drop_in.write_text(f"[Service]\nUnsetEnvironment=OPENSHELL_BIND_ADDRESS={CLOSED}\n")
    assert bound(user.found()) == OPEN


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"OPENSHELL_BIND_ADDRESS={OPEN}", OPEN),
        ("HOST=0.0.0.0\nOPENSHELL_BIND_ADDRESS=${HOST}:17670", OPEN),
        ("HOST=0.0.0.0\nOPENSHELL_BIND_ADDRESS=$HOST:17670", OPEN),
        (f"# OPENSHELL_BIND_ADDRESS={OPEN}", None),
    ],
)
def test_environment_d_reaches_the_service(user: User, text: str, value: str | None) -> None:
    path = user.put("environment.d/10.conf", f"{text}\n")
    assert bound(user.found()) == value
    path.rename(user.put("environment.d/10.conf", "", user.system))
    assert bound(user.found()) == value


@pytest.mark.parametrize(
    "text",
    [
        "OPENSHELL_BIND_ADDRESS=$NEVER_HEARD_OF",
        "OPENSHELL_BIND_ADDRESS=${HOST:-0.0.0.0}:17670",
        "OPENSHELL_BIND_ADDRESS",
        "export OPENSHELL_BIND_ADDRESS=0.0.0.0",
        'A="open\nOPENSHELL_BIND_ADDRESS=0.0.0.0',
        "# a comment \\\nOPENSHELL_BIND_ADDRESS=0.0.0.0",
    ],
)
def test_environment_d_that_cannot_be_decided_is_said(user: User, text: str) -> None:
    user.put("environment.d/10.conf", f"{text}\n")
    assert user.found().undecided


@pytest.mark.parametrize("name", ["user.conf", "user.conf.d/x.conf"])
def test_the_managers_own_defaults_are_said(user: User, name: str) -> None:
    user.put(f"systemd/{name}", f"[Manager]\nDefaultEnvironment=OPENSHELL_BIND_ADDRESS={OPEN}\n", user.system)
    assert user.found().undecided == (f"{os.path.basename(name)}: DefaultEnvironment= names OPENSHELL_",)


def test_step_0_leaves_to_systemd_what_files_cannot_decide(user: User) -> None:
    user.drop_in("ExecStart=\nExecStart=/usr/bin/openshell-gateway --config %y/gateway.toml")
    assert posture_files.problems(user.found(), 17670, ALIAS) == []
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}")
    assert len(posture_files.problems(user.found(), 17670, ALIAS)) == 1


def test_the_user_manager_need_not_know_this_terminals_folder(user: User) -> None:
    other = user.home / "terminal"
    user.put("openshell/gateway.toml", merged(""), other)
    assert user.found(XDG_CONFIG_HOME=str(other)).undecided  # two files, and no word of systemd on which is its own
    (user.config / "openshell" / "gateway.toml").unlink()
    assert holds(user.found(XDG_CONFIG_HOME=str(other)))
    user.drop_in(f"Environment=OPENSHELL_BIND_ADDRESS={OPEN}")
    assert bound(user.found(XDG_CONFIG_HOME=str(other))) == OPEN


def service(state: str = "active", *flags: str, **environment: str) -> units.Unit:
    return units.Unit(("/usr/bin/openshell-gateway", *flags), environment, (), (), state, "")


def test_a_service_that_runs_does_not_know_this_terminals_variables(user: User) -> None:
    """Else a good file that the terminal names would stand for the bad one that the gateway reads."""
    good = user.put("good.toml", merged(""))
    bad = user.put("openshell/gateway.toml", "")
    user.put("openshell/gateway.toml", merged(""), user.home / "terminal")
    environ = {"HOME": str(user.home), "OPENSHELL_GATEWAY_CONFIG": str(good)}
    environ["XDG_CONFIG_HOME"] = str(user.home / "terminal")
    found = posture_files.locate(environ, service(), Manager({"HOME": str(user.home)}))
    assert found.toml.path == str(bad)
    assert not holds(found)
    assert posture_files.locate(environ, service("inactive"), Manager({})).undecided
    assert user.found(OPENSHELL_GATEWAY_CONFIG=str(good)).undecided
    assert not user.found(OPENSHELL_GATEWAY_CONFIG=str(bad)).undecided


@pytest.mark.parametrize(
    ("manager", "environment", "value"),
    [
        (OPEN, {}, OPEN),
        (OPEN, {"OPENSHELL_BIND_ADDRESS": CLOSED}, CLOSED),
        (CLOSED, {"OPENSHELL_BIND_ADDRESS": OPEN}, OPEN),
    ],
)
def test_what_systemd_says_of_its_environment_counts_below_the_units(
    user: User, manager: str, environment: dict[str, str], value: str
) -> None:
    answered = units.manager_environment(f"HOME={user.home}\nOPENSHELL_BIND_ADDRESS={manager}\n")
    assert not isinstance(answered, Unreadable)
    found = posture_files.locate({"HOME": str(user.home)}, service("active", **environment), Manager(answered))
    assert bound(found) == value
    user.put("environment.d/10.conf", "OPENSHELL_NEVER=1\n")  # systemd has answered; its files are not asked
    assert "OPENSHELL_NEVER" not in found.overrides


def test_the_managers_environment() -> None:
    assert units.manager_environment("A=b c\nQUOTED=$'x\\ty'\nHOME=/home/u\n") == {
        "A": "b c",
        "QUOTED": "x\\ty",
        "HOME": "/home/u",
    }
    assert isinstance(units.manager_environment("A=b\nmore of it, and OPENSHELL_X=1\n"), Unreadable)
    assert isinstance(units.manager_environment(""), Unreadable)


def test_a_record_of_it_holds_no_other_variables_value() -> None:
    kept = units.withheld("TOKEN=hush\nOPENSHELL_BIND_ADDRESS=0.0.0.0:17670\nKEY=one\nhush too\nHOME=/h\n")
    assert kept == "TOKEN=[not kept]\nOPENSHELL_BIND_ADDRESS=0.0.0.0:17670\nKEY=[not kept]\n[not kept]\nHOME=/h\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        ("A = b c  ", "b c"),
        ("A='b'\"c\"d", "bcd"),
        ('A="b\\"c\\$d\\e"', 'b"c$d\\e'),
        ("A=b\\\nc", "bc"),
        ("A=b\\ c", "b c"),
        ('A="b\nc"', "b\nc"),
        ('A=b"c"', 'b"c"'),
        ("A=", ""),
        ("A=b # c", "b # c"),
        ("A=b\r\n", "b"),
    ],
)
def test_an_environment_file_is_read_as_systemd_reads_it(text: str, value: str) -> None:
    read = environment_files.environment_file(f"{text}\nZ=z\n")
    assert read == environment_files.EnvironmentFile({"A": value, "Z": "z"}, ())


def test_a_command_may_forbid_variables() -> None:
    read = unit_files.unit([("u", "[Service]\nExecStart=:/usr/bin/openshell-gateway $A\n")], {})
    assert units.started(read.argv, {"A": "--disable-tls"}) == ("/usr/bin/openshell-gateway", "$A")
