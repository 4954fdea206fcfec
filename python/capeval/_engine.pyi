"""The extension module; use the package `capeval` instead."""

from collections.abc import Callable
from typing import Any, Literal, final, overload

from ._choices import NoticeCode

__all__ = [
    "ArrowBatch",
    "Captions",
    "Comparison",
    "Correlation",
    "DocumentFrequencies",
    "Function",
    "Judge",
    "MetaReport",
    "Preference",
    "Prepared",
    "Report",
    "References",
    "RowScorer",
    "Scores",
    "Sieve",
    "Sums",
    "Tally",
    "__version__",
    "benchmarks",
    "caption_columns",
    "compare",
    "correlate",
    "diversity",
    "engine_names",
    "evaluate",
    "get_num_threads",
    "install_data",
    "judge_rows",
    "metrics",
    "needed_frequencies",
    "prefer",
    "provide_dictionary",
    "run_benchmarks",
    "run_program",
    "score",
    "set_num_threads",
    "submit",
    "suites",
    "tokenize",
    "tokenizer_names",
    "write_vectors",
    "written_list",
]

__version__: str



@final
class ArrowBatch:
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __len__(self) -> int: ...

@final
class RowScorer:
    def __new__(
        cls,
        metrics: list[str],
        settings: list[tuple[str, str]],
        frequencies: DocumentFrequencies | None,
        policies: tuple[str, str, str, str],
        threads: int | None,
        functions: list[Function],
        models: list[str],
        vectors: tuple[list[str], list[tuple[str, list[Any], int, bytes]]],
    ) -> RowScorer: ...
    def keys(self) -> list[str]: ...
    def columns(self) -> list[tuple[str, bool]]: ...
    def rows(
        self, source: Any, columns: dict[str, Any], keep: list[str], statistics: bool
    ) -> list[ArrowBatch]: ...
    def add(self, sums: Sums, source: Any, columns: dict[str, Any], blocks: int, seed: int) -> None: ...
    def sums(self) -> Sums: ...
    def report(self, sums: Sums, about: dict[str, Any]) -> Report: ...
    def corpus(self, source: Any) -> list[float]: ...

@final
class References:
    def __new__(cls, references: Captions | Prepared) -> References: ...

@final
class Sieve:
    def __new__(
        cls,
        metrics: list[str],
        settings: list[tuple[str, str]],
        policies: tuple[str, str, str, str],
    ) -> Sieve: ...

@final
class Tally:
    def __new__(cls, order: int, parts: int) -> Tally: ...
    def add(
        self,
        source: Any,
        columns: dict[str, Any],
        sieve: Sieve,
        tokens: tuple[str, str | None],
        threads: int | None,
    ) -> None: ...
    def merge(self, part: bytes) -> None: ...
    def parts(self) -> list[tuple[int, bytes]]: ...
    def table(self) -> DocumentFrequencies: ...
    def rows(self, most: int) -> list[ArrowBatch]: ...
    def __len__(self) -> int: ...
    @property
    def is_empty(self) -> bool: ...

@final
class Sums:
    def batch(self) -> ArrowBatch: ...
    def merge(self, source: Any) -> None: ...

@final
class Captions:
    @staticmethod
    def read(
        path: str,
        *,
        references: bool,
        format: str | None = None,
        split: list[str] | None = None,
        id_column: str | None = None,
        caption_columns: list[str] | None = None,
    ) -> Captions: ...
    @staticmethod
    def of(
        source: Any,
        name: str,
        *,
        references: bool = True,
        id_column: str | None = None,
        caption_columns: list[str] | None = None,
        as_written: bool = False,
    ) -> Captions: ...
    @staticmethod
    def of_columns(
        ids: list[Any] | None,
        captions: list[Any],
        name: str,
        *,
        id_column: str | None = None,
        is_named: bool = False,
        keys: list[tuple[str | None, list[Any]]] | None = None,
        references: bool = True,
    ) -> Captions: ...
    def __len__(self) -> int: ...
    def ids(self) -> list[int | str]: ...
    def texts(self) -> list[str]: ...
    @property
    def source(self) -> str: ...

@final
class Comparison:
    @staticmethod
    def restore(data: bytes) -> Comparison: ...
    @staticmethod
    def load(path: str) -> Comparison: ...
    def saved(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def __deepcopy__(self, _memo: Any) -> Comparison: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def report(self) -> Report: ...
    def pairs(self) -> list[tuple[str, str, dict[str, dict[str, Any]]]]: ...
    def gallery_ids(self) -> list[int | str] | None: ...
    def html(
        self,
        title: str | None,
        digits: int,
        pattern: str | None,
        files: list[str | None] | None,
        embedded: bool,
        threads: int | None,
        progress: Callable[[str, int, int], object] | None,
    ) -> str: ...
    def render(self, format: str, digits: int) -> str: ...

@final
class Correlation:
    def agreements(self) -> dict[str, dict[str, Any]]: ...
    def human(self) -> dict[str, Any]: ...
    def points(self) -> tuple[list[int | str], bytearray, dict[str, bytearray]]: ...
    def notices(self) -> list[tuple[NoticeCode, str]]: ...
    def signatures(self) -> dict[str, str]: ...
    def html(self, title: str | None, digits: int) -> str: ...
    def render(self, format: str, digits: int) -> str: ...

@final
class DocumentFrequencies:
    @staticmethod
    def build(
        references: Captions, *, tokenizer: str, stem: str | None, order: int, ids: str
    ) -> DocumentFrequencies: ...
    @staticmethod
    def load(path: str, n_images: int | None = None) -> DocumentFrequencies: ...
    @staticmethod
    def from_bytes(data: bytes, n_images: int | None = None) -> DocumentFrequencies: ...
    @staticmethod
    def from_counts(counts: dict[tuple[str, ...], float], n_images: int) -> DocumentFrequencies: ...
    def to_bytes(self, format: str) -> bytes: ...
    def save(self, path: str, format: str) -> None: ...
    def merge(self, other: DocumentFrequencies) -> DocumentFrequencies: ...
    def frequency(self, ngram: list[str]) -> int: ...
    def __len__(self) -> int: ...
    @property
    def n_images(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def items(self) -> dict[tuple[str, ...], int]: ...

@final
class Report:
    @staticmethod
    def restore(data: bytes) -> Report: ...
    @staticmethod
    def load(path: str) -> Report: ...
    def saved(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def __deepcopy__(self, _memo: Any) -> Report: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def systems(self) -> list[str]: ...
    def keys(self) -> list[str]: ...
    def measures(self) -> list[tuple[str, str, bool, float, float]]: ...
    def system(self, k: int) -> dict[str, Any]: ...
    def intervals(self, k: int) -> dict[str, tuple[float, float]] | None: ...
    def ids(self, k: int) -> list[int | str]: ...
    def segments(self, k: int) -> bytearray | None: ...
    def notices(self) -> list[tuple[NoticeCode, str, str | None, list[int | str], int | None]]: ...
    def explained(self) -> list[dict[str, Any]]: ...
    @property
    def same_images(self) -> bool: ...
    def gallery_ids(self) -> list[int | str] | None: ...
    def html(
        self,
        title: str | None,
        digits: int,
        pattern: str | None,
        files: list[str | None] | None,
        embedded: bool,
        threads: int | None,
        progress: Callable[[str, int, int], object] | None,
    ) -> str: ...
    def render(self, format: str, digits: int) -> str: ...

@final
class Preference:
    def notices(self) -> list[tuple[NoticeCode, str]]: ...
    def html(self, title: str | None, digits: int) -> str: ...
    def render(self, format: str, digits: int) -> str: ...

@final
class MetaReport:
    def unmet(self) -> list[str]: ...
    def notices(self) -> list[tuple[NoticeCode, str]]: ...
    def html(self, title: str | None, digits: int) -> str: ...
    def render(self, format: str, digits: int) -> str: ...

@final
class Prepared:
    @staticmethod
    def build(
        references: Captions,
        options: dict[str, Any],
        data: dict[str, Any],
        threads: int | None,
    ) -> Prepared: ...
    @staticmethod
    def load(path: str) -> Prepared: ...
    @staticmethod
    def from_bytes(data: bytes, source: str) -> Prepared: ...
    @property
    def name(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str, note: bytes) -> None: ...
    def note(self) -> bytes: ...
    def ids(self) -> list[int | str]: ...

@final
class Judge:
    def __new__(
        cls,
        references: Captions | Prepared,
        metrics: list[str],
        settings: list[tuple[str, str]],
        frequencies: DocumentFrequencies | None,
        ids: str,
        words: list[str] | None,
        coded: bool,
        threads: int | None,
    ) -> Judge: ...
    def notices(self) -> list[tuple[NoticeCode, str]]: ...
    def keys(self) -> list[str]: ...
    def places(self) -> list[tuple[int, list[str]]]: ...
    def signatures(self) -> list[tuple[str, str]]: ...
    def columns(self) -> list[tuple[str, list[str]]]: ...
    def ids(self) -> list[int | str]: ...
    def score(self, ids: list[Any], captions: list[str], statistics: bool = False) -> bytearray: ...
    def score_codes(self, ids: list[Any], tokens: bytes, width: int, cut: dict[str, Any]) -> bytearray: ...

@final
class Function:
    def __new__(
        cls,
        name: str,
        measures: list[tuple[str, float, float, bool]],
        version: str,
        batch: int,
        needs_references: bool,
        corpus: bool,
        needs_pictures: bool | None,
        languages: list[str],
        code: str,
        knows_images: bool,
        callable: Any,
    ) -> Function: ...

@final
class Scores:
    @staticmethod
    def read(
        source: str | bytes,
        stem: str,
        name: str | None = None,
        ids: list[Any] | None = None,
        measures: list[tuple[str, tuple[float, float] | None, bool | None]] | None = None,
    ) -> Scores: ...

def score(
    references: Captions | Prepared | None,
    systems: list[tuple[str, Captions]],
    scores: list[Scores],
    options: dict[str, Any],
    data: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, int, int], object] | None,
) -> Report: ...
def compare(
    references: Captions | Prepared | None,
    systems: list[tuple[str, Captions]],
    scores: list[Scores],
    options: dict[str, Any],
    data: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, int, int], object] | None,
) -> Comparison: ...
def diversity(
    systems: list[tuple[str, Captions]],
    references: Captions | Prepared | None,
    training: Captions | None,
    options: dict[str, Any],
    threads: int | None,
) -> Report: ...
def correlate(
    ratings: str | list[tuple[Any, str | None, str | None, list[float]]],
    references: Captions | None,
    scores: list[Scores],
    options: dict[str, Any],
    data: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, int, int], object] | None,
) -> Correlation: ...
def prefer(
    pairs: str | bytes,
    references: Captions | None,
    scores: list[Scores],
    options: dict[str, Any],
    data: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, int, int], object] | None,
) -> Preference: ...
def benchmarks(names: list[str]) -> str: ...
def run_benchmarks(
    names: list[str],
    folder: str,
    scores: list[tuple[str | None, Scores]],
    options: dict[str, Any],
    data: dict[str, Any],
    threads: int | None,
    progress: Callable[[str, int, int], object] | None,
) -> MetaReport: ...
def needed_frequencies(
    metrics: list[str], settings: list[tuple[str, str]]
) -> tuple[str, str | None, int] | None: ...
def judge_rows(
    judge: Judge, source: Any, id: str, candidate: str, keep: list[str], statistics: bool
) -> list[ArrowBatch]: ...
def install_data(name: str, source: str | None, python: str) -> tuple[str, str | None]: ...
def evaluate(
    references: list[list[str]],
    candidates: list[str],
    metrics: list[str],
    settings: list[tuple[str, str]],
    frequencies: DocumentFrequencies | None,
) -> list[dict[str, Any]]: ...
def submit(
    captions: Captions,
    address: str,
    token: str,
    phase: str,
    method: str,
    description: str | None,
    authors: str | None,
    link: str | None,
    code: str | None,
    tags: list[str],
    columns: list[tuple[str, str]],
    team: str | None,
    check: bool,
    wait: bool,
) -> tuple[str, bool] | None: ...
def run_program(args: list[str], is_output_open: bool) -> int: ...
def caption_columns(
    columns: list[str],
    name: str,
    references: bool,
    id_column: str | None = None,
    caption_columns: list[str] | None = None,
) -> tuple[int | None, list[int], bool]: ...
def written_list(text: str) -> list[str] | None: ...
def engine_names(names: list[str]) -> list[str]: ...
def metrics() -> list[dict[str, Any]]: ...
def write_vectors(path: str, ids: list[Any], dims: int, numbers: bytes) -> None: ...
def provide_dictionary(language: str, folder: str) -> None: ...
def suites() -> list[tuple[str, str, list[str]]]: ...
def tokenizer_names() -> list[tuple[str, str]]: ...
@overload
def tokenize(texts: Captions, tokenizer: str, join: Literal[True]) -> list[str]: ...
@overload
def tokenize(texts: Captions, tokenizer: str, join: Literal[False]) -> list[list[str]]: ...
def get_num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
