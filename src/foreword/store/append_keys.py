"""Keys under which messages were appended: who tries again with the same key gets the first answer,
and adds nothing.

A key is the caller's own word, once for each conversation. It is kept in the transaction that
appends, for as long as the messages are, with a digest of what was appended and what was answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from foreword.errors import KeyReused, UsageError
from foreword.pattern import lazy_pattern
from foreword.store.database import Database, from_json, stamp, to_json

# Characters, as providers have it for their own idempotency keys.
LONGEST_KEY = 255
_KEY = lazy_pattern(rf"[!-~]{{1,{LONGEST_KEY}}}")  # of ASCII all that is seen
# Characters of the error for a bad key, which repeats it: a key may have any size.
_LONGEST_ERROR = 300


# What is kept of an answer.
RECEIPT = ("seq", "count", "tokens", "size_tokens", "compressed", "warnings")


def validate_key(key: object) -> None:
    """An error where a key is none."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        message = f"a key has 1 to {LONGEST_KEY} characters of ASCII and no spaces, not {key!r}"
        raise UsageError(
            message[:_LONGEST_ERROR],
            hint="for example a UUID: one for each message, the same when it is sent again",
        )


def digest_of(records: Iterable[tuple[str, bool]]) -> str:
    """A digest of messages, each as it is kept and with whether it is pinned."""
    digest = sha256()
    for record, pinned in records:
        body = record.encode("utf-8", "surrogatepass")
        digest.update(b"%d %d " % (pinned, len(body)) + body)
    return digest.hexdigest()


def find(db: Database, conversation: int, *, key: str, digest: str) -> dict[str, Any] | None:
    """What was answered under that key; nothing where it is new, an error where something else
    was appended."""
    rows = db.rows(
        "SELECT digest, receipt FROM append_keys WHERE conversation = ? AND name = ?",
        (conversation, key),
    )
    if not rows:
        return None
    known_digest, written = rows[0]
    receipt = from_json(written)
    if known_digest != digest:
        raise KeyReused(key, seq=receipt["seq"])
    return {**receipt, "warnings": tuple(receipt["warnings"])}


def keep(
    db: Database, conversation: int, *, key: str, digest: str, receipt: Mapping[str, Any]
) -> None:
    """Keep what is answered; the caller holds the transaction that appends."""
    db.rows(
        "INSERT INTO append_keys (conversation, name, digest, receipt, created) VALUES (?, ?, ?,"
        " ?, ?)",
        (conversation, key, digest, to_json(receipt, "the answer"), stamp()),
    )
