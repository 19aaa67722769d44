"""The words by which other languages than English decide, rule and take back.

Data, and small: of each language the dozen turns that people use for it when they work on software,
since a cue that is missing costs the mark on one old line, and a cue that is wrong takes a decision
away that still stands. So words that mean other things as well are left out, in English, too
(`deve` would be `develop`), and so are endings: each entry matches from its beginning on
(`entschied` is `entschieden`). The little words are
those that two sentences share although they speak of different things. English has its own, larger
lists in `facts` and `revisions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from foreword.pattern import lazy_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCues:
    """Cues of one language, as beginnings of words."""

    decides: tuple[str, ...]
    rules: tuple[str, ...]
    revises: tuple[str, ...]
    little: str
    has_spaces: bool = True  # between words; else a cue may begin anywhere


LANGUAGES: Mapping[str, LanguageCues] = {
    "de": LanguageCues(
        decides=("entschied", "entscheid", "beschlossen", "wir nehmen", "wir verwenden", "gewählt"),
        rules=("niemals", "nie ", "immer ", "muss", "müssen", "nicht ", "kein", "darf", "frist"),
        revises=(
            "stattdessen",
            "anstatt",
            "anstelle",
            "doch lieber",
            "doch nicht",
            "doch besser",
            "nicht mehr",
            "anders überlegt",
            "korrektur",
            "ersetz",
            "zurück zu",
            "verworfen",
        ),
        little="aber als am an auch auf aus bei bis da das dass dem den der des die doch ein eine"
        " einem einen einer es für haben hat im ist in ist kann mehr mit nach nicht noch nur oder"
        " sein sich sie sind so soll sollen statt über um und uns vom von vor war wenn wir wird"
        " zu zum zur",
    ),
    "fr": LanguageCues(
        decides=("décid", "décision", "choisi", "opté", "on utilise", "nous utilis"),
        rules=("jamais", "toujours", "doit", "doivent", "il faut", "ne pas ", "interdit", "délai"),
        revises=(
            "plutôt",
            "au lieu d",
            "à la place",
            "finalement",
            "changé d'avis",
            "changement de plan",
            "correction :",
            "remplac",
            "revenons",
            "revenir à",
            "n'utilise plus",
            "n'utilisons plus",
            "ne sera plus",
            "ne seront plus",
        ),
        little="au aux avec avons ce ces cette dans de des du elle en est et être il ils je la le"
        " les leur lui mais ne nous on ont ou par pas plus pour que qui sa se sera ses son sont sur"
        " un une vous",
    ),
    "es": LanguageCues(
        decides=(
            "decidim",
            "decidid",
            "decidió",
            "decisión",
            "elegi",
            "usaremos",
            "vamos a usar",
            "optamos",
        ),
        rules=("nunca", "siempre", "debe", "hay que", "prohibid", "plazo"),
        revises=(
            "en lugar de",
            "en vez de",
            "ya no ",
            "mejor us",
            "cambié de",
            "cambiamos de",
            "cambio de plan",
            "corrección",
            "reemplaz",
            "sustitu",
            "volvemos a",
            "al final ",
        ),
        little="a al como con de del el ella en es esta este esto fue ha hay la las le lo los más"
        " mi no nos o para pero por que se ser si sin sobre son su sus un una y ya",
    ),
    "pt": LanguageCues(
        decides=(
            "decidim",
            "decidid",
            "decidiu",
            "decisão",
            "escolh",
            "usaremos",
            "vamos usar",
            "optamos",
        ),
        rules=("nunca", "sempre", "deve ", "devem ", "é preciso", "proibid", "prazo"),
        revises=(
            "em vez de",
            "ao invés de",
            "já não ",
            "mudei de",
            "mudamos de",
            "mudança de plano",
            "correção",
            "substitui",
            "substituí",
            "voltamos a",
            "afinal",
            "na verdade",
            "não usamos mais",
            "não será mais",
        ),
        little="a ao as com como da das de do dos e ela ele em é essa esse esta este foi já mais"
        " mas na não nas no nos o os ou para pela pelo por que se ser será seu sua um uma vai",
    ),
    "zh": LanguageCues(
        decides=("决定", "決定", "选择", "選擇", "采用", "採用"),
        rules=("不要", "必须", "必須", "禁止", "不能", "不得", "务必", "請勿", "请勿", "截止"),
        revises=(
            "改用",
            "改为",
            "改為",
            "改成",
            "不再",
            "换成",
            "換成",
            "而不是",
            "取代",
            "代替",
            "撤回",
            "更正",
            "还是用",
            "還是用",
        ),
        little="我们 我們 使用 作为 作為 可以 这个 這個 那个 因为 因為 所以 决定 決定 改用 不再"
        " 选择 選擇 采用 採用 用于 一个 一個",
        has_spaces=False,
    ),
    "ja": LanguageCues(
        decides=("決め", "決定", "採用", "選択", "選びました", "ことにし"),
        rules=("必ず", "絶対", "しないで", "禁止", "してはいけ", "しなければ", "期限"),
        revises=(
            "やはり",
            "やっぱり",
            "代わりに",
            "変更",
            "ではなく",
            "をやめ",
            "取り消",
            "撤回",
            "訂正",
            "に戻し",
            "置き換え",
            "使わない",
        ),
        little="決め 決定 採用 選択 変更 代わ 使う 使い 使用 使わ",
        has_spaces=False,
    ),
}


def _any_of(beginnings: Iterable[tuple[str, bool]]) -> str:
    spaced = [re.escape(cue) for cue, has_spaces in beginnings if has_spaces]
    others = [re.escape(cue) for cue, has_spaces in beginnings if not has_spaces]
    return rf"\b(?:{'|'.join(spaced)})|{'|'.join(others)}"


def _pattern_of(which: str) -> re.Pattern[str]:
    cues = list[tuple[str, bool]]()
    for language in LANGUAGES.values():
        cues += [(cue, language.has_spaces) for cue in getattr(language, which)]
    return lazy_pattern(_any_of(cues), re.IGNORECASE)


DECIDES = _pattern_of("decides")
RULES = _pattern_of("rules")
REVISES = _pattern_of("revises")
LITTLE_WORDS = frozenset(" ".join(language.little for language in LANGUAGES.values()).split())
