"""A metric that takes captions batch by batch, by the protocol of torchmetrics.

``update`` collects captions and references, ``compute`` scores all of them together, and ``reset`` starts again. Scores
are those of :func:`capeval.score` over all captions, so CIDEr's document frequencies are those of the whole corpus.

Where torchmetrics is installed, :class:`CaptionMetric` is a ``torchmetrics.Metric``: a ``MetricCollection`` can hold it,
Lightning logs it, and it is synchronised between the processes of ``torch.distributed``. Elsewhere it has the same
methods, and ``merge_state`` joins what several processes collected.

>>> from capeval.streaming import CaptionMetric
>>> metric = CaptionMetric(["bleu", "cider-d"])
>>> metric.update(["a dog runs"], [["a dog runs", "the dog ran"]])
>>> metric.update(["two dogs"], [["two cats", "cats sit"]])
>>> {key: round(float(score), 4) for key, score in metric.compute().items()}["cider-d"]
2.3958
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ._frequencies import DocumentFrequencies
from ._inputs import Metrics, listed, metric_list
from ._keywords import takes
from ._report import Id, Report
from ._score import score
from .options import StreamOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CaptionMetric"]

if TYPE_CHECKING or not find_spec("torchmetrics"):

    class _Metric:
        """The part of torchmetrics' protocol that needs no tensors."""

        def __init__(self) -> None:
            self._rows: list[bytes] = []

        def _add(self, rows: bytes) -> None:
            self._rows.append(rows)

        def _all(self) -> bytes:
            return b"".join(self._rows)

        def _result(self, report: Report) -> dict[str, Any]:
            return dict(report.scores)

        def reset(self) -> None:
            """Forgets all captions."""
            self._rows = []

        def merge_state(self, incoming_state: Any) -> None:
            """Adds the captions that another metric has collected, such as one of another process."""
            if not isinstance(incoming_state, _Metric):
                raise TypeError(f"merge_state takes a CaptionMetric, not {type(incoming_state).__name__}")
            self._rows = [*self._rows, *incoming_state._rows]

        def __call__(self, *args: Any, **options: Any) -> dict[str, Any]:
            """Adds a batch, and returns the scores of this batch alone."""
            before, self._rows = self._rows, []
            try:
                self.update(*args, **options)  # type: ignore[attr-defined]
                found: dict[str, Any] = self.compute()  # type: ignore[attr-defined]
            finally:
                self._rows = [*before, *self._rows]
            return found

        forward = __call__

else:
    import torch
    import torchmetrics

    class _Metric(torchmetrics.Metric):
        """Captions as bytes in tensors, which torchmetrics gathers from all processes."""

        is_differentiable = False
        full_state_update = False

        def __init__(self) -> None:
            super().__init__()
            self.add_state("rows", default=[], dist_reduce_fx="cat")

        def _add(self, rows: bytes) -> None:
            self.rows.append(torch.frombuffer(bytearray(rows), dtype=torch.uint8).to(self.device))

        def sync(self, *args: Any, **options: Any) -> None:
            """Gathers the captions of all processes."""
            if isinstance(self.rows, list) and not self.rows:
                # torchmetrics sends an empty list as numbers of four bytes, which do not fit the others' bytes.
                self.rows.append(torch.empty(0, dtype=torch.uint8, device=self.device))
            super().sync(*args, **options)

        def _all(self) -> bytes:
            # A list of batches, or one tensor after a synchronisation.
            rows = self.rows if isinstance(self.rows, list) else [self.rows]
            return b"".join(part.cpu().numpy().tobytes() for part in rows)

        def _result(self, report: Report) -> dict[str, Any]:
            return {key: torch.tensor(value, dtype=torch.float64) for key, value in report.scores.items()}


class CaptionMetric(_Metric):
    """Scores captions that arrive batch by batch; see :mod:`capeval.streaming`."""

    @takes(StreamOptions)
    def __init__(self, metrics: Metrics = None, **options: Unpack[StreamOptions]) -> None:
        """Takes metrics as :func:`capeval.score` does."""
        super().__init__()
        table = DocumentFrequencies._table(options["document_frequencies"])
        options["document_frequencies"] = None if table is None else DocumentFrequencies(table)
        options["settings"] = dict(options["settings"] or {})
        self._metrics, self._options = metric_list(metrics), options

    def update(
        self, preds: str | Sequence[str], target: Sequence[Any], image_ids: Iterable[Id] | None = None
    ) -> None:
        """Adds a batch.

        Args:
            preds: the captions of a system, or one caption.
            target: for each caption, the list of its references; for one caption, its references.
            image_ids: the id of each image. An image that comes again, as the last ones do in each process of a
                distributed sampler, is counted once.

        Raises:
            ValueError: the numbers of captions, references and ids differ, or a caption has no references.
            TypeError: a caption is not a string, its references are not a list of strings, or an id is neither an
                integer nor a string.
        """
        if isinstance(preds, str):
            preds, target = [preds], [target]
        captions, references = list(preds), listed("target", target)
        ids = [None] * len(captions) if image_ids is None else listed("image_ids", image_ids)
        if not len(captions) == len(references) == len(ids):
            raise ValueError(
                f"there are {len(captions)} captions, but references of {len(references)} and ids of {len(ids)} images"
            )
        lines = []
        for k, (key, caption, texts) in enumerate(zip(ids, captions, references)):
            if isinstance(texts, str):
                raise TypeError(f"target[{k}] must be a list of references, not a string: {texts!r}; pass [{texts!r}]")
            texts = list(texts)
            if not isinstance(caption, str) or not all(isinstance(text, str) for text in texts):
                raise TypeError(f"caption {k} of the batch and its references must be strings")
            if not texts:
                raise ValueError(f"caption {k} of the batch has no references; leave it out")
            if isinstance(key, bool) or not (key is None or isinstance(key, str) or hasattr(key, "__index__")):
                kind = type(key).__name__
                raise TypeError(f"image_ids[{k}] must be an integer or a string, not {kind}: {key!r}")
            plain = key if key is None or isinstance(key, str) else operator.index(key)
            lines.append(json.dumps([plain, caption, texts]) + "\n")
        if lines:
            self._add("".join(lines).encode())

    def report(self) -> Report:
        """The report over all captions that this process has collected.

        Raises:
            ValueError: there are no captions.
        """
        rows = [json.loads(line) for line in self._all().splitlines()]
        if not rows:
            raise ValueError("there are no captions yet; call update first")
        named = {key is not None for key, _, _ in rows}
        if len(named) > 1:
            raise ValueError("some batches have image_ids and others have none; pass them to every update")
        references: dict[Id, list[str]] = {}
        candidates: dict[Id, str] = {}
        for k, (key, caption, texts) in enumerate(rows):
            place = k if key is None else key
            if place not in candidates:
                candidates[place], references[place] = caption, texts
            elif (candidates[place], references[place]) != (caption, texts):
                raise ValueError(f"image {place!r} came with two captions or other references; pass each image once")
        return score(references, candidates, self._metrics, empty="keep", **self._options)

    def compute(self) -> dict[str, Any]:
        """The corpus score of each measure: floats, or tensors where torchmetrics is installed."""
        return self._result(self.report())
