"""Data for tests: small data of the project, and real data if they are available."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("CAPEVAL_ROOT") or Path(__file__).resolve().parents[2])
QUICKSTART = ROOT / "examples" / "quickstart"

# The seconds that a test waits for what must happen. They only bound a hang: nothing that works takes nearly as long,
# however busy the machine is.
PATIENCE = 600

# More bytes than a pipe holds: once they are written, the other side reads.
MORE_THAN_A_PIPE = 1 << 20


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in place of that of the user."""
    folder = tmp_path_factory.mktemp("caches")
    before = os.environ.get("CAPEVAL_CACHE")
    os.environ["CAPEVAL_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["CAPEVAL_CACHE"]
    else:
        os.environ["CAPEVAL_CACHE"] = before


@pytest.fixture(scope="session")
def quickstart() -> Path:
    if not QUICKSTART.is_dir():
        pytest.skip("examples/quickstart is not here; set CAPEVAL_ROOT to a checkout")
    return QUICKSTART


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of real captions, which CONTRIBUTING.md describes."""
    place = Path(os.environ.get("CAPEVAL_TEST_DATA") or ROOT.parent / "shared") / "data"
    if not place.is_dir():
        pytest.skip(f"{place} is missing; CAPEVAL_TEST_DATA names the folder of real data")
    return place


REFERENCES = {
    1: ["A dog runs along the beach.", "A brown dog is running on the sand."],
    2: ["Two children fly a kite.", "A kite is flown by a boy and a girl."],
    3: ["A red bus stands at a stop.", "People board a red bus."],
}
CANDIDATES = {1: "a dog runs along the beach", 2: "two children with a kite", 3: "a bus on the street"}


@pytest.fixture
def references() -> dict[int, list[str]]:
    return {key: list(captions) for key, captions in REFERENCES.items()}


@pytest.fixture
def candidates() -> dict[int, str]:
    return dict(CANDIDATES)


@pytest.fixture(scope="session")
def length_ratio() -> Path:
    """A metric that is a program."""
    path = ROOT / "examples" / "metrics" / "length-ratio.toml"
    if not path.exists():
        pytest.skip("examples/metrics is not here; set CAPEVAL_ROOT to a checkout")
    return path
