"""The rules by which the model `test` reviews a diff: few, and of use on any change.

A line that was added is judged by itself; a call that ends on a later line is read with its next
lines. Of what was taken out, only tests count. Documents are searched for secrets, card numbers and
conflict marks alone: in prose, the rest would be talk about code. `docs/agents.md` lists the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from foreword.pattern import lazy_pattern
from foreword.secrets.masking import mask
from foreword.secrets.patterns import without_shapes

HUNK = lazy_pattern(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
FILE = lazy_pattern(r"(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)")
NO_FILE = "/dev/null"
DOCUMENT = lazy_pattern(r"(?i)\.(?:md|mdx|markdown|rst|adoc|txt)$")
# A formatter breaks a call after each argument, and few calls have more than five.
LONGEST_CALL = 6


class ChangedLine(NamedTuple):
    """A line of a diff: where it stands in the new file (in the old one, if it was taken out)."""

    file: str
    number: int
    sign: str
    text: str


class ReviewRule(NamedTuple):
    """What an added line must not say, and what a reviewer says to it."""

    breaks: Callable[[str], object]
    severity: str
    title: str
    detail: str
    in_documents: bool = False


# --- what is found in a line ----------------------------------------------------------------------


_QUOTED_SECRET = lazy_pattern(r"[\"'`][^\"'`\s]*\[hidden\][^\"'`]*[\"'`]")
_PUT_IN = lazy_pattern(r"[#$]\{[^{}]*\}")  # `Bearer ${key}` holds no key
_SETTING = lazy_pattern(r"\s*(?:export\s+)?[A-Z][A-Z0-9_]*=\S+\s*")


def _has_secret(line: str) -> bool:
    """Whether a line holds a secret: one by its shape, or a value in quotes or of a variable of the
    environment that its name tells. In code `token = 16` is a number of the parser's."""
    line = _PUT_IN.sub("", line)
    shown = mask(line)
    if shown == line:
        return False
    if _QUOTED_SECRET.search(shown) or _SETTING.fullmatch(line):
        return True
    return without_shapes(line) != line


_LOG_CALL = lazy_pattern(
    r"(?i)(?:"
    r"(?:\b|_)(?:s?log|logger|logging|console|syslog)\s*(?:\.|::|->)\s*\w+\s*(?:!?\(|\s[\"'])"
    r"|(?<![\w.])(?:e?print(?:f|ln)?|puts|log|warn|error_log|nslog|var_dump)!?\s*\("
    r"|\bSystem\.(?:out|err)\.print\w*\(|\bfmt\.F?print\w*\(|\bDebug\.(?:Log|Write)\w*\("
    r"|^\s*(?:echo|puts|print|logger|Write-(?:Host|Output))\s)"
)
# A value, by the end of its name: `card.number` and `userEmail`, not `email_sent` or `token_count`.
_VALUE_END = r"(?:_?(?:value|plain|raw))?(?:\(\)|(?![\w(]))"
_GUARDED_VALUE = lazy_pattern(
    r"(?:card[._]?(?:number|num|no)|credit_?card|(?<![a-z])pan|cvv2?|cvc|iban|account[._]?number"
    r"|ssn|social_security(?:_number)?|passport(?:[._]?(?:number|no))?|passwords?|passwd|passphrase"
    r"|(?:api|private|secret|access)[._]?key|secret"
    r"|(?:access|auth|api|bearer|refresh|session)[._]?token)" + _VALUE_END
)
_CONTACT = lazy_pattern(
    r"(?:e_?mail(?:_?address)?|phone(?:_?number)?|date_of_birth|birth_?da(?:te|y)|(?<![a-z])dob"
    r"|(?:home|street|postal)_address)" + _VALUE_END
)
_COVERED = lazy_pattern(r"mask|redact|hash|last_?(?:4|four)|obfuscat|anonymi|encrypt|scrub|\*{3}")
_LITERAL = lazy_pattern(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")
_INTERPOLATION = lazy_pattern(r"[#$]?\{([^{}]*)\}|\$(\w+(?:->\w+)*)")
_HUMP = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")


def _expressions(code: str) -> str:
    """The code without the words of its texts: what is put into a text stays, in snake_case."""

    def interpolated_values(literal: re.Match[str]) -> str:
        values = list[str]()
        for found in _INTERPOLATION.finditer(literal[0]):
            values.append(found[1] or found[2] or "")
        return f" {' '.join(values)} "

    return _HUMP.sub("_", _LITERAL.sub(interpolated_values, code)).replace("->", ".").lower()


def _logged_values(line: str) -> str:
    """The values that a line logs, unless something covers them."""
    call = _LOG_CALL.search(line)
    if call is None:
        return ""
    logged = _expressions(line[call.end() :])
    return "" if _COVERED.search(logged) else logged


def _logs_guarded_value(line: str) -> object:
    return _GUARDED_VALUE.search(_logged_values(line))


def _logs_contact(line: str) -> object:
    return _CONTACT.search(_logged_values(line))


_CARD = lazy_pattern(
    r"(?<![\w.-])(?:(?:4\d{3}|5[1-5]\d\d|2[2-7]\d\d|6(?:011|5\d\d))([ -]?)\d{4}\1\d{4}\1\d{4}"
    r"|3[47]\d\d([ -]?)\d{6}\2\d{5})(?![\w-])"
)
# Numbers that payment providers publish for tests; they belong to nobody.
_TEST_CARDS = ("4242424242424242", "4111111111111111", "5555555555554444", "378282246310005")
_CARD_WORDS = lazy_pattern(r"(?i)card|\bpan\b|payment|visa|mastercard|amex")


def _has_card_number(line: str) -> bool:
    """Whether a card's number stands in a line: it checks, and is in groups or called one."""
    for found in _CARD.finditer(line):
        digits = re.sub(r"\D", "", found[0])
        is_told = bool(found[1] or found[2] or _CARD_WORDS.search(line))
        is_test = digits in _TEST_CARDS or digits.startswith("400000")
        if is_told and not is_test and _luhn(digits):
            return True
    return False


def _luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


_STATEMENT = (
    r"(?:select\b.+?\bfrom\b|insert\s+into\b|update\b.+?\bset\b|delete\s+from\b|drop\s+table\b)"
)
_SQL = lazy_pattern(
    rf"(?i)(?:\bf[\"'].*{_STATEMENT}.*\{{|`.*{_STATEMENT}.*\$\{{"
    rf"|[\"'].*{_STATEMENT}.*[\"']\s*(?:(?:\+|\|\||%)\s*(?=[\w($])|\.\s*\$|\.format\()"
    rf"|\bSprintf\(.*{_STATEMENT}.*%)"
)
_EVAL = lazy_pattern(
    r"(?<![\w.>])(?<!def )(?<!function )(?:eval\s*\(|exec\s*\(\s*[A-Za-z_])|\bnew Function\("
)
_SHELL = lazy_pattern(
    r"(?:\bos\.(?:system|popen)\(|\bsubprocess\.get(?:status)?output\(|\bshell_exec\("
    r"|\b(?:child_process|cp)\.exec(?:Sync)?\(|(?<![\w.>])(?<!def )(?:execSync|exec|system|popen)\("
    r"|\bgetRuntime\(\)\.exec\(|\bexec\.Command\(\s*\"(?:ba|z)?sh\",\s*\"-c\","
    r"|\bsubprocess\.(?:run|call|check_call|check_output|Popen)\((?=.*\bshell\s*=\s*True))\s*(.*)"
)
_PLAIN_TEXT = lazy_pattern(
    r"[rbu]?(?:\"(?:[^\"\\$]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\$]|\\.)*`)\s*(?:[,)]|$)"
)


def _runs_shell_with_input(line: str) -> bool:
    """Whether a line gives a shell a command that is more than a plain text."""
    found = _SHELL.search(line)
    if found is None or not found[1]:
        return False
    return not _PLAIN_TEXT.match(found[1]) and not _EVAL.search(line)


_NO_TLS = lazy_pattern(
    r"(?i)\bverify(?:_ssl|_mode|_certs?)?\s*[=:]\s*(?:False|false|0\b|.*VERIFY_NONE)"
    r"|rejectUnauthorized['\"]?\s*[:=]\s*false|NODE_TLS_REJECT_UNAUTHORIZED['\"\]]*\s*[:=]\s*['\"]?0"
    r"|InsecureSkipVerify\s*[:=]\s*true|_create_unverified_context|\bCERT_NONE\b"
    r"|check_hostname\s*=\s*False|SSL_VERIFY(?:PEER|HOST),\s*(?:false|0)|danger_accept_invalid_certs"
    r"|\bcurl\b.*\s(?:-k|--insecure)\b|sslVerify\s*[= ]\s*false|TrustAllCerts|ALLOW_ALL_HOSTNAME"
)
_RUNNABLE_DATA = lazy_pattern(
    r"\bc?[pP]ickle\.loads?\(|\byaml\.(?:unsafe_load|full_load)\w*\(|\bMarshal\.load\("
    r"|\byaml\.load\((?!.*(?:Safe|CSafe)Loader)|(?<![\w.>])unserialize\(|\bnew ObjectInputStream\("
)
_TEST = lazy_pattern(
    r"^\s*(?:(?:async\s+)?def\s+(test\w+)|func\s+(Test\w+)|(?:public\s+)?(?:void|function)\s+(test\w+)"
    r"|(?:it|test|specify|scenario)(?:\.each\(.*\))?\s*\(?\s*([\"'`].+?[\"'`]))"
)
_SKIP = lazy_pattern(
    r"@(?:pytest\.mark\.(?:skip|xfail)|unittest\.skip|Disabled|Ignore)\b|\b(?:it|test|describe)\.skip\("
    r"|(?<![\w.])(?:xit|xdescribe|xtest)\(|\bt\.Skip(?:Now|f)?\(|#\[ignore\b|\bmarkTestSkipped\("
)
_CONFLICT = lazy_pattern(r"^(?:<{7} |>{7} )")


RULES = [
    ReviewRule(
        breaks=_has_secret,
        severity="critical",
        title="Hard-coded secret",
        detail="Anyone who can read the code can use it: read it from the environment.",
        in_documents=True,
    ),
    ReviewRule(
        breaks=_has_card_number,
        severity="critical",
        title="Card number in clear",
        detail="It stays in the history for good: use a number made for tests, or a reference.",
        in_documents=True,
    ),
    ReviewRule(
        breaks=_logs_guarded_value,
        severity="critical",
        title="Secret or payment data logged in clear",
        detail="Logs are read and kept by many: log a reference, or mask it.",
    ),
    ReviewRule(
        breaks=_logs_contact,
        severity="high",
        title="Personal data logged in clear",
        detail="Logs are read and kept by many: log an id, or mask it.",
    ),
    ReviewRule(
        breaks=_SQL.search,
        severity="critical",
        title="SQL built from a string",
        detail="A value can change the statement: pass it as a parameter.",
    ),
    ReviewRule(
        breaks=_runs_shell_with_input,
        severity="high",
        title="Shell command built from input",
        detail="A value can become a command: pass a list of arguments, without a shell.",
    ),
    ReviewRule(
        breaks=_EVAL.search,
        severity="high",
        title="eval of a string",
        detail="Whatever the string says is run: parse it instead.",
    ),
    ReviewRule(
        breaks=_NO_TLS.search,
        severity="high",
        title="TLS check switched off",
        detail="Anyone on the way can read and change what is sent: trust the certificate instead.",
    ),
    ReviewRule(
        breaks=_RUNNABLE_DATA.search,
        severity="high",
        title="Data that can run code",
        detail="Reading it runs what it says: use a format that holds values only.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"^\s*except\s*:|\bcatch\s*(?:\([^)]*\)\s*)?\{\s*\}").search,
        severity="high",
        title="Bare except",
        detail="It swallows everything, interrupts too: name the error.",
    ),
    ReviewRule(
        breaks=_CONFLICT.search,
        severity="high",
        title="Conflict mark left in",
        detail="The merge is not finished.",
        in_documents=True,
    ),
    ReviewRule(
        breaks=_SKIP.search,
        severity="medium",
        title="Test switched off",
        detail="Say why and until when, or mend it.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"[=!]= None\b").search,
        severity="medium",
        title="Comparison with None",
        detail="`is None` can't be overridden by an object's own `==`.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"\b(?:TODO|FIXME)\b").search,
        severity="low",
        title="Unfinished work",
        detail="Finish it, or say where it is tracked.",
    ),
    ReviewRule(
        breaks=lazy_pattern(r"(?<![\w.])print\(|\bconsole\.log\(").search,
        severity="low",
        title="Debug output",
        detail="Use the logger, or take it out.",
    ),
]


# --- the diff -------------------------------------------------------------------------------------


def review(text: str) -> list[dict[str, Any]]:
    """A finding for every added line of the diffs in a text that breaks a rule, and for every test
    that is gone."""
    lines = list(changed_lines(text))
    findings = list[dict[str, Any]]()
    for at, line in enumerate(lines):
        if line.sign == "+":
            findings += _findings_in(line, _whole_call(lines, at))
    return findings + list(_removed_tests(lines))


def _findings_in(line: ChangedLine, code: str) -> Iterator[dict[str, Any]]:
    is_document = DOCUMENT.search(line.file) is not None
    for rule in RULES:
        if (rule.in_documents or not is_document) and rule.breaks(code):
            yield _finding(line, rule.severity, rule.title, rule.detail)


def _whole_call(lines: Sequence[ChangedLine], at: int) -> str:
    """The added line, and if a call in it is still open, the next lines up to where it ends."""
    code = lines[at].text
    for line in lines[at + 1 : at + LONGEST_CALL]:
        if not _LOG_CALL.search(code) or code.count("(") <= code.count(")"):
            break
        if line.file != lines[at].file or line.sign == "-":
            break
        code = f"{code} {line.text.strip()}"
    return code


def _removed_tests(lines: Sequence[ChangedLine]) -> Iterator[dict[str, Any]]:
    """A finding for each test that was taken out and is nowhere put in again."""
    added = {_test_name(line.text) for line in lines if line.sign == "+"}
    for line in lines:
        name = _test_name(line.text) if line.sign == "-" else ""
        if name and name not in added:
            detail = f"{name} was taken out, and nothing in the change takes its place."
            yield _finding(line, "medium", "Test removed", detail)


def _test_name(line: str) -> str:
    found = _TEST.match(line)
    return next(filter(None, found.groups()), "") if found else ""


def _finding(line: ChangedLine, severity: str, title: str, detail: str) -> dict[str, Any]:
    return {
        "severity": severity,
        "file": line.file,
        "line": line.number,
        "title": title,
        "detail": detail,
    }


def changed_lines(text: str) -> Iterator[ChangedLine]:
    """Every line of the hunks in a text; a hunk is as long as its head says, or ends where it was
    cut."""
    file = ""
    old = new = 0  # the numbers of the next lines
    old_left = new_left = 0  # lines of the hunk that are still to come
    for row in text.split("\n"):
        sign = row[:1] or " "
        if (old_left > 0 or new_left > 0) and sign in " +-\\":
            if sign != "\\":
                yield ChangedLine(file, old if sign == "-" else new, sign, row[1:].rstrip("\r"))
            old_left -= sign in " -"
            new_left -= sign in " +"
            old += sign in " -"
            new += sign in " +"
            continue
        old_left = new_left = 0
        hunk = HUNK.match(row)
        named = FILE.match(row)
        if hunk:
            old, new = int(hunk[1]), int(hunk[3])
            old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
        elif named and named[1].strip() != NO_FILE:
            file = named[1].strip()
