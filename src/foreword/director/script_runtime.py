"""What a workflow needs to run with Playwright alone: the actions, templates and loops of its
nodes.

This file is copied into the scripts that `foreword director export --format playwright` writes, so
it imports nothing but Playwright and the standard library.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Dialog, Error, JSHandle, Locator, Page, Request, sync_playwright

ACTION_SECONDS, PAGE_SECONDS = 5.0, 20.0
MOST_TURNS = 1_000  # of a loop that names no limit, as in Foreword (`plan.node`)
MAIN = "Main Tab"
EXPRESSION = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
STEP = re.compile(r"([^.\[\]]+)|\[(-?\d+)\]")
READ = """(elements, fields) => {
  const isField = (one) => ['INPUT', 'TEXTAREA'].includes(one.tagName);
  const own = (one) => isField(one) ? one.value : one.innerText.trim();
  const part = (one, {selector, attribute}) => {
    const at = selector ? one.querySelector(selector) : one;
    if (!at) return null;
    if (!attribute) return own(at);
    return ['href', 'src'].includes(attribute) ? at[attribute] : at.getAttribute(attribute);
  };
  return elements.map((one) => fields
    ? Object.fromEntries(fields.map(([name, how]) => [name, part(one, how)])) : own(one));
}"""
DISABLED = """element => [element, element.parentElement].some(
  (one) => one && [...one.classList].some((name) => /(^|[-_])disabled$/.test(name)))"""
SCROLLED = """() => {
  const page = document.scrollingElement || document.documentElement;
  if (page.scrollHeight > page.clientHeight + 1) return page;
  let best = page, largest = 0;
  const look = (root) => { for (const one of root.querySelectorAll('*')) {
    if (one.shadowRoot) look(one.shadowRoot);
    const area = one.clientWidth * one.clientHeight;
    if (area <= largest || one.scrollHeight <= one.clientHeight + 1) continue;
    if (['auto', 'scroll'].includes(getComputedStyle(one).overflowY)) [best, largest] = [one, area];
  } };
  look(document);
  return best;
}"""
SCROLL = """(box, to) =>
  box.scrollTo({top: to === 'top' ? 0 : box.scrollHeight, behavior: 'instant'})"""
HEIGHT = "box => box.scrollHeight"
MOST_SCROLLS, SCROLL_MILLISECONDS, SAME_HEIGHTS = 500, 800, 3
# Of each attempt at a click Playwright's log says: it begins, the mouse is pressed, it is done.
CALL_LOG, ATTEMPTING = "Call log:", "attempting click action"
PERFORMING, CLICKED = "performing click action", "click action done"


class WorkflowScript:
    """One run of a workflow: its page, its variables, and what it does."""

    def __init__(self, page: Page, variables: dict[str, Any]) -> None:
        self.page = page
        self.context = page.context
        self.names: dict[Page, str] = {page: MAIN}
        self.visited = [page]  # where nodes were, the newest last
        self.popups: set[str] = set()  # tabs that exist, of which some may not be open yet
        self.dialog: dict[str, Any] = {}  # the node whose answers to dialogs count
        self.variables = variables
        self.loops: dict[str, Any] = {}
        self.fresh: set[str] = set()  # nodes that have read something
        self.may_have_happened = False  # what is being done
        self.loading: dict[Page, Request] = {}  # pages that are to be replaced by others
        self.asking: dict[Request, Page] = {}  # what scripts of pages have no answer to yet
        self.endless: set[str] = set()  # addresses on which answers never end
        self.context.on("dialog", self.answer)
        self.context.on("page", self.watch_page)
        self.watch_page(page)
        self.watch_tabs()

    def do(self, kind: str, config: dict[str, Any], node: str = "") -> None:
        """Carry out a node; what may have happened is not done again, whatever `retries` says."""
        given = self.fill(config)
        action: Callable[[dict[str, Any], str], None] = getattr(self, f"on_{kind}")
        retries = int(given.get("retries") or 0)
        for tried in range(retries + 1):
            self.may_have_happened = False
            try:
                if given.get("tab"):
                    self.visit(self.tab(str(given["tab"])))
                if kind not in ("navigate", "wait", "back", "reload", "http_login"):
                    self.wait_for_next_page(given)
                self.dialog = given
                action(given, node)
                return
            except Error as error:
                if tried < retries and not self.may_have_happened:
                    continue
                doubt = "it may have happened, look before it is done again: "
                said = f"{doubt if self.may_have_happened else ''}{error}"
                if given.get("on_failure") != "go_on":
                    raise SystemExit(f"{node}: {said}") from None
                sys.stderr.write(f"{node}: failed, going on: {said}\n")
                return
            finally:
                self.dialog = {}

    # --- values ---

    def fill(self, value: Any) -> Any:
        """A value with its templates filled."""
        if isinstance(value, dict):
            return {name: self.fill(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.fill(member) for member in value]
        if not isinstance(value, str):
            return value
        whole = EXPRESSION.fullmatch(value.strip())
        if whole:
            return self.look_up(whole[1])
        return EXPRESSION.sub(lambda found: as_text(self.look_up(found[1])), value)

    def look_up(self, expression: str) -> Any:
        """The value of `node7.rows[0].name`."""
        path: list[str | int] = []
        for name, number in STEP.findall(expression):
            path.append(int(number) if number else name)
        known = {**self.variables, **self.loops}
        for length in range(len(path), 0, -1):
            name = ".".join(map(str, path[:length]))
            if name in known:
                value = known[name]
                for part in path[length:]:
                    value = value[part] if isinstance(part, int) else value[str(part)]
                return value
        raise SystemExit(f"there is no variable {expression!r}")

    def set(self, name: str, value: Any, *, append: bool = False) -> None:
        """Set a variable, or add to the list that it holds."""
        if append:
            before = self.variables.get(name, [])
            more = value if isinstance(value, list) else [value]
            value = [*(before if isinstance(before, list) else [before]), *more]
        self.variables[name] = value

    # --- loops and conditions ---

    def turns(self, over: Any, most: int | None = None) -> list[Any]:
        """The elements of a list."""
        values: list[Any] = self.fill(over)
        return values[:most]

    def pages(self, selector: str, most: int | None = None) -> Iterator[int]:
        """Turn by turn, to the next page after each, until there is none."""
        for number in range(1, (most or MOST_TURNS) + 1):
            yield number
            button = self.find(self.fill(selector)).first
            if not usable(button):
                return
            before = self.page.url + self.page.inner_text("body")
            self.may_have_happened = False
            try:
                self.click(button, timeout=1000 * ACTION_SECONDS)
            except Error as error:
                raise SystemExit(f"to the next page: {error}") from None
            if not self.shows_more_than(before):
                return

    def shows_more_than(self, before: str) -> bool:
        """Whether the page shows something else, once its scripts have what they ask for."""
        idle = 0
        for _ in range(int(10 * PAGE_SECONDS)):  # some pages ask without end
            idle = 0 if self.wait_for_answers() else idle + 1
            if self.page.url + self.page.inner_text("body") != before:
                return True
            if idle > 10 * ACTION_SECONDS:
                break
            self.page.wait_for_timeout(100)
        return False

    def repeat(self, most: int | None = None, **asked: dict[str, Any]) -> Iterator[int]:
        """Turn by turn, `while` or `until` something holds."""
        for number in range(1, (most or MOST_TURNS) + 1):
            if "while" in asked and not self.holds(asked["while"]):
                return
            yield number
            if "until" in asked and self.holds(asked["until"]):
                return

    def holds(self, comparison: dict[str, Any]) -> bool:
        """Whether something holds."""
        asked = self.fill(comparison)
        if "present" in asked:
            return usable(self.find(asked["present"]).first)
        if "absent" in asked:
            return not usable(self.find(asked["absent"]).first)
        return compare(asked.get("left"), asked["operator"], asked.get("right"))

    # --- on the page ---

    def find(self, selector: str) -> Locator:
        """The element of a selector; `frame=... >> ...` looks into a frame."""
        scope: Any = self.page
        while selector.startswith("frame=") and " >> " in selector:
            frame, _, selector = selector.partition(" >> ")
            scope = scope.frame_locator(frame.removeprefix("frame="))
        found: Locator = scope.locator(selector)
        return found

    def watch_tabs(self) -> None:
        """Hear of tabs when they begin to open: Playwright tells of them once they have loaded."""
        assert self.context.browser is not None
        session = self.context.browser.new_browser_cdp_session()

        def on_created(event: dict[str, Any]) -> None:
            if event["targetInfo"]["type"] == "page":
                self.popups.add(event["targetInfo"]["targetId"])

        session.on("Target.targetCreated", on_created)
        session.on("Target.targetDestroyed", lambda event: self.popups.discard(event["targetId"]))
        session.send("Target.setDiscoverTargets", {"discover": True})

    def watch_page(self, page: Page) -> None:
        """Hear what a page loads, and what its scripts ask for."""

        def on_request(request: Request) -> None:
            if request.resource_type in ("fetch", "xhr"):
                self.asking[request] = page
            if request.is_navigation_request() and request.frame == page.main_frame:
                self.loading[page] = request

        def on_end(request: Request) -> None:
            self.asking.pop(request, None)
            if self.loading.get(page) is request:
                self.loading.pop(page)

        def on_answer(request: Request) -> None:
            self.asking.pop(request, None)

        def on_loaded(page: Page) -> None:
            self.loading.pop(page, None)

        page.on("request", on_request)
        page.on("requestfinished", on_answer)
        page.on("requestfailed", on_end)
        page.on("domcontentloaded", on_loaded)
        page.on("close", on_loaded)

    def is_loaded(self, seconds: float) -> bool:
        """Whether the page that is to come is there, in some seconds."""
        for _ in range(int(10 * seconds)):
            if self.page not in self.loading:
                return True
            self.pause(100)
        return self.page not in self.loading

    def wait_for_next_page(self, given: dict[str, Any]) -> None:
        """Let the page come that an earlier node has set off."""
        if not self.is_loaded(limit(given, True) / 1000):
            raise Error("nothing was done: the page before it is still loading")

    def asked_addresses(self) -> frozenset[str]:
        """What scripts of the page wait for, without queries; not what never ends."""
        asked = [request for request, page in self.asking.items() if page is self.page]
        return frozenset(request.url.partition("?")[0] for request in asked) - self.endless

    def wait_for_answers(self) -> bool:
        """Let scripts of the page have what they ask for; False if that is nothing."""
        has_waited = False
        for _ in range(int(10 * PAGE_SECONDS)):
            if not self.asked_addresses():
                break
            has_waited = True
            self.page.wait_for_timeout(100)
        self.endless |= self.asked_addresses()
        return has_waited

    def settle(self) -> None:
        """Wait for what an action has set off; a tab that it has opened is where it goes on."""
        self.pause(50)
        for _ in range(int(10 * PAGE_SECONDS)):
            if len(self.context.pages) >= len(self.popups):
                break
            self.pause(100)
        for page in self.context.pages:
            if page not in self.names:
                page.wait_for_load_state("domcontentloaded")
                self.names[page] = self.new_name(page)
                self.visit(page)
        left = [page for page in self.visited if not page.is_closed()]
        self.page = left[-1] if left else self.context.new_page()
        if not self.is_loaded(PAGE_SECONDS):
            sys.stderr.write("done; the page is still loading\n")

    def click(self, element: Locator, **how: Any) -> None:
        """Click an element; a click is done when it is done, whenever the next page answers."""
        try:
            element.click(**how)
        except Error as error:
            _, _, log = str(error).partition(CALL_LOG)
            last_attempt = log.rpartition(ATTEMPTING)[2]
            self.may_have_happened = PERFORMING in last_attempt or not log
            assert self.context.browser is not None
            has_closed = self.page.is_closed() and self.context.browser.is_connected()
            if CLICKED not in last_attempt and not (self.may_have_happened and has_closed):
                raise
        self.may_have_happened = True
        self.settle()

    def pause(self, milliseconds: float) -> None:
        """Let pages go on; one that an action has closed does so without."""
        for page in self.context.pages[:1]:
            page.wait_for_timeout(milliseconds)

    def new_name(self, page: Page) -> str:
        """What a new tab is called: its title or its address, with a number if that is taken."""
        address = page.url.partition("://")[2].partition("?")[0].rstrip("/")
        name = unique = " ".join(page.title().split()) or address
        taken = [other.casefold() for other in self.names.values()]
        number = 2
        while unique.casefold() in taken:
            unique = f"{name} ({number})"
            number += 1
        return unique

    def tab(self, name: str) -> Page:
        """The open tab of a name."""
        wanted = " ".join(name.split()).casefold()
        for page, known in reversed(self.names.items()):
            if known.casefold() == wanted and not page.is_closed():
                return page
        known_names = [known for page, known in self.names.items() if not page.is_closed()]
        raise Error(f"no tab is called {name!r}; open: {', '.join(known_names)}")

    def visit(self, page: Page) -> None:
        """Go on in a tab."""
        self.page = page
        self.visited = [other for other in self.visited if other is not page] + [page]

    def answer(self, dialog: Dialog) -> None:
        """Answer what a page asks, as the node says that is being carried out."""
        if dialog.type == "beforeunload":
            dialog.accept()
        elif self.dialog.get("dialog") != "accept":
            dialog.dismiss()
        elif dialog.type == "prompt" and self.dialog.get("dialog_text") is not None:
            dialog.accept(self.dialog["dialog_text"])
        else:
            dialog.accept()

    def on_navigate(self, given: dict[str, Any], node: str) -> None:
        self.page.goto(given["url"], wait_until="domcontentloaded", timeout=limit(given, True))

    def on_back(self, given: dict[str, Any], node: str) -> None:
        self.page.go_back(wait_until="domcontentloaded", timeout=limit(given, True))

    def on_reload(self, given: dict[str, Any], node: str) -> None:
        self.page.reload(wait_until="domcontentloaded", timeout=limit(given, True))

    def on_click(self, given: dict[str, Any], node: str) -> None:
        self.click(
            self.find(given["selector"]),
            button=given.get("button") or "left",
            click_count=2 if given.get("double") else 1,
            timeout=limit(given),
        )

    def on_press(self, given: dict[str, Any], node: str) -> None:
        if given.get("selector"):
            self.find(given["selector"]).focus(timeout=limit(given))
        for key in given["keys"].split():
            self.may_have_happened = True
            self.page.keyboard.press(key)
        self.settle()

    def on_type(self, given: dict[str, Any], node: str) -> None:
        field = self.find(given["selector"])
        text = as_text(given["text"])
        if field.evaluate("field => field.tagName", timeout=limit(given)) == "SELECT":
            self.on_select({**given, "choices": [text]}, node)
        elif given.get("slowly"):
            field.press_sequentially(text, delay=30)
        else:
            field.fill(text, timeout=limit(given))

    def on_select(self, given: dict[str, Any], node: str) -> None:
        field = self.find(given["selector"])
        options = field.evaluate(
            "list => [...list.options].map((one) => [one.text.trim(), one.value])"
        )
        chosen = list[int]()
        for choice in given["choices"]:
            chosen.append(next(at for at, option in enumerate(options) if choice in option))
        field.select_option(index=chosen, timeout=limit(given))

    def on_hover(self, given: dict[str, Any], node: str) -> None:
        self.find(given["selector"]).hover(timeout=limit(given))

    def on_drag(self, given: dict[str, Any], node: str) -> None:
        self.find(given["selector"]).hover(timeout=limit(given))
        self.may_have_happened = True
        self.find(given["selector"]).drag_to(self.find(given["to"]), timeout=limit(given))
        self.settle()

    def on_scroll(self, given: dict[str, Any], node: str) -> None:
        selector = given.get("selector")
        if selector and not given.get("to"):
            self.find(selector).scroll_into_view_if_needed(timeout=limit(given))
            return
        if selector:
            box: JSHandle = self.find(selector).element_handle(timeout=limit(given))
        else:
            self.wait_for_answers()
            box = self.page.evaluate_handle(SCROLLED)
        if given.get("to") != "end":
            box.evaluate(SCROLL, given["to"])
            return
        same, height = 0, box.evaluate(HEIGHT)
        for _ in range(MOST_SCROLLS):
            box.evaluate(SCROLL, "bottom")
            grown = self.height_after(box, height)
            same, height = (0 if grown > height else same + 1), grown
            if same >= SAME_HEIGHTS:
                return
        sys.stderr.write(f"{node}: there was still more to come after {MOST_SCROLLS} scrolls\n")

    def height_after(self, box: JSHandle, height: int) -> int:
        """The height once it has grown, or after a while in which the page asks for nothing."""
        idle = 0
        for _ in range(int(10 * PAGE_SECONDS)):  # some pages ask without end
            self.page.wait_for_timeout(100)
            idle = 0 if self.wait_for_answers() else idle + 100
            grown = int(box.evaluate(HEIGHT))
            if grown > height or idle >= SCROLL_MILLISECONDS:
                return grown
        return height

    def on_wait(self, given: dict[str, Any], node: str) -> None:
        if given.get("seconds"):
            self.page.wait_for_timeout(1000 * float(given["seconds"]))
        elif given.get("gone"):
            self.find(given["gone"]).first.wait_for(state="hidden", timeout=limit(given, True))
        elif given.get("text"):
            self.page.get_by_text(given["text"]).first.wait_for(timeout=limit(given, True))
        elif given.get("url"):
            pattern = ".*".join(map(re.escape, given["url"].split("*")))
            self.page.wait_for_url(re.compile(pattern), timeout=limit(given, True))
        elif given.get("quiet"):
            self.page.wait_for_load_state("networkidle", timeout=limit(given, True))
        else:
            self.find(given["selector"]).first.wait_for(timeout=limit(given, True))

    def on_extract(self, given: dict[str, Any], node: str) -> None:
        fields = None
        if given.get("fields"):
            sources = given["fields"].items()
            fields = [[n, {"selector": how} if isinstance(how, str) else how] for n, how in sources]
        found = self.find(given["selector"])
        if not given.get("many"):
            found.wait_for(state="attached", timeout=limit(given))
        values = found.evaluate_all(READ, fields)
        is_first = node not in self.fresh
        self.fresh.add(node)
        name = f"{node}.{given['variable']}"
        if given.get("append") and is_first:
            self.variables[name] = []
        value = values if given.get("many") else values[0]
        self.set(name, value, append=bool(given.get("append")))

    def on_upload(self, given: dict[str, Any], node: str) -> None:
        field = self.find(given["selector"])
        kind = field.evaluate("field => field.tagName + ' ' + field.type", timeout=limit(given))
        self.may_have_happened = True
        if kind.lower() == "input file":
            field.set_input_files(given["files"], timeout=limit(given))
            return
        with self.page.expect_file_chooser(timeout=limit(given)) as chooser:
            field.click(timeout=limit(given))
        chooser.value.set_files(given["files"], timeout=limit(given))

    def on_download(self, given: dict[str, Any], node: str) -> None:
        with self.page.expect_download(timeout=60_000) as coming:
            self.on_click(given, node)
        path = Path("downloads") / Path(coming.value.suggested_filename).name
        coming.value.save_as(path)
        self.set(f"{node}.{given['variable']}", str(path))

    def on_screenshot(self, given: dict[str, Any], node: str) -> None:
        path = Path("downloads") / f"{node}.png"
        path.parent.mkdir(exist_ok=True)
        if given.get("selector"):
            self.find(given["selector"]).first.screenshot(path=path)
        else:
            self.page.screenshot(path=path, full_page=bool(given.get("whole")))
        if given.get("variable"):
            self.set(f"{node}.{given['variable']}", str(path))

    def on_http_login(self, given: dict[str, Any], node: str) -> None:
        from base64 import b64encode

        name = f"{given['username']}:{given['password']}"
        header = {"authorization": "Basic " + b64encode(name.encode()).decode()}
        origin = "/".join(given["url"].split("/")[:3])
        self.page.context.route(
            f"{origin}/**",
            lambda route: route.continue_(headers={**route.request.headers, **header}),
        )

    def on_set_variable(self, given: dict[str, Any], node: str) -> None:
        self.set(given["variable"], given["value"], append=bool(given.get("append")))


def limit(given: dict[str, Any], loads: bool = False) -> float:
    """Milliseconds that an action may take."""
    return 1000 * float(given.get("timeout") or (PAGE_SECONDS if loads else ACTION_SECONDS))


def usable(element: Locator) -> bool:
    """Whether an element is there now, seen, and not switched off."""
    if not element.count() or not element.is_visible() or not element.is_enabled():
        return False
    return not element.evaluate(DISABLED)


def as_text(value: Any) -> str:
    """A value inside a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def number(value: Any) -> float | None:
    """A value as a number, if it reads as one."""
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def compare(left: Any, operator: str, right: Any) -> bool:
    """Whether an operator holds between two values."""
    if operator.startswith("not_"):
        return not compare(left, operator.removeprefix("not_"), right)
    first, second = number(left), number(right)
    if operator == "empty":
        return left is None or (hasattr(left, "__len__") and not len(left))
    if operator == "equals":
        return left == right or (first is not None and first == second)
    if operator == "contains":
        return as_text(right) in left if isinstance(left, str) else right in left
    assert first is not None, f"{left!r} is no number"
    assert second is not None, f"{right!r} is no number"
    orders = {"greater": first > second, "less": first < second}
    return {**orders, "at_least": first >= second, "at_most": first <= second}[operator]


def start(
    steps: Callable[[WorkflowScript], None], variables: dict[str, Any], secrets: dict[str, str]
) -> None:
    """Run the workflow in a browser; what its nodes have set is printed as JSON."""
    for name, environment in secrets.items():
        if environment not in os.environ:
            raise SystemExit(f"set {environment} to the value of {name}")
        variables[name] = os.environ[environment]
    given = set(variables)
    program = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, headless="--show" not in sys.argv
        )
        flow = WorkflowScript(browser.new_page(), variables)
        steps(flow)
        browser.close()
    results = {name: value for name, value in flow.variables.items() if name not in given}
    sys.stdout.write(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
