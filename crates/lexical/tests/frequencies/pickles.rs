//! Pickles that are read, and pickles that are refused.

use crate::golden;
use capeval_lexical::frequencies::{DocumentFrequencies, pickle};
use capeval_testkit::real_bytes;
use proptest::prelude::*;

/// The n-grams of a table, as words joined by spaces, with their frequencies.
fn ngrams(table: &DocumentFrequencies) -> Vec<(String, u32)> {
    table.iter().map(|(words, frequency)| (words.join(" "), frequency)).collect()
}

fn expected(ngrams: &[(&str, u32)]) -> Vec<(String, u32)> {
    ngrams.iter().map(|(words, frequency)| ((*words).to_owned(), *frequency)).collect()
}

fn refused(bytes: &[u8], n_images: Option<u64>) -> String {
    pickle::read(bytes, n_images).expect_err("the pickle should be refused").to_string()
}

/// The items of a pickle of protocol 0, between the dictionary's start and its end.
fn bare(items: &str) -> Vec<u8> {
    format!("(d{items}.").into_bytes()
}

#[test]
fn all_protocols_give_the_same_table() {
    for (protocol, bytes) in golden::PROTOCOLS.iter().enumerate() {
        let table = pickle::read(bytes, None).unwrap_or_else(|e| panic!("protocol {protocol}: {e}"));
        assert_eq!((table.n_images(), table.order()), (3, 3));
        assert_eq!(ngrams(&table), expected(&[("a", 3), ("a dog", 2), ("café \"x\" \\", 1)]));
    }
}

#[test]
fn numpy_numbers_are_read() {
    for bytes in golden::NUMPY {
        let table = pickle::read(bytes, None).unwrap();
        assert_eq!(table.n_images(), 3);
        assert_eq!(ngrams(&table), expected(&[("a", 1), ("a b", 1)]));
    }
}

#[test]
fn a_dictionary_of_tuples_alone_needs_the_number_of_images() {
    // The shape of coco-val-df: Python 2, protocol 0, a defaultdict.
    let bytes = b"ccollections\ndefaultdict\np0\n(c__builtin__\nfloat\np1\ntp2\nRp3\n(S'a'\np4\nS\"it's\"\np5\ntp8\nF1.0\ns(g4\nS'3\\xc2\\xa01/4'\ntF2.0\ns.";
    let table = pickle::read(bytes, Some(2)).unwrap();
    assert_eq!(ngrams(&table), expected(&[("a 3\u{a0}1/4", 2), ("a it's", 1)]));
    let error = refused(bytes, None);
    assert!(error.contains("does not contain its number of images"), "{error}");
}

#[test]
fn any_number_type_may_be_the_default_factory() {
    for factory in ["__builtin__\nfloat", "__builtin__\nint", "__builtin__\nlong", "builtins\nint"] {
        let bytes = format!("ccollections\ndefaultdict\n(c{factory}\ntR(S'a'\ntI1\ns.");
        assert_eq!(ngrams(&pickle::read(bytes.as_bytes(), Some(1)).unwrap()), expected(&[("a", 1)]));
    }
}

#[test]
fn the_given_number_of_images_overrides_the_pickles_own() {
    assert_eq!(pickle::read(golden::PROTOCOLS[2], Some(7)).unwrap().n_images(), 7);
}

#[test]
fn a_logarithm_for_the_number_of_images_is_refused_with_a_hint() {
    let error = refused(b"}(U\x12document_frequency}U\x07ref_lenG@%7\xe3L\x09\x93$u.", None);
    assert!(error.contains("it may be a logarithm (of 40504."), "{error}");
}

#[test]
fn frequencies_beyond_the_number_of_images_are_refused() {
    let error = refused(golden::PROTOCOLS[2], Some(2));
    assert!(error.contains("occurs in 3 images, but the table is said to be over 2"), "{error}");
}

#[test]
fn broken_frequencies_are_refused_with_their_ngram() {
    for number in ["F0.5", "F-1.0", "Fnan", "Finf", "I-1", "F5000000000.0", "N", "S'1'"] {
        let error = refused(&bare(&format!("(S'a'\nS'b'\nt{number}\ns").replace("N\n", "N")), Some(9));
        assert_eq!(error, "the frequency of 'a b' is not a whole number of images");
    }
}

#[test]
fn of_repeated_keys_the_last_one_holds_and_zeros_are_dropped() {
    let bytes = bare("(S'a'\ntI2\ns(S'a'\ntI1\ns(S'b'\ntI5\ns(S'b'\ntI0\nsS'ref_len'\nF0.0\ns");
    assert_eq!(ngrams(&pickle::read(&bytes, Some(5)).unwrap()), expected(&[("a", 1)]));
}

#[test]
fn other_functions_are_refused_by_name_and_place() {
    for (bytes, place) in [
        (&b"cos\nsystem\n(S'true'\ntR."[..], 0),
        (b"\x80\x02cos\nsystem\n(U\x04truetR.", 2),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", 14),
    ] {
        let error = pickle::read(bytes, Some(1)).unwrap_err();
        assert!(error.to_string().contains("asks for os.system"), "{error}");
        assert!(error.to_string().starts_with(&format!("byte {place}: ")), "{error}");
    }
    for module in ["builtins\neval", "collections\nOrderedDict", "numpy\nload", "functools\npartial"] {
        assert!(refused(format!("c{module}\n.").as_bytes(), Some(1)).contains("asks for"));
    }
}

#[test]
fn other_operations_are_refused_by_name_and_place() {
    for (bytes, message) in [
        (&b"]."[..], "byte 0: operation EMPTY_LIST does not"),
        (b"}\x8f.", "byte 1: operation EMPTY_SET does not"),
        (b"(ios\nsystem\n.", "byte 1: operation INST does not"),
        (b"}Phello\n.", "byte 1: operation PERSID does not"),
        (b"}}b.", "byte 2: a state (BUILD)"),
        (b"\x80\x06}.", "byte 0: pickle protocol 6"),
        (b"\xff", "byte 0: operation 0xff, which"),
    ] {
        let error = refused(bytes, Some(1));
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn damaged_pickles_are_refused() {
    for (bytes, message) in [
        (&b""[..], "byte 0: the pickle stops short"),
        (b"}(U\x05abc", "byte 2: the pickle stops short"),
        (b"X\xff\xff\xff\xff.", "byte 0: the pickle stops short"),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", "byte 0: the pickle stops short"),
        (b"g0\n.", "byte 0: nothing is at place 0 of the memo"),
        (b"}r\xff\xff\xff\xff.", "byte 1: place 4294967295 in the memo after 0 others"),
        (b"}t.", "byte 1: the pickle goes back to a mark"),
        (b"}s.", "byte 1: the pickle takes more values"),
        (b"}(0u.", "byte 3: the pickle goes back to a mark"),
        (b"}(U\x01aU\x01bI1\nu.", "byte 11: a key without a value"),
        (b"NK\x01K\x01s.", "byte 5: items for something"),
        (b"}K\x01K\x01s.", "byte 5: a key that is neither"),
        (b"}F1.0x\n.", "byte 1: '1.0x' is not a number"),
        (b"}S'\\q'\n.", "byte 1: an escape sequence"),
        (b"}S'\\xff'\n.", "byte 1: a text that is not UTF-8"),
        (b"}V\\ud800\n.", "byte 1: an escape sequence"),
        (b"K\x01.", "the pickle contains no dictionary"),
        (b"}).", "the pickle contains no dictionary"),
        (b"})K\x01s.", "an n-gram of 0 words"),
    ] {
        let error = refused(bytes, Some(1));
        assert!(error.starts_with(message), "{error} for {bytes:?}");
    }
}

#[test]
fn a_pickle_that_only_repeats_itself_is_refused_before_it_grows() {
    assert!(refused(&[b'}'; 1000], Some(1)).contains("more dictionaries"));
    assert!(refused(&b"N\x85".repeat(10_000), Some(1)).contains("tuples of other things"));
}

#[test]
fn the_table_of_coco_val_is_read() {
    let Some(bytes) = real_bytes("data/cider_df/coco-val.pkl.gz") else { return };
    let table = pickle::read(&bytes, Some(40_504)).unwrap();
    assert_eq!((table.len(), table.order(), table.n_words()), (1_590_398, 4, 18_381));
    assert_eq!(table.frequency(["a"]), 40_447);
    assert_eq!(table.frequency(["pole", "on", "a", "street"]), 12);
    let mut saved = Vec::new();
    table.save(&mut saved).unwrap();
    assert_eq!(DocumentFrequencies::load(&saved).unwrap(), table);
    let mut pickled = Vec::new();
    table.write_pickle(&mut pickled).unwrap();
    assert_eq!(pickle::read(&pickled, None).unwrap(), table);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = pickle::read(&bytes, Some(5));
    }

    #[test]
    fn arbitrary_programs_never_panic(
        operations in prop::collection::vec(prop::sample::select(vec![
            &b"("[..], b"t", b")", b"\x85", b"\x86", b"\x87", b"}", b"d", b"s", b"u", b"0", b"1", b"2", b"N",
            b"K\x01", b"M\xff\xff", b"F1.0\n", b"I01\n", b"L7L\n", b"\x8a\x01\xff", b"S'a'\n", b"V\\u00e9\n",
            b"U\x01b", b"C\x02\xff\xfe", b"p0\n", b"q\x01", b"\x94", b"g0\n", b"h\x01",
            b"ccollections\ndefaultdict\n", b"cnumpy\ndtype\n", b"cnumpy.core.multiarray\nscalar\n",
            b"c_codecs\nencode\n", b"U\x02f8", b"U\x06latin1", b"R", b"\x81", b"b", b"U\x07ref_len",
            b"U\x12document_frequency",
        ]), 0..60),
    ) {
        let mut bytes = operations.concat();
        bytes.push(b'.');
        let _ = pickle::read(&bytes, Some(5));
    }

    #[test]
    fn damaged_tables_never_panic(protocol in 0..6_usize, at in 0..400_usize, byte: u8, cut in 0..400_usize) {
        let mut bytes = golden::PROTOCOLS[protocol].to_vec();
        let n = bytes.len();
        bytes[at % n] = byte;
        let _ = pickle::read(&bytes, None);
        bytes.truncate(cut % n);
        prop_assert!(pickle::read(&bytes, None).is_err() || bytes.contains(&b'.'));
    }
}
