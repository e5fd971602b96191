"""The `openshell` stand-in's command line, its errors and its documents, without a world."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_amap.rehearsal.openshell import create, driverconfig, errors, main, policies, policyfile, providers
from pytest_amap.rehearsal.openshell.arguments import Arguments, read
from pytest_amap.rehearsal.openshell.errors import CliError, UsageError


def parsed(*words: str) -> Arguments:
    before, rest = main.split(words)
    command, own = main.find(rest)
    return read([*before, *own], command, main.GLOBAL)


def test_global_flags_stand_before_or_behind_the_command() -> None:
    for words in (("--workspace", "w", "sandbox", "get", "a"), ("sandbox", "get", "a", "--workspace=w")):
        assert parsed(*words).last("workspace") == "w"


def test_everything_behind_the_dashes_is_the_sandboxs() -> None:
    found = parsed("sandbox", "exec", "-n", "a", "--env", "A=1", "--env", "B=2", "--", "ls", "-l", "--", "x")
    assert found.trailing == ["ls", "-l", "--", "x"]
    assert found.all("env") == ["A=1", "B=2"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("sandbox", "create", "--image", "x"), "unexpected argument '--image' found"),
        (("sandbox", "create", "--restart-policy", "always"), "unexpected argument '--restart-policy' found"),
        (("sandbox", "get"), "required arguments were not provided:\n  <NAME>"),
        (("sandbox", "get", "a", "b"), "unexpected argument 'b' found"),
        (("sandbox", "get", "a", "--policy-only", "-o", "json"), "cannot be used with"),
        (("sandbox", "list", "--names", "-o", "json"), "cannot be used with"),
        (("sandbox", "list", "-o", "xml"), "invalid value 'xml'"),
        (("sandbox", "exec", "-n"), "a value is required"),
        (("sandbox", "frob"), "unrecognized subcommand 'frob'"),
        (("frob",), "unrecognized subcommand 'frob'"),
    ],
)
def test_what_is_not_known_is_a_usage_error(words: tuple[str, ...], text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parsed(*words)
    assert text in str(raised.value)


def test_a_usage_error_is_exit_2_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["sandbox", "create", "--restart-policy", "always"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: unexpected argument '--restart-policy' found\n\nUsage: openshell sandbox create")


def test_help_lists_the_flags(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["sandbox", "exec", "--help"]) == 0
    out = capsys.readouterr().out
    assert "--no-login-shell" in out
    assert "--restart-policy" not in out
    assert main.main([]) == 0
    assert "sandbox" in capsys.readouterr().out


def test_an_error_box_is_wrapped_at_spaces_and_behind_hyphens() -> None:
    path = "/srv/a-rather-long-directory-name/with-many-hyphens/that-goes-on/policies/alpha.yaml"
    lines = errors.box(CliError(f"failed to read sandbox policy from {path}", ["No such file", "last"])).split("\n")
    assert lines[0].startswith("Error:   × failed to read")
    assert all(len(line) <= 80 for line in lines)
    assert any(line.endswith("-") for line in lines)
    assert lines[-4:] == ["  ├─▶ No such file", "  ╰─▶ last", "", ""]


def test_a_hint_stands_behind_an_empty_line_of_the_box() -> None:
    text = errors.box(CliError("sandbox 'a' already exists", hint="hint: delete it\n      or not"))
    assert text == "Error:   × sandbox 'a' already exists\n  │\n  │ hint: delete it\n  │       or not\n\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a" * 20, "name exceeds maximum length (20 > 19)"),
        ("Alpha", "lowercase alphanumeric"),
        ("a--b", "consecutive hyphens"),
        ("-a", "start or end with a hyphen"),
        ("a\n", "lowercase alphanumeric"),
    ],
)
def test_names_the_gateway_refuses(name: str, text: str) -> None:
    with pytest.raises(CliError, match=text.replace("(", r"\(").replace(")", r"\)")):
        create.check_name(name)


def test_a_name_of_19_is_fine() -> None:
    create.check_name("a" * 19)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("version: 1\nnonsense: 2\n", "unknown field `nonsense`"),
        ("version: 1\nlandlock: {mode: x}\n", "unknown field `mode`"),
        ("version: 1\nversion: 1\n", "duplicate entry"),
        ("[1, 2]\n", "invalid type"),
        ("a: [\n", "flow"),
    ],
)
def test_policies_the_cli_refuses(tmp_path: Path, text: str, cause: str) -> None:
    with pytest.raises(CliError, match="failed to parse sandbox policy YAML") as raised:
        policyfile.read(written(tmp_path, text))
    assert cause in " ".join(raised.value.causes)


def test_a_missing_policy_file_is_told_as_rust_tells_it(tmp_path: Path) -> None:
    with pytest.raises(CliError) as raised:
        policyfile.read(tmp_path / "none.yaml")
    assert raised.value.causes == ("No such file or directory (os error 2)",)


def test_the_gateway_joins_all_violations() -> None:
    policy = {
        "version": 2,
        "filesystem_policy": {"read_only": ["usr", "/a/../b"], "read_write": ["/"]},
        "process": {"run_as_user": "0"},
    }
    with pytest.raises(CliError) as raised:
        policies.admit(policy)
    for phrase in ("unsupported version", "must be absolute", "traversal", "overly broad", "run_as_user must be"):
        assert phrase in raised.value.message


def test_the_effective_policy_reads_back_as_what_it_is() -> None:
    policy = {
        "version": 1,
        "filesystem_policy": {"include_workdir": False, "read_only": ["/usr", "/etc"], "read_write": ["/tmp"]},
        "landlock": {"compatibility": "hard_requirement"},
        "process": {"run_as_user": "1000", "run_as_group": "1000"},
    }
    rule = {"name": "_provider_p", "endpoints": [{"host": "a.example", "port": 443}], "binaries": [{"path": "/bin/x"}]}
    whole = policies.effective(policy, {"_provider_p": rule}, frozenset({"/usr", "/proc", "/dev/null"}))
    assert whole["filesystem_policy"]["read_only"] == ["/usr", "/etc", "/proc"]
    assert whole["filesystem_policy"]["read_write"] == ["/tmp", "/dev/null"]
    text = policies.emit(whole)
    assert yaml.safe_load(text) == whole
    assert "run_as_user: '1000'" in text
    assert policies.effective(policy, {}, policies.baseline_paths()) == policy, "no network rule, no baseline"


MOUNT = {"type": "bind", "source": "/usr", "target": "/opt/amap/lanes/inbox", "read_only": True}
RIGHT = {"allow_driver_config": True, "enable_bind_mounts": True, "resource_admission": {"enabled": False}}


@pytest.mark.parametrize(
    ("settings", "mounts", "text"),
    [
        ({}, [MOUNT], "allow_driver_config"),
        ({"allow_driver_config": True}, [MOUNT], "docker bind mounts require enable_bind_mounts = true"),
        ({**RIGHT, "resource_admission": {}}, [MOUNT], "resource admission"),
        (RIGHT, [{**MOUNT, "source": "relative"}], "absolute host path"),
        (RIGHT, [{**MOUNT, "source": "/no/such"}], "bind source path does not exist: /no/such"),
        (RIGHT, [{**MOUNT, "target": "/a/../b"}], "normalized"),
        (RIGHT, [{**MOUNT, "target": "/"}], "normalized"),
        (RIGHT, [MOUNT, MOUNT], "duplicate mount target"),
        (RIGHT, [{**MOUNT, "target": "/.openshell/x"}], "reserved"),
        (RIGHT, [{**MOUNT, "target": "/sandbox"}], "reserved for the OpenShell workspace"),
        (RIGHT, [{**MOUNT, "readonly": True}], "unknown field `readonly`"),
    ],
)
def test_driver_configurations_the_gateway_refuses(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], mounts: list[dict[str, Any]], text: str
) -> None:
    monkeypatch.setattr(driverconfig.config, "docker", lambda: settings)
    with pytest.raises(CliError) as raised:
        driverconfig.admit({"docker": {"mounts": mounts}})
    assert text in raised.value.message


def test_a_right_driver_configuration_is_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driverconfig.config, "docker", lambda: RIGHT)
    driverconfig.admit({"docker": {"mounts": [MOUNT, {**MOUNT, "target": "/sandbox/below"}]}})


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "must be valid JSON"), ("[]", "must be a JSON object keyed by driver name")],
)
def test_driver_configurations_the_cli_refuses(text: str, message: str) -> None:
    with pytest.raises(CliError, match=message):
        driverconfig.parse(text)


PROFILE: dict[str, Any] = {
    "id": "amap-claude-code",
    "display_name": "Claude Code",
    "category": "agent",
    "credentials": [{"name": "k", "env_vars": ["KEY"], "auth_style": "header", "header_name": "x-api-key"}],
    "discovery": {"credentials": ["k"]},
    "endpoints": [{"host": "a.example", "port": 443, "protocol": "rest"}],
    "binaries": ["/bin/x"],
}


def test_a_right_profile_passes_lint() -> None:
    assert list(providers.lint(PROFILE)) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"id": "Not Kebab"}, "id"),
        ({"display_name": ""}, "display_name"),
        ({"category": "bots"}, "category"),
        ({"discovery": {"credentials": ["other"]}}, "discovery.credentials"),
        ({"credentials": [{"name": "k", "auth_style": "header"}]}, "credentials.header_name"),
        ({"credentials": [{"name": "k", "env_vars": ["v1_X"]}]}, "credentials.env_vars"),
        ({"endpoints": [{"host": "a.example", "protocol": "rest"}]}, "endpoints.port"),
        ({"endpoints": [{"host": "a.example", "port": 1}]}, "endpoints.protocol"),
        ({"binaries": [""]}, "binaries"),
    ],
)
def test_profiles_that_fail_lint(change: dict[str, Any], field: str) -> None:
    assert field in [name for name, _ in providers.lint({**PROFILE, **change})]


def test_every_command_can_be_loaded() -> None:
    for command in main.commands():
        assert callable(command.load()), command.words


def test_exec_and_get_need_no_yaml() -> None:
    """A rehearsal runs them a hundred times; YAML would be a third of their start."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); from pytest_amap.rehearsal.openshell import main, sandbox"
    root = str(Path(main.__file__).parents[3])
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"{program}; assert 'yaml' not in sys.modules", root])
    assert done.returncode == 0
