//! The rules without their automaton: each pattern is tried at each character. Slow, and independent of positions,
//! states and what the lexer remembers, so that tests and fuzz targets can compare both.

use super::classes::{self, END};
use super::lexer::{Match, Source};
use super::pattern::Pattern;
use super::{Lexer, Version};

/// The most UTF-16 units of a text and of the lines after it.
const MOST: usize = 120;

/// The places after each match of `pattern` that begins at one of the places `from`; places are bits.
fn ends(pattern: &Pattern, units: &[u8], from: u128) -> u128 {
    if from == 0 {
        return 0;
    }
    match pattern {
        Pattern::One(set) => {
            let fits = |(at, class): &(usize, &u8)| from >> at & 1 == 1 && set.has(**class);
            units.iter().enumerate().filter(fits).fold(0, |ends, (at, _)| ends | 2 << at)
        }
        Pattern::Sequence(parts) => parts.iter().fold(from, |from, part| ends(part, units, from)),
        Pattern::Either(choices) => choices.iter().fold(0, |all, choice| all | ends(choice, units, from)),
        Pattern::Optional(part) => from | ends(part, units, from),
        Pattern::Repeated(part) => {
            let mut all = ends(part, units, from);
            loop {
                let more = all | ends(part, units, all);
                if more == all {
                    return all;
                }
                all = more;
            }
        }
    }
}

/// The longest match from `start` on, of the first rule that has it.
fn longest(lexer: &Lexer, text: &str, following: &[&str], start: usize) -> Option<Match> {
    let (mut units, mut places) = (Vec::new(), vec![(start, false)]);
    for (at, c) in text[start..].char_indices() {
        let at = start + at;
        if c > '\u{ffff}' {
            places.push((at, true));
        }
        places.push((at + c.len_utf8(), false));
        units.extend(std::iter::repeat_n(classes::of(c), c.len_utf16()));
    }
    let read = following.iter().position(|line| !line.trim().is_empty()).map_or(following.len(), |k| k + 1);
    if read > 0 {
        units.push(END);
    }
    for line in &following[..read] {
        units.extend(
            line.chars().flat_map(|c| std::iter::repeat_n(classes::of(c), c.len_utf16())).chain([END]),
        );
    }
    let rules = lexer.automaton.rules().iter().zip(0..);
    let matches = rules.filter_map(|(rule, number)| {
        let ends = ends(&rule.pattern, &units, 1) & !1;
        (ends > 0).then(|| (127 - ends.leading_zeros() as usize, number))
    });
    let (units, rule) = matches.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    let beyond = || (text.len() + units + 1 - places.len(), false);
    let (end, half) = places.get(units).copied().unwrap_or_else(beyond);
    Some(Match { rule, end, half })
}

/// Compares each token of a text, before the lines that follow it, with what the rules say. Longer texts are not read.
///
/// # Panics
/// When a token is another.
pub fn check(text: &str, following: &[&str]) {
    let length = |text: &str| text.encode_utf16().count() + 1;
    if length(text) + following.iter().map(|line| length(line)).sum::<usize>() > MOST {
        return;
    }
    for version in [Version::V341, Version::V360] {
        let mut lexer = Lexer::new(version);
        let source = Source { text, following: &|| Box::new(following.iter().copied()) };
        let mut at = 0;
        while at < text.len() {
            let expected = longest(&lexer, text, following, at);
            assert_eq!(source.longest(&mut lexer.automaton, at), expected, "{version:?}: {text:?} at {at}");
            at = source.token(&mut lexer.automaton, at).resume;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of texts for which there are rules.
    const PIECES: &[&str] = &[
        " ",
        " ",
        "\n",
        "\r",
        "a",
        "K.",
        "dog",
        "U.S.",
        "no.",
        "fig",
        ".",
        "...",
        "!",
        "?",
        "1",
        "1/2",
        "3,000",
        "(555) 123-4567",
        "can't",
        "'s",
        "'",
        "\"",
        "``",
        "&amp;",
        "&quot;",
        "&eacute;",
        "<b x=\"",
        ">",
        "</b>",
        "<!--",
        "-->",
        "http://x.com/",
        "www.",
        "a@b.org",
        "@u",
        "#t",
        ":-)",
        "^_^",
        "--",
        "-",
        "\u{ad}",
        "½",
        "é",
        "日",
        "😀",
        "\u{2028}",
        "\u{2019}",
        "$",
        "US$",
        "x.html",
        "The",
        "cannot",
        "Mr.",
        "\u{a0}",
        "~",
        "/",
    ];

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![9 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{1,2}"];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_automaton_finds_what_the_rules_match((text, after) in (texts(), texts())) {
            let lines: Vec<&str> = after.split(['\n', '\r']).collect();
            check(&text, &lines);
            check(&text, &[]);
        }
    }
}
