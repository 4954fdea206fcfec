"""How captions are read: records, ids, captions, and how well both sides fit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _engine
from ._evaluator import Evaluator
from ._inputs import Captionlike, reference_captions, system_captions
from ._keywords import takes
from ._score import by_name
from .options import InspectOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Inspection:
    """How captions are read. Prints as text."""

    def __init__(self, found: str, text: str) -> None:
        whole = json.loads(found)
        self.sources: list[dict[str, Any]] = whole["sources"]
        """Each source, the references first: its format, its records, the columns of ids and captions and the reasons for
        them, numbers, the first captions, and how it is paired."""
        self.notices: list[dict[str, Any]] = whole["notices"]
        """Notices about the captions and their pairs."""
        self.refusals: list[str] = [refused["message"] for refused in whole["refusals"]]
        """The reasons why the captions cannot be scored as they are."""
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Inspection of {', '.join(source['file'] for source in self.sources)}>"


@takes(InspectOptions)
def inspect(
    candidates: Captionlike = None, references: Captionlike | Evaluator | None = None, **options: Unpack[InspectOptions]
) -> Inspection:
    """Shows how captions are read, as ``capeval inspect`` does, without scoring them.

    What else could be meant is listed with the keyword that reads it so.

    >>> import capeval
    >>> rows = [{"image": 1, "prompt": "Describe it.", "said": "a dog runs"}, {"image": 2, "prompt": "Describe it.", "said": "two cats"},
    ...         {"image": 3, "prompt": "Describe it.", "said": "a boat"}]
    >>> found = capeval.inspect(rows, {1: ["a dog runs fast"], 2: ["two cats sleep"], 3: ["a boat at sea"]})
    >>> found.sources[1]["caption"]["columns"]
    ['said']

    Args:
        candidates: As for :func:`capeval.score`; or nothing, to look at references alone.
        references: As for :func:`capeval.score`. Captions are understood from the values of both sides.

    Raises:
        ValueError: a file or object cannot be read at all.
        FileNotFoundError: a file does not exist.
    """
    given = candidates is not None or options["systems"] is not None
    if not given and references is None:
        raise ValueError("there is nothing to inspect; pass candidates or references")
    systems = system_captions(by_name(candidates, options["systems"]), options) if given else []
    if isinstance(references, Evaluator):
        ground: Any = references._prepared
    else:
        ground = None if references is None else reference_captions(references, options)
    return Inspection(*_engine.inspect(ground, systems, options["ids"] or "as-given"))
