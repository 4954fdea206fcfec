"""Charts of results: those of their pages, and figures that matplotlib draws where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Panel = tuple[str, Sequence[tuple[str, float, Union[tuple[float, float], None]]]]
"""A title, and for each point its name, its value and its interval."""


class Plot:
    """The charts of a result; notebooks show them."""

    def __init__(self, page: str) -> None:
        self.html = page
        """The charts and tables as a page of HTML."""

    def _repr_html_(self) -> str:
        from html import escape

        style = "width: 100%; height: 40em; border: 0"
        return f'<iframe style="{style}" srcdoc="{escape(self.html, quote=True)}"></iframe>'

    def __repr__(self) -> str:
        return f"Plot({len(self.html)} characters of HTML)"


Shown = Union[Plot, "Figure"]
"""What :meth:`Result.plot` returns, by the backend."""


def figure(panels: Sequence[Panel]) -> Figure:
    """A figure of matplotlib with a panel for each title.

    Raises:
        ImportError: if matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("matplotlib is not installed; run `pip install matplotlib`, or call plot()") from error
    columns = min(3, max(1, len(panels)))
    rows = -(-len(panels) // columns)
    tallest = max((len(points) for _, points in panels), default=1)
    drawn: Figure = Figure(figsize=(3.2 * columns, rows * (0.9 + 0.35 * tallest)), layout="constrained")
    axes: Any = drawn.subplots(rows, columns, squeeze=False)
    for place, (title, points) in zip(axes.flat, panels):
        place.set_title(title, fontsize="medium")
        for height, (_, value, interval) in enumerate(reversed(points)):
            low, high = interval or (value, value)
            place.plot([low, high], [height, height], color="C0", linewidth=1.5)
            place.plot([value], [height], marker="o", color="C0")
        place.set_yticks(range(len(points)), [name for name, _, _ in reversed(points)])
        place.set_ylim(-0.6, len(points) - 0.4)
        place.spines[["top", "right"]].set_visible(False)
    for place in list(axes.flat)[len(panels) :]:
        place.set_visible(False)
    return drawn
