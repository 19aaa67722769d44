"""The token of a server that others can reach: made once, shown once, kept as a digest, compared
in constant time."""

from __future__ import annotations

import secrets
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path

from foreword.errors import UsageError
from foreword.pattern import lazy_pattern
from foreword.store import private
from foreword.store.locations import project_directory

BYTES = 32  # of a token that is made here: nobody guesses 256 bits
# Of a token that the user chose: shorter ones may be guessed at the rate that requests are let
# through. A file is read this far, so that a wrong one is no trouble.
LEAST_CHARS = 16
LARGEST_BYTES = 4_096
_DIGEST = lazy_pattern(r"[0-9a-f]{64}")


def new_token() -> str:
    """A new token."""
    return secrets.token_urlsafe(BYTES)


def digest_of(token: str) -> str:
    """What is kept of a token. It is long and random, so that a plain digest can't be turned
    back."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def fits(token: str, digest: str) -> bool:
    """Whether it is the token of that digest; how long the answer takes tells nothing."""
    return compare_digest(digest_of(token), digest)


def from_file(path: str) -> str:
    """The token in a file that the user has written."""
    try:
        token = Path(path).read_bytes()[:LARGEST_BYTES].decode().strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError(
            f"the token file {path} can't be read: {why}", hint="check the name and the rights"
        ) from None
    if len(token) < LEAST_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"the token in {path} must be at least {LEAST_CHARS} plain characters in one word",
            hint="for example from: python -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return token


def digest_file(root: Path) -> Path:
    """Where the digest of a root's token is kept: beside its store."""
    return project_directory(root) / "server-token.sha256"


def store_token(root: Path, *, new: bool = False) -> tuple[str, str]:
    """A new token and its digest; where one was made before, unless `new` says so, nothing and
    its digest."""
    path = digest_file(root)
    try:
        before = "" if new else _read_digest(path)
        if before:
            return "", before
        token = new_token()
        private.make_folder(path.parent)
        private.write_file(path, f"{digest_of(token)}\n")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"the token's digest can't be kept in {path}: {why}", hint="give one: --token-file"
        ) from None
    return token, digest_of(token)


def _read_digest(path: Path) -> str:
    """The digest that was kept; blank where there is none that can be trusted."""
    if path.is_symlink() or not path.is_file():
        return ""
    text = path.read_text("ascii").strip()
    return text if _DIGEST.fullmatch(text) else ""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
