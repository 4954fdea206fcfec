//! Compares the `ptb` tokenizer with PTBTokenizer 3.4.1 and pycocoevalcap's post-processing.

#![expect(clippy::unwrap_used, reason = "a damaged fixture fails the test")]

use capeval_testkit::real_text;
use capeval_text::tokenizers::plain::is_python_space;
use capeval_text::tokenizers::ptb;
use capeval_text::{Following, Scratch, Tokenizer};
use proptest::prelude::*;

/// Texts made up for this test, and the output of `PTBTokenizer -preserveLines -lowerCase` of
/// stanford-corenlp-3.4.1.jar (in the wheel pycocoevalcap 1.2, Java 17) and the punctuation filter in
/// pycocoevalcap's `ptbtokenizer.py`, with a neutral line after each: see `oracle/ptb.py`.
const CASES: &[(&str, &str)] = &[
    (
        "A man (who is 30) can't, won't and doesn't say \"hello\" -- it's 5'10\".",
        "a man -lrb- who is 30 -rrb- ca n't wo n't and does n't say hello it 's 5 10",
    ),
    ("She said 'hi there' and ``left''.", "she said hi there and left"),
    (
        "he cannot, she's gonna, I wanna, lemme gimme gotta go; 'tis 'twas",
        "he can not she 's gon na i wan na lem me gim me got ta go 't is 't was",
    ),
    (
        "Mr. Smith of the U.S. Navy met Dr. No at 5 p.m. on Main St. The end.",
        "mr. smith of the u.s. navy met dr. no at 5 p.m. on main st. the end",
    ),
    ("vitamin c. And more", "vitamin c. and more"),
    ("fig. 3 shows no. 5, pp. 4, ca. 1990, etc.", "fig. 3 shows no. 5 pp. 4 ca. 1990 etc."),
    (
        "half a cup is 1/2 cup, 3 1/2 cups, 3-1/2 cups, ½ cup, ⅛ cup",
        "half a cup is 1/2 cup 3\u{a0}1/2 cups 3-1/2 cups 1/2 cup ⅛ cup",
    ),
    (
        "call (555) 123-4567 or 555 123 4567 or +1 800 555 1234",
        "call -lrb-555-rrb-\u{a0}123-4567 or 555\u{a0}123\u{a0}4567 or +1 800\u{a0}555\u{a0}1234",
    ),
    ("prices: $5.00, US$5, £3, €4, ¥5, 20¢, 50%, #1", "prices $ 5.00 us$ 5 # 3 $ 4 ¥ 5 20 cents 50 % # 1"),
    (
        "see http://www.example.com/a?b=c, www.foo.org/bar or mail a.b@x.edu",
        "see http://www.example.com/a?b=c www.foo.org/bar or mail a.b@x.edu",
    ),
    (
        "@user likes #dogs and <b class=\"x y\">bold</b> text <br />",
        "@user likes #dogs and <b\u{a0}class=\"x\u{a0}y\"> bold </b> text <br\u{a0}/>",
    ),
    (":) :-( ;-P =D (^_^) ^_^ <3", ":-rrb- :--lrb- ;-p =d -lrb-^_^-rrb- ^_^ < 3"),
    (
        "rock 'n' roll, o'clock, ol' man, y'all, O'Brien, l'avion, '90s, '99 .",
        "rock 'n' roll o'clock ol' man y' all o'brien l'avion '90s '99",
    ),
    (
        "a black-and-white close-up of a t-shirt, and/or his/her, w/ a w/o b",
        "a black-and-white close-up of a t-shirt and/or his/her w / a w/o b",
    ),
    (
        "AT&T, R&D, S&P-500, A&amp;B, fish &amp; chips &lt;3 &quot;x&quot; it&apos;s caf&eacute;",
        "at&t r&d s&p-500 a&b fish & chips < 3 x it 's caf&eacute;",
    ),
    ("wait... what?! no!!! . . . ok ---- so – well — yes", "wait what ?! no !!! ok so well yes"),
    ("“curly” ‘single’ «guillemets» „low‟", "curly single guillemets „ low ‟"),
    ("don’t it’s dogs’ rock ’n’ roll n`t", "do n't it 's dogs rock ’n’ roll n`t"),
    (
        "{a} [b] (c) <d> << >> / * ** \\* _ __ ~ ^ = + |",
        "-lcb- a -rcb- -lsb- b -rsb- -lrb- c -rrb- <d> << >> / * ** \\* _ __ ~ ^ = + |",
    ),
    ("soft\u{ad}hyphen \u{ad} co\u{ad}op", "softhyphen coop"),
    (
        "日本語 café naïve Ünïcode ２ Ⅷ ⓐ 😀 a😀b https://😀.com",
        "日本語 café naïve ünïcode ２ ⓐ a b https://😀.com",
    ),
    (
        "1,000,000 -5 +3 .5 12:30 1990's 20th 4x4 mp3 5p.m. 1.5-inch 2,4-D",
        "1,000,000 -5 +3 .5 12:30 1990 's 20th 4x4 mp3 5p m. 1.5-inch 2,4-d",
    ),
    ("dog.jpg, a.b.html file.txt? photo.png x.zip", "dog.jpg a.b.html file.txt photo.png x.zip"),
    ("John Jr. and Co. Ltd. pty. ltd. Inc.", "john jr. and co. ltd. pty. ltd. inc."),
    ("C++, c#, C.D.s, pro-life anti-war cap'n c'est", "c++ c# c.d.s pro-life anti-war cap'n c'est"),
    ("foo.bar hello!there what?ever end.Next", "foo.bar hello!there what?ever end.next"),
    ("ΟΔΟΣ ΣΑΣ Σ ΑΣ-ΑΣ", "οδος σας σ ασ-ας"),
    ("ıstanbul İstanbul 'tıs Kansas ſt.", "ıstanbul i̇stanbul 't ıs kansas ſt."),
    ("^.[^x= a dog, a cat <>] end", "^.[^x= a dog, a cat <>] end"),
];

/// The tokens of a text before a new sentence.
fn tokens(text: &str) -> String {
    Tokenizer::PtbEach.pieces(text).join(" ")
}

fn raw(text: &str) -> String {
    Tokenizer::PtbRaw.pieces(text).join(" ")
}

/// The tokens of a text before other lines.
fn tokens_before(text: &str, lines: &[&str]) -> String {
    let mut pieces = Vec::new();
    let following = || -> Following<'_> { Box::new(lines.iter().copied()) };
    Tokenizer::Ptb
        .tokenize_before(text, &following, &mut Scratch::default(), |piece| pieces.push(piece.to_owned()));
    pieces.join(" ")
}

#[test]
fn tokens_equal_those_of_the_java_program() {
    for (text, expected) in CASES {
        assert_eq!(tokens(text), *expected, "{text:?}");
    }
}

#[test]
fn one_scratch_serves_all_texts() {
    let mut scratch = Scratch::default();
    for (text, expected) in CASES.iter().chain(CASES) {
        let mut pieces = Vec::new();
        Tokenizer::PtbEach.tokenize(text, &mut scratch, |piece| pieces.push(piece.to_owned()));
        assert_eq!(pieces.join(" "), *expected);
    }
}

#[test]
fn brackets_survive_because_they_are_lower_cased_before_filtering() {
    assert_eq!(tokens("a man (left) [x] {y}"), "a man -lrb- left -rrb- -lsb- x -rsb- -lcb- y -rcb-");
}

#[test]
fn longer_marks_survive_the_punctuation_filter() {
    assert_eq!(tokens("no!!! why??? what?! & / $ # % -----"), "no !!! why ??? what ?! & / $ # % -----");
    assert_eq!(tokens("a . b ? c ! d , e : f ; g - h -- i --- j ... k"), "a b c d e f g h i j k");
}

#[test]
fn tokens_are_lower_cased_after_the_rules() {
    assert_eq!(tokens("Miss. 5 miss. 5"), "miss. 5 miss 5");
    assert_eq!(tokens("X'YZ x'yz"), "x'yz x yz");
}

#[test]
fn a_line_feed_is_a_space() {
    assert_eq!(tokens("a man\nin red"), "a man in red");
    assert_eq!(tokens("3\n1/2 cups"), "3\u{a0}1/2 cups");
}

#[test]
fn a_text_with_line_breaks_inside_stays_one_text() {
    for line_break in ["\r", "\r\n", "\u{b}", "\u{c}", "\u{2028}", "\u{2029}"] {
        assert_eq!(tokens(&format!("a man.{line_break}The dog's tail")), "a man the dog 's tail");
    }
    // This is an ellipsis in Windows-1252, and is read as one.
    assert_eq!(raw("a man\u{85}The dog"), "a man ... The dog");
    assert_eq!(tokens("a\0man \0 in red"), "a man in red");
}

#[test]
fn white_space_at_the_end_of_a_line_is_cut_from_its_last_token() {
    assert_eq!(tokens("see http://a.b/c\u{3000}"), "see http://a.b/c");
    assert_eq!(tokens("see http://a.b/c\u{3000} now"), "see http://a.b/c\u{3000} now");
    assert_eq!(tokens("me@x.org\u{b} \r a"), "me@x.org a");
}

#[test]
fn fractions_phone_numbers_and_tags_contain_no_break_spaces() {
    assert_eq!(Tokenizer::Ptb.pieces("3 1/2 <b x>"), ["3\u{a0}1/2", "<b\u{a0}x>"]);
    assert_eq!(Tokenizer::Ptb.pieces("(555) 123-4567"), ["-lrb-555-rrb-\u{a0}123-4567"]);
}

#[test]
fn characters_outside_the_basic_plane_vanish_and_split_words() {
    assert_eq!(tokens("a\u{1f600}b \u{1f600} \u{20000}"), "a b");
    assert_eq!(tokens("https://\u{1f600}.com"), "https://\u{1f600}.com");
}

#[test]
fn an_empty_text_has_no_tokens() {
    assert!(Tokenizer::Ptb.pieces("").is_empty());
    assert!(Tokenizer::Ptb.pieces(" . \u{200b} ").is_empty());
}

#[test]
fn a_single_letter_keeps_its_full_stop_unless_the_next_text_begins_a_sentence() {
    assert_eq!(tokens("next to a letter K."), "next to a letter k", "a text alone ends a sentence");
    assert_eq!(tokens_before("next to a letter K.", &["a dog"]), "next to a letter k.");
    assert_eq!(tokens_before("next to a letter K.", &["A dog"]), "next to a letter k");
    assert_eq!(tokens("the letter K. The dog"), "the letter k the dog");
}

#[test]
fn a_number_after_the_line_break_makes_an_abbreviation() {
    assert_eq!(tokens("it says no."), "it says no");
    assert_eq!(tokens_before("it says no.", &["Two dogs"]), "it says no");
    assert_eq!(tokens_before("it says no.", &["2 dogs"]), "it says no.");
}

#[test]
fn a_look_ahead_passes_over_blank_lines_as_the_rules_allow() {
    assert_eq!(tokens_before("it says no.", &["", "2 dogs"]), "it says no");
    assert_eq!(tokens_before("a letter K.", &["", " ", "The dog"]), "a letter k");
    assert_eq!(tokens_before("a letter K.", &["", " ", "the dog"]), "a letter k.");
}

#[test]
fn the_end_of_the_file_is_not_a_line_break() {
    for (text, last, inside) in [
        ("a man :)", "a man -rrb-", "a man :-rrb-"),
        ("dogs '99", "dogs 99", "dogs '99"),
        ("a letter K.", "a letter k.", "a letter k"),
        ("it says no.", "it says no", "it says no"),
        ("see photo.jpg", "see photo.jpg", "see photo.jpg"),
    ] {
        assert_eq!([tokens_before(text, &[]), tokens_before(text, &["A dog"])], [last, inside]);
    }
}

#[test]
fn what_follows_a_text_never_becomes_part_of_it() {
    assert_eq!(tokens_before("a <b c='d", &["e'> f"]), tokens("a <b c='d"));
    assert_eq!(tokens_before("a ^.[^x= b", &["c <>]"]), tokens("a ^.[^x= b"));
}

#[test]
fn abbreviations_at_the_end_get_a_second_full_stop() {
    assert_eq!(raw("Mr. Smith Jr."), "Mr. Smith Jr. .");
    assert_eq!(tokens("Mr. Smith Jr."), "mr. smith jr.");
}

#[test]
fn long_runs_without_spaces_take_linear_time() {
    for part in ["a,", "<!a", "<a b='", "-a'", "a-b.", "\u{1f600}a", "x^.[^x=", "\u{e9},"] {
        let text = part.repeat(100_000);
        let mut count = 0;
        Tokenizer::Ptb.tokenize(&text, &mut Scratch::default(), |_| count += 1);
        assert!(count > 0);
    }
}

/// Compares the raw tokens of each line with those of the Java program, which has read all lines as one file.
fn check_fixture(input: &str, output: &str, lower: bool) {
    let (Some(input), Some(output)) = (real_text(input), real_text(output)) else { return };
    let mut scratch = Scratch::default();
    let mut lines = input.split('\n');
    for (number, expected) in output.lines().enumerate() {
        let text = lines.next().unwrap();
        let mut pieces = Vec::new();
        let following = || -> Following<'_> { Box::new(lines.clone()) };
        ptb::lex_before(text, &following, &mut scratch, |piece| pieces.push(piece.to_owned()));
        let ours = pieces.join(" ");
        assert_eq!(if lower { ours.to_lowercase() } else { ours }, expected, "line {}: {text:?}", number + 1);
    }
    assert!(lines.all(str::is_empty));
}

#[test]
fn written_lines_equal_the_fixture() {
    check_fixture("golden/ptb/ptb_hand.txt.gz", "golden/ptb/ptb_hand.tok.gz", true);
}

#[test]
fn every_character_of_the_basic_plane_equals_the_fixture() {
    check_fixture("golden/ptb/ptb_bmp.in.gz", "golden/ptb/ptb_bmp.tok_nolower.gz", false);
}

/// Applies pycocoevalcap's post-processing to the raw tokens of a line.
fn finished(raw: &[String]) -> Vec<String> {
    let mut line = raw.join(" ").to_lowercase();
    line.truncate(line.trim_end_matches(is_python_space).len());
    let dropped = ["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""];
    line.split(' ').filter(|word| !dropped.contains(word)).map(str::to_owned).collect()
}

/// Any mixture of real words, fragments that rules mention, and arbitrary characters.
fn hostile() -> impl Strategy<Value = String> {
    let words = "a man the dog cannot gonna can't it's U.S. St. Jr. fig. no. K. 3 12 1/2 5.00 www.a.com \
        a@b.c http:// &amp; &apos;s <b> </b> <a b=' :) ( ) \" ' `` ’s “ — -- ... . , ; : ! ? / - o'clock \
        black-and-white é 日本 😀 \u{a0} \u{ad} \u{300} $ # % * @x 'n' Mr. The An and/or 555-1234 x.jpg";
    let words: Vec<&str> = words.split(' ').collect();
    let glue = prop::sample::select(vec![" ", " ", " ", "", "", "  ", ".", ", ", "'", "-", "\t", "\n"]);
    let part = prop_oneof![
        6 => prop::sample::select(words).prop_map(str::to_owned),
        2 => "[a-zA-Z]{1,9}",
        1 => "\\PC{0,3}",
        1 => prop::char::range('\0', '\u{2fff}').prop_map(String::from),
    ];
    prop::collection::vec((part, glue), 0..12)
        .prop_map(|parts| parts.into_iter().map(|(part, glue)| part + glue).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_path_equals_the_rules(text in hostile()) {
        // Sigma and line breaks have their own tests above.
        prop_assume!(!text.contains(['\u{3a3}', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']));
        let joined = Tokenizer::PtbEach.pieces(&text).join(" ");
        prop_assert_eq!(joined, finished(&Tokenizer::PtbRaw.pieces(&text)).join(" "));
    }

    #[test]
    fn no_text_makes_the_tokenizer_panic(text in any::<String>(), next in hostile()) {
        let mut scratch = Scratch::default();
        Tokenizer::Ptb.tokenize_before(&text, &|| Box::new([next.as_str()].into_iter()), &mut scratch, |_| {});
        Tokenizer::PtbRaw.tokenize_before(&next, &|| Box::new([text.as_str()].into_iter()), &mut scratch, |_| {});
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_open_texts_depend_on_what_follows(text in hostile(), a in hostile(), b in hostile()) {
        let read = |lines: &[&str]| {
            let mut pieces = Vec::new();
            let following = || -> Following<'_> { Box::new(lines.iter().copied()) };
            let piece = |piece: &str| pieces.push(piece.to_owned());
            let is_open = Tokenizer::Ptb.tokenize_before(&text, &following, &mut Scratch::default(), piece);
            (pieces, is_open)
        };
        let (alone, is_open) = read(&[]);
        for lines in [&[a.as_str()][..], &[b.as_str()], &["", a.as_str(), b.as_str()], &["A "], &["2 "], &["<b> "]] {
            let (before, is_open_before) = read(lines);
            prop_assert_eq!(is_open, is_open_before);
            prop_assert!(is_open || alone == before, "{:?} before {:?}", text, lines);
        }
    }
}
