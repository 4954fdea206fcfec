//! Compares n-gram indices, counts and comparisons with maps of explicit n-grams.

use std::collections::{BTreeMap, BTreeSet};

use capeval_text::ngrams::{CountParts, MAX_ORDER, NgramCounts, ReferenceLists, Repeats, Segments};
use capeval_text::{Sentences, Symbol, Tokenizer, Vocabulary};
use proptest::prelude::*;

const ORDER: usize = 4;

/// Sizes of vocabularies: the largest whose n-grams are packed, and the smallest whose n-grams are not.
const SIZES: [usize; 2] = [1 << 16, (1 << 16) + 1];

struct Corpus {
    vocabulary: Vocabulary,
    sentences: Sentences,
    ends: Vec<u64>,
}

impl Corpus {
    fn lists(&self, chosen: &[u32], order: usize) -> ReferenceLists<'_> {
        ReferenceLists::new(&self.sentences, &self.ends, chosen.iter().copied(), order)
    }
}

fn corpus(images: &[Vec<String>]) -> Corpus {
    corpus_after(Vocabulary::default(), images)
}

/// The captions of `images`, whose words follow those of `vocabulary`.
fn corpus_after(mut vocabulary: Vocabulary, images: &[Vec<String>]) -> Corpus {
    let texts: Vec<&str> = images.iter().flatten().map(String::as_str).collect();
    let sentences = Sentences::tokenize(
        Tokenizer::Whitespace,
        texts.len(),
        |k| texts[k],
        |_| Box::new(std::iter::empty()),
        &mut vocabulary,
    );
    let ends = images
        .iter()
        .scan(0, |end, refs| {
            *end += refs.len() as u64;
            Some(*end)
        })
        .collect();
    Corpus { vocabulary, sentences, ends }
}

fn spelt(text: &str, order: usize) -> BTreeMap<Vec<String>, u32> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let mut counts = BTreeMap::new();
    for n in 1..=order {
        for window in words.windows(n) {
            *counts.entry(window.to_vec()).or_insert(0) += 1;
        }
    }
    counts
}

fn document_frequencies(images: &[Vec<String>], chosen: &[u32], order: usize) -> BTreeMap<Vec<String>, u32> {
    let mut counts = BTreeMap::new();
    for i in chosen {
        let ngrams: BTreeSet<_> =
            images[*i as usize].iter().flat_map(|text| spelt(text, order).into_keys()).collect();
        for ngram in ngrams {
            *counts.entry(ngram).or_insert(0) += 1;
        }
    }
    counts
}

/// The n-grams of a text at each place: all words, then all bigrams, and so on.
fn places(text: &str, order: usize) -> Vec<Vec<String>> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    (1..=order).flat_map(|n| words.windows(n).map(<[String]>::to_vec)).collect()
}

/// For each reference of these lists, the number of images of the n-gram at each place.
fn occurrences(counts: &NgramCounts, lists: &ReferenceLists<'_>) -> Vec<Vec<u32>> {
    let by_shard = lists.by_shard(|_: &mut (), shard, of_shard| {
        let mut occurrences = counts.occurrences(shard);
        let references = of_shard.iter().flat_map(|(list, _)| lists.of_list(*list));
        let of_reference = |words: &[Symbol]| {
            let mut images = vec![7; 3];
            occurrences.next(words, &mut images);
            images
        };
        references.map(of_reference).collect::<Vec<_>>()
    });
    by_shard.concat()
}

/// The n-grams of some images, with their counts as of a vocabulary of `n_words`, and these counts as a map.
fn counted(
    corpus: &Corpus,
    chosen: &[u32],
    n_words: usize,
    order: usize,
) -> (NgramCounts, BTreeMap<Vec<String>, u32>) {
    let counts = NgramCounts::build(&corpus.lists(chosen, order), n_words, 1);
    let symbols: Vec<Symbol> = corpus.vocabulary.iter().map(|(symbol, _)| symbol).collect();
    let mut all = BTreeMap::new();
    let mut spelt: Vec<Vec<String>> = Vec::new();
    counts.for_each(&symbols, order, |prefix: Option<usize>, symbol, count| {
        let mut words = prefix.map_or_else(Vec::new, |prefix| spelt[prefix].clone());
        words.push(corpus.vocabulary.word(symbol).to_owned());
        assert_eq!(all.insert(words.clone(), count), None, "an n-gram came twice");
        spelt.push(words);
        spelt.len() - 1
    });
    (counts, all)
}

fn images() -> impl Strategy<Value = Vec<Vec<String>>> {
    let text = proptest::collection::vec("[a-d]", 0..9).prop_map(|words| words.join(" "));
    proptest::collection::vec(proptest::collection::vec(text, 0..4), 1..12)
}

proptest! {
    #[test]
    fn counts_equal_the_document_frequencies_of_a_map(images in images(), skip in 0usize..4, times in 1usize..4) {
        let chosen = (0..images.len() as u32).filter(|i| *i as usize % 4 != skip);
        // Several images may share a list of references.
        let chosen: Vec<u32> =
            chosen.flat_map(|i| std::iter::repeat_n(i, 1 + i as usize % times)).collect();
        for n_words in SIZES {
            let (_, all) = counted(&corpus(&images), &chosen, n_words, ORDER);
            prop_assert_eq!(all, document_frequencies(&images, &chosen, ORDER));
        }
    }

    #[test]
    fn occurrences_equal_the_document_frequencies_of_a_map(images in images(), skip in 0usize..4, times in 1usize..4) {
        let corpus = corpus(&images);
        let chosen: Vec<u32> = (0..images.len() as u32).filter(|i| *i as usize % 4 != skip).collect();
        let shared: Vec<u32> = chosen.iter().flat_map(|i| std::iter::repeat_n(*i, times)).collect();
        let lists = corpus.lists(&shared, ORDER);
        let frequencies = document_frequencies(&images, &shared, ORDER);
        let of_text = |text: &String| places(text, ORDER).iter().map(|ngram| frequencies[ngram]).collect::<Vec<_>>();
        let expected: Vec<_> = chosen.iter().flat_map(|i| &images[*i as usize]).map(of_text).collect();
        for (n_words, least) in SIZES.into_iter().flat_map(|n_words| [(n_words, 1), (n_words, 2)]) {
            prop_assert_eq!(&occurrences(&NgramCounts::build(&lists, n_words, least), &lists), &expected);
        }
    }

    #[test]
    fn repeats_equal_the_counts_of_a_map(texts in proptest::collection::vec("[a-c ]{0,40}", 1..4), order in 1..=MAX_ORDER) {
        let corpus = corpus(std::slice::from_ref(&texts));
        let mut repeats = Repeats::default();
        for (k, text) in texts.iter().enumerate() {
            let words: Vec<&str> = text.split_whitespace().collect();
            let (counts, mut found) = (spelt(text, order), Vec::new());
            repeats.each(corpus.sentences.words(k), order, |n, place, count| {
                let ngram: Vec<String> = words[place..=place + n].iter().map(|word| (*word).to_owned()).collect();
                assert_eq!(Some(&count), counts.get(&ngram), "{ngram:?} of {text:?}");
                found.push(ngram);
            });
            let mut seen = BTreeSet::new();
            let expected: Vec<_> = places(text, order).into_iter().filter(|ngram| seen.insert(ngram.clone())).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// N-grams of one image are not stored, and count as such if they are among its n-grams.
    #[test]
    fn stored_counts_are_found_as_before(images in images()) {
        let corpus = corpus(&images);
        let all: Vec<u32> = (0..images.len() as u32).collect();
        let lists = corpus.lists(&all, ORDER);
        prop_assert!(NgramCounts::build(&lists, SIZES[1], 2).parts().is_none());
        let counts = NgramCounts::build(&lists, SIZES[0], 1);
        let frequent = NgramCounts::build(&lists, SIZES[0], 2);
        let CountParts { order, n_images, words, keys, counts: numbers, slots } = counts.parts().unwrap();
        let restore = |words, keys, counts, slots| {
            NgramCounts::from_parts(&CountParts { order, n_images, words, keys, counts, slots })
        };
        let again = restore(words, &keys, &numbers, &slots).unwrap();
        prop_assert_eq!(again.n_images(), images.len());
        prop_assert_eq!(occurrences(&again, &lists), occurrences(&counts, &lists));
        let found = |counts: &NgramCounts| {
            let mut segments = Segments::default();
            for k in 0..corpus.sentences.len() {
                segments.push(corpus.sentences.words(k), std::iter::empty(), ORDER);
            }
            segments.look_up(counts);
            let of = |k: usize| segments.get(k).all().iter().map(|ngram| ngram.images.max(1)).collect::<Vec<_>>();
            (0..corpus.sentences.len()).map(of).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(&again), found(&counts));
        prop_assert_eq!(found(&frequent), found(&counts));
        prop_assert!(restore(words, &keys, &numbers[..numbers.len().saturating_sub(1)], &slots).is_none() || keys.is_empty());
        prop_assert!(restore(words, &keys, &numbers, &[]).is_none());
        prop_assert!(restore(words, &keys, &numbers, &[7, 0xff_fffe]).is_none(), "out of range, and never free");
    }

    #[test]
    fn comparison_equals_the_counts_of_a_map(refs in proptest::collection::vec("[a-c ]{0,20}", 0..4), hyp in "[a-d ]{0,20}") {
        let corpus = corpus(&[refs.clone(), vec![hyp.clone()]]);
        let mut segments = Segments::default();
        let words = corpus.sentences.words(refs.len());
        for (k, n_words) in SIZES.into_iter().enumerate() {
            let counts = NgramCounts::build(&corpus.lists(&[0, 1], ORDER), n_words, 1);
            segments.push(words, (0..refs.len()).map(|r| corpus.sentences.words(r)), ORDER);
            segments.look_up(&counts);
            let segment = segments.get(k);
            let mut spell: Vec<Vec<String>> = Vec::new();
            for (k, ngram) in segment.all().iter().enumerate() {
                let mut words = if ngram.prefix == capeval_text::ngrams::NONE { vec![] } else { spell[ngram.prefix as usize].clone() };
                words.push(corpus.vocabulary.word(ngram.symbol).to_owned());
                prop_assert_eq!(Some(ngram.count), spelt(&hyp, ORDER).get(&words).copied());
                for (r, reference) in refs.iter().enumerate() {
                    let expected = spelt(reference, ORDER).get(&words).copied().unwrap_or(0);
                    prop_assert_eq!(segment.reference_counts(r)[k], expected);
                }
                let in_some_reference = refs.iter().any(|r| spelt(r, ORDER).contains_key(&words));
                prop_assert_eq!(ngram.is_shared, in_some_reference);
                // The second image's reference is the candidate itself.
                prop_assert_eq!(ngram.images, 1 + u32::from(in_some_reference));
                spell.push(words);
            }
            prop_assert_eq!(spell.len(), spelt(&hyp, ORDER).len());
        }
    }
}

/// Sentences of up to 100 words, of which the n-grams of any order are counted.
#[test]
fn long_sentences_and_all_orders_are_counted_like_a_map() {
    let text = |seed: usize, n_words: usize| {
        let words = (0..n_words).map(|w| format!("w{}", (w * w * seed + w / 3) % 7));
        words.collect::<Vec<_>>().join(" ")
    };
    let images: Vec<Vec<String>> =
        (0..12).map(|i| vec![text(i, 5 + 8 * i), text(i + 1, 65), text(3, i)]).collect();
    let all: Vec<u32> = (0..images.len() as u32).collect();
    for order in [1, 2, 5, MAX_ORDER] {
        let expected = document_frequencies(&images, &all, order);
        for n_words in SIZES {
            let corpus = corpus(&images);
            let (counts, found) = counted(&corpus, &all, n_words, order);
            assert_eq!(found, expected, "order {order}, {n_words} words");
            let mut segments = Segments::default();
            // The candidate is the first reference of one image, and is compared with those of the next one.
            for k in 0..images.len() {
                let next = 3 * ((k + 1) % images.len());
                let others = (next..next + 3).map(|r| corpus.sentences.words(r));
                segments.push(corpus.sentences.words(3 * k), others, order);
            }
            segments.look_up(&counts);
            for (k, image) in images.iter().enumerate() {
                let mut spell: Vec<Vec<String>> = Vec::new();
                for ngram in segments.get(k).all() {
                    let mut words = spell.get(ngram.prefix as usize).cloned().unwrap_or_default();
                    words.push(corpus.vocabulary.word(ngram.symbol).to_owned());
                    assert_eq!(ngram.images, expected[&words], "order {order}, {words:?}");
                    spell.push(words);
                }
                assert_eq!(spell.len(), spelt(&image[0], order).len());
            }
        }
    }
}

#[test]
fn many_images_cross_shards_and_parts() {
    let images: Vec<Vec<String>> = (0..5_000u32)
        .map(|i| {
            (0..2)
                .map(|r| {
                    // So few words that the n-grams of longer orders take fewer parts.
                    (0..6)
                        .map(|w| format!("w{}", (i * 31 + r * 7 + w * w * i) % 977))
                        .collect::<Vec<_>>()
                        .join(" ")
                })
                .collect()
        })
        .collect();
    let chosen: Vec<u32> = (0..images.len() as u32).filter(|i| i % 3 > 0).collect();
    let expected = document_frequencies(&images, &chosen, ORDER);
    for n_words in SIZES {
        let (counts, all) = counted(&corpus(&images), &chosen, n_words, ORDER);
        assert_eq!(counts.n_images(), chosen.len());
        assert_eq!(all, expected);
    }
}

#[test]
fn first_appearance_decides_the_order_of_ngrams() {
    let corpus = corpus(&[vec!["b a b a".into()], vec!["a b".into()]]);
    let mut segments = Segments::default();
    segments.push(corpus.sentences.words(0), [corpus.sentences.words(1)].into_iter(), ORDER);
    let segment = segments.get(0);
    let words: Vec<&str> =
        segment.order(0).iter().map(|ngram| corpus.vocabulary.word(ngram.symbol)).collect();
    assert_eq!(words, ["b", "a"]);
    assert_eq!(segment.order(1).iter().map(|ngram| ngram.count).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_last_numbers_that_are_packed_are_counted_like_the_next_ones() {
    let images = ["y z z z z z", "z z z z", "z y z y z", "y y y y y"].map(|text| vec![text.to_owned()]);
    let all: Vec<u32> = (0..images.len() as u32).collect();
    for n_words in [65_535, 65_536, 65_537, 65_538] {
        let mut vocabulary = Vocabulary::default();
        for k in 0.. {
            if vocabulary.len() == n_words - 2 {
                break;
            }
            vocabulary.intern(&format!("w{k}"));
        }
        let corpus = corpus_after(vocabulary, &images);
        assert_eq!(corpus.vocabulary.len(), n_words);
        let (counts, found) = counted(&corpus, &all, n_words, ORDER);
        assert_eq!(found, document_frequencies(&images, &all, ORDER), "{n_words} words");
        for (place, images_of) in occurrences(&counts, &corpus.lists(&all, ORDER)).iter().enumerate() {
            let mut segments = Segments::default();
            // The references of another image, so that every n-gram is looked up.
            let other = corpus.sentences.words((place + 1) % images.len());
            segments.push(corpus.sentences.words(place), [other].into_iter(), ORDER);
            segments.look_up(&counts);
            let mut own: Vec<u32> = Vec::new();
            Repeats::default().each(corpus.sentences.words(place), ORDER, |n, at, _| {
                let before: usize = (0..n).map(|n| corpus.sentences.words(place).len() - n).sum();
                own.push(images_of[before + at]);
            });
            let found: Vec<u32> = segments.get(0).all().iter().map(|ngram| ngram.images).collect();
            assert_eq!(found, own, "{n_words} words, image {place}");
        }
    }
}

#[test]
fn an_empty_word_is_not_taken_for_the_end_of_an_ngram() {
    let mut corpus = corpus(&[vec!["z a b".into()], vec!["a b".into()]]);
    let z = corpus.vocabulary.intern("z");
    let map: Vec<Symbol> = corpus
        .vocabulary
        .iter()
        .map(|(symbol, _)| if symbol == z { Symbol::EMPTY } else { symbol })
        .collect();
    corpus.sentences = corpus.sentences.mapped(&map);
    let (_, all) = counted(&corpus, &[0, 1], corpus.vocabulary.len(), ORDER);
    let of =
        |words: &[&str]| all.get(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).copied();
    assert_eq!(
        [of(&["a", "b"]), of(&["", "a", "b"]), of(&["", "a"]), of(&["b"])],
        [Some(2), Some(1), Some(1), Some(2)]
    );
}

#[test]
fn an_image_with_more_ngrams_than_sixteen_bits_can_number_is_counted_like_others() {
    let mut state = 1_u32;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("w{}", state >> 24)
    };
    let long = (0..30_000).map(|_| word()).collect::<Vec<_>>().join(" ");
    let corpus = corpus(&[vec![long.clone()], vec!["w1 w2".to_owned(), long]]);
    let lists = corpus.lists(&[0, 1], ORDER);
    let counts = NgramCounts::build(&lists, corpus.vocabulary.len(), 2);
    let found = occurrences(&counts, &lists).concat();
    assert!(found.len() > 3 * (1 << 16), "{}", found.len());
    assert!(found.iter().all(|images| (1..=2).contains(images)));
    assert!(found.iter().filter(|images| **images == 1).count() <= 3, "all but w1 w2 are in both images");
}

/// Answers are kept in sixteen bits, which do not hold such numbers.
#[test]
fn ngrams_of_more_images_than_sixteen_bits_can_count_are_counted_like_others() {
    const IMAGES_PER_LIST: u32 = 7_000;
    let images: Vec<Vec<String>> =
        (0..10).map(|i| vec![format!("a b c d{}", i % 2), format!("w{i} a b c")]).collect();
    let all: Vec<u32> = (0..images.len() as u32).collect();
    let corpus = corpus(&images);
    let expected: BTreeMap<Vec<String>, u32> = document_frequencies(&images, &all, ORDER)
        .into_iter()
        .map(|(words, count)| (words, count * IMAGES_PER_LIST))
        .collect();
    let shared = all.iter().flat_map(|list| std::iter::repeat_n(*list, IMAGES_PER_LIST as usize));
    let shared: Vec<u32> = shared.collect();
    let lists = corpus.lists(&shared, ORDER);
    for (n_words, least) in SIZES.into_iter().flat_map(|n_words| [(n_words, 1), (n_words, 2)]) {
        let counts = NgramCounts::build(&lists, n_words, least);
        for (text, found) in images.iter().flatten().zip(occurrences(&counts, &lists)) {
            let of_text: Vec<u32> = places(text, ORDER).iter().map(|words| expected[words]).collect();
            assert_eq!(found, of_text, "{n_words} words, at least {least}");
        }
    }
}
