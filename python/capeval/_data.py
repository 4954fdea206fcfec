"""What a call gives metrics beside captions: tables, models, vectors, pictures, caches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Union

from ._chair import chair_of
from ._frequencies import DocumentFrequencies
from ._inputs import ChosenMetrics, listed, path_of, pictures_of, thread_count
from ._judging import judging_of
from ._keywords import only
from ._progress import Listener
from .options import Computation, MetricData

Models = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]], None]
Vectors = Union[Mapping[str, Any], None]


_OBJECTS = ("document_frequencies", "model", "vectors", "chair", "judging", "pictures")
"""The data of metrics that are more than the path of a file."""


@contextmanager
def calling(chosen: ChosenMetrics, options: Computation) -> Iterator[dict[str, Any]]:
    """The rest that a call gives the engine beside captions and settings: data of metrics, threads, and a listener to
    progress."""
    data, threads = data_of(chosen, options), thread_count(options["threads"])
    with Listener(options["progress"]) as listener:
        yield {"data": data, "threads": threads, "progress": listener}


def data_of(chosen: ChosenMetrics, options: MetricData) -> dict[str, Any]:
    """The data of metrics as the engine takes them."""
    files, held = vectors_of(options["vectors"])
    return {
        **{name: path_of(path) for name, path in only(options, MetricData).items() if name not in _OBJECTS},
        "functions": chosen.engine(),
        "table": DocumentFrequencies._table(options["document_frequencies"]),
        "models": models_of(options["model"]),
        "vectors": files,
        "held": held,
        "chair": chair_of(options["chair"]),
        "judging": judging_of(options["judging"]),
        "pictures": pictures_of(options["pictures"]),
    }


def models_of(model: Models) -> list[str]:
    """Names and folders of models."""
    if model is None:
        return []
    models = [model] if isinstance(model, (str, os.PathLike)) else listed("model", model)
    for one in models:
        if not isinstance(one, (str, os.PathLike)):
            raise TypeError(f"model: a model is a folder or a name, not {type(one).__name__}")
    return [os.fspath(one) for one in models]


def vectors_of(vectors: Vectors) -> tuple[list[str], list[tuple[str, list[Any], int, bytes]]]:
    """Files of vectors, and vectors with their ids, by what they are of."""
    files: list[str] = []
    held: list[tuple[str, list[Any], int, bytes]] = []
    if vectors is not None and not isinstance(vectors, Mapping):
        raise TypeError(f"vectors must be a dictionary by what they are of, such as images, not {type(vectors).__name__}")
    for role, source in (vectors or {}).items():
        if isinstance(source, (str, os.PathLike)):
            files.append(f"{role}={os.fspath(source)}")
            continue
        if isinstance(source, Mapping):
            ids, rows = _by_id(role, source)
        elif isinstance(source, tuple) and len(source) == 2:
            ids, rows = list(source[0]), source[1]
        else:
            what = "a path, a dictionary of vectors or matrices by id, or a pair of ids and a matrix"
            raise TypeError(f"vectors[{role!r}] must be {what}, not {type(source).__name__}")
        dims, matrix = _matrix(role, ids, rows)
        held.append((role, ids, dims, matrix))
    return files, held


def _by_id(role: str, source: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """The vectors of each id, which stand in their order in a matrix if there are several."""
    ids: list[Any] = []
    rows: list[Any] = []
    for key, value in source.items():
        array = _array(value)
        if array.ndim == 2 and len(array) == 0:
            raise ValueError(f"vectors[{role!r}]: the matrix of {key!r} has no rows; leave it out, or give a row for each text")
        several = list(array) if array.ndim == 2 else [array]
        ids.extend([key] * len(several))
        rows.extend(several)
    return ids, rows


def _matrix(role: str, ids: list[Any], rows: Any) -> tuple[int, bytes]:
    """The length of the vectors, and their numbers as bytes."""
    import numpy as np

    if isinstance(rows, list):
        rows = [_array(row) for row in rows]
        lengths = [row.shape for row in rows]
        for key, shape in zip(ids, lengths):
            if len(shape) != 1 or shape != lengths[0]:
                raise ValueError(f"vectors[{role!r}]: the vector of {key!r} has the shape {shape}, and the first one {lengths[0]}")
        matrix = np.stack(rows) if rows else np.zeros((0, 1))
    else:
        matrix = _array(rows)
    if matrix.ndim != 2:
        raise ValueError(f"vectors[{role!r}]: vectors are the rows of a matrix, and this has the shape {matrix.shape}")
    if len(matrix) != len(ids):
        raise ValueError(f"vectors[{role!r}]: there are {len(ids)} ids and {len(matrix)} rows")
    if matrix.dtype.kind not in "fiu":
        raise TypeError(f"vectors[{role!r}]: vectors consist of numbers, not of {matrix.dtype}")
    return matrix.shape[1], np.ascontiguousarray(matrix, dtype="<f4").tobytes()


def _array(values: Any) -> Any:
    """An array of NumPy; tensors of torch, which may be of bfloat16 and on a GPU, are copied."""
    import numpy as np

    if hasattr(values, "detach"):
        values = values.detach().cpu().float().numpy()
    return np.asarray(values)
