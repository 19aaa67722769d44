"""Which elements of a page an instruction is about: by their words, by what they mean, and by the
form they are in.

Pure. What is read is what `explore.js` says of the elements of all frames, in the order in which
they stand on the page. Pages and people use different words for one thing, so who asks for the
login finds "Sign in": a group of words with one meaning is a word of its own, added to a text that
has any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.text import relevance

FIRST_ROWS = 3  # of rows that are alike, those whose elements are told unasked on a long page
# Of the best score in a form, for everything in that form: who asks for the login wants its fields,
# and at half of this a word that is elsewhere by chance comes before them.
FORM_SHARE = 0.5
# Of its own score, for the button that sends a form: who wants to save or to log in means it, and
# not the link of the same words that leads to the form. At 1 the link comes first on Wagtail.
SUBMIT_WEIGHT = 2.0
# Of the score of what an element is in, beside its own: a heading speaks of everything below it.
AROUND_SHARE = 0.3
# Of the score of what is not written on an element: its id, what can be chosen from it. At 1 a
# radio button whose id has "password" comes before the field of that name in Django's admin. Where
# nothing is written on it, it counts whole.
HINT_SHARE = 0.5
# Beside its own score, for what an instruction begins with: "add a user" is about something that
# adds, and not about all that is called a user.
ACTION_SHARE = 1.0
# Of a score, for what can't be clicked on as it is: it comes after what can, and is not lost.
HIDDEN_SHARE = 0.3
# What people do and see in most applications, as it is written on buttons, links and fields. The
# first of each group stands for it. Words that mean two things (post, enter) are in the group in
# which a button has them.
GROUPS = (
    ("login", "log in", "log on", "logon", "sign in", "signin", "authenticate"),
    ("logout", "log out", "log off", "logoff", "sign out", "signout", "sign off"),
    ("signup", "sign up", "register", "registration", "create account", "join"),
    ("save", "create", "add", "submit", "insert", "new", "apply", "store", "update", "ok", "plus"),
    ("send", "submit", "post", "publish", "deploy", "share"),
    ("delete", "remove", "trash", "discard", "erase", "bin", "destroy"),
    ("edit", "change", "modify", "update", "rename", "alter"),
    ("search", "find", "filter", "look up", "lookup", "query"),
    ("next", "following", "older", "forward", "load more", "show more", "more results"),
    ("previous", "prev", "back", "newer", "earlier"),
    ("cancel", "close", "dismiss", "abort", "no"),
    ("confirm", "ok", "yes", "accept", "agree", "continue", "proceed", "done", "finish"),
    ("upload", "attach", "import", "choose file", "browse files"),
    ("download", "export", "save as"),
    ("open", "show", "view", "details", "display"),
    ("settings", "preferences", "options", "configuration", "configure", "setup"),
    ("username", "user name", "login name", "account name", "e-mail", "email", "user id"),
    ("password", "passphrase", "pass word", "passcode", "pin"),
    ("user", "account", "member", "person", "people", "profile"),
    ("run", "execute", "start", "launch", "play"),
    ("stop", "interrupt", "halt", "pause"),
    ("copy", "duplicate", "clone"),
    ("sort", "order by", "order"),
    ("refresh", "reload"),
    ("menu", "navigation"),
    ("message", "comment", "note", "text"),
    ("row", "entry", "entries", "record", "item", "line"),
    ("all", "everything", "every"),
    ("theme", "dark mode", "light mode", "appearance"),
    ("help", "documentation", "docs", "manual", "support"),
    # roles, in the words of people
    ("field", "textbox", "searchbox", "spinbutton", "input", "text box"),
    ("list", "combobox", "listbox", "dropdown", "drop-down", "select", "choose", "choice"),
    ("checkbox", "switch", "tick", "toggle", "check box"),
    ("button", "press", "click"),
    ("tab", "tabs"),
)
# Signs that stand for a word where they are all that is written on something.
SIGNS = {
    "next": "> \u203a \u00bb \u2192 \u25b6 \u25ba >>",
    "previous": "< \u2039 \u00ab \u2190 \u25c0 \u25c4 <<",
    "cancel": "\u00d7 \u2715 \u2716 \u2573",
    "save": "+ \uff0b \u2795",
    "edit": "\u270e \u270f",
    "menu": "\u2630 \u2261 \u22ee \u22ef",
    "settings": "\u2699",
    "refresh": "\u21bb \u27f3",
}
_WORD = lazy_pattern(r"[^\W_]+")
_CAMEL = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
)
_ORDINAL = lazy_pattern(r"\b(?:(\d{1,2})(?:st|nd|rd|th)|(" + "|".join(_ORDINALS) + r"))\b")
_NUMBER = lazy_pattern(r"\d{1,4}")


def ranking(elements: Sequence[dict[str, Any]], instruction: str, limit: int) -> list[int]:
    """Numbers of at most so many elements, the most telling for the instruction first, the others
    as they stand on the page.

    Where not all can be told, the first few rows that are alike will do, unless the instruction
    speaks of another.
    """
    scores = _with_forms(elements, _scores(elements, instruction))
    numbers_told = list(range(len(elements)))
    if len(elements) > limit:
        numbers_told = []
        for at, element in enumerate(elements):
            if scores[at] or not _is_later_row(element):
                numbers_told.append(at)

    def place(at: int) -> tuple[float, bool, bool, int]:
        element = elements[at]
        return -scores[at], "covered" in element["fact"], _is_later_row(element), at

    return sorted(numbers_told, key=place)[: max(1, limit)]


def _scores(elements: Sequence[dict[str, Any]], instruction: str) -> list[float]:
    """How much the words of each element, of its row and of what it is in, have to do with the
    instruction. A later row counts only where its own words do: "Select row" is in all of them."""
    query = with_meanings(f"{instruction} {' '.join(_joined_pairs(instruction))}")
    written = [_own_words(element) for element in elements]
    own = _ranks(written, query)
    actions = _ranks(written, _first_meaning(instruction))
    hints = _ranks([with_meanings(_hints(element)) for element in elements], query)
    rows = _ranks([_row_text(element) for element in elements], instruction)
    around = _ranks([with_meanings(_words_around(element)) for element in elements], query)
    row_number = _row_number(elements, instruction)
    scores = []
    for at, element in enumerate(elements):
        is_meant = row_number is not None and _row(element).get("number") == row_number
        if _is_later_row(element) and not rows[at] and not is_meant:
            scores.append(0.0)
        else:
            weight = SUBMIT_WEIGHT if element["sends"] else 1.0
            named = own[at] + ACTION_SHARE * actions[at]
            hint = hints[at] if element["fact"]["name"] == "" else HINT_SHARE * hints[at]
            scores.append(weight * named + hint + rows[at] + AROUND_SHARE * around[at])
    if row_number is None:
        return scores
    # Whatever is in the row that is meant comes first, and in it what else the instruction says.
    best = max(scores, default=0.0) or 1.0
    for at, element in enumerate(elements):
        if _row(element).get("number") == row_number:
            scores[at] += best
    return scores


def _row(element: dict[str, Any]) -> dict[str, Any]:
    """The row of a list or table that an element stands in; an entry of a menu is none."""
    row = element["row"]
    return row if row and not row["menu"] else {}


def _row_number(elements: Sequence[dict[str, Any]], instruction: str) -> int | None:
    """Which row an instruction counts to, from 0, as in "the second entry"; none where an element
    has that word for itself, as "First name" has."""
    found = _ORDINAL.search(instruction.lower())
    if found is None:
        return None
    for element in elements:
        if found[0] in element["fact"]["name"].lower().split():
            return None
    return int(found[1]) - 1 if found[1] else _ORDINALS.index(found[2])


def _ranks(passages: Sequence[str], query: str) -> list[float]:
    # What stands beside something on a page need have nothing to do with it.
    return relevance.rank(passages, query, neighbours=False)


def _own_words(element: dict[str, Any]) -> str:
    """What is written on an element, or drawn where nothing is, and what that means; and in plain
    words what everybody sees that it does."""
    fact = element["fact"]
    written = fact["name"] or fact.get("near") or fact.get("title") or fact.get("icon", "")
    words = [with_meanings(f"{fact['role']} {written}"), _sign_meaning(fact["name"])]
    if element["sends"]:
        words.append("submit")
    if fact["role"] in ("link", "button") and _NUMBER.fullmatch(fact["name"]):
        words.append("page")
    return " ".join(words)


def _hints(element: dict[str, Any]) -> str:
    """Words that describe an element and are not shown on it: attributes, and options of a list."""
    return " ".join([*element["about"], element["makers"], *element["fact"].get("options", ())])


def _row_text(element: dict[str, Any]) -> str:
    return str(_row(element).get("text", ""))


def _words_around(element: dict[str, Any]) -> str:
    inside = [name for _, name in element["inside"]]
    return " ".join([*inside, element["heading"]])


def _with_forms(elements: Sequence[dict[str, Any]], scores: Sequence[float]) -> list[float]:
    """The scores, with a share of the best in its form for each element, and less for what nobody
    can click on."""
    best: dict[tuple[int, int], float] = {}
    for element, score in zip(elements, scores, strict=True):
        form = element["form"]
        if form is not None:
            best[form] = max(best.get(form, 0.0), score)
    shared = []
    for element, score in zip(elements, scores, strict=True):
        form = element["form"]
        if form is not None:
            score += FORM_SHARE * best[form]
        fact = element["fact"]
        if fact.get("visible") is False or fact.get("covered"):
            score *= HIDDEN_SHARE
        shared.append(score)
    return shared


def _is_later_row(element: dict[str, Any]) -> bool:
    """Whether it stands in a row that is like others before it; an entry of a menu does not."""
    return bool(_row(element).get("number", 0) >= FIRST_ROWS)


def with_meanings(text: str) -> str:
    """The text, and for each meaning that it has a word that no page writes."""
    words = _WORD.findall(_CAMEL.sub(" ", text).lower())
    meanings: list[str] = []
    for length in (1, 2):
        for at in range(len(words) - length + 1):
            meanings += _meanings().get(tuple(words[at : at + length]), ())
    return " ".join([text, *dict.fromkeys(meanings)])


def _joined_pairs(text: str) -> list[str]:
    """Words beside each other as one: "shut down" is "Shutdown" on many a button."""
    words = _WORD.findall(text.lower())
    return [f"{one}{other}" for one, other in pairwise(words)]


def _sign_meaning(name: str) -> str:
    """The meaning of a name that is a sign alone, such as an arrow; '' for any other."""
    for meaning, signs in SIGNS.items():
        if name and name in signs.split():
            return f"meaning{meaning}"
    return ""


def _first_meaning(text: str) -> str:
    """The first meaning that a text has, which of an instruction is mostly what is to be done; ''
    if it has none."""
    words = _WORD.findall(_CAMEL.sub(" ", text).lower())
    for at in range(len(words)):
        for length in (2, 1):
            found = _meanings().get(tuple(words[at : at + length]))
            if found:
                return " ".join(found)
    return ""


@cache
def _meanings() -> dict[tuple[str, ...], list[str]]:
    """The meanings of each word and pair of words."""
    found: dict[tuple[str, ...], list[str]] = {}
    for group in GROUPS:
        for written in group:
            found.setdefault(tuple(_WORD.findall(written)), []).append(f"meaning{group[0]}")
    # Words are written with endings as well: adds, added, adding, confirmation, deletion.
    for words in list(found):
        if len(words) == 1:
            for form in _forms(words[0]):
                found.setdefault((form,), found[words])
    return found


def _forms(word: str) -> tuple[str, ...]:
    stem = word.removesuffix("e")
    return (f"{word}s", f"{word}es", f"{stem}ed", f"{stem}ing", f"{stem}ation", f"{stem}ion")
