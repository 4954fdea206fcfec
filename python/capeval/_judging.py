"""Whom judges ask, and where their answers are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Union

from . import _engine
from ._inputs import path_of
from ._result import Result


class JudgeAgreement(Result):
    """How much two runs of judges agree: equal grades, mean differences, Krippendorff's alpha."""

    _kind = "judge-agreement"

    def __init__(self, found: _engine.Study) -> None:
        super().__init__(found)
        self.judges: list[dict[str, Any]] = self.to_dict()
        """The judges of both files: numbers of questions, shares of equal grades, differences."""


@dataclass(frozen=True)
class Judging:
    """Whom judges ask, and where their answers are kept; see :func:`capeval.score`, which takes one as ``judging``.

    A judge is a metric that asks a language model: ``"judge"``, ``"judge-image"``, ``"judge-pair"``, ``"judge-items"``, or
    the path of a file in TOML. Every answer is added to the file ``judgements`` as soon as it comes, and what this file has
    is not asked again, so an interrupted call loses nothing.

    >>> import capeval
    >>> judging = capeval.Judging("http://localhost:11434/v1", model="qwen3:8b", judgements="judgements.jsonl")
    """

    endpoint: str | None = None
    """The address of a server that speaks OpenAI's chat API."""
    model: str | None = None
    """The model, if the judge names none, or instead of the one that it names."""
    judgements: Union[str, os.PathLike[str], None] = None
    """The file of judgements."""
    replay: bool = False
    """True to ask nothing, and take all answers from the file."""
    api_key: str | None = field(default=None, repr=False)
    """The key of the server; the default is the environment variable ``CAPEVAL_API_KEY``, or no key."""
    requests_at_once: int = 8
    """The number of requests at a time, from 1 to 256."""
    max_requests: int | None = None
    """The most requests that may be answered in a call."""
    max_tokens: int | None = None
    """The most tokens of questions and answers in a call."""
    answer_timeout: float = 300.0
    """The seconds in which an answer must come."""
    confirm: Callable[[str], bool] | None = field(default=None, repr=False)
    """Called before requests are sent, with what they are in words; nothing is sent unless it returns ``True``."""

    @staticmethod
    def agree(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> JudgeAgreement:
        """Compares two files of judgements, as ``capeval judge agree`` does.

        Raises:
            OSError: if a file cannot be opened.
            ValueError: if they have no question of one judge in common.
        """
        return JudgeAgreement(_engine.judge_agreement(os.fspath(first), os.fspath(second)))

    def _engine(self) -> dict[str, Any]:
        """The form that the engine takes."""
        key = self.api_key
        if key is None and self.endpoint is not None:
            key = os.environ.get("CAPEVAL_API_KEY")
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "judgements": path_of(self.judgements),
            "replay": self.replay,
            "api_key": key,
            "requests_at_once": self.requests_at_once,
            "max_requests": self.max_requests,
            "max_tokens": self.max_tokens,
            "answer_timeout": float(self.answer_timeout),
            "confirm": self.confirm,
        }


def judging_of(judging: Judging | None) -> dict[str, Any] | None:
    """The form that the engine takes."""
    if judging is None:
        return None
    if not isinstance(judging, Judging):
        raise TypeError(f"judging must be a capeval.Judging, not {type(judging).__name__}")
    return judging._engine()
