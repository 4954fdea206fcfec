"""Progress of long calls: a callback, or tqdm where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

Progress = Union[Callable[[str, int, int], object], bool, None]
"""``True`` for a tqdm bar, or a function that is called with the stage, the captions done and the total."""


class Bar:
    """A tqdm bar, which restarts with each stage."""

    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(unit=" captions", leave=False)
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._bar.reset(total=total)
            self._bar.set_description(stage)
        self._bar.update(max(0, done - self._bar.n))

    def close(self) -> None:
        self._bar.close()


class Listener:
    """Context that yields the callback for a `progress` argument; None if there is nothing to call."""

    def __init__(self, progress: Progress) -> None:
        self._bar: Bar | None = None
        self._call: Callable[[str, int, int], object] | None = None
        if progress is True:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = Bar(tqdm)
            self._call = self._bar
        elif callable(progress):
            self._call = progress
        elif progress is not None and progress is not False:
            raise TypeError(f"progress must be True, False or a function, not {progress!r}")

    def __enter__(self) -> Callable[[str, int, int], object] | None:
        return self._call

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
