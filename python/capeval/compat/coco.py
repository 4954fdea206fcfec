"""COCO's index of captions, for use without pycocotools.

Good for captions: images, annotations and results. Boxes, masks and downloads are pycocotools' own.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

__all__ = ["COCO"]


def _listed(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else [value]


class COCO:
    """Annotations of a file, by image and by id."""

    def __init__(self, annotation_file: str | os.PathLike[str] | None = None) -> None:
        self.dataset: dict[str, Any] = {}
        self.anns: dict[Any, dict[str, Any]] = {}
        self.cats: dict[Any, dict[str, Any]] = {}
        self.imgs: dict[Any, dict[str, Any]] = {}
        self.imgToAnns: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
        self.catToImgs: defaultdict[Any, list[Any]] = defaultdict(list)
        if annotation_file is not None:
            print("loading annotations into memory...")
            start = time.time()
            with open(annotation_file, encoding="utf-8") as file:
                dataset = json.load(file)
            if not isinstance(dataset, dict):
                raise AssertionError(f"annotation file format {type(dataset)} not supported")
            print(f"Done (t={time.time() - start:0.2f}s)")
            self.dataset = dataset
            self.createIndex()

    def createIndex(self) -> None:
        """Indexes ``dataset``."""
        print("creating index...")
        self.anns, self.imgs, self.cats = {}, {}, {}
        self.imgToAnns, self.catToImgs = defaultdict(list), defaultdict(list)
        for annotation in self.dataset.get("annotations", []):
            self.imgToAnns[annotation["image_id"]].append(annotation)
            self.anns[annotation["id"]] = annotation
            if "category_id" in annotation:
                self.catToImgs[annotation["category_id"]].append(annotation["image_id"])
        for image in self.dataset.get("images", []):
            self.imgs[image["id"]] = image
        for category in self.dataset.get("categories", []):
            self.cats[category["id"]] = category
        print("index created!")

    def info(self) -> None:
        """Prints the file's ``info``."""
        for key, value in self.dataset["info"].items():
            print(f"{key}: {value}")

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[Any]:
        """The ids of all images, or of those among `imgIds` that have a category of `catIds`."""
        wanted, categories = _listed(imgIds), _listed(catIds)
        if not wanted and not categories:
            return list(self.imgs)
        ids = set(wanted)
        for k, category in enumerate(categories):
            of_category = set(self.catToImgs[category])
            ids = of_category if k == 0 and not ids else ids & of_category
        return list(ids)

    def getAnnIds(self, imgIds: Any = (), catIds: Any = (), areaRng: Any = (), iscrowd: Any = None) -> list[Any]:
        """The ids of annotations of these images; filters for boxes are pycocotools' own."""
        if _listed(catIds) or _listed(areaRng) or iscrowd is not None:
            raise NotImplementedError("capeval's COCO supports captions only; use pycocotools for boxes and masks")
        wanted = _listed(imgIds)
        if not wanted:
            return [annotation["id"] for annotation in self.dataset.get("annotations", [])]
        return [annotation["id"] for key in wanted if key in self.imgToAnns for annotation in self.imgToAnns[key]]

    def loadAnns(self, ids: Any = ()) -> list[dict[str, Any]]:
        """The annotations with these ids."""
        return [self.anns[key] for key in _listed(ids)]

    def loadImgs(self, ids: Any = ()) -> list[dict[str, Any]]:
        """The images with these ids."""
        return [self.imgs[key] for key in _listed(ids)]

    def loadRes(self, resFile: str | os.PathLike[str] | Iterable[dict[str, Any]]) -> COCO:
        """Builds an index of results ``[{"image_id": …, "caption": …}]`` from a file or a list.

        Raises:
            AssertionError: the results are not a list, or describe images that this index does not have.
        """
        res = COCO()
        print("Loading and preparing results...")
        start = time.time()
        if isinstance(resFile, (str, os.PathLike)):
            with open(resFile, encoding="utf-8") as file:
                results = json.load(file)
        else:
            results = resFile
        if not isinstance(results, list):
            raise AssertionError("results in not an array of objects")
        of_images = [result["image_id"] for result in results]
        known = set(self.getImgIds())
        unknown = next((key for key in of_images if key not in known), None)
        if unknown is not None:
            raise AssertionError(f"Results do not correspond to current coco set: image {unknown!r} is not in it")
        if results and "caption" not in results[0]:
            raise NotImplementedError("capeval's COCO supports captions only; use pycocotools for boxes and masks")
        described = set(of_images)
        res.dataset["images"] = [image for image in self.dataset["images"] if image["id"] in described]
        annotations = [dict(result) for result in results]
        for k, annotation in enumerate(annotations):
            annotation["id"] = k + 1
        print(f"DONE (t={time.time() - start:0.2f}s)")
        res.dataset["annotations"] = annotations
        res.createIndex()
        return res
