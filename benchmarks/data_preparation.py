"""How quickly chats become batches, and how much quicker than through the cookbook's renderer.

Run with `python benchmarks/data_preparation.py`; needs the `run` extra for the second figure.
"""

from time import perf_counter

from rx_tools.local.assets import tokenizer_folder
from rx_tools.runner.data.order import Order
from rx_tools.runner.data.prepared import DataChoices, prepare_data
from rx_tools.runner.data.rendering import Implementation, make_renderer
from rx_tools.runner.data.sources import BUILT_IN, load_split

FOLDER = tokenizer_folder()


def reading() -> float:
    """Rows per second, generation of the built-in chats included."""
    start = perf_counter()
    return len(load_split(BUILT_IN, "train").rows) / (perf_counter() - start)


def rendering(implementation: Implementation, rows: int) -> float:
    """Rows per second, the making of the renderer left out."""
    renderer = make_renderer("qwen3_5", FOLDER, implementation)
    chosen = load_split(BUILT_IN, "train").rows[:rows]
    start = perf_counter()
    for row in chosen:
        renderer.render(row.chat, 2048)
    return rows / (perf_counter() - start)


def six_arms() -> float:
    """Seconds to read, render, order and hash all batches of three seeds with 60 steps each."""
    start = perf_counter()
    choices = DataChoices(Order.SHUFFLE_PER_SEED, 32, 2048, eval_first=300)
    data = prepare_data(BUILT_IN, renderer="qwen3_5", tokenizer=FOLDER, choices=choices)
    for seed in range(3):
        data.schedule(seed, 60)
    data.census(range(3), 60)
    return perf_counter() - start


def main() -> None:
    """Print the figures."""
    print(f"six-arm data, everything hashed and counted: {six_arms():.2f} s")
    print(f"strict reading: {reading():,.0f} rows/s")
    own, theirs = rendering("builtin", 3840), rendering("cookbook", 1000)
    print(f"rendering: {own:,.0f} rows/s, the cookbook's {theirs:,.0f}: {own / theirs:.1f} times")


if __name__ == "__main__":
    main()
