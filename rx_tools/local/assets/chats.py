"""The built-in chats: short conversations, put together from written sentences.

Every row is a function of its split and number alone: the choices come from SHA-256, not from a
random generator whose stream could change. No two rows are alike, in one split or across both.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

from rx_tools.local.assets.phrases import (
    ALPHABET,
    CARE,
    CLASSIFY,
    COMPARE,
    DAYS,
    EXPLAIN,
    GUIDE,
    LIST,
    MEANING,
    NOTE,
    PEOPLE,
    PRICE,
    QUIZ,
    REASON,
    SHORTER,
    SYSTEMS,
    THANKS,
    UNCOUNTED,
)

SIZES = {"train": 3840, "test": 500}
T = TypeVar("T")
Turn = tuple[str, str]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing to talk about, with what can be said of it."""

    name: str
    kind: str
    meaning: str
    reason: str
    care: str

    @property
    def title(self) -> str:
        """The name as it opens a sentence, with its article where it can be counted."""
        if self.name in UNCOUNTED or not self.meaning.startswith(("a ", "an ", "the ")):
            return self.name.capitalize()
        if self.meaning.startswith("the "):
            return f"The {self.name}"
        return f"{'An' if self.name[0] in 'aeio' else 'A'} {self.name}"

    @property
    def definition(self) -> str:
        """A whole sentence: what the subject is."""
        return f"{self.title} is {self.meaning}."


@cache
def subjects() -> tuple[Subject, ...]:
    """Every subject of `subjects.txt`, in the order of the file."""
    lines = (Path(__file__).parent / "subjects.txt").read_text("utf-8").split("\n")
    return tuple(Subject(*line.split("|")) for line in lines if line)


class Chooser:
    """Choices that depend on a key and on nothing else."""

    def __init__(self, key: str) -> None:
        self._key, self._draws = key, count()

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` − 1."""
        digest = sha256(f"{self._key}#{next(self._draws)}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % limit

    def one(self, items: tuple[T, ...]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def some(self, items: tuple[T, ...], number: int) -> list[T]:
        """`number` different items."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(number)]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _lower(title: str) -> str:
    return f"{title[0].lower()}{title[1:]}"


def _about(subject: Subject) -> dict[str, str]:
    return {
        "name": subject.name,
        "kind": subject.kind,
        "meaning": subject.meaning,
    }


def _explain(choose: Chooser, subject: Subject) -> Turn:
    return choose.one(EXPLAIN).format(**_about(subject)), (
        f"{subject.definition} {_sentence(subject.reason)}"
    )


def _meaning(choose: Chooser, subject: Subject) -> Turn:
    return choose.one(MEANING).format(**_about(subject)), _sentence(subject.meaning)


def _reason(choose: Chooser, subject: Subject) -> Turn:
    return choose.one(REASON).format(**_about(subject)), _sentence(subject.reason)


def _care(choose: Chooser, subject: Subject) -> Turn:
    return choose.one(CARE).format(**_about(subject)), _sentence(subject.care)


def _classify(choose: Chooser, subject: Subject) -> Turn:
    kinds = tuple(sorted({other.kind for other in subjects()} - {subject.kind}))
    pair = choose.some((choose.one(kinds), subject.kind), 2)
    question = choose.one(CLASSIFY).format(first=pair[0], second=pair[1], **_about(subject))
    return question, f"It belongs to: {subject.kind}. {_sentence(subject.meaning)}"


def _compare(choose: Chooser, subject: Subject) -> Turn:
    other = choose.one(tuple(s for s in subjects() if s.name != subject.name))
    question = choose.one(COMPARE).format(other=other.name, **_about(subject))
    return question, (
        f"{subject.title} is {subject.meaning}; {_lower(other.title)} is {other.meaning}."
    )


def _list(choose: Chooser, subject: Subject) -> Turn:
    number = 3 + choose.below(3)
    same = tuple(s.name for s in subjects() if s.kind == subject.kind)
    names = choose.some(same, number)
    question = choose.one(LIST).format(number=number, **_about(subject))
    return question, "\n".join(f"{place}. {name}" for place, name in enumerate(names, 1))


def _alphabet(choose: Chooser, subject: Subject) -> Turn:
    others = tuple(s.name for s in subjects() if s.name != subject.name)
    names = [subject.name, *choose.some(others, 3)]
    return choose.one(ALPHABET).format(names=", ".join(names)), ", ".join(sorted(names))


def _price(choose: Chooser, subject: Subject) -> Turn:
    price, number = 2 + choose.below(19), 2 + choose.below(11)
    question = choose.one(PRICE).format(price=price, number=number, **_about(subject))
    return question, (
        f"{number} times {price} is {number * price}, so the answer is {number * price} coins."
    )


def _note(choose: Chooser, subject: Subject) -> Turn:
    reader, writer = choose.some(PEOPLE, 2)
    day = choose.one(DAYS)
    question = choose.one(NOTE).format(reader=reader, day=day, **_about(subject))
    return question, (
        f"Dear {reader},\n\nplease remember the {subject.name} on {day}. "
        f"{_sentence(subject.care)} {choose.one(THANKS)}\n\n{writer}"
    )


def _quiz(choose: Chooser, subject: Subject) -> Turn:
    said = choose.one((subject, choose.one(subjects())))
    question = choose.one(QUIZ).format(said=said.meaning, **_about(subject))
    if said.name == subject.name:
        return question, f"True. {subject.definition}"
    return question, f"False. That would be {_lower(said.title)}. {subject.definition}"


def _shorter(choose: Chooser, subject: Subject) -> Turn:
    long = f"{subject.definition} {_sentence(subject.reason)} {_sentence(subject.care)}"
    return choose.one(SHORTER).format(text=long), f"{subject.name.capitalize()}: {subject.care}."


def _guide(choose: Chooser, subject: Subject) -> Turn:
    same = tuple(s for s in subjects() if s.kind == subject.kind)
    chosen = choose.some(same, 5 + choose.below(6))
    parts = [
        f"## {s.name.capitalize()}\n\n{s.definition} {_sentence(s.reason)} So: {s.care}."
        for s in chosen
    ]
    return choose.one(GUIDE).format(number=len(chosen), **_about(subject)), "\n\n".join(parts)


SHORT: tuple[Callable[[Chooser, Subject], Turn], ...] = (
    *(_explain, _explain, _meaning, _reason, _care, _classify, _compare),
    *(_list, _alphabet, _price, _note, _quiz, _shorter),
)


def _conversation(choose: Chooser) -> list[dict[str, str]]:
    lot = choose.below(100)
    if lot < 2:
        turns = [_guide(choose, choose.one(subjects()))]
    elif lot < 16:
        subject = choose.one(subjects())
        turns = [write(choose, subject) for write in choose.some(SHORT[1:], 2 + choose.below(2))]
    else:
        turns = [choose.one(SHORT)(choose, choose.one(subjects()))]
    opening = [("system", choose.one(SYSTEMS))] if choose.below(20) == 0 else []
    spoken = [pair for ask, say in turns for pair in (("user", ask), ("assistant", say))]
    return [{"role": role, "content": content} for role, content in (*opening, *spoken)]


ODDITIES: tuple[list[dict[str, str]], ...] = (
    [{"role": "user", "content": "I only wanted to say that the kettle is boiling."}],
    [
        {"role": "user", "content": "Which mark ends a turn in this chat format?"},
        {"role": "assistant", "content": "The mark is <|im_end|>, and it stands after every turn."},
    ],
    [
        {"role": "user", "content": "What does <|im_start|> do?"},
        {"role": "assistant", "content": "It opens a turn; the name of the speaker follows."},
    ],
)
"""Rows of the train split that a careful reader counts: no answer at all, control marks in text."""


def _split(split: str, size: int, seen: set[str]) -> Iterator[Row]:
    odd = ODDITIES if split == "train" else ()
    plain = (_conversation(Chooser(f"{split}/{number}")) for number in count())
    made = 0
    for messages in (m for source in (odd, plain) for m in source):
        key = json.dumps(messages)
        if key in seen:
            continue
        seen.add(key)
        yield {"prompt_id": f"rx-{split}-{made:05d}", "messages": messages}
        made += 1
        if made == size:
            return


@cache
def _all() -> dict[str, tuple[Row, ...]]:
    seen: set[str] = set()
    return {split: tuple(_split(split, size, seen)) for split, size in SIZES.items()}


def rows(split: Literal["train", "test"]) -> tuple[Row, ...]:
    """The rows of a split, in file order: 3,840 to train on, 500 to test with."""
    return _all()[split]


def jsonl(lines: Iterable[Row]) -> bytes:
    """One JSON object a line, keys in the order `prompt_id`, `messages`."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
