"""What CHAIR is given: a list of objects, and which of them are in each image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from ._inputs import listed, path_of

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Chair:
    """The files of the metric ``"chair"``; see :func:`capeval.score`, which takes one as ``chair``.

    The metric ``"meteor-2005:syn=wordnet"`` needs ``nltk_data`` alone.

    >>> import capeval
    >>> chair = capeval.Chair(objects="synonyms.txt", instances="instances_val2014.json", nltk_data="nltk_data")
    """

    objects: PathLike | None = None
    """A list of objects, which ``"chair"`` needs: a line for each, its name and its synonyms, separated by commas."""
    instances: Union[PathLike, Sequence[PathLike]] = ()
    """Files that say which objects are in images: COCO's instances, or an object of JSON from image ids to lists."""
    nltk_data: PathLike | None = None
    """The folder of NLTK's data; the default is where NLTK looks, such as ``~/nltk_data``."""


def chair_of(chair: Chair | None) -> dict[str, Any] | None:
    """The form that the engine takes."""
    if chair is None:
        return None
    if not isinstance(chair, Chair):
        raise TypeError(f"chair must be a capeval.Chair, not {type(chair).__name__}")
    instances = chair.instances
    paths = [instances] if isinstance(instances, (str, os.PathLike)) else listed("instances", instances)
    return {"objects": path_of(chair.objects), "instances": [os.fspath(path) for path in paths], "nltk_data": path_of(chair.nltk_data)}
