"""The evidence page of a clean run and of a faulty one, opened in headless Chromium as a reviewer would."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rehearsing import Rehearsal, rehearse

webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="chromium or chromedriver is not on PATH, so no page was opened in a browser"
)


def browser(*arguments: str) -> Any:
    """Chromium that writes down what the console says and what the page asks for."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", *root, *arguments):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(DRIVER))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    driver = browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def faulty(clean: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """Two checks that are FAIL; the others are not selected. `clean` shows first that rehearsals work here."""
    home = tmp_path_factory.mktemp("faulty") / "home"
    done = rehearse(home, "--fault", "inbox-writable", "-k", "unknown_2 or pass_criterion_3")
    assert set(done.outcomes.values()) == {"FAIL"}, done.tail()
    return done


@pytest.fixture(params=["clean", "faulty"])
def run(request: pytest.FixtureRequest) -> Rehearsal:
    return request.getfixturevalue(request.param)


@pytest.fixture
def page(chromium: Any, run: Rehearsal) -> Any:
    """The browser with the run's page open, and its logs empty but for that page's."""
    chromium.get("about:blank")
    chromium.set_window_size(1200, 900)
    for name in ("browser", "performance"):
        chromium.get_log(name)
    chromium.get(address(run))
    return chromium


def address(run: Rehearsal) -> str:
    assert run.run is not None
    return (run.run / "report.html").as_uri()


def ask(page: Any, script: str, *arguments: object) -> Any:
    return page.execute_script(f"return {script}", *arguments)


def shown(page: Any) -> list[str]:
    """The outcome words of the rows that are shown."""
    rows = "[...document.querySelectorAll('#amap-checks tr[data-outcome]')]"
    return list(ask(page, f"{rows}.filter(row => row.checkVisibility()).map(row => row.dataset.outcome)"))


def click(page: Any, selector: str) -> None:
    page.find_element("css selector", selector).click()


def test_the_console_is_silent_and_nothing_is_asked_of_anybody(page: Any, run: Rehearsal) -> None:
    assert page.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert address(run) in asked
    assert all(url == address(run) or url.startswith("data:") for url in asked)


def test_each_filter_takes_its_rows_away_and_brings_them_back(page: Any) -> None:
    everything = shown(page)
    assert len(everything) == 12
    for word in sorted(set(everything)):
        click(page, f".amap-filter[value='{word}']")
        assert shown(page) == [other for other in everything if other != word]
        assert ask(page, "document.getElementById('amap-shown').textContent").startswith(f"{len(shown(page))} of 12")
        click(page, f".amap-filter[value='{word}']")
    assert shown(page) == everything


def test_everything_folds_and_unfolds(page: Any) -> None:
    opened = "document.querySelectorAll('#amap-checks tr[data-outcome] > td > details[open]').length"
    click(page, "#amap-filters button[data-open]")
    assert ask(page, opened) == 12
    click(page, "#amap-filters button:not([data-open])")
    assert ask(page, opened) == 0


def test_what_is_not_pass_is_open_at_once(page: Any) -> None:
    rows = "[...document.querySelectorAll('#amap-checks tr[data-outcome]')]"
    closed = ask(page, f"{rows}.filter(r => !r.querySelector('details').open).map(r => r.dataset.outcome)")
    assert set(closed) <= {"PASS", "not selected"}


def test_links_lead_somewhere(page: Any, run: Rehearsal) -> None:
    targets = ask(page, "[...document.querySelectorAll('#amap a')].map(link => link.getAttribute('href'))")
    assert len(targets) > 20
    for target in set(targets):
        if target.startswith("#"):
            assert ask(page, "!!document.getElementById(arguments[0])", target[1:]), target
        else:
            assert (Path(str(run.run)) / target).resolve().is_file(), target


def test_a_link_to_a_check_opens_it_even_when_it_is_filtered_away(page: Any, run: Rehearsal) -> None:
    name = next(name for name, outcome in run.outcomes.items() if outcome != "UNKNOWN")
    click(page, f".amap-filter[value='{run.outcomes[name]}']")
    row = f"document.getElementById('check-{name}')"
    assert ask(page, f"{row}.hidden")
    page.execute_script(f"location.hash = {row}.id")
    opened = f"!{row}.hidden && {row}.querySelector('details').open"
    WebDriverWait(page, 20).until(lambda _: ask(page, opened))


def test_it_fits_a_narrow_screen(page: Any) -> None:
    page.set_window_size(500, 900)
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        assert ask(page, "document.documentElement.scrollWidth <= 400")
        assert ask(page, "document.querySelector('#amap-checks tr[data-outcome] td+td').clientWidth > 350")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_says_rehearsal_before_anything_else(page: Any) -> None:
    assert page.title.startswith("REHEARSAL")
    assert ask(page, "document.querySelector('.amap-rehearsal').checkVisibility()")


def test_it_can_be_read_without_a_script(run: Rehearsal) -> None:
    driver = browser("--blink-settings=scriptEnabled=false")
    try:
        driver.get(address(run))
        rows = driver.find_elements("css selector", "#amap-checks tr[data-outcome]")
        assert [row.is_displayed() for row in rows] == [True] * 12
        assert not driver.find_element("css selector", "#amap-filters").is_displayed()
    finally:
        driver.quit()
