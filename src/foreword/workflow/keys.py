"""Secrets that can be told by their own shape, whatever they are called: keys, tokens, URLs with passwords, headers.

Every pattern takes time in proportion to the text, whatever the text. What is told by the name before it, in
assignments, flags and sentences, is the business of `assigned`.
"""

from __future__ import annotations

import base64
import binascii
import re

from foreword.workflow.placeholders import HIDDEN, is_placeholder

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
_URL_PASSWORD = re.compile(r"(://[^\s/:@\"'`<>]*+:)(?!\d{1,5}[/?#])([^\s/\"'`<>]+)(?=@[^\s@])")
_WEBHOOK = re.compile(
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/)[\w/+-]+", re.ASCII
)
_BEARER = re.compile(r"\b(bearer[ \t]{1,8})(?=[A-Za-z._~+/=-]{0,80}\d)[\w.~+/=-]{8,}", re.IGNORECASE | re.ASCII)
_BASIC = re.compile(r"\b(basic[ \t]{1,8})([A-Za-z0-9+/]{8,}+={0,2})", re.IGNORECASE | re.ASCII)
# Headers and phrases hold spaces: all of the line is the value.
_LINE = re.compile(
    r"(?<![\w.-])((?:set-)?cookie[ \t]{0,8}:[ \t]{0,8}(?=[\w.$-]{1,128}=)"
    r"|(?:proxy-)?authorization[ \t]{0,8}[:=][ \t]{0,8}(?:bearer|basic|token|digest)[ \t]{1,8}(?=\S)"
    r"|(?:(?:pass|seed|recovery)[ _-]?phrase|mnemonic)[ \t]{0,8}[:=][ \t]{0,8}(?=\S))(?![\"'`])([^\r\n\"'`]+)",
    re.IGNORECASE,
)


_LINE_WORDS = ("coo", "author", "phra", "mnemon")  # without an i, which has more than two cases


def without_shapes(text: str) -> str:
    """The text with every secret that needs no name replaced with `[hidden]`."""
    if "PRIVATE KEY" in text:
        text = _PEM.sub(HIDDEN, text)
    if "://" in text:
        text = _URL_PASSWORD.sub(_unless_placeholder, text)
    if "eyJ" in text:
        text = _JWT.sub(rf"\1{HIDDEN}", text)
    if "/services/" in text or "/workflows/" in text or "/triggers/" in text or "/webhooks/" in text:
        text = _WEBHOOK.sub(rf"\1{HIDDEN}", text)
    text = _KEYS.sub(HIDDEN, text)
    folded = text.casefold()  # to look for a word is a hundred times quicker than to look for a pattern
    if "bearer" in folded:
        text = _BEARER.sub(rf"\1{HIDDEN}", text)
    if "basic" in folded:
        text = _BASIC.sub(_without_basic, text)
    return _LINE.sub(_unless_placeholder, text) if any(word in folded for word in _LINE_WORDS) else text


def _unless_placeholder(found: re.Match[str]) -> str:
    return found[0] if is_placeholder(found[2].split()[0]) else found[1] + HIDDEN


def _without_basic(found: re.Match[str]) -> str:
    try:
        named = b":" in base64.b64decode(found[2] + "=" * (-len(found[2]) % 4), validate=True)
    except binascii.Error:
        named = False
    return found[1] + HIDDEN if named else found[0]
