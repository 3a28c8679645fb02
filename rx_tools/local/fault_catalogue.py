"""The faults by name: what each does, and the argument where it takes one."""

from typing import NamedTuple


class Entry(NamedTuple):
    """`default` is the argument where none is given; None means that it takes no argument."""

    default: float | None
    does: str


CATALOGUE = {
    "seed-refused": Entry(None, "a creation with a LoRA seed fails (category user)"),
    "drop-optimizer": Entry(
        None, "dimuon silently becomes AdamW at 1e-4, and get_info says nothing of the optimizer"
    ),
    "rate-ignored": Entry(None, "every optimizer step uses the learning rate 1e-4"),
    "cold-restore": Entry(None, "a load with optimizer restores the weights and a fresh optimizer"),
    "adamw-on-restore": Entry(
        None, "a model created from a checkpoint gets AdamW, whatever it had"
    ),
    "no-external-weights": Entry(
        None, "save_weights_external answers 404, and the model's request sequence stalls"
    ),
    "no-observation": Entry(None, "the observation of the concrete optimizer answers 404"),
    "capacity": Entry(
        1, "the first ARG creations fail with `trainer capacity exhausted` (category server)"
    ),
    "capacity-forever": Entry(
        None, "creations stay pending for ever (queue state paused_capacity)"
    ),
    "http-429": Entry(1, "the first ARG operations are answered 429"),
    "http-503": Entry(1, "the first ARG operations are answered 503"),
    "model-lost-after": Entry(
        1, "after ARG optimizer steps in all, once, every live model is lost (410 model_lost)"
    ),
    "idle-evict": Entry(
        10, "a session is evicted, as if silent, after ARG operations of it, once (then 409)"
    ),
    "nan-grad": Entry(
        1, "the ARG-th optimizer step of every live model sees a gradient that is not finite"
    ),
    "slow": Entry(100, "every answer takes ARG milliseconds longer; the worker is not slowed"),
    "corrupt-weights": Entry(
        None, "one weight of every exported adapter is changed, another one each time"
    ),
    "drift": Entry(
        1e-4, "Gaussian noise of standard deviation ARG on every answered log-probability"
    ),
    "finish-404": Entry(None, "closing a session answers 404"),
    "kill-after": Entry(
        1, "the service kills itself (SIGKILL) in its ARG-th optimizer step, before answering"
    ),
}

LIKE = {"stock": ("no-observation", "no-external-weights", "seed-refused")}
"""What another service lacks, by its name."""


def described() -> str:
    """One line per fault and per bundle, for `--help`."""
    lines = []
    for name, (default, does) in CATALOGUE.items():
        argument = "" if default is None else f"[:{default:g}]"
        lines.append(f"{name + argument:<22} {does}")
    lines += [f"{'--like ' + name:<22} {', '.join(faults)}" for name, faults in LIKE.items()]
    return "\n".join(lines)
