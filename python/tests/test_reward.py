"""`capeval.reward`: the digits of `score`, batch by batch, by text and by token."""

from __future__ import annotations

import pickle
import random
import random
import warnings

import numpy as np
import pytest

import capeval
from capeval.reward import Bleu, CiderD, Meteor, Reward, RougeL, group_advantages, leave_one_out, self_critical

WORDS = "a the dog cat runs sits on grass red blue bus it's two kite sand walks by man".split()


@pytest.fixture(scope="module")
def corpus():
    """40 images with 5 references, and 3 samples each, some of whose words no reference holds."""
    rng = random.Random(5)

    def caption(words):
        return " ".join(rng.choice(words) for _ in range(rng.randint(1, 12)))

    references = {image: [caption(WORDS) for _ in range(5)] for image in range(100, 140)}
    samples = [{image: caption([*WORDS, "giraffe", "unheard"]) for image in references} for _ in range(3)]
    return references, samples


def wanted(references, sample, metric, key, **options):
    report = capeval.score(references, sample, [metric], **options)
    return dict(zip(report.ids, report.segments[key]))


def shuffled(samples, seed=1):
    rows = [(image, text) for sample in samples for image, text in sample.items()]
    random.Random(seed).shuffle(rows)
    return [image for image, _ in rows], [text for _, text in rows]


@pytest.mark.parametrize(
    ("make", "metric", "key"),
    [
        (CiderD, "cider-d", "cider-d"),
        (lambda refs, **o: CiderD(refs, sigma=4, n=3, **o), "cider-d:sigma=4:n=3", "cider-d"),
        (Bleu, "bleu", "bleu-4"),
        (lambda refs, **o: Bleu(refs, n=2, **o), "bleu:n=2", "bleu-2"),
        (RougeL, "rouge-l", "rouge-l"),
        (lambda refs, **o: Reward(refs, {"chrf": 1}, **o), "chrf", "chrf"),
        (lambda refs, **o: Reward(refs, {"cider-d:sigma=4": 1}, **o), "cider-d:sigma=4", "cider-d"),
    ],
)
def test_a_reward_has_the_digits_of_score(corpus, make, metric, key):
    references, samples = corpus
    reward = make(references, dtype="float64")
    ids, texts = shuffled(samples)
    found = reward.score(ids, texts)
    scores = [wanted(references, sample, metric, key) for sample in samples]
    lookup = {(image, sample[image]): score[image] for sample, score in zip(samples, scores) for image in sample}
    assert found.dtype == np.float64 and found.shape == (120,)
    assert found.tolist() == [lookup[image, text] for image, text in zip(ids, texts)]


def test_results_do_not_depend_on_batch_order_or_threads(corpus):
    references, samples = corpus
    ids, texts = shuffled(samples)
    weights = {"cider-d": 1.0, "bleu-4": 0.3, "rouge-l": 0.1}
    whole = Reward(references, weights, dtype="float64", threads=2).score(ids, texts)
    alone = Reward(references, weights, dtype="float64", threads=1)
    assert [alone(image, [text])[0] for image, text in zip(ids, texts)] == whole.tolist()
    backwards = alone.score(ids[::-1], texts[::-1])
    assert backwards[::-1].tolist() == whole.tolist()


def test_a_mixture_is_the_weighted_sum(corpus):
    references, samples = corpus
    ids, texts = shuffled(samples)
    mixture = Reward(references, {"cider-d": 2.0, "bleu-4": 0.5}, dtype="float64")
    parts = mixture.measures(ids, texts)
    assert {"cider-d", "bleu-1", "bleu-4"} <= set(parts)
    assert np.array_equal(mixture(ids, texts), 2.0 * parts["cider-d"] + 0.5 * parts["bleu-4"])
    assert mixture.signatures["cider-d"].startswith("cider-d|n:4|sigma:6")


def test_k_samples_of_an_image_follow_each_other(corpus):
    references, samples = corpus
    reward = CiderD(references, dtype="float64")
    ids = list(references)[:8]
    texts = [sample[image] for image in ids for sample in samples]
    assert np.array_equal(reward(ids, texts), reward(np.repeat(ids, 3), texts))
    assert np.array_equal(reward(ids[0], texts[:3]), reward([ids[0]] * 3, texts[:3]))
    assert reward([], []).shape == (0,)
    with pytest.raises(ValueError, match="there are 7 captions, but 3 image ids"):
        reward(ids[:3], texts[:7])


def test_a_table_gives_the_digits_of_score_with_it(corpus):
    references, samples = corpus
    more = {**references, **{image: [f"a giraffe {image}", "unheard dog"] for image in range(50)}}
    table = capeval.DocumentFrequencies.build(more)
    expected = wanted(references, samples[0], "cider-d", "cider-d", document_frequencies=table)
    reward = CiderD(references, document_frequencies=table, dtype="float64")
    assert reward(list(samples[0]), list(samples[0].values())).tolist() == list(expected.values())


def test_prepared_references_give_the_same(corpus, tmp_path):
    references, samples = corpus
    path = tmp_path / "refs.capeval"
    capeval.Evaluator(references, ["cider-d"]).save(path)
    ids, texts = shuffled(samples)
    assert np.array_equal(CiderD(path)(ids, texts), CiderD(references)(ids, texts))


def encode(text, vocabulary):
    return [vocabulary.setdefault(word, len(vocabulary) + 3) for word in text.split()]


def padded(rows, pad, end, width=16):
    matrix = np.full((len(rows), width), pad, dtype=np.int32)
    for k, row in enumerate(rows):
        matrix[k, : len(row)] = row
        matrix[k, len(row)] = end
    return matrix


@pytest.mark.parametrize("with_table", [False, True])
def test_token_ids_give_the_digits_of_their_words(corpus, with_table):
    references, samples = corpus
    vocabulary: dict[str, int] = {}
    coded = {image: [encode(text, vocabulary) for text in texts] for image, texts in references.items()}
    df = capeval.DocumentFrequencies.build(references, tokenizer="none") if with_table else None
    coded_df = None
    if with_table:
        counts = {tuple(str(vocabulary[w]) for w in ngram): n for ngram, n in df.to_dict().items()}
        coded_df = capeval.DocumentFrequencies.from_counts(counts, df.n_images)
    ids, texts = shuffled(samples)
    tokens = padded([encode(text, vocabulary) for text in texts], pad=0, end=2)
    weights = {"cider-d": 1.0, "rouge-l": 1.0, "bleu-2": 1.0}
    by_text = Reward(references, weights, tokenizer="none", document_frequencies=df, dtype="float64").measures(ids, texts)
    by_token = Reward(coded, weights, tokens=True, document_frequencies=coded_df, pad_id=0, end_id=2, dtype="float64")
    found = by_token.measures(ids, tokens)
    for key, values in by_text.items():
        assert np.array_equal(found[key], values), key
    # References as padded matrices, captions as int64 and as lists.
    matrices = {image: padded(rows, 0, 2) for image, rows in coded.items()}
    again = Reward(matrices, weights, tokens=True, document_frequencies=coded_df, pad_id=0, end_id=2, dtype="float64")
    assert np.array_equal(again(ids, tokens.astype(np.int64)), by_token(ids, tokens))
    assert np.array_equal(again(ids, tokens.tolist()), by_token(ids, tokens))
    # References as texts, with a list of words.
    names = [""] * (max(vocabulary.values()) + 1)
    for word, code in vocabulary.items():
        names[code] = word
    named = Reward(references, weights, words=names, tokenizer="none", document_frequencies=df, pad_id=0, end_id=2, dtype="float64")
    assert np.array_equal(named(ids, tokens), by_token(ids, tokens))


def test_the_end_counts_as_a_word_if_asked_for(corpus):
    coded = {1: [[5, 6, 7], [5, 6]], 2: [[8, 9], [8, 5]]}
    spelt = {image: [" ".join(map(str, [*row, 0])) for row in rows] for image, rows in coded.items()}
    tokens = np.array([[5, 6, 0, 0], [8, 9, 5, 0]])
    by_token = CiderD({k: [[*r, 0] for r in v] for k, v in coded.items()}, tokens=True, end_id=0, keep_end=True)
    by_text = CiderD(spelt, tokenizer="none")
    assert by_token([1, 2], tokens).tolist() == by_text([1, 2], ["5 6 0", "8 9 5 0"]).tolist()


def test_wrong_token_ids_are_refused(corpus):
    reward = CiderD({1: [[5, 6]], 2: [[7]]}, tokens=True, pad_id=0)
    with pytest.raises(ValueError, match="row 1: -100 is not a token id"):
        reward([1, 2], np.array([[5, 6], [7, -100]]))
    with pytest.raises(TypeError, match="integers"):
        reward([1], np.array([[0.5]]))
    with pytest.raises(ValueError, match="texts"):
        CiderD(corpus[0])([100], np.array([[1, 2]]))
    with pytest.raises(ValueError, match="which are equal"):
        Reward({1: [[5, 6]]}, {"chrf": 1}, tokens=True)


def test_unknown_images_and_measures_are_refused(corpus):
    references, _ = corpus
    with pytest.raises(KeyError, match="image 7 has no references"):
        CiderD(references)([7], ["a"])
    with pytest.raises(TypeError, match="caption 0 must be a string, not int"):
        CiderD(references)([100], [5])
    with pytest.raises(ValueError, match="no measure is called 'cidre'"):
        Reward(references, {"cidre": 1})
    with pytest.raises(ValueError, match="dtype"):
        CiderD(references, dtype="float16")


def test_a_reward_does_not_depend_on_its_batch_and_its_signature_says_so():
    references = {1: ["a shirt with a t."], 2: ["a dog", "a cat"]}
    reward = Reward(references, {"rouge-l": 1})
    assert "tok:ptb-each" in reward.signatures["rouge-l"]
    caption = "a shirt with a t."
    assert reward([1], [caption])[0] == reward([1, 2], [caption, "the dog"])[0] == 1


def test_meteor_without_data_says_what_to_do(corpus, monkeypatch, tmp_path):
    monkeypatch.setenv("CAPEVAL_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="install"):
        Meteor(corpus[0])


def test_a_reward_is_pickled_for_spawned_workers(corpus):
    references, samples = corpus
    reward = CiderD(references, sigma=5.0)
    again = pickle.loads(pickle.dumps(reward))
    assert type(again) is CiderD
    ids, texts = shuffled(samples)
    assert np.array_equal(again(ids, texts), reward(ids, texts))


def test_leave_one_out_compares_with_the_other_samples():
    rewards = np.array([1.0, 2.0, 6.0, 0.0, 0.0, 3.0])
    assert leave_one_out(rewards, 3).tolist() == [-3.0, -1.5, 4.5, -1.5, -1.5, 3.0]
    with pytest.raises(ValueError):
        leave_one_out(rewards, 1)
    with pytest.raises(ValueError, match="groups of 4"):
        leave_one_out(rewards, 4)


def test_self_critical_compares_with_the_greedy_caption():
    assert self_critical(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.5, 3.0])).tolist() == [-0.5, 0.5, 0.0, 1.0]


def test_group_advantages_have_mean_zero_and_spread_one():
    advantages = group_advantages(np.array([1.0, 2.0, 3.0, 5.0, 5.0, 5.0]), 3, eps=0.0 + 1e-12)
    assert advantages[:3] == pytest.approx([-1, 0, 1]) and advantages[3:].tolist() == [0, 0, 0]
    assert group_advantages(np.array([1.0, 3.0]), 2, scale=False).tolist() == [-1.0, 1.0]


class Tensor:
    """What the reward asks of a tensor of torch."""

    def __init__(self, array):
        self._array = array
        self.shape = array.shape

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self._array

    def tolist(self):
        return self._array.tolist()


def test_tensors_are_taken_as_arrays():
    reward = CiderD({1: [[5, 6, 7], [5, 6]], 2: [[8, 9], [8, 5]]}, tokens=True, pad_id=0)
    tokens = np.array([[5, 6, 7, 0], [8, 9, 0, 0]])
    assert np.array_equal(reward(Tensor(np.array([1, 2])), Tensor(tokens)), reward([1, 2], tokens))
    three = np.stack([tokens, tokens[::-1]], axis=1)
    assert np.array_equal(reward([1, 2], Tensor(three)), reward([1, 1, 2, 2], three.reshape(4, 4)))


def test_two_ways_of_writing_a_measure_count_together(corpus):
    references, samples = corpus
    ids, texts = shuffled(samples)
    once = Reward(references, {"cider-d": 1.5}, dtype="float64")(ids, texts)
    twice = Reward(references, {"cider-d:sigma=6": 1.0, "cider-d": 0.5}, dtype="float64")
    assert twice(ids, texts).tolist() == once.tolist() and once.max() > 0


def test_a_weight_belongs_to_the_metric_that_it_was_written_with(corpus):
    """However its settings are spelt: another order, another way to write a number."""
    references, samples = corpus
    ids, texts = shuffled(samples)
    spelt = "cider-d:sigma=4.0:n=3"
    alone = Reward(references, {spelt: 1.0}, dtype="float64")(ids, texts)
    both = Reward(references, {"cider-d": 0.0, spelt: 1.0}, dtype="float64")(ids, texts)
    other = Reward(references, {"cider-d": 1.0}, dtype="float64")(ids, texts)
    assert both.tolist() == alone.tolist() != other.tolist()


def test_token_references_may_be_single_strings():
    strings = {7: "12 45 9", 8: "3 4 5"}
    lists = {key: [text] for key, text in strings.items()}
    batch = [[12, 45, 9], [3, 4, 9]]
    expected = CiderD(lists, tokens=True, dtype="float64")([7, 8], batch).tolist()
    assert CiderD(strings, tokens=True, dtype="float64")([7, 8], batch).tolist() == expected
    assert expected[0] > 1
    assert CiderD(list(strings.values()), tokens=True, dtype="float64")([0, 1], batch).tolist() == expected


def test_great_token_ids_are_found_like_small_ones():
    shift = (1 << 30) - 50
    small = {7: [[12, 45, 9], [12, 9]], 8: [[3, 4, 5]]}
    great = {key: [[token + shift for token in row] for row in rows] for key, rows in small.items()}
    batch = np.array([[12, 45, 9], [3, 4, 49]])
    expected = CiderD(small, tokens=True, dtype="float64")([7, 8], batch).tolist()
    assert CiderD(great, tokens=True, dtype="float64")([7, 8], batch + shift).tolist() == expected
    assert min(expected) > 0


def test_a_reward_over_an_evaluator_takes_its_table_settings_and_ids(corpus):
    references, samples = corpus
    texts_by_name = {str(key): texts for key, texts in references.items()}
    sample = samples[0]
    table = capeval.DocumentFrequencies.build(
        {k: texts for k, texts in references.items() if k < 120}, tokenizer="none"
    )
    evaluator = capeval.Evaluator(
        texts_by_name, ["cider-d"], settings={"sigma": 3, "tok": "none"}, document_frequencies=table, ids="text"
    )
    report = evaluator.score(sample)
    reward = Reward(evaluator, {"cider-d": 1.0}, dtype="float64")
    assert reward(list(sample), list(sample.values())).tolist() == [
        dict(zip(map(str, report.ids), report.segments["cider-d"]))[str(key)] for key in sample
    ]
    assert "sigma:3" in reward.signatures["cider-d"] and "sigma:6" in CiderD(evaluator).signatures["cider-d"]
    assert "tok:ptb" in Reward(evaluator, {"rouge-l": 1.0}, tokenizer="ptb").signatures["rouge-l"]


def test_one_pad_may_be_a_number_of_any_kind():
    references = {7: [[12, 45, 9]], 8: [[3, 4, 5]]}
    batch = np.array([[12, 0, 45, 9], [3, 4, 5, 0]])
    expected = CiderD(references, tokens=True, pad_id=0)([7, 8], batch).tolist()
    for pad in (np.int64(0), np.array(0), [np.int32(0)], (0,)):
        assert CiderD(references, tokens=True, pad_id=pad)([7, 8], batch).tolist() == expected


def test_columns_of_captions_are_texts(corpus):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    references, samples = corpus
    ids, texts = shuffled(samples)
    reward = CiderD(references, dtype="float64")
    expected = reward(ids, texts).tolist()
    for column in (polars.Series(texts), pandas.Series(texts), pandas.Series(texts, dtype="string"), np.array(texts)):
        assert reward(ids, column).tolist() == expected


@pytest.mark.parametrize("metric", ["ter", "ter:norm=yes", "rouge155", "cider-r"])
def test_metrics_that_look_into_words_give_the_digits_of_score(corpus, metric):
    """In batches of several pieces, whose new words are learnt once."""
    references, samples = corpus
    ids, texts = shuffled(samples)
    reward = Reward(references, {_key(metric): 1.0}, dtype="float64", threads=2)
    key = reward._keys[0]
    scores = [wanted(references, sample, metric, key) for sample in samples]
    lookup = {(image, sample[image]): score[image] for sample, score in zip(samples, scores) for image in sample}
    assert reward.measures(ids, texts)[key].tolist() == [lookup[image, text] for image, text in zip(ids, texts)]


def _key(metric):
    return metric.replace("rouge155", "rouge155-1-f")


def test_a_reward_keeps_the_notices_on_its_metrics(corpus):
    references, *_ = corpus
    kept, plain = (Reward(references, {"rouge155-1-f": 1.0}, tokenizer=name) for name in ("13a", None))
    assert [code for code, _ in kept.notices] == ["tokenizer-kept"] and plain.notices == []
    assert kept.signatures == plain.signatures


def test_completions_of_chats_are_read():
    reward = Reward({7: ["a dog runs"], 8: ["two cats"]}, {"cider-d": 1.0})
    texts = ["a dog runs", "two cats"]
    spoken = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}] for text in texts]
    parts = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in texts]
    for captions in (spoken, parts):
        assert reward([7, 8], captions).tolist() == reward([7, 8], texts).tolist()


def test_ragged_rows_and_unknown_tokens_are_told():
    words = ["<pad>", "<eos>", "a", "dog", "runs"]
    reward = Reward({1: ["A dog runs."], 2: ["a dog"]}, {"cider-d": 1.0}, tokens=True, words=words, end_id=1, pad_id=0)
    with pytest.raises(ValueError, match="token 400 is none of the 5 words"):
        reward([1], [[2, 3, 400, 1]])
    with pytest.raises(ValueError, match="rows of one length, and these have 2 to 3"):
        reward([1, 2], [[2, 3, 4], [2, 3]])
    whole = Reward({1: ["a dog runs"], 2: ["a dog"]}, {"cider-d": 1.0}, tokens=True, words=words, end_id=1, pad_id=0)
    rows = [[2, 3, 4, 1]]
    assert reward([1], rows).tolist() == whole([1], rows).tolist(), "references that are texts are tokenised"


def test_an_id_of_another_type_is_told():
    reward = Reward({7: ["a dog runs"], 8: ["two cats"]}, {"cider-d": 1.0})
    with pytest.raises(KeyError, match="7 has, so pass ids as in the references"):
        reward(["7"], ["a dog"])


def test_rewards_of_no_captions_are_warned_of():
    reward = Reward({7: ["a dog runs"], 8: ["two cats"]}, {"cider-d": 1.0})
    with pytest.warns(capeval.CaptionWarning, match="2 of 2 captions contain thoughts"):
        reward([7, 8], ["<think>so</think> a dog", "<think>so</think> a cat"])


def test_a_table_of_other_words_is_refused():
    ids = capeval.DocumentFrequencies.build({1: ["12 45 7", "3 4 5"], 2: ["9 12 8"]}, tokenizer="none")
    references = {1: ["a dog runs on the beach", "the dog ran"], 2: ["two cats sleep in the sun"]}
    with pytest.raises(ValueError, match="knows 0% of the words of the references"):
        Reward(references, {"cider-d": 1.0}, document_frequencies=ids)
    with pytest.raises(ValueError, match="knows 0% of the words of the references"):
        capeval.score(references, {1: "a dog", 2: "a cat"}, "cider-d", document_frequencies=ids)


def fitting(n):
    """References of `n` images that have words of their own, and captions that share them."""
    nouns, verbs = ["dog", "cat", "bus", "man", "tree", "boat", "bird"], ["runs", "sits", "stands", "waits", "sleeps"]
    text = [f"a {nouns[k % 7]} {verbs[k % 5]} near the w{k % 97} with u{k % 53}" for k in range(n)]
    return {k: [text[k], f"some {text[k]} here"] for k in range(n)}, text


def batches(reward, ids, captions, size=20, k=2):
    """Rewards in batches of images with k equal samples each."""
    for first in range(0, len(ids), size):
        part = ids[first : first + size]
        reward(part, [captions[id] for id in part for _ in range(k)])


@pytest.mark.parametrize("are_shuffled", [False, True])
def test_captions_of_other_images_are_warned_of_once_over_the_first_batches(are_shuffled):
    references, captions = fitting(300)
    shifted = captions[1:] + captions[:1]
    if are_shuffled:
        random.Random(7).shuffle(shifted)
    order = [k * 7 % 300 for k in range(300)]
    reward = Reward(references, {"cider-d": 1.0})
    words = "no more words with their own references" if are_shuffled else "fit the references one row later"
    with pytest.warns(capeval.CaptionWarning, match=words) as found:
        batches(reward, order, shifted)
    assert [code for code, _ in reward.notices] == ["pairing"] and len(found) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batches(reward, order, shifted)
        batches(Reward(references, {"cider-d": 1.0}), order, captions)
        batches(Reward(references, {"cider-d": 1.0}, pairing="off"), order, shifted)
        # All images there are, and too few to tell.
        few = {k: references[k] for k in range(7)}
        batches(Reward(few, {"cider-d": 1.0}), list(range(7)), shifted)


def test_token_ids_of_other_images_are_warned_of():
    references, captions = fitting(120)
    words = sorted({word for text in captions for word in f"{text} some here".split()})
    rows = np.array([[words.index(word) for word in text.split()] for text in captions])
    ids = list(range(120))
    with pytest.warns(capeval.CaptionWarning, match="one row earlier"):
        Reward(references, {"cider-d": 1.0}, words=words)(ids, np.roll(rows, 1, axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Reward(references, {"cider-d": 1.0}, words=words)(ids, rows)


def test_several_captions_of_an_image_are_one_reward():
    references = {7: ["a dog runs", "the dog ran"], 8: ["two cats", "cats sit"]}
    ids, texts = [8, 7], ["two dogs", "two cats", "a dog runs", "cat"]
    weights = {"cider-d": 1.0, "rouge-l": 0.5}

    def of(several):
        return Reward(references, weights, dtype="float64", several=several)

    each = of("each")(ids, texts)
    assert each.shape == (4,) and Reward(references, weights, dtype="float64")(ids, texts).tolist() == each.tolist()
    groups = each.reshape(2, 2)
    assert of("first")(ids, texts).tolist() == groups[:, 0].tolist()
    assert of("last")(ids, texts).tolist() == groups[:, 1].tolist()
    np.testing.assert_allclose(of("mean")(ids, texts), groups.mean(axis=1), rtol=1e-12)
    assert of("best:cider-d")(ids, texts).tolist() == [groups[0, 1], groups[1, 0]]
    # An id for each caption, in any order.
    assert of("first")([8, 7, 8, 7], [texts[0], texts[2], texts[1], texts[3]]).tolist() == groups[:, 0].tolist()
    assert of("mean").measures(ids, texts)["rouge-l"].shape == (2,)
    with pytest.raises(ValueError, match='caption 1 is one of 2 captions of its image; pass several="each"'):
        of("error")(ids, texts)
    with pytest.raises(ValueError, match="best:spice: no measure that is computed is called 'spice'"):
        of("best:spice")
    with pytest.raises(ValueError, match="choose from error, first"):
        of("average")
    assert CiderD(references, several="mean")(ids, texts).shape == (2,)
