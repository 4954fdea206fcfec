"""Rewards for training loops: scores batches of captions against fixed references.

References are read, counted and weighted once. After that, the cost of a batch depends only on its captions, and its
digits are those of :func:`capeval.score` over all images. Captions are texts or token ids, any number of samples per
image. Calls release the GIL, the number of threads is bounded, and processes may be forked: each worker of a
``DataLoader`` uses one thread by default.

No digit depends on the order of a batch, on its other captions or on threads.

>>> from capeval.reward import CiderD
>>> reward = CiderD({7: ["a dog runs", "the dog ran"], 8: ["two cats", "cats sit"]}, dtype="float64")
>>> reward.score([7, 8], ["a dog runs", "two dogs"]).round(4).tolist()
[4.1667, 0.625]
"""

from __future__ import annotations

import math
import operator
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _engine
from ._choices import NoticeCode
from ._evaluator import Evaluator
from ._frequencies import DocumentFrequencies
from ._inputs import Captionlike, captions, is_program, listed, thread_count
from ._inputs import settings as _pairs
from ._keywords import takes
from ._report import Id
from ._result import CaptionWarning
from .options import RewardOptions

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    Array = npt.NDArray[np.floating[Any]]

__all__ = ["Bleu", "CiderD", "Meteor", "Reward", "RougeL", "group_advantages", "leave_one_out", "self_critical"]


Tokens = Any
"""A matrix of token ids: numpy or torch integers of shape ``(B, L)``, or lists of equal lengths."""


class Reward:
    """Computes a weighted sum of measures for batches of captions.

    >>> from capeval.reward import Reward
    >>> references = {7: ["a dog runs", "the dog ran"], 8: ["two cats", "cats sit"]}
    >>> reward = Reward(references, {"cider-d": 1.0, "bleu-4": 0.5})
    >>> reward(7, ["a dog runs", "a dog"]).shape
    (2,)
    """

    @takes(RewardOptions, several="each")
    def __init__(
        self, references: Captionlike | Evaluator, weights: Mapping[str, float], **options: Unpack[RewardOptions]
    ) -> None:
        """Reads and counts references.

        A reward does not depend on its batch, so the default tokenizer ``"ptb"`` reads each image's captions on their own,
        and the signatures say ``ptb-each``. That of token ids without ``words`` is ``"none"``.

        Args:
            references: Captions by people, in any form that :func:`capeval.score` takes; an :class:`Evaluator`; or
                the path of prepared references (:meth:`Evaluator.save`, ``capeval prepare``). The table, settings and ids of
                these apply unless they are overridden here. With ``tokens=True``, references may be sequences of token ids,
                or texts of token ids separated by spaces.
            weights: The weight of each measure (``{"cider-d": 1.0, "bleu-4": 0.5}``): keys as in
                :func:`capeval.metrics`, with settings if needed, as in ``"cider-d:sigma=4"``.

        Raises:
            ValueError: there are no references, a measure is unknown, or captions are token ids and a metric needs the
                letters of words.
        """
        if not isinstance(weights, Mapping) or not all(_is_weight(weight) for weight in weights.values()):
            raise TypeError(f"weights must map measures to numbers that are finite, as in {{'cider-d': 1.0}}, not {weights!r}")
        self._arguments = (references, dict(weights), options.copy())
        references = _evaluator_in(references)
        if options["dtype"] not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', not {options['dtype']!r}")
        words = options["words"]
        coded = options["tokens"] or words is not None
        self._coded = coded
        specs, owner = _specs(weights)
        common = dict(_pairs(options["settings"]))
        tokenizer, frequencies, ids = options["tokenizer"], options["document_frequencies"], options["ids"]
        if isinstance(references, Evaluator):
            known = references._metrics.options
            if tokenizer is None and "tok" not in common:
                tokenizer = known["tokenizer"]
            common = {**known["settings"], **common}
            frequencies = references._frequencies if frequencies is None else frequencies
            ids = references._ids if ids is None else ids
        if tokenizer is None:
            # References that are texts are read as texts, whatever captions are.
            common.setdefault("tok", "none" if coded and words is None else "ptb")
        else:
            common.pop("tok", None)
        ends, skip = _token_ids("end_id", options["end_id"]), _token_ids("pad_id", options["pad_id"])
        self._cut: dict[str, Any] = {"ends": ends, "skip": skip, "keep_end": options["keep_end"]}
        ground = _ground(references, self._cut if coded and words is None else None)
        table = DocumentFrequencies._table(frequencies)
        judging = {
            "metrics": {"names": specs, "tokenizer": tokenizer, "settings": common},
            "ids": ids or "as-given",
            "words": None if words is None else _word_list(words),
            "coded": coded,
            "several": options["several"],
            "pairing": options["pairing"],
            "threads": thread_count(options["threads"]),
        }
        self._judge = _engine.Judge(ground, table, judging)
        self._keys = self._judge.keys()
        self._weights = [0.0] * len(self._keys)
        places = dict(zip(specs, self._judge.places()))
        for key, weight in weights.items():
            # Look the measure up in the metric that it was written with, whatever key that metric reports it under.
            first, plain = places[owner[key]]
            name = key.partition(":")[0]
            if name not in plain:
                raise ValueError(f"no measure is called {key!r}; these metrics compute {', '.join(self._keys)}")
            # If one measure is written in two ways, its weights add up.
            self._weights[first + plain.index(name)] += float(weight)
        self._dtype = options["dtype"]

    @property
    def ids(self) -> list[Id]:
        """The ids of the images that have references."""
        return self._judge.ids()

    @property
    def notices(self) -> list[tuple[NoticeCode, str]]:
        """Notes on the choice of metrics and on the first batches: a short stable code, and the notice in words."""
        return self._judge.notices()

    @property
    def signatures(self) -> dict[str, str]:
        """By metric: a line that names everything that can change a digit."""
        return dict(self._judge.signatures())

    def score(self, image_ids: Any, captions: Any) -> Array:
        """Computes the reward of each caption.

        Args:
            image_ids: one id per caption, or per group of k consecutive captions; or one id for all captions.
            captions: texts; lists of messages as TRL passes them, of which the last one counts; or token ids, if the reward
                was made for them.

        Returns:
            An array of shape ``(B,)``; with ``several`` other than ``"each"``, a reward for each image of the batch.

        Warns:
            CaptionWarning: once, if captions of the first batches are none, or do not fit the references of their own
                images.

        Raises:
            KeyError: an image has no references.
            ValueError: the numbers of ids and captions do not match, or a token is not a valid id.
            TypeError: a caption is not a string.
        """
        return self._weighted(self._matrix(image_ids, captions))

    __call__ = score

    def measures(self, image_ids: Any, captions: Any) -> dict[str, Array]:
        """Computes each measure of each caption: float64 arrays by key, of the shape of the rewards."""
        matrix = self._matrix(image_ids, captions)
        return {key: matrix[:, k] for k, key in enumerate(self._keys)}

    def _matrix(self, image_ids: Any, captions: Any) -> npt.NDArray[np.float64]:
        import numpy as np

        ids = _id_list(image_ids)
        captions = _spoken(captions.to_pylist() if hasattr(captions, "to_pylist") else captions)
        if _is_tokens(captions):
            tokens = _token_matrix(captions)
            raw = self._judge.score_codes(ids, tokens.tobytes(), tokens.shape[1], self._cut)
        else:
            texts = listed("captions", captions)
            if self._coded and texts:
                raise TypeError("this reward was made for token ids, but captions are texts; leave out tokens= and words=")
            raw = self._judge.score(ids, texts)
        return np.frombuffer(raw, dtype=np.float64).reshape(-1, len(self._keys))

    def _weighted(self, matrix: npt.NDArray[np.float64]) -> Array:
        import numpy as np

        # Add column by column, so that the sum of a row does not depend on the other rows.
        total = np.zeros(len(matrix))
        for k, weight in enumerate(self._weights):
            if weight != 0.0:
                total += weight * matrix[:, k]
        return total.astype(self._dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        references, weights, options = self._arguments
        return _make, (type(self), references, weights, options)

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:g} {key}" for key, weight in zip(self._keys, self._weights) if weight)
        return f"{type(self).__name__}({weights}; {len(self.ids)} images)"


def _make(kind: type[Reward], references: Any, weights: Mapping[str, float], options: dict[str, Any]) -> Reward:
    reward = kind.__new__(kind)
    Reward.__init__(reward, references, weights, **options)
    return reward


class CiderD(Reward):
    """CIDEr-D as COCO computes it and self-critical training uses it, 0 to 10."""

    @takes(RewardOptions, several="each")
    def __init__(
        self, references: Captionlike | Evaluator, *, n: int = 4, sigma: float = 6.0, weight: float = 1.0, **options: Unpack[RewardOptions]
    ) -> None:
        """Takes the length `n` of the longest n-grams, the width `sigma` of the length penalty, and the keywords of
        :class:`Reward`.
        """
        options["settings"] = {"n": n, "sigma": sigma, **(options["settings"] or {})}
        super().__init__(references, {"cider-d": weight}, **options)


class Bleu(Reward):
    """BLEU-n of each caption, as COCO computes it per image, 0 to 1."""

    @takes(RewardOptions, several="each")
    def __init__(
        self, references: Captionlike | Evaluator, *, n: int = 4, weight: float = 1.0, **options: Unpack[RewardOptions]
    ) -> None:
        """Takes the length `n` of the longest n-grams, and the keywords of :class:`Reward`."""
        options["settings"] = {"n": n, **(options["settings"] or {})}
        super().__init__(references, {f"bleu-{n}": weight}, **options)


class RougeL(Reward):
    """ROUGE-L as COCO computes it, 0 to 1."""

    @takes(RewardOptions, several="each")
    def __init__(self, references: Captionlike | Evaluator, *, weight: float = 1.0, **options: Unpack[RewardOptions]) -> None:
        """Takes the keywords of :class:`Reward`."""
        super().__init__(references, {"rouge-l": weight}, **options)


class Meteor(Reward):
    """METEOR 1.5 as COCO computes it, 0 to 1; needs data that :func:`capeval.install_data` installs."""

    @takes(RewardOptions, several="each")
    def __init__(self, references: Captionlike | Evaluator, *, weight: float = 1.0, **options: Unpack[RewardOptions]) -> None:
        """Takes the keywords of :class:`Reward`, except those for token ids."""
        super().__init__(references, {"meteor": weight}, **options)


def leave_one_out(rewards: Any, k: int) -> Array:
    """Subtracts from each reward the mean of the other samples of its image.

    This is the baseline of "new self-critical" training (Luo 2020).

    Args:
        rewards: an array of shape ``(B * k,)``, with the k samples of an image in consecutive places.
        k: the number of samples per image, at least 2.

    Returns:
        An array of the same shape.
    """
    groups = _groups(rewards, k)
    if k < 2:
        raise ValueError(f"k must be at least 2, not {k}: a single sample has no others to compare with")
    others = (groups.sum(axis=1, keepdims=True) - groups) / (k - 1)
    advantages: Array = (groups - others).reshape(-1)
    return advantages


def self_critical(rewards: Any, greedy: Any) -> Array:
    """Subtracts from each reward the reward of its image's greedy caption (Rennie et al. 2017).

    Args:
        rewards: an array of shape ``(B * k,)``, with the k samples of an image in consecutive places.
        greedy: the rewards of the greedy captions, an array of shape ``(B,)``.
    """
    import numpy as np

    flat, baseline = np.asarray(rewards), np.asarray(greedy)
    if flat.ndim != 1 or baseline.ndim != 1 or not len(baseline) or not len(flat) or len(flat) % len(baseline):
        raise ValueError(
            f"rewards of shape {flat.shape} cannot be divided among greedy rewards of shape {baseline.shape}; pass an array "
            "with one axis for each, with a greedy reward per image"
        )
    groups = _groups(flat, len(flat) // len(baseline))
    advantages: Array = (groups - baseline[:, None]).reshape(-1)
    return advantages


def group_advantages(rewards: Any, k: int, *, scale: bool = True, eps: float = 1e-4) -> Array:
    """Computes GRPO's advantages: each reward minus its group's mean, divided by the group's standard deviation.

    Args:
        rewards: an array of shape ``(B * k,)``, with the k samples of a prompt in consecutive places.
        k: the number of samples per prompt.
        scale: whether to divide by the sample standard deviation plus `eps`.
        eps: a small number that avoids division by zero in groups of equal rewards.
    """
    groups = _groups(rewards, k)
    centred = groups - groups.mean(axis=1, keepdims=True)
    if scale and k > 1:
        centred = centred / (groups.std(axis=1, ddof=1, keepdims=True) + eps)
    advantages: Array = centred.reshape(-1)
    return advantages


def _groups(rewards: Any, k: int) -> Array:
    import numpy as np

    flat = np.asarray(rewards)
    if k < 1 or flat.ndim != 1 or len(flat) % k:
        raise ValueError(f"rewards of shape {flat.shape} cannot be divided into groups of {k}")
    groups: Array = flat.reshape(-1, k)
    return groups


def _token_ids(name: str, given: Any) -> list[int]:
    """The argument `name`, which is one token id or several, of any integer type, as a list."""
    if given is None:
        return []
    try:
        return [operator.index(given)]
    except TypeError:
        pass
    try:
        return [operator.index(token) for token in given]
    except TypeError:
        raise TypeError(f"{name} must be a token id or several in a list, not {given!r}") from None


def _word_list(given: Any) -> list[str]:
    """The words of token ids in their order; a dictionary has them by id, or ids by word."""
    if isinstance(given, (set, frozenset)):
        raise TypeError("words: a set has no order; pass a list, or a dictionary of words by id")
    words = _by_token(given) if isinstance(given, Mapping) else listed("words", given)
    pieces = [word for word in words if isinstance(word, str) and word.startswith(("Ġ", "▁", "##"))]
    if len(pieces) * 10 > len(words):
        warnings.warn(
            f"{len(pieces)} of {len(words)} words are pieces of words, such as {pieces[0]!r}: captions are not put together "
            "from them; pass texts, as the tokenizer decodes them",
            CaptionWarning,
            stacklevel=5,
        )
    return words


def _by_token(given: Mapping[Any, Any]) -> list[str]:
    """The words of a dictionary in the order of their ids, with words that no caption has for ids without one."""
    is_token = [all(map(_is_token, side)) for side in (given.keys(), given.values())]
    if is_token == [True, True]:
        # Of "7" and 7, the number is the id.
        is_token = [not any(isinstance(one, str) for one in side) for side in (given.keys(), given.values())]
    if is_token[0] == is_token[1] or not given:
        raise TypeError("words: a dictionary has words by token id, or token ids by word; this one has neither, or both")
    pairs = given.items() if is_token[0] else [(token, word) for word, token in given.items()]
    words: dict[int, str] = {}
    for token, word in pairs:
        number = int(token)
        if number in words:
            raise ValueError(f"words: the token id {number} has two words, {words[number]!r} and {word!r}")
        words[number] = word
    if max(words) > 100 * len(words) + 100_000:
        raise ValueError(f"words: there are {len(words)} words, and their token ids go up to {max(words)}")
    return [words.get(number, "\ufffd") for number in range(max(words) + 1)]


def _is_token(given: Any) -> bool:
    """True for a token id: a whole number that is not negative, or its digits."""
    if isinstance(given, str):
        return given.isascii() and given.isdigit()
    return hasattr(given, "__index__") and not isinstance(given, bool) and given >= 0


def _is_weight(weight: Any) -> bool:
    return hasattr(weight, "__float__") and math.isfinite(weight)


def _specs(weights: Mapping[str, float]) -> tuple[list[str], dict[str, str]]:
    """The metrics that compute the measures of `weights`, and the metric of each measure."""
    if not weights:
        raise ValueError("weights are empty; pass the weight of each measure, such as {'cider-d': 1.0}")
    # The others need a model, or all captions of a system, and are for reports.
    described = [metric for metric in _engine.metrics() if metric["family"] == "words"]
    owners = {key: metric["name"] for metric in described for key in metric["keys"]}
    names = {metric["name"] for metric in described}
    specs: list[str] = []
    owner_of: dict[str, str] = {}
    for key in weights:
        if not isinstance(key, str) or is_program(key):
            what = "a program" if isinstance(key, str) else "no name"
            raise TypeError(f"a reward is made of measures of capeval by name, and {key!r} is {what}; add its scores to the rewards")
    for key in sorted(weights, key=lambda key: ":" in key):
        name, _, rest = key.partition(":")
        owner = owners.get(name, name if name in names else None)
        if owner is None and name.startswith("bleu-"):
            owner = "bleu"
        if owner is None:
            raise ValueError(f"no measure is called {name!r}; there are {', '.join(owners)}")
        spec = f"{owner}:{rest}" if rest else owner
        owner_of[key] = spec
        if spec not in specs:
            specs.append(spec)
    return specs, owner_of


def _evaluator_in(references: Any) -> Any:
    """The evaluator in a file of prepared references, or what else these references are."""
    if isinstance(references, (str, os.PathLike)):
        with open(references, "rb") as file:
            if file.read(8) == b"capevalR":
                return Evaluator._opened(os.fspath(references))[0]
    return references


def _ground(references: Any, cut: dict[str, Any] | None) -> Any:
    """References in the form that the engine takes; `cut` says which token ids count."""
    if isinstance(references, Evaluator):
        return references._prepared
    if isinstance(references, (_engine.PreparedFile, _engine.Captions)):
        return references
    if cut is not None and isinstance(references, Mapping):
        references = {key: _spelt(value, cut) for key, value in references.items()}
    elif cut is not None and not isinstance(references, (str, os.PathLike)):
        references = [_spelt(value, cut) for value in references]
    return captions(references, "references", references=True)


def _spelt(value: Any, cut: dict[str, Any]) -> list[str]:
    """References of one image, given as token ids, as texts of these ids."""
    if isinstance(value, str):
        return [_spelt_text(value)]
    if not hasattr(value, "__iter__"):
        raise TypeError(f"references are token ids, so those of an image must be a list of them, not {value!r}")
    rows = value.tolist() if hasattr(value, "tolist") else list(value)
    if rows and not hasattr(rows[0], "__len__"):
        rows = [rows]
    return [_spelt_text(row) if isinstance(row, str) else " ".join(_digits(row, cut)) for row in rows]


def _spelt_text(text: str) -> str:
    """A text of token ids, as self-critical training code has them."""
    if not all(token.isascii() and token.isdigit() for token in text.split()):
        raise ValueError(
            f"with tokens=True, references are token ids, but {text!r} is a text; pass words=[…] to look up the words of "
            "tokens, or leave out tokens"
        )
    return text


def _digits(row: Iterable[Any], cut: dict[str, Any]) -> Iterable[str]:
    for token in map(int, row):
        if token in cut["ends"]:
            if cut["keep_end"]:
                yield str(token)
            return
        if token not in cut["skip"]:
            yield str(token)


def _id_list(ids: Any) -> list[Any]:
    if isinstance(ids, (set, frozenset)):
        raise TypeError("image ids: a set has no order; pass a list of ids in the order of the captions")
    if isinstance(ids, list):
        return ids
    if isinstance(ids, (str, int)):
        return [ids]
    if hasattr(ids, "tolist"):
        listed = ids.tolist()
        return listed if isinstance(listed, list) else [listed]
    return list(ids)


def _spoken(captions: Any) -> Any:
    """The texts of conversations, given as lists of messages; other captions as they are."""
    if not isinstance(captions, (list, tuple)) or not any(_is_conversation(caption) for caption in captions):
        return captions
    odd = next((k for k, caption in enumerate(captions) if not _is_conversation(caption)), None)
    if odd is not None:
        what = "has no messages" if captions[odd] == [] else f"is of type {type(captions[odd]).__name__}"
        raise TypeError(f"captions are lists of messages, but caption {odd} {what}")
    return [_said(caption[-1]["content"]) for caption in captions]


def _is_conversation(caption: Any) -> bool:
    return isinstance(caption, (list, tuple)) and bool(caption) and isinstance(caption[-1], Mapping) and "content" in caption[-1]


def _said(content: Any) -> str:
    """The text of a message: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return "".join(part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _is_tokens(captions: Any) -> bool:
    if hasattr(captions, "detach"):  # torch
        return True
    if hasattr(captions, "shape"):
        # Columns of data frames have one axis, and their types may lack numpy's `kind`.
        return len(captions.shape) > 1 or getattr(captions.dtype, "kind", "O") in "iuf"
    if isinstance(captions, (list, tuple)) and captions:
        first = captions[0]
        return isinstance(first, (list, tuple)) or hasattr(first, "shape") and hasattr(first, "__len__")
    return False


def _token_matrix(captions: Any) -> npt.NDArray[np.int64]:
    import numpy as np

    if hasattr(captions, "detach"):  # torch
        captions = captions.detach().cpu().numpy()
    if isinstance(captions, (list, tuple)) and len({len(row) for row in captions}) > 1:
        lengths = sorted({len(row) for row in captions})
        raise ValueError(
            f"token ids are rows of one length, and these have {lengths[0]} to {lengths[-1]}; fill them up with pad_id"
        )
    tokens = np.asarray(captions)
    if tokens.dtype.kind == "O":
        raise TypeError(
            f"captions are texts, token ids or lists of messages, not lists of {type(captions[0][0]).__name__}; pass texts, such as "
            'c[-1]["content"] of each'
        )
    if tokens.dtype.kind in "US":
        raise TypeError("captions are lists of texts; pass one list of texts, in which those of an image follow each other")
    if tokens.dtype.kind not in "iu":
        raise TypeError(f"token ids must be integers, not {tokens.dtype}")
    if tokens.ndim == 3:
        tokens = tokens.reshape(-1, tokens.shape[-1])
    if tokens.ndim != 2:
        raise ValueError(f"token ids must be a matrix with a row per caption, not of shape {tokens.shape}")
    return np.ascontiguousarray(tokens, dtype=np.int64)
