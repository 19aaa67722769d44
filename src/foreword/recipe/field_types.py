"""What a field of a recipe may hold beside plain text and numbers: shares, names, amounts, splits.

Each says how a value is read, and what pydantic is to check about it. The latter is made when a
recipe is validated: loading pydantic takes longer than most commands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from foreword.pattern import lazy_pattern
from foreword.section import Share

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

# Of tokens, bytes or anything else that is counted: above any window there is, and small enough
# that arithmetic with it stays exact.
LARGEST_AMOUNT = 10**12

PERCENT = lazy_pattern(
    r"^(?:(?P<low>\d+(?:\.\d+)?)\s*-\s*)?(?P<high>\d+(?:\.\d+)?)\s*%(?P<left> of what is left)?$"
)
# the same for JSON Schema, whose expressions have no names
PERCENT_SCHEMA = r"^(\d+(\.\d+)?\s*-\s*)?\d+(\.\d+)?\s*%( of what is left)?$"
SPLIT_SCHEMA = r"^[0-9]{1,9}(/[0-9]{1,9}){1,8}$"


@dataclass(frozen=True, slots=True)
class FieldType:
    """How a value is read, and what pydantic knows about it beside its type."""

    annotations: Callable[[], Sequence[Any]]
    read: Callable[[Any], Any] | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return handler.generate_schema(Annotated[source, *self.annotations()])


def read_share(value: object) -> object:
    """`30%`, `5-10%`, `50% of what is left` or a number of tokens; anything else is for pydantic
    to refuse."""
    if isinstance(value, Share):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        if value > LARGEST_AMOUNT:
            raise ValueError(f"must be at most {LARGEST_AMOUNT:,} tokens")
        return Share("tokens", float(value))
    found = PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            "must be tokens (500), a share (30%), a range (5-10%) or '50% of what is left'"
        )
    low = float(found["low"] or 0)
    high = float(found["high"])
    if high > 100:
        raise ValueError("must be at most 100%")
    if high == 0:
        raise ValueError("must be more than 0%")
    if low > high:
        raise ValueError("must be a range from less to more")
    return Share("left" if found["left"] else "whole", value=high / 100, low=low / 100)


def _share_annotations() -> Sequence[Any]:
    from pydantic import BeforeValidator, Field

    examples: list[Any] = ["5-10%", "30%", 500]
    return BeforeValidator(read_share), Field(json_schema_extra={"examples": examples})


def _window_share_annotations() -> Sequence[Any]:
    from pydantic import AfterValidator

    return *_share_annotations(), AfterValidator(_of_window)


def _of_window(share: Share) -> Share:
    if share.of != "whole":
        raise ValueError("must be a share of the window, as in 30%; a number goes to budget.tokens")
    return share


def _read_names(value: object) -> object:
    """One name stands for a list of one."""
    return [value] if isinstance(value, str) else value


def _names_annotations() -> Sequence[Any]:
    from pydantic import BeforeValidator, WithJsonSchema

    names = {"type": "array", "items": {"type": "string"}}
    return BeforeValidator(_read_names), WithJsonSchema({"anyOf": [{"type": "string"}, names]})


def _split_annotations() -> Sequence[Any]:
    from pydantic import AfterValidator, Field

    return Field(pattern=SPLIT_SCHEMA), AfterValidator(_adds_up)


def _adds_up(split: str) -> str:
    if not any(int(part) for part in split.split("/")):
        raise ValueError("must give at least one tier a share, as in 50/30/20")
    return split


def _number_between(lowest: int, highest: int) -> FieldType:
    def annotations() -> Sequence[Any]:
        from pydantic import Field

        return (Field(ge=lowest, le=highest),)

    return FieldType(annotations)


def _many_annotations() -> Sequence[Any]:
    from pydantic import Field

    return (Field(gt=0, le=LARGEST_AMOUNT),)


ShareField = Annotated[Share, FieldType(_share_annotations, read_share)]
WindowShare = Annotated[Share, FieldType(_window_share_annotations, read_share)]
Names = Annotated[tuple[str, ...], FieldType(_names_annotations, _read_names)]
Split = Annotated[str, FieldType(_split_annotations)]  # shares of tier 1, 2, 3
Many = Annotated[int, FieldType(_many_annotations)]
Reserve = Annotated[int, _number_between(0, LARGEST_AMOUNT)]
TierNumber = Annotated[int, _number_between(0, 9)]
