"""What results give to notebooks, trackers, data frames and figures."""

from __future__ import annotations

import builtins
import html.parser

import pytest

import capeval

REFERENCES = {1: ["a dog runs", "the dog ran"], 2: ["two cats sleep", "cats sleep"], 3: ["a red kite", "a kite in the sky"]}
GOOD = {1: "a dog runs", 2: "two cats sleep", 3: "a red kite flies"}
WEAK = {1: "a cat", 2: "two dogs sleep", 3: "a kite"}
RATINGS = [(image, caption, rating) for captions, rating in ((GOOD, 4), (WEAK, 2)) for image, caption in captions.items()]


@pytest.fixture(scope="module")
def report():
    systems = {"good": GOOD, "<weak>": WEAK}
    return capeval.score(REFERENCES, systems=systems, metrics="rouge-l,cider-d", intervals=True, resamples=200)


@pytest.fixture(scope="module")
def comparison():
    return capeval.compare(REFERENCES, {"<weak>": WEAK, "good": GOOD}, metrics="rouge-l,cider-d", resamples=200)


@pytest.fixture(scope="module")
def correlation():
    ratings = [{"image_id": image, "caption": caption, "rating": rating} for image, caption, rating in RATINGS]
    return capeval.correlate(ratings, REFERENCES, "rouge-l,cider-d", intervals=True, resamples=200)


@pytest.fixture(scope="module")
def preference():
    pairs = [{"image_id": image, "captions": [GOOD[image], WEAK[image]], "votes": [3, 1], "references": REFERENCES[image]} for image in GOOD]
    return capeval.prefer(pairs, metrics="rouge-l,cider-d", references_per_pair=1, intervals=True, resamples=200)


class Cells(html.parser.HTMLParser):
    """The texts of the cells of a table, row by row."""

    def __init__(self, text):
        super().__init__()
        self.rows = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", ["report", "comparison", "correlation"])
def test_results_show_as_tables_with_intervals(name, request):
    result = request.getfixturevalue(name)
    shown = result._repr_html_()
    rows = Cells(shown.split("</table>")[0]).rows
    assert len(rows) == 3 and len({len(row) for row in rows}) == 1
    assert "<weak>" not in shown, "names of systems are escaped"
    if name == "report":
        low, high = result.systems["good"].intervals["cider-d"]
        assert f"[{low:.3f}, {high:.3f}]" in rows[2][2]
    if name == "correlation":
        low, high = result["cider-d"].intervals["tau_c"]
        assert rows[2][5] == f"{result['cider-d'].tau_c:.3f} [{low:.3f}, {high:.3f}]"


def test_every_result_shows_as_markdown_with_its_notices(report, comparison, correlation, preference):
    for result in (report, comparison, correlation, preference):
        shown = result._repr_markdown_()
        assert shown == result.to_markdown() and "CIDEr-D" in shown.split("\n\n")[0] and "> note: " in shown


def test_trackers_get_flat_numbers(report):
    logged = report.log_dict("val/")
    good = report.systems["good"]
    assert logged["val/good/cider-d"] == good.scores["cider-d"]
    assert (logged["val/good/cider-d/low"], logged["val/good/cider-d/high"]) == good.intervals["cider-d"]
    assert len(logged) == 2 * 2 * 3 and all(isinstance(value, float) for value in logged.values())
    alone = capeval.score(REFERENCES, GOOD, "rouge-l")
    assert alone.log_dict() == {"rouge-l": alone["rouge-l"]}


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames_have_the_same_numbers(package, report, comparison, correlation, preference):
    pytest.importorskip(package)
    scores, segments = (getattr(report, f"to_{package}")(segments=whole) for whole in (False, True))
    assert scores["cider-d"].to_list() == [system.scores["cider-d"] for system in report.systems.values()]
    assert segments["system"].to_list() == ["good"] * 3 + ["<weak>"] * 3
    assert segments["rouge-l"].to_list()[:3] == report.systems["good"].segments["rouge-l"].tolist()
    contrasts = getattr(comparison, f"to_{package}")()
    assert contrasts["difference"].to_list()[1] == comparison["good", "cider-d"].difference
    coefficients = getattr(correlation, f"to_{package}")()
    assert coefficients["tau_c"].to_list() == [correlation[key].tau_c for key in ("rouge-l", "cider-d")]
    accuracies = getattr(preference, f"to_{package}")()
    assert accuracies["measure"].to_list() == ["rouge-l", "cider-d"]
    assert accuracies["mean_low"].to_list()[1] == preference["cider-d"].intervals["mean"][0]
    assert coefficients["tau_c_low"].to_list()[1] == correlation["cider-d"].intervals["tau_c"][0]


def test_matplotlib_draws_values_and_intervals(report, comparison, correlation, tmp_path):
    pytest.importorskip("matplotlib")
    for result, panels, points in ((report, 2, 2), (comparison, 1, 2), (correlation, 5, 2)):
        figure = result.plot("matplotlib")
        drawn = [axes for axes in figure.axes if axes.get_visible()]
        assert len(drawn) == panels and all(len(axes.get_yticks()) == points for axes in drawn)
        figure.savefig(tmp_path / "figure.png")
    axes = report.plot("matplotlib").axes[1]
    good = report.systems["good"]
    spans = [list(map(float, line.get_xdata())) for line in axes.lines]
    assert list(good.intervals["cider-d"]) in spans and [good.scores["cider-d"]] in spans


def test_charts_of_the_page_need_no_matplotlib(report, comparison, correlation, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    for result in (report, comparison, correlation):
        assert "<iframe" in result.plot()._repr_html_()
        with pytest.raises(ImportError, match="pip install matplotlib"):
            result.plot("matplotlib")
        with pytest.raises(ValueError, match="'page' or 'matplotlib'"):
            result.plot("seaborn")
