"""The output formats that results share, and how they are saved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ._inputs import digit_count

if TYPE_CHECKING:
    import pandas
    import polars


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
