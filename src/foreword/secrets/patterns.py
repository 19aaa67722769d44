"""Hide secrets that can be told by their own shape: keys, tokens, URLs with passwords, headers.

Every pattern takes time in proportion to the text, whatever the text. How the keys of each issuer
begin says `token_formats`; what is told by the name before it, in assignments, flags and sentences,
is the business of `assignments`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from foreword.secrets.placeholders import HIDDEN, is_placeholder
from foreword.secrets.text_search import change_lines
from foreword.secrets.token_formats import formats

# A key whose end is missing is still a key, so without an end it goes on to the end of the text.
_PEM = (
    r"(?s:-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}(?:.*?-{4,5} ?END [A-Z0-9"
    r" ]{0,60}-{4,5}|.*))"
)
_PUTTY = (
    r"(Private-Lines: \d{1,4}(?:\s|\\[nr]){1,4})"
    r"(?>(?:[A-Za-z0-9+/=]{64}(?:\s|\\[nr]){1,4})*)[A-Za-z0-9+/=]{1,64}"
)
_JWT = r"eyJ[\w-]{4,}+\.[\w-]{4,}+(?:\.[\w-]*+){1,3}"
_RUN = r"[\w-]+"
# Of a key that is written as JSON, the numbers that nobody else may know.
_JWK = r"""(\\?"(?:d|p|q|dp|dq|qi|k)\\?"\s{0,8}:\s{0,8}\\?")[\w-]{16,}"""
_URL_PASSWORD = r"(://[^\s/:@\"'`<>]*+:)(?!\d{1,5}[/?#])([^\s/\"'`<>]+)(?=@[^\s@])"
# `https://TOKEN@host`: what is so long and has a digit is nobody's name.
_URL_USER = r"(://)(?=[A-Za-z_]{0,24}\d)(\w{20,}+)(?=(?::[^\s/@\"'`<>]{0,200})?@)"
_WEBHOOK = (
    r"(hooks\.slack\.com/(?:services|workflows|triggers)/"
    r"|discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/"
    r"|webhook\.office\.com/webhookb2/|hooks\.zapier\.com/hooks/catch/"
    r"|maker\.ifttt\.com/trigger/[\w-]{1,80}/(?:json/)?with/key/)[\w/+@-]+"
)
_WEBHOOK_WORDS = (
    "/services/ /workflows/ /triggers/ /webhooks/ /webhookb2/ /catch/ /with/key/".split()
)
_BEARER = r"(?i)\b(bearer[ \t]{1,8})(?=[A-Za-z._~+/=-]{0,80}\d)[\w.~+/=-]{8,}"
_BASIC = r"(?i)\b(basic[ \t]{1,8})([A-Za-z0-9+/]{8,}+={0,2})"
# Headers and phrases hold spaces: all of the line is the value.
_LINE = (
    r"(?i)(?<![\w.-])((?:set-)?cookie[ \t]{0,8}:[ \t]{0,8}(?=[\w.$-]{1,128}=)"
    r"|(?:proxy-)?authorization[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?:bearer|basic|token|digest|api-?key|key|ssws"
    r"|geniekey|splunk|bot|oauth|hmac|hawk|negotiate|ntlm"
    r"|signature|macaroon|aws4-hmac-sha256)[ \t]{1,8}(?=\S)"
    r"|(?:(?:pass|seed|recovery)[ _-]?phrase|mnemonic|(?:security|secret)[ _-]?answer|maiden["
    r" _-]?name)"
    r"[ \t]{0,8}[:=][ \t]{0,8}(?=\S))(?![\"'`])([^\r\n\"'`]+)"
)
_LINE_WORDS = ("cookie", "authorization", "phrase", "mnemonic", "answer", "maiden")
_NETRC = r"(login(?<!\wlogin)\s{1,20}\S{1,200}\s{1,20}password\s{1,20})(\S+)"

# In front of a key that follows an escape there is a letter or a digit: `\nghp_...` in JSON,
# `%3Dghp_...` in a URL, the end of a colour in the output of a terminal.
_START = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=%[0-9A-Fa-f]{2})|(?<=[\d\[]m))"
_ESCAPE = r"(?:\\(?:[bfnrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}|\[[0-9;]{1,12}m)"

# characters of the shortest key that is known by its beginning: `sk-ant-` and eight more
_SHORTEST = 15
# Keys that are told by what is inside them: a text to look for, how many characters of the key come
# before it (or how many of it are no part of the key), and the pattern from there on, which looks
# back at them.
_INSIDE: tuple[tuple[str, int, str], ...] = (
    (".atlasv1.", 14, r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{40,}"),  # Terraform
    ("_mmk", 36, rf"_mmk(?<={_START}[A-Za-z0-9]{{6}}_[A-Za-z0-9]{{29}}_mmk)(?!\w)"),  # MaxMind
    ("Q~", 4, rf"Q~(?<={_START}[\w~.]{{3}}\dQ~)[\w~.-]{{28,}}"),  # Azure
    ("+ACR", 42, rf"\+ACR(?<={_START}[A-Za-z0-9+/]{{42}}\+ACR)[A-Za-z0-9]{{6}}(?!\w)"),
    ("+ASt", 76, rf"\+ASt(?<={_START}[A-Za-z0-9+/]{{76}}\+ASt)[A-Za-z0-9+/]{{4,8}}={{0,2}}"),
    ("NRAL", 36, rf"NRAL(?<={_START}[0-9a-f]{{36}}NRAL)(?!\w)"),  # New Relic
    ("-us", 32, rf"-us(?<={_START}[0-9a-f]{{32}}-us)\d{{1,2}}(?!\w)"),  # Mailchimp
    # Mailgun
    (
        "-",
        32,
        rf"-(?=[0-9a-f]{{8}}-[0-9a-f]{{8}}(?![\w-]))(?<={_START}[0-9a-f]{{32}}-)[0-9a-f-]{{17}}",
    ),
    ("|", 15, rf"\|(?<={_START}\d{{15}}\|)[\w-]{{27,40}}(?!\w)"),  # Facebook
    ("%7C", 15, rf"%7C(?<={_START}\d{{15}}%7C)[\w-]{{27,40}}(?!\w)"),
    # Azure
    ("sig=", -4, rf"sig=(?<={_START}sig=)(?=[A-Za-z0-9%/+]{{40,80}}(?:=|%3[Dd]))[A-Za-z0-9%/+]+=?"),
    (".", 0, rf"[MNO](?<={_START}.)[\w-]{{23,27}}\.[\w-]{{6}}\.[\w-]{{27,}}"),  # Discord
    (":", 0, rf"\d(?<={_START}.)\d{{7,9}}(?::|%3A)A[\w-]{{30,}}"),  # Telegram
    # Asana
    (":", 0, rf"[012](?<={_START}.)(?:(?:/|%2F)\d{{15,17}}){{1,2}}(?::|%3A)[0-9a-f]{{32}}(?!\w)"),
)


def without_shapes(text: str) -> str:
    """The text with every secret that needs no name replaced with `[hidden]`."""
    if "PRIVATE KEY" in text:
        text = _pattern(_PEM).sub(HIDDEN, text)
    if "Private-Lines" in text:
        text = _pattern(_PUTTY).sub(rf"\1{HIDDEN}", text)
    if "://" in text:
        text = _pattern(_URL_USER).sub(rf"\1{HIDDEN}", text)
        text = _pattern(_URL_PASSWORD).sub(_hide_unless_placeholder, text)
    if "eyJ" in text:
        text = _without_spans(text, _jwt_spans(text))
    if "kty" in text:
        text = _pattern(_JWK).sub(rf"\1{HIDDEN}", text)
    if any(word in text for word in _WEBHOOK_WORDS):
        text = _pattern(_WEBHOOK).sub(rf"\1{HIDDEN}", text)
    if len(text) >= _SHORTEST:
        text = _without_tokens(text)
        text = _without_inner_keys(text)
    if "machine" in text and "login" in text:
        text = _pattern(_NETRC).sub(_hide_unless_placeholder, text)
    for words, header, replacement in _HEADERS:
        text = change_lines(text, words, partial(_pattern(header).sub, replacement))
    return text


def _without_tokens(text: str) -> str:
    """Hide what begins as the keys of an issuer do and goes on as they do."""
    after_escape, after_sign = _beginnings()
    if "\\" in text or "%" in text or "\x1b" in text:
        text = _without_spans(text, _token_spans(text, after_escape))
    return _without_spans(text, _token_spans(text, after_sign))


def _without_inner_keys(text: str) -> str:
    """Hide the keys that are told by what is inside them."""
    for sign, before, pattern in _INSIDE:
        if sign in text:
            matches = _pattern(pattern).finditer(text)
            spans = [(match.start() - before, match.end()) for match in matches]
            text = _without_spans(text, spans)
    return text


def _token_spans(text: str, beginnings: re.Pattern[str]) -> Iterable[tuple[int, int]]:
    found = beginnings.search(text)
    while found:
        start = found.start("beginning")
        at = found.end()
        for length, body in _bodies()[found["beginning"]]:
            token = _pattern(body).match(text, start + length)
            if token:
                # what begins inside it is not looked at again: that would take the square of the
                # time
                at = token.end()
                if not is_placeholder(text[start:at]):
                    yield start, at
                break
        found = beginnings.search(text, at)


def _jwt_spans(text: str) -> Iterable[tuple[int, int]]:
    at = text.find("eyJ")
    while at >= 0:
        found = _pattern(_JWT).match(text, at)
        if found:
            yield found.span()
        # Where there is none, the run is passed over: `eyJ-eyJ-eyJ-...` is read once.
        run = found or _pattern(_RUN).match(text, at)
        at = text.find("eyJ", run.end() if run else at + 1)


def _without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with these stretches hidden, the first where two of them overlap."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            pieces += [text[done:start], HIDDEN]
            done = end
    return "".join(pieces) + text[done:] if pieces else text


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def _beginnings() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds the beginning of a key, after an escape and after anything else but letters and
    digits."""
    every = sorted(_bodies())
    begins = f"(?P<beginning>{_alternatives(every)})"
    firsts = re.escape("".join(sorted({one[0] for one in every})))
    return _pattern(_ESCAPE + begins), _pattern(rf"(?<![A-Za-z0-9])(?=[{firsts}]){begins}")


@cache
def _bodies() -> dict[str, list[tuple[int, str]]]:
    """For every beginning, what may come after it: its length and the pattern, the longest
    beginning first."""
    bodies = dict(formats())
    found: dict[str, list[tuple[int, str]]] = {}
    for beginning in bodies:
        found[beginning] = []
        for length in range(len(beginning), 0, -1):
            shorter = beginning[:length]
            if shorter in bodies:
                found[beginning].append((length, bodies[shorter]))
    return found


def _alternatives(words: Iterable[str]) -> str:
    """A pattern for the longest of the words; those that begin alike are tried together, which
    makes it quick."""
    endings: dict[str, list[str]] = {}  # by the first letter
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    is_word = endings.pop("", None) is not None  # one of them ends here
    branches = [re.escape(first) + _alternatives(rest) for first, rest in endings.items()]
    if is_word:
        branches.append("")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _hide_unless_placeholder(found: re.Match[str]) -> str:
    return found[0] if is_placeholder(found[2].split()[0]) else found[1] + HIDDEN


def _hide_basic_login(found: re.Match[str]) -> str:
    padding = "=" * (-len(found[2]) % 4)
    try:
        login = base64.b64decode(found[2] + padding, validate=True)
    except binascii.Error:
        return found[0]
    return found[1] + HIDDEN if b":" in login else found[0]


# The words that a line has if there is something to find in it, the pattern, and what is put in its
# place.
_HEADERS: tuple[tuple[Sequence[str], str, str | Callable[[re.Match[str]], str]], ...] = (
    (("bearer",), _BEARER, rf"\1{HIDDEN}"),
    (("basic",), _BASIC, _hide_basic_login),
    (_LINE_WORDS, _LINE, _hide_unless_placeholder),
)
