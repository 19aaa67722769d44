"""The pictures of the README, taken from the demo: the page on its conversation, and one report.

`make pictures` writes them to `docs/pictures`. They are looked at before they are committed.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from foreword.demos import samples
from foreword.demos.invoice_conversation import WORKFLOW
from foreword.faces.cli.demo import play_session

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 860
REPORT = ("assemble", "director", "--agent", "builder", "--budget", "3000")
REPORT_COLUMNS = "110"
TERMINAL = """
<body style="margin: 0; background: #fff"><pre style="display: inline-block; margin: 0;
padding: 22px 28px; background: #1d2126; color: #e4e7ea; font: 14px/1.45 'DejaVu Sans Mono',
monospace">{text}</pre></body>
"""


def main() -> None:
    """Take both pictures."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, _browser() as browser:
        root = samples.lay_out(Path(folder) / "sample")
        _take_report(browser, root)
        for line in play_session(root):
            print(line)
        _take_page(browser, root)


def _take_report(browser: Browser, root: Path) -> None:
    environment = {**os.environ, "COLUMNS": REPORT_COLUMNS, "NO_COLOR": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "foreword", *REPORT],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    shown = f"$ foreword {' '.join(REPORT)} > context.xml\n\n{ran.stderr.strip()}"
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5)
    page.set_content(TERMINAL.format(text=html.escape(shown)))
    page.locator("pre").screenshot(path=PICTURES / "report.png")
    page.close()


def _take_page(browser: Browser, root: Path) -> None:
    with _serve(root) as address:
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5
        )
        page.goto(f"{address}/sessions/{WORKFLOW}")
        page.wait_for_selector("#live:not([hidden]):not(.off)")
        page.screenshot(path=PICTURES / "page.png")


@contextmanager
def _serve(root: Path) -> Iterator[str]:
    """`foreword serve` on a free port; gives its address."""
    command = [sys.executable, "-m", "foreword", "serve", "--root", str(root), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            for line in server.stdout:
                address = re.search(r"http://127\.0\.0\.1:\d+", line)
                if address:
                    yield address[0]
                    break
        finally:
            server.terminate()


@contextmanager
def _browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


if __name__ == "__main__":
    main()
