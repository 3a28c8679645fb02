"""What a spec leaves open is asked by name; an answer is used, never guessed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """One open choice: its name in the answers file, the sentence, and what may be answered."""

    name: str
    text: str
    options: tuple[str, ...] = ()

    def __str__(self) -> str:
        choice = f" [{' | '.join(self.options)}]" if self.options else ""
        return f"{self.name}: {self.text}{choice}"


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
            if not options or answer in options:
                return answer
        elif derived is not None:
            return derived
        self.open.append(Question(name, text, tuple(options)))
        return blank

    @property
    def unknown(self) -> list[str]:
        """Answers that nobody asked for: a mistyped name, most likely."""
        return sorted(set(self.answers) - self.used)
