"""Why the rehearsal's world cannot be entered: one sentence, the failing call, the setting that helps."""

from __future__ import annotations

import errno
import os

import pytest

from pytest_amap.rehearsal import refusal


def failed(call: str, number: int, knobs: dict[str, int] | None = None, container: bool = False) -> str:
    error = OSError(number, os.strerror(number), call)
    return refusal.failed_call(error, (knobs or {}).get, lambda: container)


@pytest.mark.parametrize(
    ("sentence", "call", "setting"),
    [
        (failed("unshare(user)", errno.ENOSPC, {"max_user_namespaces": 0}), "failed with ENOSPC", "namespaces=15000"),
        (failed("unshare(user)", errno.ENOSPC), "ENOSPC", "user.max_user_namespaces"),
        (failed("unshare(user)", errno.EPERM, container=True), "EPERM", "seccomp=unconfined"),
        (failed("mount /proc", errno.EPERM, container=True), "mount /proc failed with EPERM", "systempaths=unconfined"),
        (failed("landlock_create_ruleset", errno.EOPNOTSUPP), "EOPNOTSUPP", "lsm="),
        (failed("landlock_create_ruleset", errno.ENOSYS), "ENOSYS", "landlock"),
        (failed("unshare(user)", errno.EINVAL), "EINVAL", "CONFIG_USER_NS"),
    ],
)
def test_names_the_call_and_one_setting(sentence: str, call: str, setting: str) -> None:
    assert call in sentence
    assert setting in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("knob", "value", "setting"),
    [
        ("unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        ("apparmor", 1, "apparmor_restrict_unprivileged_userns=0"),
    ],
)
def test_limits_on_ordinary_users_are_named_to_them_alone(
    monkeypatch: pytest.MonkeyPatch, knob: str, value: int, setting: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert setting in failed("/proc/self/uid_map", errno.EPERM, {knob: value})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert setting not in failed("/proc/self/uid_map", errno.EPERM, {knob: value})


def test_a_missing_tool_is_named_with_its_package() -> None:
    assert "iproute2" in str(refusal.missing_programs(["/nonexistent"]))


def test_a_path_under_run_is_refused_since_the_world_hides_it() -> None:
    assert "/run/user/1000/home" in str(refusal.hidden_path(["/run/user/1000/home"]))
    assert refusal.hidden_path(["/srv/run/home"]) is None


def test_a_path_that_does_not_exist_yet_is_judged_by_the_folder_above(tmp_path: os.PathLike[str]) -> None:
    path = f"{os.fspath(tmp_path)}/a/b"
    assert refusal.unusable_path(refusal.owners([path])) is None
    assert os.fspath(tmp_path) in refusal.owners([path])[path]
