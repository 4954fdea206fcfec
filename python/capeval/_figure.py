"""Figures of results, which matplotlib draws where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ._rendered import Plot

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

Shown = Union[Plot, "Figure"]
"""What :meth:`Report.plot` and its like return, by the backend."""


class Point(NamedTuple):
    """A value with its interval, if it has one."""

    name: str
    value: float
    interval: tuple[float, float] | None


def shown(backend: str, page: Callable[[], str], panels: Callable[[], Mapping[str, Sequence[Point]]]) -> Shown:
    """The charts of a page, or a figure of matplotlib with a panel for each title.

    Raises:
        ImportError: if matplotlib is asked for and not installed.
        ValueError: if there is no such backend.
    """
    if backend == "page":
        return Plot(page())
    if backend == "matplotlib":
        return _drawn(panels())
    raise ValueError(f"backend must be 'page' or 'matplotlib', not {backend!r}")


def _drawn(panels: Mapping[str, Sequence[Point]]) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("matplotlib is not installed; run `pip install matplotlib`, or call plot()") from error
    columns = min(3, max(1, len(panels)))
    rows = -(-len(panels) // columns)
    tallest = max((len(points) for points in panels.values()), default=1)
    figure: Figure = Figure(figsize=(3.2 * columns, rows * (0.9 + 0.35 * tallest)), layout="constrained")
    axes: Any = figure.subplots(rows, columns, squeeze=False)
    for place, (title, points) in zip(axes.flat, panels.items()):
        place.set_title(title, fontsize="medium")
        for height, point in enumerate(reversed(points)):
            low, high = point.interval or (point.value, point.value)
            place.plot([low, high], [height, height], color="C0", linewidth=1.5)
            place.plot([point.value], [height], marker="o", color="C0")
        place.set_yticks(range(len(points)), [point.name for point in reversed(points)])
        place.set_ylim(-0.6, len(points) - 0.4)
        place.spines[["top", "right"]].set_visible(False)
    for place in list(axes.flat)[len(panels) :]:
        place.set_visible(False)
    return figure
