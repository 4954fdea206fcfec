"""Objects of Python and of its libraries in the place of ids and captions: scalars of arrays, labels, missing values."""

from __future__ import annotations

import datetime
import random
import uuid
import warnings
from typing import Any

import pytest

import capeval
from capeval.reward import CiderD, Reward, self_critical

WHO = ["dog", "woman", "red train", "surfer", "clock tower"]
WHERE = ["on the beach", "in a kitchen", "near a bridge", "under tall trees"]
IDS = [700 + 3 * k for k in range(20)]
CAPTIONS = [f"there is a {WHO[k % 5]} {WHERE[k % 4]}" for k in range(20)]
REFERENCES = [[f"one {WHO[k % 5]} is {WHERE[k % 4]} today", f"the {WHO[k % 5]} waits"] for k in range(20)]
ORDER = random.Random(4).sample(range(20), 20)
GROUND = dict(zip(IDS, REFERENCES))


def cider(references: Any, candidates: Any, **options: Any) -> float:
    return capeval.score(references, candidates, ["cider-d"], **options)["cider-d"]


RIGHT = cider(GROUND, dict(zip(IDS, CAPTIONS)))


class Tensor:
    """An item of a tensor, which has no axes."""

    shape = ()

    def __init__(self, value: Any) -> None:
        self.value = value

    def tolist(self) -> Any:
        return self.value

    def __index__(self) -> int:
        return self.value

    def __len__(self) -> int:
        raise TypeError("len() of a 0-d tensor")


def scalars() -> list[Any]:
    numpy = pytest.importorskip("numpy")
    return [numpy.int64, numpy.uint16, numpy.float32, numpy.float64, numpy.array, Tensor, float]


@pytest.mark.parametrize("place", range(7))
def test_scalars_of_arrays_are_ids(place: int) -> None:
    kind = scalars()[place]
    rows = [(kind(IDS[k]), CAPTIONS[k]) for k in ORDER]
    assert cider(GROUND, [{"image_id": key, "said": text} for key, text in rows]) == RIGHT
    assert cider(GROUND, [{"image_id": key, "caption": text} for key, text in rows]) == RIGHT
    assert cider(GROUND, rows) == RIGHT
    assert cider(GROUND, [list(row) for row in rows]) == RIGHT
    people = [{"image_id": kind(IDS[k]), "people": REFERENCES[k]} for k in ORDER]
    assert CiderD(people, dtype="float64")([kind(key) for key in IDS], CAPTIONS).mean() == pytest.approx(RIGHT)


def test_scalars_of_texts_are_captions_and_arrays_of_them_are_several() -> None:
    numpy = pytest.importorskip("numpy")
    texts = [numpy.array(text) for text in CAPTIONS]
    assert cider(GROUND, dict(zip(IDS, texts))) == RIGHT
    assert cider({key: numpy.array(value) for key, value in GROUND.items()}, dict(zip(IDS, map(numpy.str_, CAPTIONS)))) == RIGHT


def test_other_values_are_ids_but_no_captions() -> None:
    for kind in (lambda k: uuid.UUID(int=k), lambda k: datetime.date(2024, 1, 1 + k)):
        keys = [kind(k) for k in range(20)]
        assert cider(dict(zip(keys, REFERENCES)), [{"image_id": keys[k], "said": CAPTIONS[k]} for k in ORDER]) == RIGHT
    for odd, what in ((b"a dog", "bytes"), (uuid.UUID(int=3), "UUID"), ((text for text in ["a dog"]), "generator"), (7, "int"), (True, "bool")):
        for captions in (
            {**dict(zip(IDS, CAPTIONS)), IDS[3]: odd},
            {**dict(zip(IDS, CAPTIONS)), IDS[3]: [odd]},
            [{"image_id": IDS[k], "caption": odd if k == 3 else CAPTIONS[k]} for k in range(20)],
        ):
            with pytest.raises(TypeError, match=rf"image {IDS[3]}: a caption must be a string, or several in a list, not {what}"):
                cider(GROUND, captions)
    with pytest.raises(TypeError, match=f"image {IDS[0]}: .* not bytes"):
        CiderD({key: [text.encode() for text in texts] for key, texts in GROUND.items()})
    with pytest.raises(TypeError, match="image 0: .* not map"):
        CiderD([map(str, texts) for texts in REFERENCES])


def test_labels_of_an_index_are_the_ids_of_references_alone() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"references": REFERENCES, "prediction": CAPTIONS, "people": REFERENCES}).sample(frac=1, random_state=4)
    coco = pandas.DataFrame({"references": REFERENCES, "prediction": CAPTIONS, "people": REFERENCES}, index=IDS)
    for rows in (frame, frame[frame.index % 2 == 0], coco, coco[::-1]):
        right = cider(rows["references"], rows["prediction"])
        for references in (rows["references"], rows[["references"]], rows[["people"]]):
            evaluator = capeval.Evaluator(references, ["cider-d"])
            assert evaluator.score(rows["prediction"])["cider-d"] == right
            assert evaluator.score(rows["prediction"].to_dict())["cider-d"] == right
            reward = CiderD(references, dtype="float64")
            assert reward(list(rows.index), list(rows["prediction"])).mean() == pytest.approx(right)
    flat = coco["references"].explode()
    assert capeval.Evaluator(flat, ["cider-d"]).score(dict(zip(IDS, CAPTIONS)))["cider-d"] == RIGHT
    # A caption per row, counted by the index: there is nothing else by which to tell images.
    counted = pandas.Series(REFERENCES)
    assert CiderD(counted).ids == list(range(20)) and CiderD(pandas.concat([counted[:7], counted[7:]])).ids == list(range(20))
    twice = pandas.concat([counted[:10], counted[10:].reset_index(drop=True)])
    with pytest.raises(ValueError, match="rows in several places have the label 0 in its index; name the index"):
        CiderD(twice)


@pytest.mark.parametrize("lost", [None, float("nan"), "", ...])
@pytest.mark.parametrize("key", ["caption", "said"])
@pytest.mark.parametrize("some", [(3,), (3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)])
def test_records_without_an_id_are_refused(lost: Any, key: str, some: tuple[int, ...]) -> None:
    rows: list[dict[str, Any]] = [{"image_id": IDS[k], key: CAPTIONS[k]} for k in range(20)]
    for k in some:
        rows[k] = {key: CAPTIONS[k]} if lost is ... else {**rows[k], "image_id": lost}
    if lost == "" and key == "caption":
        return  # A text without letters is a strange id, but one.
    with pytest.raises(ValueError, match=r"record 4\): it has no id in \"image_id\", although others have one; .*leave it out"):
        cider(GROUND, rows)
    people = [{**row, "people": [row[key]]} for row in rows]
    with pytest.raises(ValueError, match="record 4"):
        CiderD([{name: value for name, value in row.items() if name != key} for row in people])


def test_records_without_captions_need_no_id() -> None:
    rows: list[dict[str, Any]] = [{"image_id": k, "said": CAPTIONS[k % 20]} for k in range(99)]
    references = {k: REFERENCES[k % 20] for k in range(99)}
    assert cider(references, [*rows, {"image_id": None, "said": None}]) == cider(references, rows)
    assert cider(GROUND, [*[{"image_id": key, "said": text} for key, text in zip(IDS, CAPTIONS)], {"image_id": None, "said": None}]) == RIGHT


@pytest.mark.parametrize("base", [0, 1])
def test_records_by_row_have_ids_of_their_own(base: int) -> None:
    candidates = {base + n: {"image_id": IDS[k], "caption": CAPTIONS[k]} for n, k in enumerate(ORDER)}
    references = {base + n: {"image_id": IDS[k], "captions": REFERENCES[k]} for n, k in enumerate(ORDER)}
    people = {base + n: {"image_id": IDS[k], "people": REFERENCES[k]} for n, k in enumerate(ORDER)}
    assert cider(GROUND, candidates) == RIGHT
    for ground in (references, people):
        assert cider(ground, candidates) == RIGHT
        assert capeval.Evaluator(ground, ["cider-d"]).score(candidates)["cider-d"] == RIGHT
        assert sorted(CiderD(ground).ids) == IDS
    small = {base + n: {"image_id": n + 1, "caption": CAPTIONS[n]} for n in ORDER}
    assert cider(dict(enumerate(REFERENCES, 1)), {base + n: row for n, row in enumerate(small.values())}) == RIGHT


def test_keys_and_ids_of_records_that_differ_are_told_apart_by_the_other_side() -> None:
    keys = [f"x{k}" for k in range(20)]
    references = {keys[k]: {"image_id": IDS[k], "captions": REFERENCES[k]} for k in ORDER}
    assert cider(references, dict(zip(IDS, CAPTIONS))) == RIGHT
    assert cider(references, dict(zip(keys, CAPTIONS))) == RIGHT
    with pytest.raises(ValueError, match='ids in "image_id" that differ from their keys; pass ref_id_column="image_id" to use them'):
        capeval.Evaluator(references)
    assert sorted(capeval.Evaluator(references, ref_id_column="image_id").ids) == IDS
    # Ids of captions are no ids of images, and the key says the same as the id.
    same = {str(key): {"image_id": key, "id": k, "captions": texts} for k, (key, texts) in enumerate(GROUND.items())}
    numbered = {key: {"id": k, "captions": texts} for k, (key, texts) in enumerate(GROUND.items())}
    assert cider(same, dict(zip(IDS, CAPTIONS))) == RIGHT and CiderD(same).ids == IDS
    assert CiderD(numbered).ids == IDS


def test_objects_without_ids_are_numbered_from_zero_by_every_reader() -> None:
    right = cider(REFERENCES, CAPTIONS)
    assert right == RIGHT
    for candidates in (CAPTIONS, [{"caption": text} for text in CAPTIONS], [{"generated_text": text} for text in CAPTIONS]):
        for references in (REFERENCES, [[*texts, None] for texts in REFERENCES], [{"people": texts} for texts in REFERENCES]):
            assert cider(references, candidates) == right
    for references in (REFERENCES, [(*texts, None) for texts in REFERENCES], [{"people": texts} for texts in REFERENCES]):
        assert CiderD(references).ids == list(range(20))


def missing() -> list[Any]:
    return [None, float("nan"), pytest.importorskip("pandas").NA, pytest.importorskip("numpy").float32("nan")]


@pytest.mark.parametrize("place", range(4))
def test_missing_captions_are_those_of_the_policy_in_every_form(place: int) -> None:
    lost = missing()[place]
    texts = [lost if k == 3 else text for k, text in enumerate(CAPTIONS)]
    right = cider(GROUND, {key: text for key, text in zip(IDS, CAPTIONS) if key != IDS[3]}, missing="skip")
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"image_id": IDS, "caption": pandas.Series(texts, dtype=object)})
    table = pyarrow.table({"image_id": IDS, "caption": [None if k == 3 else text for k, text in enumerate(CAPTIONS)]})
    forms = [dict(zip(IDS, texts)), {key: [text] for key, text in zip(IDS, texts)}, frame, frame.set_index("image_id")["caption"], table]
    forms += [frame.to_dict("records"), {key: {"caption": text} for key, text in zip(IDS, texts)}, list(zip(IDS, texts))]
    for form in forms:
        with pytest.raises(ValueError, match=f"1 of 20 images in references has no candidate: {IDS[3]}; pass missing="):
            cider(GROUND, form)
        assert cider(GROUND, form, missing="skip") == right
    assert cider(REFERENCES, texts, missing="skip") == right


@pytest.mark.parametrize("place", range(4))
def test_missing_values_in_lists_are_left_out_and_told(place: int) -> None:
    lost = missing()[place]
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    lists = [[lost, *texts] if k % 5 == 0 else texts for k, texts in enumerate(REFERENCES)]
    arrow = pyarrow.table({"image_id": IDS, "captions": [[None, *texts] if k % 5 == 0 else texts for k, texts in enumerate(REFERENCES)]})
    for form in (dict(zip(IDS, lists)), pandas.DataFrame({"image_id": IDS, "captions": lists}), arrow):
        report = capeval.score(form, dict(zip(IDS, CAPTIONS)), ["cider-d"])
        assert report["cider-d"] == RIGHT
        told = [notice for notice in report.notices if notice.code == "missing-values"]
        assert [notice.message for notice in told] == ["references has 4 missing values in lists of captions, left out"]
        assert told[0].number == 4


def test_names_of_columns_may_be_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    wide = pandas.DataFrame.from_dict(GROUND, orient="index")
    assert list(wide.columns) == [0, 1]
    assert cider(wide, dict(zip(IDS, CAPTIONS))) == RIGHT
    assert capeval.Evaluator(wide, ["cider-d"]).score(dict(zip(IDS, CAPTIONS)))["cider-d"] == RIGHT
    assert CiderD(wide).ids == IDS
    plain = pandas.DataFrame(list(zip(IDS, CAPTIONS)))
    assert cider(GROUND, plain) == cider(GROUND, plain, id_column=0, caption_column=1) == RIGHT
    levels = pandas.DataFrame({("a", "image_id"): IDS, ("a", "said"): CAPTIONS})
    assert cider(GROUND, levels) == RIGHT


def test_masks_of_images_are_refused() -> None:
    numpy = pytest.importorskip("numpy")
    mask = numpy.array([True, False] * 10)
    for images in (mask, mask.tolist(), [Tensor(one) for one in mask.tolist()]):
        with pytest.raises(TypeError, match="images: this is a mask of True and False; pass the ids"):
            cider(GROUND, dict(zip(IDS, CAPTIONS)), images=images)
    chosen = numpy.array(IDS)[mask]
    assert cider(GROUND, dict(zip(IDS, CAPTIONS)), images=chosen) == cider(GROUND, dict(zip(IDS, CAPTIONS)), images=chosen.tolist())


def test_words_of_tokens_may_be_a_dictionary() -> None:
    vocabulary = sorted({word for text in [*CAPTIONS, *sum(REFERENCES, [])] for word in text.split()})
    tokens = [[vocabulary.index(word) for word in text.split()] for text in CAPTIONS]
    width = max(map(len, tokens))
    padded = [[*row, *[len(vocabulary)] * (width - len(row))] for row in tokens]
    by_id = dict(enumerate(vocabulary))

    def mean(words: Any, **options: Any) -> float:
        options = {"pad_id": len(vocabulary), **options}
        return float(Reward(GROUND, {"cider-d": 1.0}, words=words, dtype="float64", **options)(IDS, padded).mean())

    right = mean(vocabulary)
    assert right == pytest.approx(RIGHT)
    shuffled = [(word, k) for k, word in by_id.items()]
    random.Random(3).shuffle(shuffled)
    gap = {k: word for k, word in by_id.items() if word != "dog"}
    for words in (by_id, {str(k): word for k, word in by_id.items()}, dict(shuffled), {word: str(k) for word, k in shuffled}):
        assert mean(words) == right
    assert 0 < mean(gap) < right
    assert mean(by_id, pad_id=None, end_id=[len(vocabulary) + 5, len(vocabulary)]) == right
    with pytest.raises(TypeError, match="words: a set has no order"):
        mean(set(vocabulary))
    with pytest.raises(ValueError, match="words: the token id 0 has two words"):
        mean({"a": 0, "b": 0, "c": 1})
    with pytest.raises(TypeError, match="words: a dictionary has words by token id"):
        mean({"a": "b"})
    with pytest.raises(TypeError, match="end_id must be a token id or several in a list, not 'x'"):
        mean(vocabulary, end_id="x")
    with pytest.warns(capeval.CaptionWarning, match="words are pieces of words, such as 'Ġ"):
        mean([f"Ġ{word}" for word in vocabulary])


def test_rewards_say_what_scores_say() -> None:
    for form, code in (("<s> {} </s>", "special-tokens"), ("ASSISTANT: {}", "chat-roles"), ("a dog", "one-caption"), ("", None)):
        texts = [form.format(text) for text in CAPTIONS]
        try:
            said = {notice.code for notice in capeval.score(GROUND, dict(zip(IDS, texts)), ["cider-d"], accept="all", empty="keep").notices}
        except Exception:  # noqa: BLE001 (kinds differ in what allows them)
            said = set()
        reward = CiderD(GROUND)
        with pytest.warns(capeval.CaptionWarning) as found:
            for k in range(0, 20, 4):
                reward(IDS[k : k + 4], texts[k : k + 4])
        codes = [name for name, _ in reward.notices]
        assert codes and len(codes) == len(set(codes)) == len(found), (form, codes, said)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            reward(IDS, texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = CiderD(GROUND)
        fine(IDS, CAPTIONS)
        fine(IDS[0], ["a dog"] * 50)
    assert fine.notices == []


def test_greedy_rewards_have_one_axis() -> None:
    numpy = pytest.importorskip("numpy")
    assert self_critical([0.0, 1.0, 2.0, 4.0], [1.0, 3.0]).tolist() == [-1.0, 0.0, -1.0, 1.0]
    for rewards, greedy in (([0.0, 1.0, 2.0, 4.0], [[1.0], [3.0]]), ([1.0, 3.0], [0.0] * 4), ([[1.0]], [1.0]), ([1.0, 2.0], 1.0), ([1.0, 2.0], [])):
        with pytest.raises(ValueError, match="cannot be divided among greedy rewards of shape"):
            self_critical(numpy.array(rewards), numpy.array(greedy))


def test_ids_of_rewards_are_those_of_scores() -> None:
    reward = CiderD({(1, "a"): ["a dog runs"], (2, "b"): ["two cats"]})
    assert len(reward([(1, "a"), (2, "b")], ["a dog", "two cats"])) == 2
    with pytest.raises(TypeError, match="a set has no order"):
        CiderD(GROUND)(set(IDS), CAPTIONS)
    with pytest.raises(TypeError, match="not bool"):
        CiderD(GROUND)([True], ["a dog"])
    with pytest.raises(TypeError, match="caption 0 must be a string, not dict"):
        CiderD(GROUND)(IDS[:1], [{"role": "assistant", "content": "a dog"}])
    with pytest.raises(TypeError, match="captions are lists of texts"):
        CiderD(GROUND)(IDS[:2], [["a dog", "a cat"], ["a dog", "a cat"]])


def test_scores_of_a_series_have_the_ids_of_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    numbers = [0.1 * k for k in range(20)]
    right = capeval.score(scores=dict(zip(IDS, numbers))).scores
    named = pandas.Series(numbers, index=pandas.Index(IDS, name="image_id"), name="score")
    for scores in (named, named.rename_axis(None), named.to_frame()):
        assert capeval.score(scores=scores).scores == right
    with pytest.raises(ValueError, match="20 numbers without ids"):
        capeval.score(scores=pandas.Series(numbers))
