"""Commands on the base install: without any package that only an extra brings.

The packages are hidden from the imports of one process, which forks for each command. FOREWORD_BASE
names the Python of a real base install to use instead, as `make quick` does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("FOREWORD_BASE", "")
PROGRAM = """
import contextlib, importlib, json, os, pkgutil, signal, sys
orders = json.load(sys.stdin)

class Rest:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        is_hidden = name.partition(".")[0] in orders["hidden"]
        return None if is_hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Rest(finder) for finder in sys.meta_path]
import foreword
from foreword.__main__ import main
for module in pkgutil.walk_packages(foreword.__path__, "foreword."):
    if not module.name.startswith(("foreword.integrations", "foreword.demos.")):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(module.name)

answers = []
for number, arguments in enumerate(orders["commands"]):
    file = f"{orders['folder']}/output-{number}"
    if child := os.fork():
        os.waitpid(child, 0)
        answers.append(open(file, errors="replace").read())
        continue
    signal.alarm(60)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    output = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin = open(0)
    sys.argv = ["foreword", *arguments]
    main()
    os._exit(0)
json.dump(answers, sys.stdout)
"""


def run_all(commands: Sequence[Sequence[str]], project: Path) -> list[str]:
    """The output of each command, run in the project one after the other."""
    scratch = project.with_name("scratch")
    scratch.mkdir(exist_ok=True)
    orders = {
        "commands": commands,
        "folder": str(scratch),
        "hidden": [] if PYTHON else sorted(_modules_of_extras()),
    }
    done = subprocess.run(
        [PYTHON or sys.executable, "-c", PROGRAM],
        cwd=project,
        env={**os.environ, "HOME": str(scratch), "NO_COLOR": "1"},
        input=json.dumps(orders),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def _modules_of_extras() -> set[str]:
    """Every module that is installed here and that no package of the base install has."""
    lock = (ROOT / "requirements" / "base.lock").read_text("utf-8")
    base = {_normal(name) for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    base |= {"foreword", "pip"}
    hidden = set[str]()
    for module, packages in packages_distributions().items():
        if not base & {_normal(package) for package in packages}:
            hidden.add(module)
    return hidden


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
