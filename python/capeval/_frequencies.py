"""Document frequencies: the number of images in which each n-gram occurs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Union

from . import _engine
from ._choices import TableFormat
from ._inputs import Captionlike, reference_captions, whole
from ._keywords import takes
from .options import FrequencyOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]
Frequencies = Union["DocumentFrequencies", str, "os.PathLike[str]", None]
"""Document frequencies, or the path of a table; None for those of the references."""


class DocumentFrequencies:
    """The number of images in which each n-gram occurs; CIDEr weights n-grams by it.

    With a saved table, scores on a few images are comparable with those on many, and a reward does not depend on its
    batch.

    >>> import capeval
    >>> table = capeval.DocumentFrequencies.build({1: ["a dog", "the dog"], 2: ["a cat"]})
    >>> table["a"], table["a dog"], table.n_images
    (2, 1, 2)
    """

    def __init__(self, table: _engine.DocumentFrequencies) -> None:
        self._engine = table

    @classmethod
    @takes(FrequencyOptions)
    def build(
        cls,
        references: Captionlike,
        *,
        tokenizer: str = "ptb",
        stem: str | None = None,
        n: int = 4,
        **options: Unpack[FrequencyOptions],
    ) -> DocumentFrequencies:
        """Counts the n-grams of references.

        Args:
            references: Captions by people, in any form that :func:`capeval.score` takes.
            tokenizer: The tokenizer of the metrics that will use the table.
            stem: The stemmer of these metrics, ``"none"`` or ``"snowball-english"``.
            n: The length of the longest n-grams, 1 to 9.

        Raises:
            ValueError: there are no captions, the tokenizer is unknown, or `n` is out of range.
            KeyboardInterrupt: on Ctrl-C, once all references are counted.
        """
        rows = reference_captions(references, options)
        ids = options["ids"] or "as-given"
        return cls(_engine.DocumentFrequencies.build(rows, tokenizer=tokenizer, stem=stem, order=n, ids=ids))

    @classmethod
    def load(cls, path: Path, *, n_images: int | None = None) -> DocumentFrequencies:
        """Reads a table that :meth:`save` or ``capeval df`` wrote, or a pickle of the original Python programs.

        Pickles (``coco-val-df.p``, those of self-critical training; gzipped or not) are read without running any
        code in them.

        Args:
            path: the file.
            n_images: the number of images counted, if a pickle does not contain it: 40504 for ``coco-val-df``.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file has another format, is damaged, or does not contain its number of images.
        """
        return cls(_engine.DocumentFrequencies.load(os.fspath(path), n_images))

    @classmethod
    def from_counts(cls, counts: Mapping[tuple[str, ...], float], n_images: int) -> DocumentFrequencies:
        """Builds a table from counts ``{("a", "dog"): 12, …}`` over `n_images` images.

        Raises:
            ValueError: a count is not a whole number, or is larger than `n_images`.
        """
        n_images = whole("n_images", n_images, 0, 2**63 - 1)
        return cls(_engine.DocumentFrequencies.from_counts(dict(counts), n_images))

    def save(
        self,
        path: Path,
        *,
        format: TableFormat = "capeval",
    ) -> None:
        """Writes the table to a file.

        Args:
            path: the path of the file.
            format: the format of the file:
                - ``"capeval"``: capeval's own format
                - ``"pickle"``: a pickle for Python programs: {'document_frequency': …, 'ref_len': …}
                - ``"json"``: JSON, one n-gram per line
        """
        self._engine.save(os.fspath(path), format)

    def merge(self, *others: DocumentFrequencies) -> DocumentFrequencies:
        """Returns a table over the images of all tables, which must not share images.

        Raises:
            ValueError: the tables have different values of `n`.
        """
        table = self._engine
        for other in others:
            table = table.merge(other._engine)
        return DocumentFrequencies(table)

    def __getitem__(self, ngram: str | Iterable[str]) -> int:
        """The number of images in which an n-gram occurs; give its words as a tuple, or as a string with spaces."""
        words = ngram.split(" ") if isinstance(ngram, str) else list(ngram)
        return self._engine.frequency(words)

    def __len__(self) -> int:
        """The number of distinct n-grams."""
        return len(self._engine)

    @property
    def n_images(self) -> int:
        """The number of images counted."""
        return self._engine.n_images

    @property
    def n(self) -> int:
        """The length of the longest n-grams."""
        return self._engine.order

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that appear in signatures; equal tables have equal fingerprints."""
        return self._engine.fingerprint

    def to_dict(self) -> dict[tuple[str, ...], int]:
        """All n-grams with their document frequencies."""
        return self._engine.items()

    def __repr__(self) -> str:
        return f"DocumentFrequencies({len(self)} n-grams of {self.n_images} images, {self.fingerprint})"

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return _restore, (self._engine.to_bytes("capeval"),)

    @staticmethod
    def _table(df: Frequencies) -> _engine.DocumentFrequencies | None:
        if df is None:
            return None
        if isinstance(df, DocumentFrequencies):
            return df._engine
        if isinstance(df, _engine.DocumentFrequencies):
            return df
        if not isinstance(df, (str, os.PathLike)):
            raise TypeError(
                "document_frequencies must be a capeval.DocumentFrequencies or the path of a table, not "
                f"{type(df).__name__}"
            )
        return _engine.DocumentFrequencies.load(os.fspath(df), None)


def _restore(data: bytes) -> DocumentFrequencies:
    return DocumentFrequencies(_engine.DocumentFrequencies.from_bytes(data, None))
