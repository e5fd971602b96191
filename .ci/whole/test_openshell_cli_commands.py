"""The `openshell` stand-in's commands against a running gateway, in a world."""

from __future__ import annotations

import json
from typing import Any

import pytest
import world_bench

folder = world_bench.folder

PROGRAM = f"""
{world_bench.FLEET}
def profile(verb, *words, **changes):
    document = dict(json.loads((home / "profile.json").read_text()), **changes)
    path = home / (verb + ".json")
    path.write_text(json.dumps(document))
    return run("openshell", "provider", "profile", verb, *words, "-f", str(path))
seen["lint taken"] = profile("lint")
seen["lint"] = profile("lint", id="another")
seen["update without"] = profile("update", "amap-claude-code")
seen["update stale"] = profile("update", "amap-claude-code", resource_version=7)
seen["update other"] = profile("update", "other", resource_version=1)
seen["update"] = profile("update", "amap-claude-code", resource_version=1, description="new")
seen["profiles"] = run("openshell", "provider", "list-profiles", "-o", "json")
seen["export"] = run("openshell", "provider", "profile", "export", "amap-claude-code", "-o", "json")
seen["no providers"] = run("openshell", "provider", "list")
without = {{name: value for name, value in os.environ.items() if name != "ANTHROPIC_API_KEY"}}
words = ("openshell", "sandbox", "create", "--name", "keyless", "--from", "agent", "--detach",
         "--provider", "amap-claude-code")
seen["not automatic"] = run(*words, "--", "sleep", "9")
seen["keyless"] = run(*words, "--auto-providers", "--", "sleep", "9", env=without)
seen["create"] = create("alpha", "sleep", "300")
seen["providers"] = run("openshell", "provider", "list", "-o", "json")
seen["in use"] = run("openshell", "provider", "delete", "amap-claude-code")
seen["not there"] = run("openshell", "provider", "delete", "none")
seen["no image"] = run("openshell", "sandbox", "create", "--name", "x", "--from", "none", "--detach", "--", "true")
gone = [dict(mount("inbox", True), source=str(home / "gone"))]
seen["no source"] = create("y", "true", mounts=gone)
seen["names"] = run("openshell", "sandbox", "list", "--all-workspaces", "--names")
seen["other workspace"] = run("openshell", "--workspace", "other", "sandbox", "list")
seen["json"] = run("openshell", "sandbox", "list", "-o", "json")
seen["unknown"] = run("openshell", "sandbox", "get", "none")
seen["gateways"] = run("openshell", "gateway", "list", "-o", "json")
seen["info"] = run("openshell", "gateway", "info", "-o", "json")
seen["other gateway"] = run("openshell", "-g", "none", "sandbox", "list")
seen["down"] = run("openshell", "--gateway-endpoint", "http://127.0.0.1:1", "sandbox", "list")
seen["status json"] = run("openshell", "status", "-o", "json")
seen["not configured"] = run("openshell", "status", env=dict(os.environ, XDG_CONFIG_HOME="/nonexistent"))
seen["warn"] = run("openshell", "logs", "alpha", "--level", "warn")
seen["policy get"] = run("openshell", "policy", "get", "alpha", "--base")
toml = Path(os.environ["XDG_CONFIG_HOME"], "openshell", "gateway.toml")
broken = home / "gateway.toml"
preflight = ("openshell-gateway", "config", "preflight", "--path", str(broken))
seen["preflight none"] = run(*preflight)
broken.write_text(toml.read_text().replace("version = 2", "version = 1"))
seen["preflight old"] = run(*preflight)
broken.write_text(toml.read_text() + "enable_bind_mounts = true\\n")
seen["preflight misplaced"] = run(*preflight)
broken.unlink()
broken.symlink_to(toml)
seen["preflight link"] = run(*preflight)
"""


@pytest.fixture(scope="module")
def seen(folder: Any) -> dict[str, Any]:
    return world_bench.observe(folder, PROGRAM)


def one_line(answer: dict[str, Any]) -> str:
    return " ".join(answer["err"].replace("│", " ").split())


def test_import_is_create_only_and_lint_says_so(seen: dict[str, Any]) -> None:
    assert seen["import"]["out"] == "Imported 1 provider profile.\n"
    assert seen["lint"]["out"] == "Provider profile lint passed.\n"
    assert seen["lint taken"]["code"] == 1
    assert "field=id custom provider profile 'amap-claude-code' already exists" in one_line(seen["lint taken"])
    assert "Error: × provider profile lint failed" in one_line(seen["lint taken"])


def test_update_needs_the_current_version(seen: dict[str, Any]) -> None:
    assert "non-zero resource_version" in one_line(seen["update without"])
    assert "modified concurrently (current resource_version: 1)" in one_line(seen["update stale"])
    assert "update target 'other' does not match payload id" in one_line(seen["update other"])
    assert seen["update"]["out"] == "Updated provider profile.\n"
    assert [item["resource_version"] for item in json.loads(seen["profiles"]["out"])] == [2]
    assert json.loads(seen["export"]["out"])["description"] == "new"


def test_the_listing_bears_the_gateways_additions(seen: dict[str, Any]) -> None:
    (found,) = json.loads(seen["profiles"]["out"])
    assert list(found)[:2] == ["id", "resource_version"]
    assert (found["source"], found["scope"]) == ("user", "workspace")


def test_a_provider_is_made_from_the_profile_and_the_environment(seen: dict[str, Any]) -> None:
    assert seen["no providers"]["out"] == "No providers found.\n"
    assert "missing required provider" in one_line(seen["not automatic"])
    assert "no local credentials found" in one_line(seen["keyless"])
    assert "✓ Created provider amap-claude-code (amap-claude-code) from existing local state" in seen["create"]["err"]
    (found,) = json.loads(seen["providers"]["out"])["providers"]
    assert found["credential_keys"] == ["ANTHROPIC_API_KEY"]
    assert "sk-ant" not in seen["providers"]["out"]


def test_a_provider_in_use_is_not_deleted(seen: dict[str, Any]) -> None:
    assert (seen["in use"]["code"], seen["not there"]["code"]) == (1, 0)
    assert "attached to sandboxes: alpha" in one_line(seen["in use"])


def test_what_cannot_be_created_leaves_nothing(seen: dict[str, Any]) -> None:
    assert "not available and cannot be pulled" in one_line(seen["no image"])
    assert "bind source path does not exist: /run/amap/home/gone" in one_line(seen["no source"])
    assert seen["names"]["out"] == "default/alpha\n"


def test_listings(seen: dict[str, Any]) -> None:
    assert seen["other workspace"]["out"] == "No sandboxes found.\n"
    whole = json.loads(seen["json"]["out"])
    assert whole["next_page_token"] == ""
    assert [item["phase"] for item in whole["sandboxes"]] == ["Ready"]
    assert "sandbox 'none' not found" in one_line(seen["unknown"])


def test_gateways(seen: dict[str, Any]) -> None:
    (gateway,) = json.loads(seen["gateways"]["out"])
    assert (gateway["name"], gateway["endpoint"], gateway["active"]) == ("openshell", "https://127.0.0.1:17670", True)
    assert [item["name"] for item in json.loads(seen["info"]["out"])["compute_drivers"]] == ["docker"]
    assert "Unknown gateway 'none'." in one_line(seen["other gateway"])
    assert "Connection refused (os error 111)" in one_line(seen["down"])
    assert json.loads(seen["status json"]["out"])["status"] == "connected"
    assert (seen["not configured"]["code"], "No gateway configured" in seen["not configured"]["out"]) == (0, True)


def test_level_warn_hides_policy_events(seen: dict[str, Any]) -> None:
    assert (seen["warn"]["code"], seen["warn"]["out"]) == (0, "")


def test_the_base_policy_is_without_the_providers_rule(seen: dict[str, Any]) -> None:
    assert "filesystem_policy:" in seen["policy get"]["out"]
    assert "_provider_" not in seen["policy get"]["out"]


@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("none", "does not exist"),
        ("old", "openshell.version must be 2, got 1"),
        ("misplaced", "unknown field `openshell.drivers.docker.resource_admission.enable_bind_mounts`"),
        ("link", "is not a regular file"),
    ],
)
def test_preflight_refuses(seen: dict[str, Any], case: str, text: str) -> None:
    assert seen[f"preflight {case}"]["code"] == 1
    assert text in seen[f"preflight {case}"]["err"]
