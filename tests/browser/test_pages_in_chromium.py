"""The pages in a real browser, on the demo's story: narrow and wide, light and dark, by keyboard, without a script."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from triage import demo

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTHS = (320, 768, 1440)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium was not found: install Debian's chromium"),
    pytest.mark.timeout(240),
]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo.Running]:
    with demo.running(tmp_path_factory.mktemp("demo")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def cookies(browser: Browser, told: demo.Running) -> list[dict[str, object]]:
    """Sign in by the one-time link, once: it works no second time."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(told.sign_in)
    assert page.get_by_role("heading", name="Queue").is_visible()
    found = [dict(cookie) for cookie in context.cookies()]
    page.goto(told.sign_in)
    assert page.get_by_role("heading", name="Queue").count() == 0
    context.close()
    return found


@pytest.fixture(params=[(width, scheme) for width in WIDTHS for scheme in ("light", "dark")], ids=str)
def page(request: pytest.FixtureRequest, browser: Browser, cookies: list[dict[str, object]]) -> Iterator[Page]:
    """Open a signed-in page without scripts, as wide and as light as asked."""
    width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=False
    )
    context.add_cookies(cookies)  # type: ignore[arg-type]  # as the browser gave them
    opened = context.new_page()
    yield opened
    context.close()


def test_the_queue_fits_and_leads_on(page: Page, told: demo.Running, tmp_path: Path) -> None:
    """Nothing runs off the side, lanes stand in their order, and the first row leads to its evidence."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(f"{told.url}/queue")
    page.screenshot(path=tmp_path / "queue.png", full_page=True)
    width = (page.viewport_size or {"width": 0})["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    titles = [one.inner_text().split("\n")[0] for one in page.locator("main h2").all()]
    assert titles[0].startswith("Live people")
    page.locator("main h3 a").first.click()
    assert page.get_by_text("unknown", exact=False).first.is_visible()
    assert complaints == []


def test_the_keyboard_is_enough(page: Page, told: demo.Running) -> None:
    """The first stop skips to the content, and every row's link can be reached and opened."""
    page.goto(f"{told.url}/queue")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.locator("h3 a:focus").count():
            break
    focused = page.locator("h3 a:focus")
    assert focused.count() == 1
    title = focused.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/pulls/**")
    assert title in page.locator("h1").inner_text()


def test_a_stranger_sees_how_to_sign_in_and_nothing_else(browser: Browser, told: demo.Running) -> None:
    """Without the link there is no name and no number of anybody."""
    page = browser.new_page()
    page.goto(f"{told.url}/queue")
    text = page.locator("body").inner_text()
    assert "sign in" in text.lower()
    assert "lanternfish" not in text
    page.close()
