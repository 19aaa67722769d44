"""What `import foreword` offers."""

from __future__ import annotations

import subprocess
import sys

import foreword
from foreword import errors


def test_every_public_name_is_there_and_every_error_is_one_of_them() -> None:
    for name in foreword.__all__:
        assert getattr(foreword, name) is not None
    tree = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name in tree if issubclass(getattr(errors, name), Exception)} <= set(
        foreword.__all__
    )
    assert {"Director", "assemble", "recall", "why", "Session"} <= set(foreword.__all__)


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, foreword; print([n for n in sys.modules if n.startswith('foreword.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
