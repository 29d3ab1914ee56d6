"""The pages in a real browser: Chromium with its driver, by selenium, where they are installed."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tests.serve.extra
import weft as tf
from tests.cluster.conftest import servers as servers
from weft.cluster.guard.security import Credentials
from weft.pages.status import ServerStatus
from weft.pages.trace import TracePage
from weft.traces.cluster import TracedCluster
from weft.traces.here import record_here

assert tests.serve.extra.LIBRARIES
pytestmark = pytest.mark.timeout(300)
webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    pytest.skip("there is no Chromium, or no chromedriver, here", allow_module_level=True)

_SECONDS = 60.0
_ARGUMENTS = "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*_ARGUMENTS, "--window-size=1400,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield made
    made.quit()


def until(ask: Callable[[], Any]) -> Any:
    """What `ask` gives, as soon as that is something."""
    deadline = time.monotonic() + _SECONDS
    while not (found := ask()):
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.05)
    return found


class Page:
    """A page that is shown; `js` gives the value of an expression in it."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.get_log("browser")  # not those of the page before
        browser.get(address)

    def js(self, expression: str) -> Any:
        return self.browser.execute_script(f"return {expression}")

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def complaints(self) -> list[str]:
        return [each["message"] for each in self.browser.get_log("browser")]


@contextlib.contextmanager
def at_work(step: Callable[[], Any]) -> Iterator[None]:
    """Inside, another thread runs steps."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            step()

    working = threading.Thread(target=work)
    working.start()
    try:
        yield
    finally:
        over.set()
        working.join()


@pytest.fixture
def trace_page(browser: Any, sess: tf.Session) -> Iterator[Page]:
    """The trace of some steps of training in this process."""
    x = tf.placeholder(tf.float32, [64, 64])
    w = tf.get_variable("w", [64, 64])
    product = tf.matmul(x, w, name="product")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(product)))
    sess.run(tf.global_variables_initializer())

    def record() -> Any:
        feed = {x: np.ones((64, 64), np.float32)}
        with at_work(lambda: sess.run(train, feed)):
            return record_here(steps=20, seconds=_SECONDS)

    shown = TracePage(record(), record)
    page = Page(browser, shown.site.listen("localhost", 0))
    until(lambda: page.js("!!(window.weft && window.weft.trace)"))
    yield page
    shown.site.stop()


def test_it_loads_and_draws(trace_page: Page) -> None:
    page = trace_page
    assert page.js("weft.trace.size") > 40
    until(lambda: page.js("weft.timeline.frames.length"))
    # Something is drawn that is not the paper: the colour of steps is there.
    colours = page.js(
        "(() => { const seen = {}; for (const p of weft.timeline.pixels) seen[p] = 1;"
        " return Object.keys(seen).length })()"
    )
    assert colours > 3
    assert "events" in page.one("#about").text
    assert page.complaints() == []


def test_zoom(trace_page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    page = trace_page
    span = page.js("weft.timeline.to - weft.timeline.from")
    canvas = page.one("#timeline")
    ActionChains(page.browser).scroll_from_origin(
        ScrollOrigin.from_element(canvas), 0, -300
    ).perform()
    closer = page.js("weft.timeline.to - weft.timeline.from")
    assert closer < span / 1.5
    start = page.js("weft.timeline.from")
    canvas.click()
    page.one("body").send_keys("d")
    assert page.js("weft.timeline.from") > start
    page.one("body").send_keys("0")
    assert page.js("weft.timeline.to - weft.timeline.from") == pytest.approx(span)


def test_search_and_the_line_of_a_node(trace_page: Page) -> None:
    page = trace_page
    search = page.one("#search")
    search.send_keys("product_grad program")
    count = page.js("weft.found.length")
    assert count >= 18
    search.send_keys("\n")
    assert page.one("#found").text == f"1 of {count}"
    source = page.one("#selected .source").text
    assert "test_browser.py:" in source and "tf.matmul" in source
    search.clear()
    search.send_keys("nothing has this name")
    assert page.one("#found").text == "0 found"
    assert page.complaints() == []


def test_a_click_tells_the_node_and_its_line(trace_page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page = trace_page
    page.js(
        "(() => { const t = weft.trace; window.wanted = t.find('op product')"
        ".find(e => t.kindOf(e) === 'op' && t.nameOf(e) === 'product');"
        " weft.timeline.reveal(window.wanted, true); weft.timeline.draw(); return 1 })()"
    )
    x, y = page.js(
        "[weft.timeline.x(weft.trace.start[wanted] + weft.trace.duration[wanted] / 2),"
        " weft.timeline.yOf(wanted) + 8]"
    )
    canvas = page.one("#timeline")
    size = canvas.size
    ActionChains(page.browser).move_to_element_with_offset(
        canvas, int(x - size["width"] / 2), int(y - size["height"] / 2)
    ).click().perform()
    assert page.js("weft.timeline.selected === wanted")
    assert page.one("#selected h2").text == "product"
    assert 'product = tf.matmul(x, w, name="product")' in page.one("#selected .source").text


def test_record_again(trace_page: Page) -> None:
    page = trace_page
    origin = page.js("weft.trace.origin")
    page.one("#again").click()
    until(lambda: page.js(f"weft.trace.origin > {origin}"))
    assert page.complaints() == []


def test_arrows_between_tasks(browser: Any, servers: Any) -> None:
    target = servers(ps=1, worker=1)["worker"][0].target
    with tf.device("/job:ps"):
        w = tf.get_variable("w", [50, 50])
    with tf.device("/job:worker"):
        result = tf.reduce_sum(tf.tanh(w), name="result")
    with tf.Session(target) as session:
        session.run(w.initializer)
        cluster = TracedCluster(target)
        with at_work(lambda: session.run(result)):
            trace = cluster.record(steps=5, seconds=_SECONDS)
        cluster.close()
    shown = TracePage(trace)
    try:
        page = Page(browser, shown.site.listen("localhost", 0))
        until(lambda: page.js("!!(window.weft && window.weft.trace)"))
        assert page.js("weft.trace.arrow.length") >= 2
        page.js("weft.select(weft.trace.arrow[1])")
        assert "w/read:0" in page.one("#selected h2").text
        assert "earlier" in page.one("#selected a").text
        assert page.js("weft.timeline.draw()") is None
        assert page.complaints() == []
    finally:
        shown.site.stop()


def test_a_million_events(browser: Any) -> None:
    """They are there, are found, and are drawn by far fewer steps than there are events."""
    rows, each = 20, 50_000
    events = [
        {"ph": "X", "cat": "op", "name": f"node_{i % 1000}", "pid": row % 4, "tid": row,
         "ts": i * 10.0, "dur": 7.0}
        for row in range(rows)
        for i in range(each)
    ]  # fmt: skip
    shown = TracePage({"traceEvents": events})
    del events
    try:
        page = Page(browser, shown.site.listen("localhost", 0))
        until(lambda: page.js("!!(window.weft && window.weft.trace)"))
        assert page.js("weft.trace.size") == rows * each
        steps = page.js(
            "(() => { const t = weft.timeline, of = t.firstBeyond; let count = 0;"
            " t.firstBeyond = function (...a) { count++; return of.apply(t, a) };"
            " t.draw(); delete t.firstBeyond; return count })()"
        )
        assert 0 < steps < 60_000  # as many as there are pixels
        assert page.js("weft.trace.find('node_17').length") == rows * each // 1000 * 11
        assert page.complaints() == []
    finally:
        shown.site.stop()


# ---- other pages ---------------------------------------------------------------------------------


def test_the_status_of_a_server_and_its_graph(browser: Any, servers: Any) -> None:
    (server,) = servers(a=1)["a"]
    v = tf.get_variable("net/v", [2, 2], initializer=tf.ones_initializer())
    site = ServerStatus(server).site(Credentials())
    try:
        with tf.Session(server.target) as session:
            session.run(v.initializer)
            page = Page(browser, site.listen("localhost", 0))
            until(lambda: "net/v" in page.js("document.body.textContent"))
            assert "answers" in page.one("#tasks").text
            assert "16 B" in page.one("#variables").text
            page.one("#sessions button").click()
            until(lambda: page.js("document.querySelectorAll('.picture .scope').length"))
            page.js("document.querySelector('.picture .scope').onclick()")
            until(lambda: "close net" in page.one("#sessions").text)
            assert page.complaints() == []
    finally:
        site.stop()


def test_the_page_of_the_model_server(browser: Any, client: Any) -> None:
    page = Page(browser, f"http://localhost:{client.server.rest_port}/")
    until(lambda: page.js("document.querySelectorAll('details').length"))
    signature = page.browser.find_element("xpath", "//details[.//code='serving_default']")
    signature.find_element("css selector", "summary").click()
    text = signature.find_element("css selector", "textarea")
    text.clear()
    text.send_keys('{"instances": [1.0, 2.0, 5.0]}')
    signature.find_element("css selector", "button").click()
    answer = until(lambda: signature.find_element("css selector", "pre").text)
    assert answer.startswith("200 in") and "2.5" in answer and "4.5" in answer
    # The request shows in the plots.
    until(lambda: "requests/s" in page.one(".plots").text)
    paths = "[...document.querySelectorAll('.plots path')]"
    until(lambda: page.js(f"{paths}.some(p => p.getAttribute('d'))"))
    assert page.complaints() == []
    page.browser.get(f"http://localhost:{client.server.rest_port}/status")
    until(lambda: "half_plus_two" in page.js("document.body.textContent"))
