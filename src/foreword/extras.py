"""The optional packages, by the extra of pyproject.toml that brings them.

An import of one is inside `with extra(NAME)`: where the package is missing, the error says how to
install it from where this Foreword came from, be it a clone, a wheel, a repository or an index.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from foreword.errors import UsageError


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Raise a UsageError that names the extra if an import inside the `with` block fails."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("foreword"):
            raise
        raise UsageError(
            f"this needs the extra '{name}': {missing.name} is not installed",
            hint=install_command(name),
        ) from None


def install_command(name: str) -> str:
    """The command that adds an extra to the environment that this program runs in."""
    origin = _origin()
    if origin.get("dir_info", {}).get("editable"):
        from urllib.parse import unquote, urlsplit

        return pip_install("-e", f"{unquote(urlsplit(origin['url']).path)}[{name}]")
    return pip_install(requirement(name))


def requirement(name: str) -> str:
    """Foreword with an extra, as pip, pipx and uv take it, from where this one came from."""
    origin = _origin()
    if "url" not in origin:
        return f"foreword[{name}]"
    url = origin["url"]
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    return f"foreword[{name}] @ {url}"


def pip_install(*arguments: str) -> str:
    """The command that installs into the environment that this program runs in; one that uv has
    made has no pip."""
    import shlex
    from importlib.util import find_spec

    installer = ["uv", "pip", "install", "--python", sys.executable]
    if find_spec("pip"):
        installer = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*installer, *arguments])


def _origin() -> dict[str, Any]:
    """What the installer has noted about where Foreword came from (direct_url.json); nothing
    where that was an index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("foreword").read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    return dict(json.loads(text)) if text else {}
