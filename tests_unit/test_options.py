"""Options: what wins over what, what is refused and with which way out, and what never touches the host."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_bench import FAILS, PASSES, QUICK, Bench

from pytest_amap.options import Options
from pytest_amap.session import refusals, settings

pytest_plugins = ["pytester"]

OTHER_PLUGINS = """
def pytest_addoption(parser):
    flag = {"action": "store_true"}
    options = {"--forked": flag, "--looponfail": flag, "--reruns": {"type": int}, "--count": {"type": int}}
    for name, kind in options.items():
        try:
            parser.addoption(name, **kind)
        except ValueError:
            pass


def pytest_cmdline_main(config):  # as xdist's, which starts sessions from here until it is stopped
    return 0 if config.getoption("--looponfail") else None
"""

NO_EFFECT = """
from pytest_amap.session import rehearse
from pytest_amap.host import process

def touch(*args, **kwargs):
    Path(__file__).with_name("touched").write_text("")
    raise AssertionError("nothing may be looked at or started")

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    patch = pytest.MonkeyPatch()
    patch.setattr(survey, "survey", touch)
    patch.setattr(process, "run", touch)
    config.add_cleanup(patch.undo)

rehearse.run = touch
"""


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Bench:
    made = Bench(pytester)
    made.check("unknown_2", PASSES)
    return made


def resolved(pytester: pytest.Pytester, *args: str) -> Options:
    return settings.resolve(pytester.parseconfig("-p", "pytest_amap.plugin", *args))


def test_the_home_is_cli_then_environment_then_ini(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\namap_home = /from/ini\n")
    monkeypatch.delenv(settings.HOME, raising=False)
    assert resolved(pytester).home == "/from/ini"
    monkeypatch.setenv(settings.HOME, "/from/environment")
    assert resolved(pytester).home == "/from/environment"
    assert resolved(pytester, "--amap-home", "/from/cli").home == "/from/cli"
    assert resolved(pytester, "--amap-home", "from-cli").home == str(pytester.path / "from-cli")


def test_ini_settings_become_options(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\namap_openshell = os2\namap_port = 18000\namap_restart_policy = yes\namap_deadline_ready = 7.5\n"
        "amap_declared =\n    directory-: no directory here\namap_secrets = GH_TOKEN\n"
    )
    found = resolved(pytester, "--declare", "result-: none: at all", "--from-step", "3")
    assert (found.openshell, found.port, found.restart_policy, found.secrets) == ("os2", 18000, True, ("GH_TOKEN",))
    assert found.deadlines.ready == 7.5
    assert [(one.what, one.reason) for one in found.declared] == [
        ("directory-", "no directory here"),
        ("result-", "none: at all"),
    ]
    assert [found.acts_on(step) for step in (2, 3, 7)] == [False, True, True]


def test_only_step_acts_on_that_step_alone() -> None:
    assert [Options(only_step=4).acts_on(step) for step in (3, 4, 5)] == [False, True, False]
    assert all(Options().acts_on(step) for step in range(10))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--from-step", "10"), "--from-step takes a step from 0 to 9, saw 10"),
        (("--only-step", "-1"), "--only-step takes a step from 0 to 9, saw -1"),
        (("-o", "amap_port=70000"), "takes a port from 1 to 65535, saw '70000'"),
        (("-o", "amap_port=http"), "takes a port from 1 to 65535, saw 'http'"),
        (("-o", "amap_deadline_ready=soon"), "amap_deadline_ready takes seconds, saw 'soon'"),
        (("-o", "amap_deadline_ready=0"), "amap_deadline_ready takes seconds, saw '0'"),
        (("-o", "amap_deadline_ready=nan"), "amap_deadline_ready takes seconds, saw 'nan'"),
        (("--declare", "directory-"), "--declare takes 'WHAT: REASON', saw 'directory-'"),
        (("--declare", ": because"), "a declaration without a reason declares nothing"),
        (("--replay", ""), "--replay takes a path, saw an empty one"),
        (("--apply", "--amap-home", ""), "--amap-home takes a path, saw an empty one"),
        (("--from-step", "1", "--only-step", "2"), "--from-step and --only-step exclude each other"),
        (("--rehearsal", "--replay", "x"), "--rehearsal runs a host and --replay has none"),
        (("--apply", "--replay", "x"), "--apply runs commands and --replay runs none"),
        (("--fault", "inbox-writable"), "--fault plants a defect in the rehearsal host: add --rehearsal"),
        (("--apply", "--fault", "help"), "--fault plants a defect in the rehearsal host: add --rehearsal"),
        (("--apply", "--rehearsal", "--fault", "no-such-fault"), "no-such-fault"),
    ],
)
def test_a_value_or_mix_that_cannot_be_used_is_refused_in_a_sentence(
    bench: Bench, args: tuple[str, ...], says: str
) -> None:
    result = bench.run(*args)
    assert result.ret == 4
    assert says in str(result.stderr)
    assert "Traceback" not in str(result.stderr)
    assert not bench.home.exists()


XDIST = ("-p", "xdist.plugin")


@pytest.mark.parametrize("rehearsal", [(), ("--rehearsal",)], ids=["live", "rehearsal"])
@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        ((*XDIST, "-n", "2"), "run in order; drop it"),
        ((*XDIST, "-n", "0"), ""),
        ((*XDIST, "--dist", "load"), "run in order; drop it"),
        ((*XDIST, "--tx", "popen"), "run in order; drop it"),
        (("--forked",), "share session fixtures; drop it"),
        (("--looponfail",), "a run is started by a person; drop it"),
        (("--reruns", "2"), "hides a FAIL; drop it and run again with -k"),
        (("--count", "2"), "asked once a run; drop it"),
        (("--ignore-unknown-dependency",), "whose premise is unknown; drop it"),
        (("-p", "no:dependency"), "needs pytest-dependency"),
        (("-p", "no:timeout"), "needs pytest-timeout"),
        (("--lf",), "they forget a check that is UNKNOWN; select with -k instead"),
        (("--sw",), "they forget a check that is UNKNOWN; select with -k instead"),
        (("--sw-skip",), "they forget a check that is UNKNOWN; select with -k instead"),
        (("--sw-reset",), "they forget a check that is UNKNOWN; select with -k instead"),
    ],
)
def test_what_would_break_the_verdicts_is_refused_with_the_way_out(
    bench: Bench, args: tuple[str, ...], way_out: str, rehearsal: tuple[str, ...]
) -> None:
    """Before anything is made, live and rehearsed alike; what asks for nothing (-n 0) is let through."""
    if "xdist.plugin" in args:
        pytest.importorskip("xdist")
    if not way_out:
        assert rehearsal or bench.run("--apply", *args).ret == 0
        return
    bench.pytester.makepyfile(others=OTHER_PLUGINS)
    bench.pytester.syspathinsert()
    result = bench.run("--apply", *rehearsal, "-p", "others", *args)
    assert result.ret == 4
    assert way_out in str(result.stderr)
    assert not bench.home.exists()


@pytest.mark.parametrize("args", [("--lf",), ("--sw",), ("-p", "no:timeout"), ("-p", "no:dependency")])
def test_a_dry_run_is_not_refused(bench: Bench, args: tuple[str, ...]) -> None:
    assert bench.run(*args).ret == 0


@pytest.mark.parametrize("rehearsal", [(), ("--rehearsal",)], ids=["live", "rehearsal"])
def test_last_failed_names_the_selection_of_what_is_not_pass(bench: Bench, rehearsal: tuple[str, ...]) -> None:
    """--lf would forget the UNKNOWN ones: their names come from the newest results, the unselected among them."""
    bench.check("unknown_3", FAILS)
    bench.run("--apply")
    result = bench.run("--apply", *rehearsal, "--lf")
    assert result.ret == 4
    assert "unknown_3" in str(result.stderr)
    assert "-k '" in str(result.stderr)
    assert "unknown_2" not in str(result.stderr)


def test_results_that_are_none_name_no_selection(tmp_path: Path) -> None:
    results = tmp_path / "evidence" / "runs" / "20261129T120000Z" / "results.json"
    results.parent.mkdir(parents=True)
    for text in ("[" * 100_000, '{"results": {"tests": [{"name": "\\u001b[2J", "rawStatus": "FAIL"}]}}'):
        results.write_text(text)
        assert refusals.selecting_not_pass(Options(home=str(tmp_path))) == "select with -k instead"


@pytest.mark.parametrize("order", ["--ff", "--nf"])
def test_the_run_order_holds_whatever_reorders(bench: Bench, order: str) -> None:
    bench.check("unknown_3", FAILS)
    bench.check("pass_criterion_1", FAILS)
    bench.run("--apply")
    bench.check("unknown_6", PASSES)
    result = bench.run("--apply", order, "-v")
    names = ("unknown_6", "unknown_2", "unknown_3", "pass_criterion_1")
    result.stdout.fnmatch_lines([f"*::test_{name}*" for name in names])
    result.stdout.no_fnmatch_line("*Traceback*")
    listed = bench.run(order, "--collect-only", "-q")
    listed.stdout.fnmatch_lines([f"*::test_{name}" for name in names])


LOOKS = (
    "--help", "--version", "--markers", "--fixtures", "--fixtures-per-test", "--collect-only", "--setup-plan",
    "--cache-show",
)  # fmt: skip


@pytest.mark.parametrize("rehearsal", [(), ("--rehearsal",)], ids=["live", "rehearsal"])
@pytest.mark.parametrize("look", LOOKS)
def test_what_only_looks_never_touches_the_host(bench: Bench, look: str, rehearsal: tuple[str, ...]) -> None:
    bench.conftest(NO_EFFECT)
    assert bench.run("--apply", *rehearsal, look).ret == 0
    assert not bench.home.exists()
    assert not Path(f"{bench.home}.host").exists()
    assert not (bench.pytester.path / "touched").exists()


@pytest.mark.parametrize("args", [("--apply",), ("--apply", "--rehearsal")])
def test_the_same_options_without_a_look_do_touch_it(bench: Bench, args: tuple[str, ...]) -> None:
    """So the test above can fail."""
    bench.conftest(NO_EFFECT)
    bench.run_apart(*args)
    assert (bench.pytester.path / "touched").exists()


def test_a_rehearsal_without_apply_is_a_dry_run(bench: Bench) -> None:
    result = bench.run("--rehearsal")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["dry run: nothing was run or written*"])
    assert not bench.home.exists()


def test_fault_help_needs_no_apply(bench: Bench) -> None:
    """One fault a line, its hyphenated name first."""
    result = bench.run("--rehearsal", "--fault", "help")
    assert result.ret == 0
    assert result.outlines
    assert all(line.split()[0].replace("-", "").isalnum() for line in result.outlines)


@pytest.mark.parametrize("args", [("--apply",), ("--apply", "-k", "unknown_2"), ("-k", "unknown_2")])
def test_without_a_path_apply_means_the_live_checks_alone(bench: Bench, args: tuple[str, ...]) -> None:
    bench.unit_test("assert 0")
    result = bench.run(*args, path="")
    assert result.ret == 0
    assert "test_small" not in str(result.stdout)


@pytest.mark.parametrize("words", [("--replay",), ("--apply", "--amap-home")])
def test_a_value_that_pytest_takes_for_a_path_is_refused_before_its_settings_are_missed(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, words: tuple[str, ...]
) -> None:
    """Options of a plugin are not known yet when pytest looks for its settings."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    bench.check("unknown_2", PASSES)
    result = bench.pytester.runpytest_inprocess(*QUICK, "-p", "pytest_amap.plugin", *words, str(elsewhere))
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: pytest looked for its settings in *: name tests_live before the options*"])
    assert not list(elsewhere.iterdir())
