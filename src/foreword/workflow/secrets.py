"""Find what is secret, by the name it stands under and by its shape, and hide it.

What is hidden reads `[hidden]`. Every pattern takes time in proportion to the text, whatever the text. Null, an
empty value, a yes or no, and a reference to a variable (`{{creds.password}}`) give nothing away and are shown.
JSON inside a text is searched as text. Which names promise a secret is told by `names`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import TypeGuard

from foreword.workflow.names import is_guarded_name, is_secret_name

__all__ = ["HIDDEN", "as_text", "hide", "is_array", "is_secret", "is_secret_name", "is_secret_value", "mask", "members"]

HIDDEN = "[hidden]"
MOST_DEPTH = 100
TOO_DEEP = "[nested too deeply]"

# A prefix is never scanned further than its shortest key unless it matches, so repeated prefixes cost nothing.
_KEYS = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      sk-(?:ant|proj|or|svcacct|admin|live|test|lf)-[\w-]{8,}
    | sk-(?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{16,}
    | [sr]k_(?:live|test)_[A-Za-z0-9]{8,} | whsec_[A-Za-z0-9+/=]{16,}
    | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_\w{16,}
    | gl(?:pat|ptt|dt|rt|cbt|soat|agent)-[\w-]{16,}
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-\d-[A-Za-z0-9-]{10,}
    | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])
    | AIza[\w-]{30,} | ya29\.[\w-]{16,} | GOCSPX-[\w-]{16,} | 1//0[\w-]{20,}
    | hf_[A-Za-z0-9]{16,} | npm_[A-Za-z0-9]{30,} | pypi-AgE[\w-]{16,} | dckr_pat_[\w-]{16,}
    | SG\.[\w-]{16,64}\.[\w-]{16,} | SK[0-9a-f]{32}(?![A-Za-z0-9]) | key-[0-9a-f]{32}(?![A-Za-z0-9])
    | pat[A-Za-z0-9]{14}\.[0-9a-f]{40,} | sbp_[0-9a-f]{32,} | sb_secret_[\w-]{16,} | lin_api_[A-Za-z0-9]{16,}
    | (?:gsk|r8|ntn|secret)_(?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{24,} | (?:xai|pplx|tvly)-[A-Za-z0-9]{20,}
    | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32} | do[opr]_v1_[0-9a-f]{32,} | hv[sb]\.[\w-]{20,} | AGE-SECRET-KEY-1[A-Z0-9]{20,}
    | \d{8,10}:AA[\w-]{30,}
    )""",
    re.ASCII | re.VERBOSE,
)
# A key whose end is missing is still a key, so without an end it goes on to the end of the text.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:.*?-----END [A-Z0-9 ]{0,60}-----|.*)", re.DOTALL
)
# Taken from the start of a run of characters, once, so that `eyJ-eyJ-eyJ-...` is read once.
_JWT = re.compile(r"(?<![\w-])((?>[\w-]*?(?=eyJ)))eyJ[\w-]{4,}+\.[\w-]{4,}+(?:\.[\w-]*+){1,3}", re.ASCII)
_URL_PASSWORD = re.compile(r"(://[^\s/:@\"'`<>]*+:)(?!\d{1,5}[/?#])[^\s/\"'`<>]+@(?=[^\s@])")
_WEBHOOK = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/)[\w/+-]+", re.ASCII
)
_BEARER = re.compile(r"\b(bearer[ \t]{1,8})(?=[A-Za-z._~+/=-]{0,80}\d)[\w.~+/=-]{8,}", re.IGNORECASE | re.ASCII)
_BASIC = re.compile(r"\b(basic[ \t]{1,8})([A-Za-z0-9+/]{8,}+={0,2})", re.IGNORECASE | re.ASCII)
# Headers and phrases hold spaces: all of the line is the value.
_LINE = re.compile(
    r"(?<![\w.-])((?:set-)?cookie[ \t]{0,8}:[ \t]{0,8}(?=[\w.$-]{1,128}=)"
    r"|(?:proxy-)?authorization[ \t]{0,8}[:=][ \t]{0,8}(?:bearer|basic|token|digest)[ \t]{1,8}(?=\S)"
    r"|(?:(?:pass|seed|recovery)[ _-]?phrase|mnemonic)[ \t]{0,8}[:=][ \t]{0,8}(?=\S))(?![\"'])[^\r\n\"']+",
    re.IGNORECASE,
)
# `Auth: click the button` goes on as a sentence. Only passwords are ever plain words, so only they are hidden there.
_SENTENCE = re.compile(r"(?<=: )[A-Z]?[a-z]{1,14} (?=[a-z])")
_PASSWORD = re.compile(r"pass|pwd|secret|cred", re.IGNORECASE)
# Atomic groups: Python before 3.11.4 keeps what the last, failed round of a possessive group has read.
_BARE = r"""(?>(?:[^\s"'`,;&]|["'`](?=\w)|[,;&](?!\s|$|["'\w.-]{1,40}\s?[=:]))+)"""
_NAMED = re.compile(
    r"""
    (?<![\w.-])(?P<name>[\w.-]++) \\{0,8}["'`]?[ \t]{0,8}(?::=|=>|==?|:)[ \t]{0,8}
    (?:(?:bearer|basic|token)[ \t]{1,8}(?=\S))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(
    rf"""
      \\{{1,8}}" (?P<in_escaped>(?>(?:[^"\\]|\\(?!"))*))
    | " (?P<in_double>(?>(?:[^"\\]|\\.)*)) | (?:\\{{1,8}})?' (?P<in_single>(?>(?:[^'\\]|\\.)*)) | ` (?P<in_ticks>[^`]*+)
    | (?P<brackets>\[[^\[\]]*+\](?=[\s,;&\])}}]|$) | \{{[^{{}}]*+\}}(?=[\s,;&\])}}]|$))
    | (?P<bare>{_BARE})
    """,
    re.VERBOSE | re.DOTALL,
)
_FLAG = re.compile(rf"(?<![\w.-])(?P<name>--[\w-]++)(?P<sign>[ \t]{{1,8}})(?!-)(?P<value>{_BARE})")
_NOTHING = re.compile(r"(?:null|none|nil|undefined|true|false|yes|no|\W{0,3})", re.IGNORECASE)
_REFERENCE = re.compile(r"\s*(?:\{\{[\w .\[\]-]{1,200}\}\}|\$\{[\w.-]{1,200}\})\s*")
_NUMBER = re.compile(r"[\d.,]+")
_CLOSING = ".,;)}]"
_MOST_CLOSING = 2

_LABELS = ("name", "key", "field", "header", "label", "selector", "variable", "variableName", "variable_name")
_LABELLED = frozenset(("value", "values", "text", "default"))


def is_secret(name: str, value: object) -> bool:
    """Whether all of this value is to be hidden because of the name it stands under.

    Under `credentials`, `creds` or `pass` a text is hidden, while a mapping is left to its own keys.
    """
    if value is None or isinstance(value, bool) or _is_empty(value):
        return False
    if isinstance(value, str) and _REFERENCE.fullmatch(value):
        return False
    return is_secret_name(name) or (is_guarded_name(name) and not _speaks_for_itself(value))


def is_secret_value(text: str) -> bool:
    """Whether a secret can be told by its shape anywhere in the text."""
    return mask(text) != text


def mask(text: str) -> str:
    """The text with every secret that can be told by its shape replaced with `[hidden]`."""
    if "PRIVATE KEY" in text:
        text = _PEM.sub(HIDDEN, text)
    if "://" in text:
        text = _URL_PASSWORD.sub(rf"\1{HIDDEN}@", text)
    if "eyJ" in text:
        text = _JWT.sub(rf"\1{HIDDEN}", text)
    text = _WEBHOOK.sub(rf"\1{HIDDEN}", _KEYS.sub(HIDDEN, text))
    text = _LINE.sub(rf"\1{HIDDEN}", _BASIC.sub(_without_basic, _BEARER.sub(rf"\1{HIDDEN}", text)))
    if ":" in text or "=" in text:
        text = _without_assigned(text)
    return _FLAG.sub(_without_flag, text) if "--" in text else text


def members(mapping: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    """The members of a mapping, those that are secret by name hidden; what is inside them is left as it is.

    `{"name": "password", "value": ...}` and `{"selector": "#password", "text": ...}` name their value in a field.
    """
    labelled = any(_is_secret_label(mapping.get(label)) for label in _LABELS)
    for key, value in mapping.items():
        name = str(key)
        secret = is_secret(name, value) or (labelled and name in _LABELLED and is_secret("secret", value))
        yield mask(name), HIDDEN if secret else value


def hide(value: object) -> object:
    """A copy made of plain JSON values in which every secret at any depth reads `[hidden]`."""
    return _hidden(value, ())


def is_array(value: object) -> TypeGuard[Sequence[object]]:
    """Whether the value is written as an array."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def as_text(value: object) -> str:
    """A value that JSON has no writing for, as text."""
    return f"[{len(value)} bytes]" if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _hidden(value: object, inside: tuple[int, ...]) -> object:
    if isinstance(value, str):
        return mask(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if len(inside) >= MOST_DEPTH or id(value) in inside:
        return TOO_DEEP
    if isinstance(value, Mapping):
        return {name: _hidden(member, (*inside, id(value))) for name, member in members(value)}
    if is_array(value):
        return [_hidden(member, (*inside, id(value))) for member in value]
    return mask(as_text(value))


def _is_empty(value: object) -> bool:
    return isinstance(value, Sized) and len(value) == 0


def _speaks_for_itself(value: object) -> bool:
    if is_array(value):
        return all(isinstance(member, Mapping) for member in value)
    return isinstance(value, Mapping | int | float)


def _is_secret_label(label: object) -> bool:
    return isinstance(label, str) and is_secret_name(label)


def _without_assigned(text: str) -> str:
    # What stands after a harmless name is searched in its turn: `url=https://host/?token=...`.
    pieces, done, at = [], 0, 0
    while found := _NAMED.search(text, at):
        at = found.end()
        name = found["name"]
        if _SENTENCE.match(text, at) and not _PASSWORD.search(name):
            continue
        if (is_secret_name(name) or is_guarded_name(name)) and (value := _VALUE.match(text, at)):
            kind = value.lastgroup or ""
            pieces += [text[done : value.start(kind)], _replacement(name, value[kind], quoted=kind != "bare")]
            done = at = value.end()
    return "".join(pieces) + text[done:]


def _without_flag(found: re.Match[str]) -> str:
    return found["name"] + found["sign"] + _replacement(found["name"], found["value"], quoted=False)


def _replacement(name: str, value: str, quoted: bool) -> str:
    harmless = _NOTHING.fullmatch(value) or _REFERENCE.fullmatch(value)
    if harmless or (not is_secret_name(name) and (not is_guarded_name(name) or _NUMBER.fullmatch(value))):
        return value
    if quoted:
        return HIDDEN
    if value.startswith(HIDDEN) and len(value) <= len(HIDDEN) + _MOST_CLOSING:
        return value
    closing = value[len(value.rstrip(_CLOSING)) :]
    return HIDDEN + (closing if len(closing) <= _MOST_CLOSING else "")


def _without_basic(found: re.Match[str]) -> str:
    try:
        named = b":" in base64.b64decode(found[2] + "=" * (-len(found[2]) % 4), validate=True)
    except binascii.Error:
        named = False
    return found[1] + HIDDEN if named else found[0]
