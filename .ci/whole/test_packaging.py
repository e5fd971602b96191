"""What a wheel holds, and what the project asks of an environment."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = ("kit", "pytest_amap")
RUNTIME = {"pytest", "pytest-dependency", "pytest-html", "pytest-timeout", "pyyaml"}


def sources(package: str) -> Iterator[Path]:
    """Every file of a package, as a path relative to the checkout."""
    for path in sorted((ROOT / package).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel of this checkout, built offline from a copy, so that the checkout gets no build folder."""
    pytest.importorskip("setuptools", minversion="77")
    copy = tmp_path_factory.mktemp("checkout")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    program = "from setuptools.build_meta import build_wheel; print(build_wheel('dist'))"
    built = subprocess.run([sys.executable, "-c", program], cwd=copy, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return zipfile.ZipFile(copy / "dist" / built.stdout.split()[-1])


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_holds_every_file_of(package: str, wheel: zipfile.ZipFile) -> None:
    missing = {path.as_posix() for path in sources(package)} - set(wheel.namelist())
    assert not missing


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_keeps_the_executable_bits_of(package: str, wheel: zipfile.ZipFile) -> None:
    programs = [path for path in sources(package) if os.access(ROOT / path, os.X_OK)]
    modes = {path: wheel.getinfo(path.as_posix()).external_attr >> 16 for path in programs}
    assert programs
    assert all(mode & stat.S_IXUSR for mode in modes.values()), modes


def test_wheel_holds_nothing_but_the_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_the_entry_point_bears_its_modules_name() -> None:
    """Any other name would register the plugin twice where conftest.py loads it too."""
    points = PROJECT["project"]["entry-points"]["pytest11"]
    assert all(name == module for name, module in points.items())


def test_the_runtime_needs_five_packages() -> None:
    assert {word.split(">")[0] for word in PROJECT["project"]["dependencies"]} == RUNTIME


def test_pytest_reads_the_configuration_without_a_complaint() -> None:
    words = ("-W", "error::pytest.PytestConfigWarning", "-W", "error::pytest.PytestDeprecationWarning")
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, "--collect-only", "-q", "tests_live"]
    asked = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert "warning" not in asked.stdout.lower()
    assert PROJECT["tool"]["pytest"]["strict"] is True
