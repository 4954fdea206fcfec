"""Vectors by models that run in Python: those of transformers, sentence-transformers and open_clip, and any function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

from . import _engine
from ._inputs import whole
from ._progress import Listener, Progress

Embedder = Union[Callable[[list[Any]], Any], tuple[Any, ...]]

ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".gif"}
"""How the names of pictures end."""


class Embedded(NamedTuple):
    """Vectors with their ids, as ``vectors=`` of :func:`capeval.score` takes them."""

    ids: list[Any]
    """The id of each vector: that of an image, or the text itself."""
    matrix: Any
    """A vector in each row, as an array of NumPy of float32."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that ``--vectors`` takes, too.

        Args:
            path: a path that ends in ``.safetensors``, or in ``.npy``; then the ids are in a file beside it that ends in
                ``.json``.
        """
        path = os.fspath(path)
        if not path.endswith((".npy", ".safetensors")):
            raise ValueError(f"{path}: vectors are written as .safetensors or as .npy; give a name that ends in one of them")
        _engine.write_vectors(path, self.ids, self.matrix.shape[1], self.matrix.tobytes())


def embed(
    model: Embedder,
    *,
    texts: Iterable[str] | None = None,
    pictures: str | os.PathLike[str] | Mapping[Any, Any] | None = None,
    prefix: str = "",
    batch_size: int = 32,
    progress: Progress = None,
) -> Embedded:
    """Makes vectors of texts or pictures with a model that runs in Python, on the device where it is.

    Models that capeval runs itself need no Python: pass their folder to :func:`capeval.score` as ``model=``. This is for all
    others, and for GPUs:

    - ``SentenceTransformer(…)`` of sentence-transformers;
    - ``(model, processor)`` of transformers: CLIP, SigLIP and others with ``get_text_features`` and
      ``get_image_features``. Other models of texts are pooled by the mean of their tokens;
    - ``(model, preprocess, tokenizer)`` of open_clip;
    - a function that takes a list of texts or pictures and returns a vector for each.

    >>> import capeval
    >>> found = capeval.embed(lambda texts: [[len(text), 1.0] for text in texts], texts=["a dog", "a cat sleeps", "a dog"])
    >>> found.ids
    ['a dog', 'a cat sleeps']
    >>> found.matrix.tolist()
    [[5.0, 1.0], [12.0, 1.0]]

    Args:
        model: the model, as above.
        texts: texts, of which equal ones have one vector. Their ids are the texts themselves.
        pictures: a folder of pictures, whose names without ending are the ids of images, or a dictionary from ids to paths
            or pictures of Pillow. Paths are opened with Pillow and made RGB; a function gets what the dictionary holds.
        prefix: what stands before each text, such as ``"A photo depicts "``, which ``clip-s`` and ``pac-s`` put there.
        batch_size: the number of texts or pictures that the model gets at once.
        progress: ``True`` for a tqdm bar, or a function that is called with the stage, the number done and the total.

    Returns:
        Vectors of float32 with their ids, for ``vectors={"texts": …}`` or ``vectors={"images": …}``.

    Raises:
        TypeError: the model is none of these.
        ValueError: there are no texts or pictures, or the model gives other than a vector of finite numbers for each.
    """
    import numpy as np

    whole("batch_size", batch_size, 1, 2**20)
    if (texts is None) == (pictures is None):
        raise TypeError("give either texts or pictures")
    if texts is not None:
        if isinstance(texts, (str, bytes, Mapping)):
            raise TypeError(f"texts must be a list of texts, not {type(texts).__name__}")
        ids: list[Any] = list(dict.fromkeys(texts))
        for text in ids:
            if not isinstance(text, str):
                raise TypeError(f"texts must be a list of texts, and one is {type(text).__name__}")
        items: list[Any] = [prefix + text for text in ids]
    else:
        ids, items = _pictures(pictures)
    if not ids:
        raise ValueError("there are no texts" if texts is not None else f"there are no pictures in {pictures}")
    of_batch = _function(model, of_texts=texts is not None)
    rows: list[Any] = []
    with Listener(progress) as listen:
        for first in range(0, len(items), batch_size):
            rows.append(_checked(of_batch(items[first : first + batch_size]), ids[first : first + batch_size], rows))
            if listen is not None:
                listen("embedding", min(first + batch_size, len(items)), len(items))
    return Embedded(ids, np.concatenate(rows))


def _pictures(pictures: Any) -> tuple[list[Any], list[Any]]:
    """The ids of pictures, and the pictures."""
    if isinstance(pictures, Mapping):
        return list(pictures), list(pictures.values())
    if not isinstance(pictures, (str, os.PathLike)):
        raise TypeError(f"pictures must be a folder or a dictionary by id, not {type(pictures).__name__}")
    folder = Path(pictures)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: there is no such folder of pictures")
    files = sorted((path for path in folder.iterdir() if path.suffix.lower() in ENDINGS), key=lambda path: path.stem)
    ids = [path.stem for path in files]
    for one, other in zip(ids, ids[1:]):
        if one == other:
            raise ValueError(f"{folder}: several pictures are called {one}; remove all but one of them")
    return ids, files


def _checked(vectors: Any, ids: Sequence[Any], before: Sequence[Any]) -> Any:
    """The vectors of a batch as a matrix of float32, which has one of finite numbers and of the same length for each id."""
    import numpy as np

    if hasattr(vectors, "detach"):
        vectors = vectors.detach().float().cpu().numpy()
    matrix = np.asarray(vectors)
    if matrix.ndim != 2 or len(matrix) != len(ids) or matrix.dtype.kind not in "fiu":
        raise ValueError(f"the model gave {matrix.dtype} of the shape {matrix.shape} for {len(ids)} items, and not a vector of numbers for each")
    if before and matrix.shape[1] != before[0].shape[1]:
        raise ValueError(f"the model gave vectors of {before[0].shape[1]} numbers, and then of {matrix.shape[1]}")
    matrix = np.ascontiguousarray(matrix, dtype="<f4")
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        raise ValueError(f"the vector of {ids[int(np.argmin(finite))]!r} has a number that is not finite")
    return matrix


def _function(model: Any, *, of_texts: bool) -> Callable[[list[Any]], Any]:
    """The maker of the vectors of a batch."""
    if hasattr(model, "encode") and hasattr(model, "tokenize"):
        return lambda batch: model.encode(batch if of_texts else list(_opened(batch)), convert_to_numpy=True, show_progress_bar=False)
    if isinstance(model, tuple) and len(model) == 3 and hasattr(model[0], "encode_text"):
        return _of_open_clip(*model, of_texts=of_texts)
    if isinstance(model, tuple) and len(model) == 2 and hasattr(model[0], "parameters") and callable(model[1]):
        return _of_transformers(*model, of_texts=of_texts)
    if callable(model) and not hasattr(model, "parameters"):
        return model  # type: ignore[no-any-return]
    what = "a SentenceTransformer, (model, processor) of transformers, (model, preprocess, tokenizer) of open_clip, or a function"
    raise TypeError(f"model must be {what}, not {type(model).__name__}")


def _of_open_clip(model: Any, preprocess: Any, tokenizer: Any, *, of_texts: bool) -> Callable[[list[Any]], Any]:
    import torch

    device = next(model.parameters()).device

    def of_batch(batch: list[Any]) -> Any:
        with torch.inference_mode():
            if of_texts:
                return model.encode_text(tokenizer(batch).to(device))
            return model.encode_image(torch.stack([preprocess(one) for one in _opened(batch)]).to(device))

    return of_batch


def _of_transformers(model: Any, processor: Any, *, of_texts: bool) -> Callable[[list[Any]], Any]:
    import torch

    device = next(model.parameters()).device
    name = "get_text_features" if of_texts else "get_image_features"
    features = getattr(model, name, None)
    if features is None and not of_texts:
        raise TypeError(f"{type(model).__name__} has no {name}, so it gives pictures no vectors")
    # SigLIP was trained on texts of one length, and gives others other vectors.
    padding = "max_length" if str(getattr(model.config, "model_type", "")).startswith("siglip") else True

    def of_batch(batch: list[Any]) -> Any:
        if of_texts:
            inputs = processor(text=batch, return_tensors="pt", padding=padding, truncation=True).to(device)
        else:
            inputs = processor(images=list(_opened(batch)), return_tensors="pt").to(device)
        with torch.inference_mode():
            if features is not None:
                found = features(**inputs)
                return found if hasattr(found, "detach") else found.pooler_output
            states = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
            return (states * mask).sum(1) / mask.sum(1)

    return of_batch


def _opened(batch: list[Any]) -> Iterator[Any]:
    """Pictures of Pillow; paths are opened."""
    for one in batch:
        if isinstance(one, (str, os.PathLike)):
            try:
                from PIL import Image
            except ImportError:
                raise ImportError("pictures are opened with Pillow; run `pip install pillow`") from None
            with Image.open(one) as picture:
                yield picture.convert("RGB")
        else:
            yield one
