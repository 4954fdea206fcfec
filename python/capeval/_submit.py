"""Submission of results to an evaluation server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _engine
from ._inputs import Captionlike, candidate_captions
from ._keywords import takes
from .options import SubmitOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Submission:
    """Results that were submitted to an evaluation server."""

    id: str
    """The id."""
    state: str
    """``"queued"``, ``"running"``, ``"scored"``, ``"failed"`` or ``"cancelled"``."""
    reason: str | None
    """Why there are no scores."""
    scores: dict[str, dict[str, float]] | None
    """The scores by reference set and metric; ``None`` if there are none yet, or the phase hides them."""
    page: str
    """The address of its page."""
    is_repeated: bool
    """True if the same captions were submitted before, so nothing was counted."""


@takes(SubmitOptions)
def submit(
    results: Captionlike,
    to: str,
    phase: str,
    *,
    method: str,
    token: str | None = None,
    description: str | None = None,
    authors: str | None = None,
    link: str | None = None,
    code: str | None = None,
    tags: Sequence[str] = (),
    columns: Mapping[str, str | float | bool] | None = None,
    team: str | None = None,
    check: bool = False,
    wait: bool = True,
    **options: Unpack[SubmitOptions],
) -> Submission | None:
    """Submits results to an evaluation server, and waits for their scores.

    The captions are checked before they are sent, and the server counts a submission only if it can be scored. The same
    captions again give the earlier submission, and are not counted.

    Args:
        results: One caption per image, in the forms that :func:`capeval.score` takes for candidates.
        to: The address of the server, such as ``"https://captions.example.org"``.
        phase: The benchmark and the phase, such as ``"coco/test"``.
        method: The name of the method on the board.
        token: The token of your account with the scope ``submit``; the default is the environment's ``CAPEVAL_TOKEN``.
        description: What the board should say about the method.
        authors: The authors of the method.
        link: The address of a paper or a page about the method.
        code: The address of the code.
        tags: Tags of the method, by which people find it on the board.
        columns: What the organisers ask about the method, such as ``{"parameters": 120}``.
        team: The team, if you are in several.
        check: Whether to only validate the captions; nothing is submitted, and ``None`` is returned.
        wait: Whether to wait for the scores.

    Raises:
        ConnectionError: the server cannot be reached, or does not work.
        PermissionError: the token is not valid, or does not allow submitting results.
        ValueError: the captions cannot be scored, the quota is used up, or there is no such phase.
    """
    read = candidate_captions(results, "results", options)
    token = os.environ.get("CAPEVAL_TOKEN", "") if token is None else token
    if isinstance(tags, str):
        tags = [tags]
    about = {
        "method": method,
        "description": description,
        "authors": authors,
        "link": link,
        "code": code,
        "tags": list(tags),
        "columns": [(key, _written(value)) for key, value in (columns or {}).items()],
        "team": team,
        "check": check,
        "wait": wait,
    }
    done = _engine.submit(read, to, token, phase, about)
    if done is None:
        return None
    said, is_repeated = json.loads(done[0]), done[1]
    return Submission(
        id=said["id"],
        state=said["state"],
        reason=said.get("reason"),
        scores=said.get("scores"),
        page=said.get("page", ""),
        is_repeated=is_repeated,
    )


def _written(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
