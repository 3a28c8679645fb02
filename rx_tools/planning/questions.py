"""What a spec leaves open is asked by name; an answer is used, never guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rx_tools.errors import DocumentError
from rx_tools.model.json import JsonObject, is_integer, is_number


@dataclass(frozen=True, slots=True)
class Question:
    """One open choice: its name in the answers file, the sentence, and what may be answered.

    `refused` says that an answer was given, but one that is none.
    """

    name: str
    text: str
    options: tuple[str, ...] = ()
    refused: bool = False

    def __str__(self) -> str:
        choice = f" [{' | '.join(self.options)}]" if self.options else ""
        again = " (the answer given is none)" if self.refused else ""
        return f"{self.name}: {self.text}{choice}{again}"


@dataclass(slots=True)
class Inquiry:
    """Collects the questions of one derivation and hands out the answers that were given."""

    answers: Mapping[str, Any]
    open: list[Question] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def resolve(
        self, name: str, derived: Any, text: str, options: Sequence[str] = (), blank: Any = ""
    ) -> Any:
        """An answer if there is one, else what the spec says, else a question and `blank`."""
        if name in self.answers:
            self.used.add(name)
            answer = self.answers[name]
            if fits(answer, options, blank, least=0 if name.endswith(".seed") else 1):
                return answer
        elif derived is not None:
            return derived
        self.open.append(Question(name, text, tuple(options), name in self.answers))
        return blank

    @property
    def unknown(self) -> list[str]:
        """Answers that nobody asked for: a mistyped name, most likely."""
        return sorted(set(self.answers) - self.used)


def fits(answer: object, options: Sequence[str], blank: object, least: int) -> bool:
    """Whether an answer is one of the options, else of the kind of its blank."""
    if options:
        return isinstance(answer, str) and answer in options
    if isinstance(blank, float):
        return is_number(answer) and answer > 0
    if isinstance(blank, int):
        return is_integer(answer) and is_number(answer) and answer >= least
    return isinstance(answer, str) and bool(answer.strip())


def answers_in(document: object, name: str) -> JsonObject:
    """The answers of a file; anything but an object is refused, or nothing would be used."""
    if isinstance(document, Mapping):
        return document
    raise DocumentError(
        "is no object of answers", where=name, hint='like {"readings.primary": "band"}'
    )
