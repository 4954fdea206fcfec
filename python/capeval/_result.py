"""What all results share: their formats, files, pages, frames and figures."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, Union

from . import _engine
from ._choices import NoticeCode
from ._figure import Plot, Shown, figure
from ._inputs import digit_count, thread_count
from ._progress import Listener, Progress

if TYPE_CHECKING:
    import pandas
    import polars

Id = Union[int, str]
Interval = tuple[float, float]
Of = TypeVar("Of", bound="Result")
Value = TypeVar("Value")

KINDS = {
    "report": "Report",
    "comparison": "Comparison",
    "correlation": "Correlation",
    "preference": "Preference",
    "benchmark-run": "meta.MetaReport",
    "judge-agreement": "JudgeAgreement",
    "dense-captions": "dense.DenseReport",
}
"""The class of each kind of result."""


class Notice(NamedTuple):
    """A note on a result, such as what was left out."""

    code: NoticeCode
    """A short stable code, such as ``missing:skip``."""
    message: str
    """The notice in words."""
    system: str | None
    """The system it concerns; None if it concerns several."""
    ids: list[Id]
    """The first ids it concerns."""
    number: int | None
    """The number of images, captions and so on that it concerns; None if it counts nothing."""


class CaptionWarning(UserWarning):
    """Scores mean little or nothing: most captions of a system are no captions, and were accepted, or they do not fit the
    references. The notice of the report says the same."""


class Result:
    """A result of the engine. Prints as a table, also in notebooks.

    It can be pickled and saved; what ``gallery=True`` collects for a page is left out then. Two results are equal if all
    that is saved of them is.
    """

    _kind: ClassVar[str]

    def __init__(self, found: _engine.Study) -> None:
        self._found = found
        self.notices: list[Notice] = [Notice(*row) for row in found.notices()]
        """Notes on the result; whatever was left out has a notice."""

    @classmethod
    def load(cls: type[Of], path: str | os.PathLike[str]) -> Of:
        """Reads a result that was written by :meth:`save` or with ``--save``; reports and comparisons also as JSON.

        Raises:
            OSError: if the file cannot be opened.
            ValueError: if it is not such a result.
        """
        found = _engine.Study.load(os.fspath(path))
        if found.kind != cls._kind:
            raise ValueError(f"this is a {found.kind}; load it with capeval.{KINDS[found.kind]}.load()")
        return cls(found)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result to a file as JSON, with the items behind it, such as the scores of every image.

        ``load`` reads it again, and so does ``capeval show``; ``capeval compare --reports`` reads reports.

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

    def render(self, format: str, digits: int | None = None, *, percent: bool = False) -> str:
        """Renders ``"table"``, ``"json"``, ``"jsonl"``, ``"csv"``, ``"markdown"`` or ``"latex"``, as the command line does.

        Args:
            format: the format.
            digits: the number of digits after the decimal point in tables; the default is 3, or 1 where shares are shown
                times 100. The other formats have all digits.
            percent: multiply shares by 100, as papers do; only tables, Markdown and LaTeX may be so.

        Raises:
            ValueError: there is no such format, or it has no percent.
        """
        return self._found.render(format, None if digits is None else digit_count(digits), percent)

    def to_json(self) -> str:
        """Renders JSON with all digits."""
        return self.render("json")

    def to_dict(self) -> Any:
        """Converts the result to what its JSON holds: a dictionary."""
        import json

        return json.loads(self.to_json())

    def to_jsonl(self) -> str:
        """Renders JSON Lines with all digits."""
        return self.render("jsonl")

    def to_csv(self) -> str:
        """Renders comma-separated values with all digits."""
        return self.render("csv")

    def to_markdown(self, digits: int | None = None, *, percent: bool = False) -> str:
        """Renders a Markdown table, for a web page or a pull request."""
        return self.render("markdown", digits, percent=percent)

    def to_latex(self, digits: int | None = None, *, percent: bool = False) -> str:
        """Renders a LaTeX table, for a paper."""
        return self.render("latex", digits, percent=percent)

    def rows(self) -> list[dict[str, Any]]:
        """Lists the items behind the result: images with their scores, rated captions, or pairs."""
        import json

        return [json.loads(line) for line in self._found.render("rows").splitlines()]

    def to_html(
        self,
        *,
        title: str | None = None,
        pictures: str | Mapping[Id, str] | None = None,
        embed_pictures: bool = False,
        digits: int | None = None,
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
            digits: the number of digits after the decimal point; the default is that of :meth:`render`.
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
        places = None if digits is None else digit_count(digits)
        page = {"title": title, "digits": places, "pattern": pattern, "files": paths, "embedded": embed_pictures}
        with Listener(progress) as listener:
            return self._found.html(page, thread_count(threads), listener)

    def plot(self, backend: str = "page", *, pictures: str | Mapping[Id, str] | None = None) -> Shown:
        """Shows the numbers with their intervals in a notebook.

        Args:
            backend: ``"page"`` for the charts of :meth:`to_html`, or ``"matplotlib"`` for a figure, which a program can change
                and save.
            pictures: for ``"page"``, as :meth:`to_html` takes them.

        Raises:
            ImportError: if matplotlib is asked for and not installed.
            ValueError: if there is no such backend.
        """
        if backend == "page":
            return Plot(self.to_html(pictures=pictures))
        if backend == "matplotlib":
            return figure(self._found.panels())
        raise ValueError(f"backend must be 'page' or 'matplotlib', not {backend!r}")

    def _frame(self) -> Sequence[Mapping[str, Any]]:
        """The rows of data frames."""
        import csv

        return [{key: _cell(text) for key, text in row.items()} for row in csv.DictReader(self.to_csv().splitlines())]

    def to_pandas(self) -> pandas.DataFrame:
        """Converts the result to a data frame, with a row for each measure (and pair of systems, or benchmark).

        Raises:
            ImportError: if pandas is not installed.
        """
        import pandas as pd

        return pd.DataFrame(self._frame())

    def to_polars(self) -> polars.DataFrame:
        """Converts the result to a polars data frame, with the rows of :meth:`to_pandas`.

        Raises:
            ImportError: if polars is not installed.
        """
        import polars as pl

        return pl.DataFrame(self._frame(), infer_schema_length=None)

    def _repr_html_(self) -> str:
        return self._found.render("notebook")

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        return str(self)


class Keyed(Result, Generic[Value]):
    """A result that is looked up by names."""

    _what: ClassVar[str] = "measure"

    @property
    def _by_name(self) -> Mapping[str, Value]:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Value:
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"no {self._what} is called {name!r}; there are {', '.join(self._by_name)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name


def number(value: float | str | None) -> float:
    """The number that JSON has as itself, as null, or as text if it is infinite."""
    return math.nan if value is None else float(value)


def ends(interval: Sequence[Any]) -> Interval:
    """The interval that JSON has as a list."""
    low, high = map(number, interval)
    return low, high


def _cell(text: str) -> float | str | None:
    try:
        return float(text) if text else None
    except ValueError:
        return text


def _with_id(pattern: str, key: Id) -> str:
    """The pattern with ``{id}``, or ``{id:012}`` for an id padded with zeros, replaced."""
    return re.sub(r"\{id(?::0(\d{1,2}))?\}", lambda found: str(key).rjust(int(found[1] or 0), "0"), pattern)
