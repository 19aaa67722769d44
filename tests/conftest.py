"""Every test has data and cache directories of its own, so that none touches the user's; its
sessions are closed at its end."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

import foreword
from tests.chromium_program import LIGHT, path_with
from tests.examples import examples
from tests.sessions import Open
from tests.warm_process import share_starter

# A busy machine is slow: how long an example took says nothing about what it shows. The same
# examples every time, so that a run says what a change did; `make soak` looks for new ones.
settings.register_profile(
    "busy",
    deadline=None,
    derandomize="FOREWORD_EXAMPLES" not in os.environ,
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.too_slow],
)
# For `make mutants`: no search for the smallest example that fails.
settings.register_profile(
    "mutants",
    parent=settings.get_profile("busy"),
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("busy")
MEMORY = Path("/dev/shm")
LEAST_MEMORY = 4 * 1024**3  # bytes: ten times what a run keeps at once
SLOWEST_FILES = 10
LONGEST_ID = 60  # characters: most texts that a test is given, whole
_numbers = count()
_FAILED = pytest.StashKey[bool]()


def write_to_memory() -> None:
    """Let temporary files be in memory where there is much of it and programs can be started from
    there: each of the thousands of small databases waits for the disk several times."""
    with suppress(OSError):
        system = os.statvfs(MEMORY)
        if system.f_bavail * system.f_frsize > LEAST_MEMORY and not system.f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = str(MEMORY)
            tempfile.tempdir = None  # it is looked up anew


write_to_memory()
# for what is made before the first test, and by fixtures of whole modules
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="foreword-test-data-")
atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)


def pytest_configure(config: pytest.Config) -> None:
    starts_workers = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if starts_workers:
        share_starter()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What loading every module leaves stays to the end: a million objects, which the garbage
    collector would go through again and again, for half of what collecting takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the files whose tests took longest."""
    seconds = defaultdict[str, float](float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > 1:
        terminalreporter.section(f"slowest {SLOWEST_FILES} files")
        by_seconds = sorted(seconds.items(), key=lambda file: file[1], reverse=True)
        for name, duration in by_seconds[:SLOWEST_FILES]:
            terminalreporter.write_line(f"{duration:7.1f} s  {name}")


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Long texts by their beginning: an id goes from process to process with every report."""
    if isinstance(val, str) and len(val) > LONGEST_ID:
        return f"{val[:LONGEST_ID]!a} and {len(val) - LONGEST_ID} more"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A folder of the test's own, kept if it fails.

    Pytest's reads the names of all folders there are to find the next number, and leaves a link for
    each test: the thousandth test waits for that longer than most tests take.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.mktemp(f"{name}-{next(_numbers)}", numbered=False)
    yield folder
    if _FAILED not in request.node.stash:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp(f"cache-{next(_numbers)}", numbered=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp(f"data-{next(_numbers)}", numbered=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def light_chromium(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is found as `chromium`, but for the tests of the browser itself."""
    os.environ["PATH"] = path_with(LIGHT, tmp_path_factory.mktemp("light"))


@pytest.fixture
def open_session(tmp_path: Path) -> Iterator[Open]:
    """Opens sessions on stores of one folder; they are closed at the end."""
    sessions: list[foreword.Session] = []

    def opening(name: str = "state", **options: Any) -> foreword.Session:
        sessions.append(
            foreword.Session.open(f"sqlite:///{tmp_path}/{name}.db", root=tmp_path, **options)
        )
        return sessions[-1]

    yield opening
    for session in sessions:
        session.close()
