//! The Porter stemmer of NLTK in its default mode, which Google's rouge_score uses.
//!
//! Gives the same stems as NLTK 3.10's `PorterStemmer()`, mode `NLTK_EXTENSIONS`: Porter's algorithm with a
//! table of irregular words and different rules for `-ies`, `-ied`, `-y`, `-alli`, `-fulli` and `-logi`, so
//! that `spied` and `spies`, or `enjoy` and `enjoyment`, get the same stem.

use super::suffixes::{STEP_2, STEP_3, cut, ends, replace};

/// Words for which the rules give the wrong stem.
const IRREGULAR: &[(&str, &str)] = &[
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// NLTK's additions to step 2. The first matching suffix decides; no suffix here hides another.
const ALSO_IN_STEP_2: &[(&str, &str)] = &[("alli", "al"), ("fulli", "ful")];

const STEP_4: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
];

/// The stem of `word`, in lower case.
pub(super) fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some((_, stem)) = IRREGULAR.iter().find(|(irregular, _)| *irregular == lower) {
        return (*stem).to_owned();
    }
    if word.chars().count() <= 2 {
        return lower;
    }
    let mut w: Vec<char> = lower.chars().collect();
    step_1a(&mut w);
    step_1b(&mut w);
    if ends(&w, "y") && w.len() > 2 && consonants(&w)[w.len() - 2] {
        replace(&mut w, "y", "i");
    }
    step_2(&mut w);
    if let Some((suffix, by)) = STEP_3.iter().find(|(suffix, _)| ends(&w, suffix))
        && measure(cut(&w, suffix)) > 0
    {
        replace(&mut w, suffix, by);
    }
    step_4(&mut w);
    step_5(&mut w);
    w.into_iter().collect()
}

fn step_1a(w: &mut Vec<char>) {
    if ends(w, "ies") && w.len() == 4 {
        w.pop();
    } else if ends(w, "sses") || ends(w, "ies") {
        w.truncate(w.len() - 2);
    } else if ends(w, "s") && !ends(w, "ss") {
        w.pop();
    }
}

fn step_1b(w: &mut Vec<char>) {
    if ends(w, "ied") {
        w.truncate(w.len() - if w.len() == 4 { 1 } else { 2 });
        return;
    }
    if ends(w, "eed") {
        if measure(cut(w, "eed")) > 0 {
            w.pop();
        }
        return;
    }
    let found = ["ed", "ing"]
        .into_iter()
        .find(|suffix| ends(w, suffix) && consonants(cut(w, suffix)).contains(&false));
    let Some(suffix) = found else { return };
    w.truncate(w.len() - suffix.len());
    if ends(w, "at") || ends(w, "bl") || ends(w, "iz") {
        w.push('e');
    } else if let [.., a, b] = w[..]
        && a == b
        && consonants(w).last() == Some(&true)
    {
        if !matches!(b, 'l' | 's' | 'z') {
            w.pop();
        }
    } else if measure(w) == 1 && ends_short(w) {
        w.push('e');
    }
}

fn step_2(w: &mut Vec<char>) {
    if ends(w, "alli") && measure(cut(w, "alli")) > 0 {
        // The rest ends in `al`, so this recurses only once.
        replace(w, "alli", "al");
    }
    if let Some((suffix, by)) = STEP_2.iter().chain(ALSO_IN_STEP_2).find(|(suffix, _)| ends(w, suffix)) {
        if measure(cut(w, suffix)) > 0 {
            replace(w, suffix, by);
        }
    } else if ends(w, "logi") && measure(cut(w, "ogi")) > 0 {
        replace(w, "logi", "log");
    }
}

fn step_4(w: &mut Vec<char>) {
    let Some(suffix) = STEP_4.iter().find(|suffix| ends(w, suffix)) else { return };
    let stem = cut(w, suffix);
    if measure(stem) > 1 && (*suffix != "ion" || ends(stem, "s") || ends(stem, "t")) {
        w.truncate(w.len() - suffix.len());
    }
}

fn step_5(w: &mut Vec<char>) {
    if ends(w, "e") {
        let stem = cut(w, "e");
        let m = measure(stem);
        if m > 1 || (m == 1 && !ends_short(stem)) {
            w.pop();
        }
    }
    if ends(w, "ll") && measure(cut(w, "l")) > 1 {
        w.pop();
    }
}

/// Marks the consonants among the characters; `y` is a consonant at the start and after a vowel.
fn consonants(w: &[char]) -> Vec<bool> {
    let mut before = false;
    w.iter()
        .map(|c| {
            before = match c {
                'a' | 'e' | 'i' | 'o' | 'u' => false,
                'y' => !before,
                _ => true,
            };
            before
        })
        .collect()
}

/// Porter's m: the number of times that a consonant follows a vowel.
fn measure(w: &[char]) -> usize {
    consonants(w).windows(2).filter(|pair| matches!(pair, [false, true])).count()
}

/// Returns true if `w` ends in a consonant, a vowel and a consonant other than `w`, `x` and `y`, or is just a vowel and
/// a consonant.
fn ends_short(w: &[char]) -> bool {
    match (consonants(w)[..].last_chunk::<3>(), w) {
        (Some([true, false, true]), [.., last]) => !matches!(last, 'w' | 'x' | 'y'),
        (None, [_, _]) => consonants(w) == [false, true],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stems of NLTK 3.10's `PorterStemmer().stem(word)`.
    #[test]
    fn stems_equal_those_of_nltk() {
        for (word, expected) in [
            ("flies", "fli"),
            ("dies", "die"),
            ("died", "die"),
            ("spied", "spi"),
            ("enjoy", "enjoy"),
            ("enjoyment", "enjoy"),
            ("happily", "happili"),
            ("radically", "radic"),
            ("hopefully", "hope"),
            ("geology", "geolog"),
            ("theology", "theolog"),
            ("news", "news"),
            ("skies", "sky"),
            ("singing", "sing"),
            ("hopping", "hop"),
            ("agreed", "agre"),
            ("outing", "outing"),
            ("using", "use"),
            ("2008s", "2008"),
            ("As", "as"),
            ("", ""),
        ] {
            assert_eq!(stem(word), expected, "for {word}");
        }
    }
}
