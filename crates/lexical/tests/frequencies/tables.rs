//! Tables: counting, searching, merging, saving.

use std::collections::{BTreeMap, BTreeSet};

use capeval_lexical::frequencies::{Counts, DocumentFrequencies, Tally, file, pickle};
use proptest::prelude::*;

/// The references of some images, word by word.
type Images = Vec<Vec<Vec<String>>>;

fn images() -> impl Strategy<Value = Images> {
    let word =
        prop::sample::select(vec!["a", "b", "c", "dog", "é", "", "z\u{a0}y", "\"", "狗", "in", "on", "of"]);
    let caption = prop::collection::vec(word.prop_map(str::to_owned), 0..8);
    prop::collection::vec(prop::collection::vec(caption, 0..3), 0..8)
}

/// Counts, image by image, the distinct n-grams of the references: the definition in code.
fn table(images: &[Vec<Vec<String>>], order: usize) -> DocumentFrequencies {
    let mut counts = Counts::default();
    for references in images {
        let ngrams = references.iter().flat_map(|words| (1..=order).flat_map(|n| words.windows(n)));
        for ngram in ngrams.collect::<BTreeSet<_>>() {
            let words: Vec<u32> = ngram.iter().map(|word| counts.word(word).expect("few words")).collect();
            counts.push(&words, 1).expect("short n-grams");
        }
    }
    counts.into_table(images.len() as u64, order).expect("few captions make a table")
}

fn captions(texts: &[&[&str]]) -> Images {
    let words = |text: &&str| text.split_whitespace().map(str::to_owned).collect();
    texts.iter().map(|references| references.iter().map(words).collect()).collect()
}

fn saved(table: &DocumentFrequencies) -> Vec<u8> {
    let mut bytes = Vec::new();
    table.save(&mut bytes).expect("a vector takes all bytes");
    bytes
}

/// A file with this body and the checksum that belongs to it.
fn file_of(body: &[u8]) -> Vec<u8> {
    let mut bytes = file::MAGIC.to_vec();
    bytes.extend(file::VERSION.to_le_bytes());
    bytes.extend(twox_hash::XxHash3_64::oneshot(body).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn refused(bytes: &[u8]) -> String {
    DocumentFrequencies::load(bytes).expect_err("the file should be refused").to_string()
}

#[test]
fn an_ngram_counts_once_for_each_image() {
    let table = table(&captions(&[&["a dog a dog", "a dog"], &["the dog"], &[]]), 2);
    assert_eq!((table.n_images(), table.order(), table.len()), (3, 2, 6));
    assert_eq!(table.frequency(["dog"]), 2);
    assert_eq!(table.frequency(["a", "dog"]), 1);
    assert_eq!(table.frequency(["dog", "the"]), 0);
    assert_eq!(table.frequency(["cat"]), 0);
    assert_eq!(table.frequency::<&str>([]), 0);
}

#[test]
fn iteration_goes_by_order_and_then_by_word() {
    let table = table(&captions(&[&["b a b"]]), 3);
    let ngrams: Vec<String> = table.iter().map(|(words, _)| words.join(" ")).collect();
    assert_eq!(ngrams, ["a", "b", "a b", "b a", "b a b"]);
}

#[test]
fn many_continuations_of_one_word_are_all_found() {
    let mut counts = Counts::default();
    let first = counts.word("first").unwrap();
    for k in 0..5000_u32 {
        let word = counts.word(&format!("w{k}")).unwrap();
        counts.push(&[first, word], k % 7 + 1).unwrap();
        counts.push(&[first, word, first], k % 3 + 1).unwrap();
    }
    let table = counts.into_table(7, 3).unwrap();
    for k in 0..5000_u32 {
        let word = format!("w{k}");
        assert_eq!(table.frequency(["first", &word]), k % 7 + 1);
        assert_eq!(table.frequency(["first", &word, "first"]), k % 3 + 1);
        assert_eq!(table.frequency(["first", &word, &word]), 0);
        assert_eq!(table.frequency([word.as_str()]), 0);
    }
    let (prefix, frequency) = table.child(None, table.find_word("first").unwrap()).unwrap();
    assert_eq!(frequency, 0, "single words were not counted");
    assert_eq!(table.child(Some(prefix), u32::MAX), None);
    assert_eq!(table.child(None, u32::MAX), None);
}

#[test]
fn nodes_of_the_longest_ngrams_have_no_continuation() {
    let table = table(&captions(&[&["a a a"]]), 2);
    let a = table.find_word("a").unwrap();
    let (prefix, _) = table.child(None, a).unwrap();
    let (longest, _) = table.child(Some(prefix), a).unwrap();
    assert_eq!(table.child(Some(longest), a), None);
}

#[test]
fn the_empty_table_is_a_table() {
    let table = table(&[], 4);
    assert!(table.is_empty());
    assert_eq!((table.n_images(), table.order(), table.len()), (0, 4, 0));
    assert_eq!(DocumentFrequencies::load(&saved(&table)).unwrap(), table);
    let mut bytes = Vec::new();
    table.write_pickle(&mut bytes).unwrap();
    assert!(pickle::read(&bytes, None).unwrap().is_empty());
}

#[test]
fn orders_beyond_nine_and_none_are_refused() {
    assert!(Counts::default().into_table(1, 0).is_err());
    assert!(Counts::default().into_table(1, 10).is_err());
    let mut counts = Counts::default();
    let word = counts.word("a").unwrap();
    assert!(counts.push(&[word; 10], 1).is_err());
    assert!(counts.push(&[], 1).is_err());
    assert!(counts.push(&[word + 1], 1).is_err());
    counts.push(&[word; 9], 1).unwrap();
    assert!(counts.clone().into_table(1, 8).is_err());
    assert_eq!(counts.into_table(1, 9).unwrap().frequency(["a"; 9]), 1);
}

#[test]
fn tables_of_different_orders_do_not_merge() {
    let images = captions(&[&["a b"]]);
    let error = table(&images, 2).merge(&table(&images, 3)).unwrap_err().to_string();
    assert!(error.contains("order 2 and 3"), "{error}");
}

/// The counts of some images, in parts.
fn tally(images: &[Vec<Vec<String>>], order: usize, parts: u32) -> Tally {
    let mut tally = Tally::new(order, parts);
    let count = |counts: &mut Counts| -> Result<(), capeval_choice::Refusal> {
        for (words, frequency) in table(images, order).iter() {
            let words = words.iter().map(|word| counts.word(word)).collect::<Result<Vec<_>, _>>()?;
            counts.push(&words, frequency)?;
        }
        Ok(())
    };
    tally.add(images.len() as u64, count).expect("the counts fit");
    tally
}

proptest! {
    /// However images are cut, n-grams dealt, and parts merged, they give the table of all.
    #[test]
    fn parts_of_counts_merge_to_the_whole_table(images in images(), size in 1_usize..5, n in 1_u32..6) {
        let mut by_part: Vec<Tally> = (0..n).map(|_| Tally::new(4, n)).collect();
        for some in images.chunks(size).rev() {
            for (part, bytes) in tally(some, 4, n).parts() {
                by_part[part as usize].merge(&bytes).unwrap();
            }
        }
        let mut joined = Tally::new(4, n);
        let mut n_ngrams = 0;
        for (k, merged) in by_part.iter().enumerate() {
            merged.counts().for_each(|_, _| n_ngrams += 1);
            for (part, bytes) in merged.parts() {
                prop_assert_eq!(part as usize, k, "a merged part has n-grams of one part only");
                joined.merge(&bytes).unwrap();
            }
        }
        prop_assert_eq!(joined.is_empty(), images.is_empty());
        let joined = joined.into_table().unwrap();
        prop_assert_eq!(&joined, &table(&images, 4));
        prop_assert_eq!(joined.len(), n_ngrams);
    }

    /// A damaged part is refused or has other n-grams; its checksum is made right, so that its body is read.
    #[test]
    fn damaged_parts_never_panic(at in 20_usize..60, byte in 0..=255_u8, end in 20_usize..70) {
        let images = captions(&[&["a dog in a house", "the dog"], &["two cats"]]);
        let (_, mut bytes) = tally(&images, 3, 2).parts().next().unwrap();
        if let Some(found) = bytes.get_mut(at) {
            *found = byte;
        }
        bytes.truncate(end.max(20));
        let hash = twox_hash::XxHash3_64::oneshot(&bytes[20..]);
        bytes[12..20].copy_from_slice(&hash.to_le_bytes());
        let mut merged = Tally::new(3, 2);
        let _ = merged.merge(&bytes);
    }
}

#[test]
fn incomplete_and_foreign_parts_are_refused() {
    let images = captions(&[&["a b"], &["c"]]);
    let parts: Vec<(u32, Vec<u8>)> = tally(&images, 2, 3).parts().collect();
    assert_eq!(parts.len(), 3, "each part gives the number of images, even without n-grams");
    let mut some = Tally::new(2, 3);
    some.merge(&parts[0].1).unwrap();
    let error = some.into_table().unwrap_err().to_string();
    assert!(error.contains("different numbers of images"), "{error}");
    for mut other in [Tally::new(2, 4), Tally::new(3, 3)] {
        let error = other.merge(&parts[0].1).unwrap_err().to_string();
        assert!(error.contains("does not belong"), "{error}");
    }
    let mut damaged = parts[1].1.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let error = Tally::new(2, 3).merge(&damaged).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
    assert!(Tally::new(2, 3).merge(b"capevng").is_err());
}

#[test]
fn frequencies_that_overflow_do_not_merge() {
    let mut counts = Counts::default();
    let word = counts.word("a").unwrap();
    counts.push(&[word], u32::MAX).unwrap();
    let table = counts.into_table(1 << 40, 1).unwrap();
    assert!(table.merge(&table).is_err());
}

#[test]
fn the_number_of_images_is_bounded() {
    assert!(Counts::default().into_table(1 << 53, 1).is_ok());
    assert!(Counts::default().into_table((1 << 53) + 1, 1).is_err());
}

#[test]
fn the_file_format_is_pinned() {
    let table = table(&captions(&[&["a dog"], &["a"]]), 2);
    let body = b"\x02\x02\x02\x01\x03adog\x01\x02\x01\x01\x01\x00\x01";
    assert_eq!(saved(&table), file_of(body));
    // By python-xxhash 4.1.0: `xxhash.xxh3_64_intdigest(body)`.
    assert_eq!(table.fingerprint(), 0x1480_60d8_5970_6b96);
}

#[test]
fn foreign_old_and_damaged_files_are_refused_with_the_reason() {
    let bytes = saved(&table(&captions(&[&["a dog runs", "a cat"], &["a"]]), 3));
    assert!(refused(b"").contains("not a table"));
    assert!(refused(b"PK\x03\x04 something else entirely").contains("not a table"));
    assert!(refused(&bytes[..19]).contains("not a table"));
    let mut other = bytes.clone();
    other[8] = 2;
    assert!(refused(&other).contains("version 2"));
    for n in 20..bytes.len() {
        assert!(refused(&bytes[..n]).contains("truncated or damaged"));
    }
    for k in 12 * 8..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[k / 8] ^= 1 << (k % 8);
        assert!(refused(&flipped).contains("truncated or damaged"));
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(refused(&longer).contains("truncated or damaged"));
}

#[test]
fn files_with_a_right_checksum_but_a_wrong_structure_are_refused() {
    for (body, reason) in [
        (&b""[..], "stops short"),
        (b"\x02\x00\x00", "order 0"),
        (b"\x02\x0a\x00", "order 10"),
        (b"\x02\x02\xff\xff\xff\xff\x0f", "stops short"),
        (b"\x02\x02\x02\x01\x03adog", "stops short"),
        (b"\x02\x01\x02\x01\x01ba\x01\x01", "not sorted"),
        (b"\x02\x01\x02\x01\x01aa\x01\x01", "not sorted"),
        (b"\x02\x01\x02\x01\x01\xc3\xa9\x01\x01", "not sorted"),
        (b"\x02\x01\x01\x01\xff\x01", "not sorted"),
        (b"\x02\x01\x01\x01a\x03", "occurs in 3 images"),
        (b"\x02\x01\x01\x01a\x00", "occurs in no image"),
        (b"\x02\x01\x01\x01a\x81\x00", "padded"),
        (b"\x02\x01\x01\x01a\x81\x80\x80\x80\x80\x80\x80\x80\x80\x02", "too large"),
        (b"\x02\x01\x01\x01a\x80\x80\x80\x80\x10", "too large"),
        (b"\x02\x01\x01\x01a\x01\x00", "more bytes"),
        (b"\x02\x02\x01\x01a\x01\x01\x00\x01\x00", "occurs in no image"),
        (b"\x02\x02\x01\x01a\x01\x01\x01\x01\x01", "not in the table"),
        (b"\x02\x02\x01\x01a\x01\x01\x01\x00\x00", "of 2 words is wrong"),
        (b"\x02\x02\x01\x01a\x01\x01\x01\x02\x00\x00", "not in the table"),
    ] {
        let error = refused(&file_of(body));
        assert!(error.contains(reason), "{error} for {body:?}");
    }
}

#[test]
fn a_file_or_a_pickle_is_recognised_by_its_first_bytes() {
    let table = table(&captions(&[&["a b"]]), 2);
    assert_eq!(DocumentFrequencies::read(&saved(&table), None).unwrap(), table);
    assert_eq!(DocumentFrequencies::read(&saved(&table), Some(1)).unwrap(), table);
    assert!(DocumentFrequencies::read(&saved(&table), Some(2)).is_err());
    let mut bytes = Vec::new();
    table.write_pickle(&mut bytes).unwrap();
    assert_eq!(DocumentFrequencies::read(&bytes, None).unwrap(), table);
    assert_eq!(DocumentFrequencies::read(&bytes, Some(2)).unwrap().n_images(), 2);
}

proptest! {
    #[test]
    fn look_ups_agree_with_a_plain_map(images in images(), order in 1..5_usize) {
        let table = table(&images, order);
        let mut map: BTreeMap<Vec<&str>, u32> = BTreeMap::new();
        for references in &images {
            let mut seen: Vec<Vec<&str>> = Vec::new();
            for reference in references {
                for n in 1..=order {
                    seen.extend(reference.windows(n).map(|words| words.iter().map(String::as_str).collect()));
                }
            }
            seen.sort();
            seen.dedup();
            for ngram in seen {
                *map.entry(ngram).or_default() += 1;
            }
        }
        prop_assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), map.clone());
        prop_assert_eq!(table.len(), map.len());
        for (ngram, frequency) in &map {
            prop_assert_eq!(table.frequency(ngram), *frequency);
            for word in ["a", "b", "dog", "nowhere"] {
                let longer: Vec<&str> = ngram.iter().copied().chain([word]).collect();
                prop_assert_eq!(table.frequency(&longer), map.get(&longer).copied().unwrap_or(0));
            }
        }
    }

    #[test]
    fn merged_shards_equal_the_whole(images in images(), cut in 0..8_usize) {
        let (left, right) = images.split_at(cut.min(images.len()));
        let merged = table(left, 4).merge(&table(right, 4)).unwrap();
        let whole = table(&images, 4);
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(&merged, &table(right, 4).merge(&table(left, 4)).unwrap());
        prop_assert_eq!(saved(&merged), saved(&whole));
        prop_assert_eq!(merged.fingerprint(), whole.fingerprint());
    }

    #[test]
    fn the_order_of_images_changes_no_byte(mut images in images()) {
        let bytes = saved(&table(&images, 4));
        images.reverse();
        prop_assert_eq!(saved(&table(&images, 4)), bytes);
    }

    #[test]
    fn different_tables_have_different_fingerprints(one in images(), other in images()) {
        let (one, other) = (table(&one, 3), table(&other, 3));
        prop_assert_eq!(one == other, one.fingerprint() == other.fingerprint());
    }

    #[test]
    fn files_pickles_and_json_keep_everything(images in images()) {
        let table = table(&images, 3);
        prop_assert_eq!(&DocumentFrequencies::load(&saved(&table)).unwrap(), &table);
        let mut bytes = Vec::new();
        table.write_pickle(&mut bytes).unwrap();
        let back = pickle::read(&bytes, None).unwrap();
        prop_assert!(back.iter().eq(table.iter()) && back.n_images() == table.n_images());
        let mut json = Vec::new();
        table.write_json(&mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        prop_assert_eq!(json["n_images"].as_u64(), Some(table.n_images()));
        let items: Vec<(Vec<String>, u32)> =
            serde_json::from_value(json["document_frequency"].clone()).unwrap();
        prop_assert!(items.iter().map(|(w, f)| (w.iter().map(String::as_str).collect(), *f)).eq(table.iter()));
    }

    #[test]
    fn ngrams_without_their_prefixes_are_kept(
        ngrams in prop::collection::vec((prop::collection::vec(0..4_u32, 1..5), 0..9_u32), 0..20),
    ) {
        let mut counts = Counts::default();
        for word in ["d", "c", "b", "a"] {
            counts.word(word).unwrap();
        }
        let mut map = BTreeMap::new();
        for (ngram, frequency) in &ngrams {
            counts.set(ngram, *frequency).unwrap();
            let words: Vec<&str> = ngram.iter().map(|n| ["d", "c", "b", "a"][*n as usize]).collect();
            map.insert(words, *frequency);
        }
        map.retain(|_, frequency| *frequency > 0);
        let table = counts.into_table(9, 4).unwrap();
        prop_assert_eq!(table.iter().collect::<BTreeMap<_, _>>(), map);
        prop_assert_eq!(&DocumentFrequencies::load(&saved(&table)).unwrap(), &table);
    }

    #[test]
    fn arbitrary_bodies_never_panic_and_what_is_read_is_canonical(body in prop::collection::vec(0..6_u8, 0..40)) {
        let bytes = file_of(&body);
        if let Ok(table) = DocumentFrequencies::load(&bytes) {
            prop_assert_eq!(saved(&table), bytes);
        }
    }

    #[test]
    fn altered_bodies_never_panic_and_what_is_read_is_canonical(
        images in images(), at: usize, byte: u8, small in 0..8_u8,
    ) {
        for byte in [byte, small] {
            let mut body = saved(&table(&images, 3)).split_off(20);
            let n = body.len();
            body[at % n] = byte;
            let bytes = file_of(&body);
            if let Ok(table) = DocumentFrequencies::load(&bytes) {
                prop_assert_eq!(saved(&table), bytes);
                for (words, frequency) in table.iter() {
                    prop_assert_eq!(table.frequency(words), frequency);
                }
            }
        }
    }
}
