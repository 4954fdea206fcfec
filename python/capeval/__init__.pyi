"""The public names, each listed here once: for type checkers, and for `__init__.py`, which imports them when they are first used."""

__all__: list[str]

from . import adapters as adapters, arrow as arrow, compat as compat, dense as dense, meta as meta, options as options, reward as reward, spark as spark, streaming as streaming
from ._chair import Chair as Chair
from ._compare import Comparison as Comparison, compare as compare
from ._correlate import Correlation as Correlation, correlate as correlate
from ._diversity import diversity as diversity
from ._embed import Embedded as Embedded, embed as embed
from ._engine import Captions as Captions, __version__ as __version__, get_num_threads as get_num_threads, set_num_threads as set_num_threads
from ._evaluator import Evaluator as Evaluator
from ._explain import Explained as Explained, Explanation as Explanation, Match as Match, Step as Step, explain as explain
from ._frequencies import DocumentFrequencies as DocumentFrequencies
from ._given import Scores as Scores
from ._inspect import Inspection as Inspection, inspect as inspect
from ._install import install_data as install_data
from ._judging import JudgeAgreement as JudgeAgreement, Judging as Judging
from ._kits import kits as kits
from ._listing import metrics as metrics, suites as suites, tokenize as tokenize, tokenizers as tokenizers
from ._metric import Metric as Metric, metric as metric
from ._prefer import Preference as Preference, prefer as prefer
from ._result import CaptionWarning as CaptionWarning
from ._read import read as read
from ._report import Measure as Measure, Notice as Notice, Report as Report, System as System
from ._score import score as score
from ._submit import Submission as Submission, submit as submit
from .compat import install_as_pycocoevalcap as install_as_pycocoevalcap
