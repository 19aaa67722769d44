"""The optional packages, by the extra of pyproject.toml that brings them.

An import of one is inside `with extra(NAME)`: where the package is missing, the error says how to
install it from where this Foreword came from, be it a clone, a wheel, a repository or an index.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
    _, clone = _origin()
    if clone:
        return pip_install("-e", f"{clone}[{name}]")
    return pip_install(requirement(name))


def requirement(name: str) -> str:
    """Foreword with an extra, as pip, pipx and uv take it, from where this one came from."""
    url, _ = _origin()
    return f"foreword[{name}] @ {url}" if url else f"foreword[{name}]"


def pip_install(*arguments: str) -> str:
    """The command that installs into the environment that this program runs in; one that uv has
    made has no pip."""
    import shlex
    from importlib.util import find_spec

    installer = ["uv", "pip", "install", "--python", sys.executable]
    if find_spec("pip"):
        installer = [sys.executable, "-m", "pip", "install"]
    return shlex.join([*installer, *arguments])


def _origin() -> tuple[str, str]:
    """Where Foreword came from, as the installer has noted it (direct_url.json): the address, and
    the folder of an editable clone. Nothing where that was an index, or the note is damaged."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        noted = json.loads(distribution("foreword").read_text("direct_url.json") or "{}")
        path = unquote(urlsplit(noted["url"]).path)
        url = noted["url"]
        if "vcs_info" in noted:
            url = f"{noted['vcs_info']['vcs']}+{url}@{noted['vcs_info']['commit_id']}"
        if "subdirectory" in noted:
            url += f"#subdirectory={noted['subdirectory']}"
        is_editable = noted.get("dir_info", {}).get("editable")
    except (PackageNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return "", ""
    return url, path if is_editable else ""
