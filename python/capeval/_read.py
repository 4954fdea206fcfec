"""Captions that are read once and taken by every function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._engine import Captions
from ._inputs import Captionlike, captions
from ._keywords import takes
from .options import ReadOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(ReadOptions)
def read(source: Captionlike, *, references: bool = False, **options: Unpack[ReadOptions]) -> Captions:
    """Reads captions, for every function that takes some, so that a file is read only once.

    >>> import capeval
    >>> references = capeval.read({1: ["a dog runs", "the dog ran"], 2: ["two cats"]}, references=True)
    >>> len(references), references.ids()[0], references.texts()[0]
    (3, 1, 'a dog runs')

    Args:
        source: Captions in any form that :func:`capeval.score` takes: a path, a dictionary, a list, a table.
        references: ``True`` for references, of which an image has several; some formats are read otherwise then.

    Raises:
        ValueError: the file is damaged, or an option does not apply to this form of captions.
        FileNotFoundError: the file does not exist.
    """
    return captions(source, "references" if references else "captions", references=references, **options)
