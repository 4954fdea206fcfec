"""The output formats that results share, and how they are saved."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Protocol, Union

from ._inputs import digit_count, thread_count
from ._progress import Listener, Progress

if TYPE_CHECKING:
    import pandas
    import polars


Id = Union[int, str]


class _Found(Protocol):
    def render(self, format: str, digits: int) -> str: ...


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


class Rendered:
    """A result of the engine that prints as a table."""

    _found: _Found

    def to_json(self) -> str:
        """Renders JSON with all digits, as the command line does with ``--format json``."""
        return self._found.render("json", 3)

    def to_dict(self) -> dict[str, Any]:
        """Converts the result to a dictionary with the structure of the JSON."""
        import json

        found: dict[str, Any] = json.loads(self.to_json())
        return found

    def to_csv(self) -> str:
        """Renders comma-separated values with all digits."""
        return self._found.render("csv", 3)

    def to_markdown(self, digits: int = 3) -> str:
        """Renders a Markdown table, for a web page or a pull request."""
        return self._found.render("markdown", digit_count(digits))

    def to_latex(self, digits: int = 3) -> str:
        """Renders a LaTeX table, for a paper."""
        return self._found.render("latex", digit_count(digits))

    def _repr_markdown_(self) -> str:
        # Notebooks show it as a table, with intervals, notices and signatures.
        return self.to_markdown()

    def __str__(self) -> str:
        return self._found.render("table", 3).rstrip("\n")

    def __repr__(self) -> str:
        return str(self)


class _Shown(Protocol):
    def gallery_ids(self) -> list[Id] | None: ...
    def html(
        self,
        title: str | None,
        digits: int,
        pattern: str | None,
        files: list[str | None] | None,
        embedded: bool,
        threads: int | None,
        progress: Callable[[str, int, int], object] | None,
    ) -> str: ...


class Paged:
    """A result with a page that can show every image."""

    _found: _Shown

    def to_html(
        self,
        *,
        title: str | None = None,
        pictures: str | Mapping[Id, str] | None = None,
        embed_pictures: bool = False,
        digits: int = 3,
        threads: int | None = None,
        progress: Progress = None,
    ) -> str:
        """Renders a page with tables and charts; with ``gallery=True`` also every image.

        The page is one file and needs no network.

        Args:
            title: the title of the page; the default says what it shows.
            pictures: where the pictures are: a path or URL with ``{id}`` (or ``{id:012}``, padded with zeros), or a
                dictionary of paths or URLs by id.
            embed_pictures: whether to put the pictures into the page, instead of linking to them. Paths are then
                relative to the current folder, and missing files are left out. Together they may have 400 MB.
            digits: the number of digits after the decimal point.
            threads: the number of threads that explain the scores of single images; see
                :func:`capeval.set_num_threads`.
            progress: ``True`` for a tqdm bar, or a function that is called with the stage, the images done and the
                total.

        Raises:
            ValueError: if pictures are given and there are no images, or if they are too large to be embedded.
        """
        if embed_pictures and pictures is None:
            raise ValueError("embed_pictures needs pictures; pass the paths of the files as pictures=…")
        pattern, paths = pictures if isinstance(pictures, str) else None, None
        if pictures is not None and (embed_pictures or pattern is None):
            ids = self._found.gallery_ids()
            if ids is None:
                raise ValueError("pictures need a page with every image; pass gallery=True to score or compare")
            paths = [_with_id(pictures, key) if isinstance(pictures, str) else pictures.get(key) for key in ids]
        with Listener(progress) as listener:
            return self._found.html(
                title, digit_count(digits), pattern, paths, embed_pictures, thread_count(threads), listener
            )


def _with_id(pattern: str, key: Id) -> str:
    """The pattern with ``{id}``, or ``{id:012}`` for an id padded with zeros, replaced."""
    return re.sub(r"\{id(?::0(\d{1,2}))?\}", lambda found: str(key).rjust(int(found[1] or 0), "0"), pattern)


class Framed:
    """A result with rows of named values."""

    def _rows(self) -> Sequence[dict[str, Any]]:
        raise NotImplementedError

    def to_pandas(self) -> pandas.DataFrame:
        """Converts the result to a data frame, with a row for each measure (and pair of systems, or benchmark).

        Raises:
            ImportError: if pandas is not installed.
        """
        import pandas as pd

        return pd.DataFrame(self._rows())

    def to_polars(self) -> polars.DataFrame:
        """Converts the result to a polars data frame, with the rows of :meth:`to_pandas`.

        Raises:
            ImportError: if polars is not installed.
        """
        import polars as pl

        return pl.DataFrame(self._rows(), infer_schema_length=None)


class _Kept(Protocol):
    def saved(self) -> bytes: ...
    def save(self, path: str) -> None: ...


class Savable:
    """A result that can be written to a file and read again."""

    _found: _Kept

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result to a file as JSON, with the scores of every image if it has them.

        ``load`` reads it again, and so do ``capeval show`` and ``capeval compare --reports``.

        Raises:
            OSError: if the file cannot be written.
        """
        self._found.save(os.fspath(path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self._found is other._found or self._found.saved() == other._found.saved()

    def __hash__(self) -> int:
        return hash(self._found.saved())
