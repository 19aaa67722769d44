"""What the benchmarks fit: sections of prose and of dense text, the same bytes on every machine.

Every case is a list of (name, text, priority), higher priorities kept longer, in reading order.
Priorities are shuffled over the reading order, so that what is kept is never simply the beginning
or the end. The prose mixes common words with names, numbers and identifiers, so that a tokenizer
needs about as long for it as for real text.
"""

import json
import random
from collections.abc import Callable
from itertools import accumulate

Section = tuple[str, str, int]

WORDS = """
about above account across action after again against agent air allow almost along already also
always amount answer any appear area argue around ask away back balance base because become before
begin behind believe below better between beyond board body book both branch break bring budget
build burn business call careful carry case catch cause central certain change charge check choice
choose circle city claim clear close cold collect colour come common compare complete consider
contain context continue control cost count country course cover create cross current cut dark data
deal decide deep degree deliver demand depend describe design detail develop differ direct discover
divide doctor door doubt draw dream drive drop during each early earth east edge effect eight either
empty end energy engine enough enter equal even evening event every exact example except expect
explain eye face fact fall family far farm fast feel few field figure fill final find fine finish
fire first five floor follow food foot force forest form forward four free fresh friend front full
game garden general give glass gold good great green ground group grow guess half hand happen hard
harbour heart heat heavy help high history hold home hour house human hundred idea include increase
inside island join judge jump keep key kind know lake land language large last late laugh lead learn
leave left length less letter level light line list listen little live local long look lose love
machine main make many map mark market matter mean measure meet member memory message metal middle
might mile mind minute miss model moment money month moon more morning most mother mountain mouth
move much music must name narrow nation near need never news next night noise north note notice
number object observe ocean offer office often old once only open order other outside over page
paint paper parent part pass past path pattern pay people perhaps period person picture piece place
plain plan plant play point poor possible power prepare present press problem process produce
promise proper prove public pull push question quick quiet rain raise range rather reach read ready
real reason receive record region remember repeat report rest result return river road rock roll
room round rule safe sail same sand scale school science sea season second section see seem sense
sentence separate serve settle seven several shape share sharp ship short should show side sign
silent simple since sing single size sleep slow small smooth snow soft soil solve some song soon
sound source south space speak special speed spell spend spread spring square stand star start state
station stay steam step still stone story strange stream street strong study subject sudden summer
supply sure surface system table take talk teach tell temper ten test thick thin thing think third
those thought thousand through time token together tone top touch toward town track trade train
travel tree trouble true trust turn twelve type under unit until use usual valley value vary very
view visit voice vote wait walk wall want war warm wash watch water wave way wear weather week weigh
well west wheel while white whole wide wild will wind window winter wish wonder wood word work world
write wrong year yellow young
""".split()

SYLLABLES = (
    "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bran cler dron stel quin".split()
)


def _vocabulary() -> tuple[list[str], list[float]]:
    """Common words first, then ever rarer forms, with cumulative weights that fall off as in
    real language."""
    rng = random.Random(0)
    rare = [
        word + ending for word in WORDS for ending in ("s", "ed", "ing", "ly", "ness", ",", ";")
    ]
    rare += [f"`{first}_{second}`" for first, second in zip(WORDS, reversed(WORDS), strict=True)]
    rare += [f"{first}-{second}" for first, second in zip(WORDS, WORDS[7:], strict=False)]
    rare += ["".join(rng.choices(SYLLABLES, k=3)).capitalize() for _ in range(1500)]
    rare += [f"{rng.uniform(0, 1000):.2f}" for _ in range(500)]
    rng.shuffle(rare)
    words = [*WORDS, *rare]
    return words, list(accumulate(1 / (rank + 20) for rank in range(len(words))))


VOCABULARY, WEIGHTS = _vocabulary()


def prose(count: int, *, words: int = 116, seed: int = 1) -> list[Section]:
    """`count` sections of English-like sentences, about 200 tokens each, every priority
    different."""
    rng = random.Random(seed)
    return _ranked([_prose_text(rng, words) for _ in range(count)], rng)


def ties(count: int) -> list[Section]:
    """Sections of about 200 tokens that all have the same priority."""
    return [(name, text, 1) for name, text, _ in prose(count, seed=2)]


def one_large(small: int = 200) -> list[Section]:
    """One section of about 50,000 tokens that ranks above `small` ones of about 100."""
    rng = random.Random(3)
    large = ("large", _prose_text(rng, 29_000), small + 1)
    return [large, *prose(small, words=58, seed=4)]


def dense_json(count: int) -> list[Section]:
    """Compact JSON records, about 200 tokens each."""
    return _dense(count, _json_text, seed=5)


def dense_hex(count: int) -> list[Section]:
    """Hexadecimal dumps, about 200 tokens each."""
    return _dense(
        count, lambda rng: "\n".join(f"{rng.getrandbits(256):064x}" for _ in range(5)), seed=6
    )


def dense_cjk(count: int) -> list[Section]:
    """Chinese-looking text, about 200 tokens each."""
    return _dense(count, _cjk_text, seed=7)


def _prose_text(rng: random.Random, words: int) -> str:
    paragraphs: list[str] = []
    while words > 0:
        sentences = []
        for _ in range(rng.randint(3, 5)):
            length = min(rng.randint(8, 16), max(words, 4))
            words -= length
            sentence = " ".join(rng.choices(VOCABULARY, cum_weights=WEIGHTS, k=length)).rstrip(",;")
            sentences.append(f"{sentence[0].upper()}{sentence[1:]}.")
            if words <= 0:
                break
        paragraphs.append(" ".join(sentences))
    return "\n".join(paragraphs)


def _json_text(rng: random.Random) -> str:
    records = [
        {
            "id": rng.getrandbits(40),
            "at": rng.random(),
            "tags": rng.choices(WORDS, k=3),
            "ok": rng.random() < 0.5,
        }
        for _ in range(6)
    ]
    return json.dumps(records, separators=(",", ":"))


def _cjk_text(rng: random.Random) -> str:
    sentences = (
        "".join(chr(rng.randrange(0x4E00, 0x8E00)) for _ in range(rng.randint(8, 14)))
        for _ in range(10)
    )
    return "。".join(sentences) + "。"


def _dense(count: int, text: Callable[[random.Random], str], *, seed: int) -> list[Section]:
    rng = random.Random(seed)
    return _ranked([text(rng) for _ in range(count)], rng)


def _ranked(texts: list[str], rng: random.Random) -> list[Section]:
    priorities = list(range(1, len(texts) + 1))
    rng.shuffle(priorities)
    return [(f"s{i:05d}", text, priorities[i]) for i, text in enumerate(texts)]
