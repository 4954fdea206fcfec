"""Compare what capeval-picture decodes and prepares with Pillow, byte for byte, on pictures that are made now.

    run.py pictures [FILE ...]
    run.py pictures --corpus testdata/pictures

With --corpus it writes small pictures with Pillow's pixels instead, which tests compare with. Needs pillow and numpy.
"""

import hashlib
import io
import itertools
import json
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, features

from shared import built, options, output


def content(width: int, height: int, kind: str, channels: int, seed: int) -> np.ndarray:
    """Smooth, noisy or like a photograph: gradients, edges and some noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    if kind == "noise":
        return random.integers(0, 256, (height, width, channels), dtype=np.uint8)
    smooth = np.stack([128 + 100 * np.sin(x / (9 + 7 * c) + c) * np.cos(y / (13 + 3 * c)) for c in range(channels)], -1)
    if kind == "photo":
        edges = ((x // 23 + y // 17) % 3)[..., None] * 40
        smooth = smooth + edges + random.normal(0, 6, (height, width, channels))
    return np.clip(smooth, 0, 255).astype(np.uint8)


def squeeze(array: np.ndarray) -> np.ndarray:
    return array[..., 0] if array.shape[-1] == 1 else array


def make(folder: Path) -> list[Path]:
    """A few hundred pictures of all kinds."""
    paths: list[Path] = []

    def add(name: str, image: Image.Image, **options: object) -> None:
        path = folder / name
        image.save(path, **options)
        paths.append(path)

    sizes = [(640, 480), (640, 427), (427, 640), (1, 1), (2, 3), (7, 5), (17, 300), (224, 224), (225, 231), (99, 224), (641, 500)]
    seeds = itertools.count()
    for (width, height), kind in itertools.product(sizes, ["smooth", "noise", "photo"]):
        seed = next(seeds)
        rgb = Image.fromarray(content(width, height, kind, 3, seed))
        for sampling, name in [(0, "444"), (1, "422"), (2, "420"), ("4:4:0", "440"), ("4:1:1", "411")]:
            try:
                add(f"{seed}-{name}.jpg", rgb, quality=[95, 75, 30][seed % 3], subsampling=sampling)
            except (ValueError, TypeError, KeyError):
                continue
        add(f"{seed}-prog.jpg", rgb, quality=80, progressive=True)
        add(f"{seed}-opt.jpg", rgb, quality=60, optimize=True, restart_marker_blocks=3)
        add(f"{seed}-rgb.png", rgb)
        grey = Image.fromarray(squeeze(content(width, height, kind, 1, seed)))
        add(f"{seed}-grey.jpg", grey, quality=85)
        add(f"{seed}-greyprog.jpg", grey, quality=50, progressive=True)
        add(f"{seed}-grey.png", grey)
        add(f"{seed}-rgba.png", Image.fromarray(content(width, height, kind, 4, seed)))
        add(f"{seed}-la.png", Image.fromarray(content(width, height, kind, 4, seed)).convert("LA"))
        add(f"{seed}-p.png", rgb.quantize(37))
        add(f"{seed}-p4.png", rgb.quantize(11), bits=4)
        add(f"{seed}-1.png", grey.convert("1"))
        add(f"{seed}-16.png", Image.fromarray(squeeze(content(width, height, kind, 1, seed)).astype(np.uint16) * 257 // 3))
        add(f"{seed}-cmyk.jpg", Image.fromarray(content(width, height, kind, 4, seed), mode="CMYK"), quality=90)
        add(f"{seed}.gif", rgb.quantize(64))
        add(f"{seed}-grey.gif", grey)
        if features.check("webp"):
            add(f"{seed}-lossless.webp", rgb, lossless=True)
            add(f"{seed}-lossy.webp", rgb, quality=80)
            add(f"{seed}-alpha.webp", Image.fromarray(content(width, height, kind, 4, seed)), lossless=True, exact=True)
    for quality in range(1, 101, 6):
        add(f"q{quality}.jpg", Image.fromarray(content(321, 243, "photo", 3, quality)), quality=quality)
        add(f"q{quality}p.jpg", Image.fromarray(content(123, 91, "photo", 3, quality)), quality=quality, progressive=True)
    return paths


def prepared(image: Image.Image, order: str, side: int = 224) -> bytes:
    if order == "hf":
        image = image.convert("RGB")
    width, height = image.size
    short, long = min(width, height), max(width, height)
    new = (side, int(side * long / short)) if width <= height else (int(side * long / short), side)
    if short != side:
        image = image.resize(new, Image.Resampling.BICUBIC)
    width, height = image.size
    if order == "hf":
        top, left = (height - side) // 2, (width - side) // 2
    else:
        top, left = int(round((height - side) / 2.0)), int(round((width - side) / 2.0))
    return image.crop((left, top, left + side, top + side)).convert("RGB").tobytes()


def difference(found: bytes, expected: bytes) -> str:
    if found == expected:
        return ""
    if len(found) != len(expected):
        return f"{len(found)} bytes in place of {len(expected)}"
    a, b = (np.frombuffer(one, dtype=np.uint8).astype(int) for one in (found, expected))
    apart = np.abs(a - b)
    return f"{np.count_nonzero(apart)} of {len(a)} bytes, by up to {apart.max()}"


def corpus(folder: Path) -> None:
    """Small pictures of all kinds, with the hashes of Pillow's pixels and of squares of 32 pixels."""
    rgb, grey = (Image.fromarray(squeeze(content(61, 43, "photo", channels, 1))) for channels in (3, 1))
    alpha, ink = (content(61, 43, "photo", 4, seed) for seed in (2, 3))
    pictures: dict[str, tuple[Image.Image, dict[str, object]]] = {
        "444.jpg": (rgb, {"quality": 90, "subsampling": 0}),
        "422.jpg": (rgb, {"quality": 80, "subsampling": 1}),
        "420.jpg": (rgb, {"quality": 75, "subsampling": 2}),
        "411.jpg": (rgb, {"quality": 75, "subsampling": "4:1:1"}),
        "progressive.jpg": (rgb, {"quality": 60, "progressive": True}),
        "restarts.jpg": (rgb, {"quality": 40, "restart_marker_blocks": 2, "optimize": True}),
        "turned.jpg": (rgb, {"quality": 75, "exif": b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"}),
        "grey.jpg": (grey, {"quality": 75}),
        "cmyk.jpg": (Image.fromarray(ink, mode="CMYK"), {"quality": 75}),
        "narrow.jpg": (rgb.crop((0, 0, 3, 43)), {"quality": 75}),
        "dot.jpg": (rgb.crop((0, 0, 1, 1)), {"quality": 75}),
        "rgb.png": (rgb, {}),
        "grey.png": (grey, {}),
        "grey16.png": (Image.fromarray(np.asarray(grey).astype(np.uint16) * 257 // 3), {}),
        "bit.png": (grey.convert("1"), {}),
        "palette.png": (rgb.quantize(11), {"bits": 4}),
        "alpha.png": (Image.fromarray(alpha), {}),
        "grey-alpha.png": (Image.fromarray(alpha).convert("LA"), {}),
        "tall.png": (grey.resize((3, 900)), {}),
        "palette.gif": (rgb.quantize(64), {}),
        "framed.gif": (rgb.quantize(64), {}),
        "lossless.webp": (rgb, {"lossless": True}),
        "lossy.webp": (rgb, {"quality": 70}),
        "alpha.webp": (Image.fromarray(alpha), {"lossless": True, "exact": True}),
    }
    golden: dict[str, object] = {
        "made by": "python oracle/run.py pictures --corpus testdata/pictures",
        "versions": {"Pillow": Image.__version__, "libjpeg-turbo": features.version("libjpeg_turbo")},
    }
    files: dict[str, dict[str, object]] = {}
    for name, (picture, settings) in pictures.items():
        picture.save(folder / name, **settings)
        if name == "framed.gif":
            # A larger screen, with a background that no program shows.
            content_of = bytearray((folder / name).read_bytes())
            content_of[6:10], content_of[11] = bytes([80, 0, 60, 0]), 5
            (folder / name).write_bytes(content_of)
        image = Image.open(folder / name)
        image.load()
        seen = {"raw": image.convert("RGB").tobytes()} | {o: prepared(image, o, 32) for o in ("openai", "hf")}
        hashes = {what: hashlib.sha256(pixels).hexdigest() for what, pixels in seen.items()}
        files[name] = {"mode": image.mode, "size": image.size, **hashes}
    (folder / "golden.json").write_text(json.dumps(golden | {"files": files}, indent=1) + "\n")


def main(arguments):
    given = options(__doc__, ("files", {"nargs": "*", "type": Path, "metavar": "FILE"}), ("--corpus", {"type": Path})).parse_args(arguments)
    if given.corpus:
        return corpus(given.corpus)
    program = built("capeval-picture", "prepare")
    print("Pillow", Image.__version__, "libjpeg-turbo", features.version("libjpeg_turbo"), "webp", features.version("webp"))
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as out:
        paths = given.files or make(Path(made))
        found: dict[Path, tuple[str, int, str]] = {}
        for start in range(0, len(paths), 100):
            some = paths[start : start + 100]
            target = Path(out) / str(start)
            target.mkdir()
            lines = output([program, target, *some]).splitlines()
            for path, line in zip(some, lines):
                number, _, what = line.partition(" ")
                found[path] = (str(target), int(number), what)
        kinds: dict[str, list[int]] = {}
        for path, (target, number, what) in found.items():
            kind = path.stem.rpartition("-")[2] if "-" in path.stem else path.suffix
            counts = kinds.setdefault(f"{kind}{path.suffix}", [0, 0])
            counts[0] += 1
            try:
                image = Image.open(io.BytesIO(path.read_bytes()))
                image.load()
            except Exception as error:  # noqa: BLE001
                if not what.startswith("refused"):
                    print(path.name, "is opened as", what, "and Pillow says:", error)
                continue
            if what.startswith("refused"):
                counts[1] += 1
                print(path.name, what)
                continue
            expected = {"raw": image.convert("RGB").tobytes()}
            expected |= {order: prepared(image, order) for order in ("openai", "hf")}
            told = [
                f"{name}: {apart}"
                for name, pixels in expected.items()
                if (apart := difference((Path(target) / f"{number}.{name}").read_bytes(), pixels))
            ]
            counts[1] += bool(told)
            if told and counts[1] < 4:
                print(path.name, what, image.mode, image.size, "·", " · ".join(told))
        for kind, (n, bad) in sorted(kinds.items()):
            print(f"{kind:24} {n:4} files, {bad} differ")
    return int(any(bad for _, bad in kinds.values()))
