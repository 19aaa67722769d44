"""Dates in questions and on passages: `8 May 2023`, `in June`, `last week`, `three days ago`.

Pure: what `last week` is depends on the day that the caller calls today. Days are numbers, so that
stretches of them are compared and added.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern

Days = tuple[int, int]  # the first and the last of a stretch

_MONTHS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTHS.split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = ("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTH = rf"(?P<month>{'|'.join(name[:3] + '[a-z]*' for name in _MONTH_NAMES)})\.?"
_FULL = lazy_pattern(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"
    r"|(?<!\d)(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>(?:19|20)\d\d)"
)
_DAY_FIRST = lazy_pattern(
    rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH},?(?: (?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_FIRST = lazy_pattern(
    rf"\b{_MONTH} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_ALONE = lazy_pattern(
    rf"\b(?:in|of|during|since|last|this|until)(?: early| late| mid)? {_MONTH},?"
    r"(?: (?P<y>(?:19|20)\d\d))?(?![a-z])",
    re.IGNORECASE,
)
_YEAR = lazy_pattern(r"\b(?:in|of|during|since) (?P<y>(?:19|20)\d\d)\b", re.IGNORECASE)
_AGO = lazy_pattern(
    rf"\b(?P<n>\d{{1,3}}|an|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month|year)s? ago\b",
    re.IGNORECASE,
)
_LAST = lazy_pattern(
    r"\b(?P<which>last|past|previous|this) (?P<unit>week|weekend|month|year)\b"
    rf"|\b(?:last|this) (?P<weekday>{'|'.join(_WEEKDAYS)})\b|\b(?P<near>today|yesterday)\b",
    re.IGNORECASE,
)
_UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


def day_number(text: str) -> int | None:
    """The day that a date is written for, in any of the usual ways; None where it is no date."""
    found = _FULL.search(text)
    if found:
        year, month, day = found["y"] or found["y2"], found["m"] or found["m2"], found["d"]
        return _day(int(year), int(month), int(day or found["d2"]))
    named = _DAY_FIRST.search(text) or _MONTH_FIRST.search(text)
    if named and named["y"]:
        return _day(int(named["y"]), _month(named["month"]), int(named["d"]))
    return None


def asked_days(question: str, today: int) -> list[Days]:
    """The stretches of days that a question names; a date without a year is the last such one
    before today."""
    found: list[Days] = []
    exact = day_number(question)
    if exact is not None:
        return [(exact, exact)]
    for named in [*_DAY_FIRST.finditer(question), *_MONTH_FIRST.finditer(question)]:
        day = _last_before(today, _month(named["month"]), int(named["d"]))
        found += [(day, day)] if day is not None else []
    if found:
        return found
    for named in _MONTH_ALONE.finditer(question):
        month = _month(named["month"])
        first = _day(int(named["y"]), month, 1) if named["y"] else _last_before(today, month, 1)
        found += [(first, first + 30)] if first is not None else []
    for named in _YEAR.finditer(question):
        first = _day(int(named["y"]), 1, 1)
        found += [(first, first + 364)] if first is not None and not found else []
    for ago in _AGO.finditer(question):
        written = ago["n"].lower()
        count = int(written) if written.isdigit() else _count(written)
        unit = _UNIT_DAYS[ago["unit"].lower()]
        found.append((today - count * unit - unit // 2, today - count * unit + unit // 2))
    return found + [_near(last, today) for last in _LAST.finditer(question)]


def _near(last: re.Match[str], today: int) -> Days:
    """`yesterday`, `last week`, `this month`, `last Friday`."""
    if last["near"]:
        day = today - (last["near"].lower() == "yesterday")
        return day, day
    if last["weekday"]:
        # Day 0 was a Thursday.
        wanted = _WEEKDAYS.index(last["weekday"].lower())
        day = today - ((today + 3 - wanted) % 7 or 7)
        return day, day
    unit = _UNIT_DAYS[last["unit"].lower()]
    if last["which"].lower() == "this":
        return today - unit, today
    # Who says `last week` on a Monday and who says it on a Sunday mean other days of two weeks.
    return today - 2 * unit, today - 1


def _count(written: str) -> int:
    return _NUMBERS.index(written) + 1 if written in _NUMBERS else 1


def _month(name: str) -> int:
    openings = [month[:3] for month in _MONTH_NAMES]
    return openings.index(name[:3].lower()) + 1


def _last_before(today: int, month: int, day: int) -> int | None:
    """The last such day up to today."""
    year = 1970 + today * 400 // 146_097
    for candidate in (year + 1, year, year - 1):
        found = _day(candidate, month, day)
        if found is not None and found <= today:
            return found
    return None


def _day(year: int, month: int, day: int) -> int | None:
    """The number of a day, counted from 1 January 1970; None where there is no such day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    # Years begin in March here, so that the day of a leap year is the last of its year.
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
