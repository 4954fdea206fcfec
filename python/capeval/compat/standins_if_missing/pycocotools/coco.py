"""COCO's index of captions."""

from capeval.compat.coco import COCO

__all__ = ["COCO"]
