"""The keywords of capeval's functions: what each means is told here once, by theme.

Every function that scores captions takes some of these themes. A function of yours that passes keywords on can name all of
them, so that type checkers and editors know them::

    def evaluate(captions, **options: Unpack[ScoreOptions]) -> capeval.Report:
        return capeval.score(REFERENCES, captions, **options)
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._choices import (
    Accept,
    Clean,
    Correction,
    Duplicate,
    Empty,
    GroupFrequencies,
    HumanTies,
    Idf,
    Ids,
    MetricTies,
    Missing,
    OwnReference,
    PairingCheck,
    Surplus,
    Unit,
)

if TYPE_CHECKING:
    from ._chair import Chair
    from ._data import Models, Vectors
    from ._frequencies import Frequencies
    from ._given import GivenScores
    from ._inputs import Captionlike, Pictures, Settings
    from ._judging import Judging
    from ._progress import Progress
    from ._report import Id

Path = Union[str, "os.PathLike[str]"]
Dtype = Literal["float32", "float64"]


class TokenizerChoice(TypedDict, total=False):
    """Choosing metrics."""

    tokenizer: str | None
    """The tokenizer of all metrics that have a choice; the default depends on the metric and is mostly ``"ptb"``.
    :func:`capeval.tokenizers` lists all."""


class MetricSettings(TokenizerChoice, total=False):
    """Choosing metrics."""

    settings: Settings
    """Settings for all metrics that have them, such as ``{"stem": "snowball-english"}``."""


class MetricChoice(MetricSettings, total=False):
    """Choosing metrics."""

    suite: str | None
    """A suite of metrics, which come before `metrics`; :func:`capeval.suites` lists all."""
    idf: Idf | None
    """The source of CIDEr's document frequencies; the default is `document_frequencies` if they are given, and otherwise
    the references:
    - ``"corpus"``: the references of the images that are scored
    - ``"uniform"``: none: all n-grams have the same weight
    - ``"table"``: a saved table
    """


class KitChoice(TypedDict, total=False):
    """Choosing metrics."""

    kit: Path | None
    """The kit of a field, such as ``"vizwiz"``, or the path of a TOML file of your own. It sets metrics, settings and policies
    that other keywords leave open; what they set otherwise wins, and then signatures do not name the kit.
    :func:`capeval.kits` lists all."""


class FrequencyTable(TypedDict, total=False):
    """Giving data to metrics."""

    document_frequencies: Frequencies
    """Document frequencies for CIDEr, or the path of a table; the default is those of the references. With a table,
    scores are comparable with those on other images."""


class ParseCache(TypedDict, total=False):
    """Giving data to metrics."""

    spice_cache: Path | None
    """The path of a file that keeps SPICE's parses for later calls, at most 64 MB. Captions that it has are not parsed
    again, and new ones are added. It need not exist. The default is a file in your cache folder, which
    ``capeval data list`` shows; ``"none"`` keeps nothing."""


class VectorSources(TypedDict, total=False):
    """Giving data to metrics."""

    model: Models
    """Models for metrics that compare vectors, such as ``"clip-s"`` and ``"bert-score"``: a folder as Hugging Face stores
    it, a name of ``capeval model add``, or a list of these. Each metric takes the one that suits it."""
    vectors: Vectors
    """Vectors for these metrics instead of a model, by what they are of: ``"images"``, ``"texts"``, ``"references"``,
    ``"candidates"`` or ``"candidates:NAME"``. Each is the path of a file (``.npy`` with its ids, ``.safetensors``), a
    dictionary of vectors by id (of references, a matrix with a row for each) or, for texts, by text, or a pair of ids and
    a matrix of NumPy or torch."""


class MetricData(FrequencyTable, ParseCache, VectorSources, total=False):
    """Giving data to metrics."""

    lm: Path | None
    """The path of an ARPA file with the language model for the metric ``perplexity``."""
    chair: Chair | None
    """The objects for the metric ``"chair"``, and which of them are in each image: a :class:`Chair`."""
    judging: Judging | None
    """The endpoint that judges, such as ``"judge"``, ask, and the file of their answers: a :class:`Judging`."""
    pictures: Pictures
    """Pictures for metrics that look at them: a folder with files named after image ids, a path with ``{id}``, or
    ``{id:012}`` for an id padded with zeros, a file that says which picture each image has (COCO's annotations, or a table
    with a column of paths), a list of these, or a dictionary of paths by id. Functions get what a dictionary holds,
    whatever it is."""
    score_cache: Path | None
    """The path of a folder that keeps scores of functions with a version and of programs for later calls, which then ask
    only about what is new. It need not exist. The default is a folder in your cache folder, which ``capeval data list``
    shows; ``"none"`` keeps nothing."""


class ForeignScores(TypedDict, total=False):
    """Adding scores that someone else computed."""

    scores: GivenScores
    """Scores that someone else computed, as measures like any other, beside metrics or alone: the path of a file, a
    dictionary ``{id: number}`` or ``{id: {measure: number}}``, a table with ``image_id``, a :class:`Scores` with what
    these do not say, or a list of paths and :class:`Scores`."""
    lower_is_better: str | Sequence[str]
    """The keys of these scores that are error rates; ``ter`` and other known ones need not be listed."""


class SystemNames(TypedDict, total=False):
    """Reading candidates."""

    systems: Mapping[str, Captionlike] | None
    """Several systems by name, instead of `candidates`."""


class SystemRuns(TypedDict, total=False):
    """Reading candidates."""

    runs: Mapping[str, Sequence[Captionlike]] | None
    """Runs of systems that are one row each, such as those with several seeds, by the name of the system: scores are means
    over the runs, with their standard deviations in a notice."""


class CandidateReading(TypedDict, total=False):
    """Reading candidates."""

    input_format: str | None
    """The format of files of candidates; the default is to detect it from the content."""
    id_column: str | None
    """The column or key of image ids in the candidates; the default is to look for the usual names, and for values that are
    ids of the other side. ``"{scene}|{object}"`` makes ids of columns, and ``"v_{}"`` puts letters before those of the
    file."""
    caption_column: str | None
    """The column or key of the caption in the candidates, likewise."""
    drop: str | Sequence[str] | None
    """The candidates to leave out: those with a key that is true, or has a value, as in ``"valid=false"``."""


class ReferenceReading(TypedDict, total=False):
    """Reading references."""

    split: str | Sequence[str] | None
    """The splits of the references to use, such as ``"test"``: those of a Karpathy file, or of a table with a column
    ``split``; the default is all."""
    ref_format: str | None
    """The format of the file of references; the default is to detect it from the content."""
    ref_id_column: str | None
    """The column or key of image ids in the references; the default is to look for the usual names."""
    ref_caption_columns: str | Sequence[str] | None
    """The columns or keys of captions in the references, likewise."""
    ref_drop: str | Sequence[str] | None
    """The references to leave out: those with a key that is true, such as ``"is_rejected"``, or has a value, as in
    ``"lang=de"``."""


class FileReading(TypedDict, total=False):
    """Reading captions."""

    format: str | None
    """The format of a file; the default is to detect it from the content."""
    split: str | Sequence[str] | None
    """The splits to use, such as ``"test"``: those of a Karpathy file, or of a table with a column ``split``; the default
    is all."""
    id_column: str | None
    """The column or key of image ids; the default is to look for the usual names."""
    caption_columns: str | Sequence[str] | None
    """The columns or keys of captions, likewise."""
    drop: str | Sequence[str] | None
    """The records to leave out: those with a key that is true, such as ``"is_rejected"``, or has a value, as in
    ``"lang=de"``."""


class IdMatching(TypedDict, total=False):
    """Matching captions."""

    ids: Ids | None
    """How ids are compared; the default is ``"as-given"``, or that of an :class:`Evaluator`:
    - ``"as-given"``: the number 1 and the text "1" are two ids
    - ``"text"``: the number 1 and the text "1" are one id
    - ``"file-name"``: a path is its file's name without the extension, and a COCO name or a number with zeros is its
      number: val2014/COCO_val2014_000000391895.jpg and 391895 are one id
    - ``"loose"``: as file-name, also in addresses, without capitals, queries and percent signs:
      http://x.org/Caf%C3%A9.jpg?w=2 and café are one id
    """


class PairLook(TypedDict, total=False):
    """Matching captions."""

    pairing: PairingCheck
    """How to look at pairs of captions and references:
    - ``"check"``: say if captions fit their own references no better than those of other images
    - ``"off"``: do not look
    """


class Cleaning(TypedDict, total=False):
    """Refusing what is no caption."""

    clean: Clean | Sequence[Clean]
    """The kinds of text to remove from captions and references before they are scored; the signature names them:
    - ``"html-entities"``: the notation of HTML: &quot; becomes a quotation mark
    - ``"decomposed-letters"``: accents apart from their letters, which become one character (NFC)
    - ``"thoughts"``: thoughts before the caption, and the tags around the answer
    - ``"fences"``: code fences around the caption
    - ``"structured-text"``: JSON around the only text in it
    - ``"byte-strings"``: b'…' around the caption
    - ``"special-tokens"``: tokens such as <eos> and <|im_end|>, and tags
    - ``"chat-roles"``: a label before the caption, such as ASSISTANT:, and the labelled texts beside it
    - ``"start-end-words"``: words that begin or end captions, such as startseq and endseq
    - ``"subword-marks"``: the marks of subwords, which are joined to words
    - ``"quotes"``: quotation marks around the caption
    """


class Judgement(Cleaning, total=False):
    """Refusing what is no caption."""

    accept: Accept | Sequence[Accept]
    """The kinds of texts that are no captions and are scored all the same, each with a :class:`capeval.CaptionWarning`:
    - ``"thoughts"``: thoughts of a language model before the caption
    - ``"fences"``: captions in code fences
    - ``"structured-text"``: JSON, dictionaries and other objects as text
    - ``"byte-strings"``: bytes as Python prints them: b'a dog'
    - ``"subword-marks"``: subwords with the marks of a tokenizer: a surf@@ er
    - ``"missing-values"``: missing values as text: nan
    - ``"failed-requests"``: refusals and errors of a model
    - ``"spaced-letters"``: spaces between letters: a d o g
    - ``"numbers-as-captions"``: nothing but numbers
    - ``"paths-as-captions"``: paths, addresses and ids
    - ``"prompt-in-captions"``: the prompt before every caption
    - ``"labelled-texts"``: several labelled texts in an answer: Caption: … Tags: …
    """


class Policies(PairLook, Judgement, total=False):
    """Matching captions."""

    missing: Missing
    """What to do about images without a candidate:
    - ``"error"``: stop, and name the images
    - ``"skip"``: exclude these images from all metrics and from document frequencies
    - ``"empty"``: score the images as if their caption were empty
    """
    surplus: Surplus
    """What to do about candidates without references:
    - ``"error"``: stop, and name the images
    - ``"ignore"``: leave them out
    """
    several: str
    """What to do about several candidates for one image:
    - ``"error"``: stop, and name the images
    - ``"first"``: use the first one
    - ``"last"``: use the last one
    - ``"best:MEASURE"``: use the one with the best score by this measure, such as ``"best:cider-d"``, as an oracle would
    - ``"mean"``: the mean over them: of scores of images, or of the corpus scores of all first ones, all second ones and so
      on for measures that are no means
    - ``"each"``: count each of them as a segment
    """
    empty: Empty
    """What to do about candidates without any words:
    - ``"error"``: stop, and name the images
    - ``"keep"``: score them
    - ``"skip"``: leave their images out of every metric
    """


class RowColumns(TypedDict, total=False):
    """Naming columns."""

    references: Captionlike
    """The name of a column of lists of strings (or strings); a DataFrame with a column `id` and a column ``references``,
    which is joined, and whose rows of one id are put together in the order of their texts; the path of a file that all
    executors can read, or that was shipped with ``addFile``, in any format that :func:`capeval.score` reads, prepared
    references too; or captions, which are sent with the tasks."""
    candidate: str
    """The name of the column of captions."""
    id: str | None
    """The name of the column of ids, whole numbers or strings; None if rows have none: then no row is compared with
    another, and there are no intervals."""


class MergedParts(TypedDict, total=False):
    """Running."""

    parts: int
    """The number of parts in which document frequencies are merged."""


class RowPolicies(TypedDict, total=False):
    """Matching captions."""

    missing: Missing
    """What to do about rows whose candidate is null:
    - ``"error"``: stop, and name the images
    - ``"skip"``: exclude these images from all metrics and from document frequencies
    - ``"empty"``: score the images as if their caption were empty
    """
    surplus: Surplus
    """What to do about rows whose references are null or an empty list; ``"ignore"`` also leaves out nulls among the
    references of a row:
    - ``"error"``: stop, and name the images
    - ``"ignore"``: leave them out
    """
    empty: Empty
    """What to do about candidates without any words:
    - ``"error"``: stop, and name the images
    - ``"keep"``: score them
    - ``"skip"``: leave their images out of every metric
    """


class RowDuplicates(TypedDict, total=False):
    """Matching captions."""

    several: Duplicate
    """What to do about several rows with one id; their order is that of their captions, since rows have none. A scorer of
    rows does not compare them, and only reports what was done:
    - ``"error"``: stop, and name the images
    - ``"first"``: use the first one
    - ``"last"``: use the last one
    """


class RatedCaptions(TypedDict, total=False):
    """Matching captions."""

    own_reference: OwnReference
    """What to do about a rated caption that is also a reference of its image; for a pair, ``"hold-out"`` is the same as
    ``"remove"``:
    - ``"keep"``: score it against all references, itself included, with a notice
    - ``"remove"``: remove it from the references of its image
    - ``"remove-same-words"``: as remove, also references that differ only in case, punctuation and spaces
    - ``"hold-out"``: compare it with the other references, one caption at a time
    - ``"skip"``: leave it out, with its ratings or its pair
    """
    surplus: Surplus
    """What to do about ratings or pairs of images without references:
    - ``"error"``: stop, and name the images
    - ``"ignore"``: leave them out
    """


class ReportContents(TypedDict, total=False):
    """Shaping the report."""

    images: Iterable[Id] | None
    """The ids of the images to use, also for document frequencies; the default is all images."""
    segments: bool
    """Include the scores of every image in the report."""
    gallery: bool
    """Include what the page of ``to_html`` needs to show every image, with the evidence for its scores."""


class ImageGroups(TypedDict, total=False):
    """Groups of images."""

    groups: Captionlike | Sequence[Captionlike] | Mapping[str, Captionlike] | None
    """What groups images, for scores of each group: the name of a column or key of the captions, a path or
    ``"path:column"``, a dictionary of groups by id or of ids by group, a Series, a table with ids and groups;
    ``"words:references"``, ``"words:candidate=8,12"``, ``"references:count"``, ``"objects:references"``; several joined by
    ``×``, or a list of these."""
    group_df: GroupFrequencies
    """The images that metrics such as CIDEr learn document frequencies from, for the scores of a group:
    - ``"own"``: those of the group, as if it were evaluated alone; what nocaps and COCO's `image_id` do
    - ``"all"``: all images, so that scores are sums or means over the images of the group
    """


class ColumnGroups(TypedDict, total=False):
    """Groups of images."""

    groups: str | Sequence[str]
    """The names of columns that group rows, for scores of each group; a row with a list is in several groups, and one with
    null in none."""
    group_df: GroupFrequencies
    """The rows that metrics such as CIDEr learn document frequencies from, for the scores of a group:
    - ``"own"``: those of the group, as if it were evaluated alone; what nocaps and COCO's `image_id` do
    - ``"all"``: all images, so that scores are sums or means over the images of the group
    """


class GroupTables(TypedDict, total=False):
    """Data for metrics."""

    group_frequencies: Mapping[tuple[str, str], Frequencies] | None
    """The document frequencies of groups, as :meth:`FrequencyCounter.group_tables` returns them; other groups, and all
    groups if it is None, use `document_frequencies`."""


class Formulas(TypedDict, total=False):
    """Numbers made of measures."""

    derive: Mapping[str, str] | None
    """Numbers made of measures by formulas, as in ``{"sm": "mean(bleu-4, meteor, rouge-l, cider-d)"}``."""


class HumanRow(TypedDict, total=False):
    """Shaping the report."""

    human: bool
    """Add a row ``"human"`` for people, as ``capeval score --human`` does: each reference of an image is held out in turn
    and scored against the others. Without candidates, it is the only row."""


class Intervals(TypedDict, total=False):
    """Resampling."""

    intervals: bool | float
    """Compute confidence intervals, of 95 % if ``True``, or of a level such as 0.99."""


class Level(TypedDict, total=False):
    """Resampling."""

    level: float
    """The confidence level of intervals and tests."""


class Resampling(TypedDict, total=False):
    """Resampling."""

    resamples: int
    """The number of resamples of the images, and of shuffles in tests."""
    seed: int
    """The seed of their random numbers."""


class Threads(TypedDict, total=False):
    """Running."""

    threads: int | None
    """The number of threads; see :func:`capeval.set_num_threads`."""


class Running(Threads, total=False):
    """Running."""

    progress: Progress
    """``True`` for a tqdm bar, or a function that is called with the stage, the captions done and the total."""


class Testing(TypedDict, total=False):
    """Testing differences."""

    correction: Correction
    """How p-values are corrected for the number of tests:
    - ``"none"``: none
    - ``"bonferroni"``: multiplied by the number of tests; bounds the chance of a false finding
    - ``"holm"``: stepwise from the smallest (Holm 1979); bounds the same chance, finds more
    - ``"bh"``: stepwise from the largest (Benjamini, Hochberg 1995); bounds their share
    """
    all_pairs: bool
    """Compare every system with every other, not only with the first."""


class RatingPoints(TypedDict, total=False):
    """Correlating."""

    unit: Unit
    """The points to correlate:
    - ``"rating"``: each rating by each rater, as in the caption literature
    - ``"item"``: each item, with the mean of its ratings
    """


class ReferenceDraws(TypedDict, total=False):
    """Drawing references."""

    references_per_pair: int | None
    """The number of references to draw for each pair; None for all of them. Document frequencies count the references
    drawn for all pairs."""
    draws: int
    """The number of times that references are drawn; accuracies are means over the draws."""
    draw_seed: int
    """The seed of the draws; a draw depends only on the seed and the pair."""


class Ties(TypedDict, total=False):
    """Counting ties."""

    human_ties: HumanTies
    """What to do about pairs in which people prefer neither caption:
    - ``"skip"``: leave the pair out
    - ``"half"``: count the pair as half right, the expected value of a random choice
    """
    metric_ties: MetricTies
    """What to do about pairs whose captions have equal scores:
    - ``"half"``: count the pair as half right, the expected value of a random choice
    - ``"wrong"``: count the pair as wrong
    - ``"first"``: count the first caption as preferred, as some programs do
    """


class Benchmarking(TypedDict, total=False):
    """Running benchmarks."""

    subset: bool
    """Accept files with other numbers of captions than the published ones."""
    differences: bool
    """Show every pair of metrics in tables."""


class TrainingCaptions(TypedDict, total=False):
    """Reading training captions."""

    train: Captionlike
    """The captions on which the systems were trained; all other captions are novel."""
    train_split: str | Sequence[str] | None
    """The splits of `train` to use; the default is all."""
    train_format: str | None
    """The format of the file of `train`; the default is to detect it from the content."""
    train_id_column: str | None
    """The column or key of image ids in `train`; the default is to look for the usual names."""
    train_caption_columns: str | Sequence[str] | None
    """The columns or keys of captions in `train`, likewise."""


class TokenIds(TypedDict, total=False):
    """Scoring token ids."""

    tokens: bool
    """Take captions as token ids. The word for a token is its decimal digits, as in the tables of self-critical training
    code."""
    words: Sequence[str] | Mapping[Any, Any] | None
    """The words of the tokens 0, 1, 2, …, if captions are token ids and references are texts; or a dictionary of words by
    token, or of tokens by word."""
    end_id: int | Iterable[int] | None
    """The token that ends a caption, or several that do; everything after it is ignored."""
    pad_id: int | Iterable[int] | None
    """The tokens to ignore at any position."""
    keep_end: bool
    """Count the end token as a word, as self-critical training code does."""


class SeveralSamples(TypedDict, total=False):
    """Matching captions."""

    several: str
    """What several captions of an image in one batch are. A reward is that of a caption (``"each"``), or that of an image:
    then there is one for each image of the batch, in the order in which images first occur:
    - ``"each"``: each caption has a reward of its own
    - ``"first"``: the reward of the image's first caption
    - ``"last"``: the reward of its last one
    - ``"best:MEASURE"``: the reward of the one with the best score by this measure, such as ``"best:cider-d"``
    - ``"mean"``: the mean of their rewards
    - ``"error"``: stop, if an image has several
    """


class RewardNumbers(TypedDict, total=False):
    """Shaping the rewards."""

    dtype: Dtype
    """The type of the rewards, ``"float32"`` or ``"float64"``."""


class Computation(MetricData, Running, total=False):
    """The themes of what computes scores."""


class EvaluatorScoreOptions(
    SystemNames,
    SystemRuns,
    MetricChoice,
    MetricData,
    Policies,
    IdMatching,
    CandidateReading,
    ReportContents,
    ImageGroups,
    Formulas,
    HumanRow,
    Intervals,
    Resampling,
    Running,
    total=False,
):
    """The keywords of :meth:`capeval.Evaluator.score`."""


class ScoreOptions(KitChoice, EvaluatorScoreOptions, ReferenceReading, ForeignScores, total=False):
    """The keywords of :func:`capeval.score`."""


class CaptionComparison(
    MetricChoice, MetricData, Policies, IdMatching, CandidateReading, ReferenceReading, Running, total=False
):
    """The themes of what compares captions with references."""


class InspectOptions(SystemNames, IdMatching, CandidateReading, ReferenceReading, total=False):
    """The keywords of :func:`capeval.inspect`."""


class ExplainOptions(SystemNames, CaptionComparison, total=False):
    """The keywords of :func:`capeval.explain`."""


class CompareOptions(
    KitChoice,
    SystemRuns,
    CaptionComparison,
    Testing,
    Level,
    Resampling,
    ReportContents,
    ImageGroups,
    Formulas,
    ForeignScores,
    total=False,
):
    """The keywords of :func:`capeval.compare`."""


class RatingComparison(
    MetricChoice,
    MetricData,
    RatedCaptions,
    IdMatching,
    ReferenceReading,
    ForeignScores,
    ImageGroups,
    Intervals,
    Resampling,
    Running,
    total=False,
):
    """The themes of what compares metrics with people."""


class CorrelateOptions(RatingPoints, PairLook, RatingComparison, total=False):
    """The keywords of :func:`capeval.correlate`."""


class PreferOptions(ReferenceDraws, Ties, RatingComparison, total=False):
    """The keywords of :func:`capeval.prefer`."""


class RunOptions(
    MetricChoice, MetricData, Benchmarking, ForeignScores, Level, Resampling, Running, total=False
):
    """The keywords of :func:`capeval.meta.run`."""


class DiversityOptions(
    SystemNames,
    TokenizerChoice,
    IdMatching,
    CandidateReading,
    ReferenceReading,
    TrainingCaptions,
    ImageGroups,
    Threads,
    total=False,
):
    """The keywords of :func:`capeval.diversity`."""


class LoadOptions(MetricChoice, FrequencyTable, IdMatching, total=False):
    """The keywords of :meth:`capeval.Evaluator.load`."""


class EvaluatorOptions(LoadOptions, ParseCache, Cleaning, ReferenceReading, Threads, total=False):
    """The keywords of :class:`capeval.Evaluator`."""


class FrequencyOptions(IdMatching, ReferenceReading, total=False):
    """The keywords of :meth:`capeval.DocumentFrequencies.build`."""


class RewardOptions(
    MetricSettings,
    FrequencyTable,
    IdMatching,
    PairLook,
    SeveralSamples,
    TokenIds,
    RewardNumbers,
    Threads,
    total=False,
):
    """The keywords of :class:`capeval.reward.Reward`."""


class StreamOptions(MetricSettings, FrequencyTable, Threads, total=False):
    """The keywords of :class:`capeval.streaming.CaptionMetric`."""


class RowOptions(
    MetricSettings, FrequencyTable, GroupTables, VectorSources, RowPolicies, RowDuplicates, Threads, total=False
):
    """The keywords of :class:`capeval.arrow.RowScorer`."""


class TableScoreOptions(
    RowColumns, MetricSettings, FrequencyTable, VectorSources, RowPolicies, MergedParts, total=False
):
    """The keywords of :func:`capeval.spark.score`."""


class TableOptions(TableScoreOptions, RowDuplicates, ColumnGroups, Intervals, Resampling, total=False):
    """The keywords of :func:`capeval.spark.evaluate`."""


class ReadOptions(FileReading, total=False):
    """The keywords of :func:`capeval.read`."""


class SubmitOptions(CandidateReading, total=False):
    """The keywords of :func:`capeval.submit`."""


DEFAULTS: dict[str, object] = {
    "lower_is_better": (),
    "accept": (),
    "clean": (),
    "references": "references",
    "candidate": "candidate",
    "id": "image_id",
    "parts": 8,
    "missing": "error",
    "surplus": "error",
    "several": "error",
    "empty": "error",
    "pairing": "check",
    "own_reference": "keep",
    "segments": True,
    "gallery": False,
    "human": False,
    "group_df": "own",
    "intervals": False,
    "level": 0.95,
    "resamples": 10_000,
    "seed": 12_345,
    "correction": "holm",
    "all_pairs": False,
    "unit": "rating",
    "references_per_pair": 5,
    "draws": 5,
    "draw_seed": 12_345,
    "human_ties": "half",
    "metric_ties": "half",
    "subset": False,
    "differences": False,
    "tokens": False,
    "keep_end": False,
    "dtype": "float32",
}
"""The defaults of keywords, unless a function has its own; all others are None."""
