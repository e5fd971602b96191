"""The plugin is registered once, however this project came into the environment and wherever pytest is started."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENTRY_POINTS = PROJECT["entry-points"]["pytest11"]


def packages() -> set[Path]:
    """The folders that hold what is installed here."""
    named = [sysconfig.get_paths()[name] for name in ("purelib", "platlib")]
    return {Path(name) for name in [*named, *site.getsitepackages(), site.getusersitepackages()] if Path(name).is_dir()}


def tell(folder: Path) -> None:
    """Give this project's entry point to a folder of packages, as an installation does."""
    about = folder / "pytest_amap-0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-amap\nVersion: 0\n")
    lines = [f"{name} = {module}" for name, module in ENTRY_POINTS.items()]
    (about / "entry_points.txt").write_text("\n".join(["[pytest11]", *lines, ""]))


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three folders with all that is installed here: without this project, with its entry point, with a copy of it."""
    found = {}
    for layout in ("not installed", "editable", "wheel"):
        folder = found[layout] = tmp_path_factory.mktemp(layout.replace(" ", "-"))
        for entry in (entry for place in packages() for entry in place.iterdir()):
            ours = "pytest_amap" in entry.name or entry.name in ("kit", "__pycache__")
            if not ours and not entry.name.endswith(".pth") and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    for name in ("pytest_amap", "kit"):
        shutil.copytree(ROOT / name, found["wheel"] / name)
    for layout in ("editable", "wheel"):
        tell(found[layout])
    return found


def run(folder: Path, *args: str, cwd: Path = ROOT, **environ: str) -> subprocess.CompletedProcess[str]:
    """`python -m pytest` with what lies in `folder`; an editable install has the checkout on the path besides."""
    dropped = ("PYTEST_", "AMAP_", "CLAUDE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    path = [folder, ROOT] if "editable" in folder.name else [folder]
    env = kept | {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1", **environ}
    command = [sys.executable, "-S", "-m", "pytest", "-p", "no:cacheprovider", *args]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60)


def collects_twelve(ran: subprocess.CompletedProcess[str]) -> bool:
    """Collected with our options known, in our order: the catalogue's first and last check."""
    names = [line.rpartition("::test_")[2] for line in ran.stdout.splitlines() if "::test_" in line]
    return ran.returncode == 0 and len(names) == 12 and (names[0], names[-1]) == ("unknown_6", "pass_criterion_1")


LIVE = (str(ROOT / "tests_live"), "--apply", "--collect-only", "-q")


@pytest.mark.parametrize(
    ("layout", "cwd"),
    [
        ("not installed", ROOT),
        ("not installed", Path("/")),
        ("editable", ROOT / "tests_live"),
        ("editable", Path("/")),
        ("wheel", ROOT),
    ],
    ids=["not installed", "not installed, from elsewhere", "editable", "editable, from elsewhere", "wheel"],
)
def test_from_anywhere_installed_or_not(layouts: dict[str, Path], layout: str, cwd: Path) -> None:
    ran = run(layouts[layout], *LIVE, cwd=cwd)
    assert collects_twelve(ran), ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("layout", "args", "environ"),
    [
        ("not installed", (), {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        ("editable", ("-p", "pytest_amap.plugin"), {}),
        ("editable", ("--disable-plugin-autoload", "-p", "pytest_amap.plugin", "-p", "pytest_timeout"), {}),
    ],
    ids=["no autoload", "-p", "no autoload, and -p"],
)
def test_by_hand(layouts: dict[str, Path], layout: str, args: tuple[str, ...], environ: dict[str, str]) -> None:
    ran = run(layouts[layout], *args, *LIVE, **environ)
    assert collects_twelve(ran), ran.stdout + ran.stderr


def test_without_autoload_the_plugins_it_needs_come_along(layouts: dict[str, Path], tmp_path: Path) -> None:
    """So --apply is not refused for their absence, and comes as far as step 0's list."""
    place = ("--amap-home", str(tmp_path / "home"))
    ran = run(layouts["not installed"], str(ROOT / "tests_live"), "--apply", *place, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "CLAUDE_CODE_VERSION is not set" in ran.stdout
    assert not (tmp_path / "home").exists()


def test_unit_tests_on_several_cores(layouts: dict[str, Path]) -> None:
    pytest.importorskip("xdist")
    tests = ROOT / "tests_unit" / "kit" / "test_kit_home.py"
    ran = run(layouts["editable"], "-p", "no:hypothesispytest", "-n", "2", "-q", str(tests))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_not_in_a_foreign_project(layouts: dict[str, Path], tmp_path: Path) -> None:
    """Everywhere else in that environment, pytest stays as it is."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "test_theirs.py").write_text("import pytest\ndef test_unknown_2():\n    pytest.skip('theirs')\n")
    ran = run(layouts["wheel"], "-rs", cwd=project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 skipped" in ran.stdout
    assert "amap:" not in ran.stdout
