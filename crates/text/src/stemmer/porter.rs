//! Porter's stemmer of 1980 as in its author's own programs, and as modified by ROUGE-1.5.5.
//!
//! Paper: Porter, *An algorithm for suffix stripping* (1980), with the two changes of his published programs:
//! `bli` for `abli`, and `logi` becomes `log`. Porter's step 4 removes the longest of `ement`, `ment` and
//! `ent`, or nothing. ROUGE-1.5.5 tries each of `ment` and `ent` in turn and removes every one that it may;
//! so `basements` becomes `basement` in Porter's version and `basem` in ROUGE's.
//!
//! Every character other than a vowel or `y` counts as a consonant, even a digit.

use super::suffixes::{STEP_2, STEP_3, cut, ends, replace};

/// The variant of step 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Porter's own.
    Porter,
    /// ROUGE-1.5.5's.
    Rouge155,
}

/// The addition of both dialects to step 2.
const ALSO_IN_STEP_2: &[(&str, &str)] = &[("logi", "log")];

/// The suffixes of step 4 that both dialects treat alike.
const STEP_4: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize",
];

/// The stem of `word`, which should be in lower case.
pub(super) fn stem(word: &str, dialect: Dialect) -> String {
    if word.chars().count() < 3 {
        return word.to_owned();
    }
    // A `y` at the start is a consonant; upper case keeps the rules from treating it as a vowel.
    let starts_with_y = word.starts_with('y');
    let mut w: Vec<char> = word.chars().collect();
    if starts_with_y {
        w[0] = 'Y';
    }
    step_1(&mut w);
    for rules in [[STEP_2, ALSO_IN_STEP_2], [STEP_3, &[]]] {
        if let Some((suffix, by)) = longest(&w, rules.into_iter().flatten(), |rule| rule.0)
            && shape(cut(&w, suffix)).measure_above_0
        {
            replace(&mut w, suffix, by);
        }
    }
    step_4(&mut w, dialect);
    step_5(&mut w);
    if starts_with_y {
        w[0] = 'y';
    }
    w.into_iter().collect()
}

fn step_1(w: &mut Vec<char>) {
    if ends(w, "sses") || ends(w, "ies") {
        w.truncate(w.len() - 2);
    } else if w.len() > 1 && ends(w, "s") && !ends(w, "ss") {
        w.pop();
    }
    if ends(w, "eed") {
        if shape(cut(w, "eed")).measure_above_0 {
            w.pop();
        }
    } else if let Some(suffix) = ["ed", "ing"].into_iter().find(|suffix| ends(w, suffix))
        && shape(cut(w, suffix)).has_vowel
    {
        w.truncate(w.len() - suffix.len());
        if ends(w, "at") || ends(w, "bl") || ends(w, "iz") {
            w.push('e');
        } else if let [.., a, b] = w[..]
            && a == b
            && !"aeiouylsz".contains(b)
        {
            w.pop();
        } else if is_short(w) {
            w.push('e');
        }
    }
    if ends(w, "y") && shape(cut(w, "y")).has_vowel {
        replace(w, "y", "i");
    }
}

fn step_4(w: &mut Vec<char>, dialect: Dialect) {
    let strip = |w: &mut Vec<char>, suffix: &str| {
        if shape(cut(w, suffix)).measure_above_1 {
            w.truncate(w.len() - suffix.len());
        }
    };
    let ion = |w: &mut Vec<char>| {
        if ends(w, "sion") || ends(w, "tion") {
            strip(w, "ion");
        }
    };
    let suffix = longest(w, STEP_4, |suffix| suffix).copied();
    match dialect {
        Dialect::Porter => {
            match suffix.or_else(|| ["ment", "ent"].into_iter().find(|suffix| ends(w, suffix))) {
                Some(suffix) => strip(w, suffix),
                None => ion(w),
            }
        }
        Dialect::Rouge155 => {
            if let Some(suffix) = suffix {
                strip(w, suffix);
            }
            if ends(w, "ment") {
                strip(w, "ment");
            }
            if ends(w, "ent") {
                strip(w, "ent");
            } else {
                ion(w);
            }
        }
    }
}

fn step_5(w: &mut Vec<char>) {
    if ends(w, "e") {
        let stem = cut(w, "e");
        let shape = shape(stem);
        if shape.measure_above_1 || (shape.measure_is_1 && !is_short(stem)) {
            w.pop();
        }
    }
    if ends(w, "ll") && shape(w).measure_above_1 {
        w.pop();
    }
}

fn longest<'r, R>(
    w: &[char],
    rules: impl IntoIterator<Item = &'r R>,
    suffix: impl Fn(&'r R) -> &'r str,
) -> Option<&'r R> {
    rules.into_iter().filter(|rule| ends(w, suffix(rule))).max_by_key(|rule| suffix(rule).len())
}

/// Returns true if `w` consists of consonants, a vowel and a consonant other than `w`, `x` and `y`.
fn is_short(w: &[char]) -> bool {
    let [head @ .., vowel, last] = w else { return false };
    let Some((first, rest)) = head.split_first() else { return false };
    !"aeiou".contains(*first)
        && rest.iter().all(|c| !is_vowel_or_y(*c))
        && is_vowel_or_y(*vowel)
        && !"aeiouwxy".contains(*last)
}

fn is_vowel_or_y(c: char) -> bool {
    matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// The properties of a stem that the rules test, in Porter's terms `[C](VC)^m[V]`.
struct Shape {
    has_vowel: bool,
    measure_above_0: bool,
    measure_above_1: bool,
    measure_is_1: bool,
}

/// Analyses a stem as the author's regular expressions do.
///
/// In these, a run of consonants is a non-vowel or `y`, then anything but vowels and `y`; a run of vowels is
/// a vowel or `y`, then vowels. A `y` can therefore start either kind, and every possible reading counts; bit
/// `k` of `at` is set if the k-th run of `C V C V C` can have been reached.
fn shape(stem: &[char]) -> Shape {
    const C1: u8 = 1;
    const V1: u8 = 2;
    const C2: u8 = 4;
    const V2: u8 = 8;
    const C3: u8 = 16;
    const START: u8 = 32;
    let (mut at, mut ever) = (START, 0);
    for c in stem {
        let vowel = "aeiou".contains(*c);
        let mut next = 0;
        if !vowel {
            next |= (u8::from(at & START > 0) * C1) | ((at & (V1 | V2)) << 1);
        }
        if vowel || *c == 'y' {
            next |= (u8::from(at & (START | C1) > 0) * V1) | (u8::from(at & C2 > 0) * V2);
        }
        next |= at & if vowel { V1 | V2 } else { 0 };
        next |= at & if vowel || *c == 'y' { 0 } else { C1 | C2 | C3 };
        at = next;
        ever |= at;
    }
    Shape {
        has_vowel: ever & V1 > 0,
        measure_above_0: ever & C2 > 0,
        measure_above_1: ever & C3 > 0,
        measure_is_1: at & (C2 | V2) > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, pairs: &[(&str, &str)]) {
        for (word, expected) in pairs {
            assert_eq!(stem(word, dialect), *expected, "for {word}");
        }
    }

    /// The examples in the paper.
    #[test]
    fn the_examples_of_the_paper_hold() {
        check(
            Dialect::Porter,
            &[
                ("caresses", "caress"),
                ("ponies", "poni"),
                ("feed", "feed"),
                ("agreed", "agre"),
                ("plastered", "plaster"),
                ("motoring", "motor"),
                ("sing", "sing"),
                ("conflated", "conflat"),
                ("hopping", "hop"),
                ("tanned", "tan"),
                ("falling", "fall"),
                ("hissing", "hiss"),
                ("fizzed", "fizz"),
                ("filing", "file"),
                ("happy", "happi"),
                ("sky", "sky"),
                ("relational", "relat"),
                ("vietnamization", "vietnam"),
                ("hopefulness", "hope"),
                ("triplicate", "triplic"),
                ("electrical", "electr"),
                ("revival", "reviv"),
                ("adoption", "adopt"),
                ("controlling", "control"),
                ("roll", "roll"),
                ("y", "y"),
                ("", ""),
            ],
        );
    }

    #[test]
    fn rouge_155_removes_ment_and_ent_in_turn() {
        check(
            Dialect::Porter,
            &[("basements", "basement"), ("replacement", "replac"), ("development", "develop")],
        );
        check(
            Dialect::Rouge155,
            &[("basements", "basem"), ("replacement", "replac"), ("development", "develop")],
        );
    }
}
