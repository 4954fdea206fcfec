//! The tokenizer `jieba`, where it is built.

use capeval_text::Tokenizer;

/// The expected words are those of the Python package 0.42.1: `jieba.lcut(text)` without the spaces.
fn check(text: &str, words: &[&str]) {
    assert_eq!(Tokenizer::Jieba.pieces(text), words, "for {text:?}");
}

#[test]
fn words_come_from_the_dictionary() {
    check(
        "一个小男孩在hello world草地上。3.5元",
        &["一个", "小男孩", "在", "hello", "world", "草地", "上", "。", "3.5", "元"],
    );
}

#[test]
fn unknown_ascii_is_cut_as_by_the_package() {
    check("U.S. 5-year 1.2.3 a_b", &["U", ".", "S", ".", "5", "-", "year", "1.2", ".", "3", "a", "_", "b"]);
    check("穿T恤的人", &["穿", "T恤", "的", "人"]);
}

#[test]
fn ideographs_unknown_to_the_package_stand_alone() {
    check("䶵𠀀_", &["䶵", "𠀀", "_"]);
}
