//! Counts of character types in texts, for notices such as "this text looks tokenised already".

use std::ops::AddAssign;

use crate::tokenizers::plain::is_python_space;

/// Counts over some texts, from which the methods below derive their answers; a few thousand texts are
/// enough.
///
/// The answers are heuristics for notices and must never change a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// The number of texts seen.
    pub n_texts: u64,
    /// The number of letters and digits.
    pub n_letters: u64,
    /// The number of letters outside ASCII.
    pub n_non_ascii: u64,
    /// The number of letters of scripts without spaces between words: Chinese characters and kana, Thai, Lao, Khmer and
    /// Burmese.
    pub n_unspaced: u64,
    /// Those among them that are Thai, Lao, Khmer or Burmese.
    pub n_southeast: u64,
    /// Those among them that are kana, as in Japanese.
    pub n_kana: u64,
    /// The number of runs that these form.
    pub n_unspaced_runs: u64,
    /// Punctuation marks such as `.` and `,` directly after a word and before white space or the end.
    pub n_attached_marks: u64,
    /// Punctuation marks after a space, and split contractions such as ` n't` and ` 's`.
    pub n_detached_marks: u64,
}

impl AddAssign for Looks {
    fn add_assign(&mut self, other: Self) {
        self.n_texts += other.n_texts;
        self.n_letters += other.n_letters;
        self.n_non_ascii += other.n_non_ascii;
        self.n_unspaced += other.n_unspaced;
        self.n_southeast += other.n_southeast;
        self.n_kana += other.n_kana;
        self.n_unspaced_runs += other.n_unspaced_runs;
        self.n_attached_marks += other.n_attached_marks;
        self.n_detached_marks += other.n_detached_marks;
    }
}

impl Looks {
    /// Counts over `texts`.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut looks = Self::default();
        for text in texts {
            looks.see(text);
        }
        looks
    }

    /// Adds one text to the counts.
    pub fn see(&mut self, text: &str) {
        self.n_texts += 1;
        match text.is_ascii() {
            true => self.see_ascii(text.as_bytes()),
            false => self.see_any(text),
        }
    }

    /// As [`see_any`](Self::see_any), in a small part of the time: eight bytes are looked at together.
    fn see_ascii(&mut self, text: &[u8]) {
        const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
        const LOW: u64 = u64::from_ne_bytes([1; 8]);
        let mut is_first = true;
        let (eights, rest) = text.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for (k, eight) in eights.iter().chain([&last]).enumerate() {
            let eight = u64::from_le_bytes(*eight);
            // The high bit of each byte that is at least `byte`.
            let from = |bytes: u64, byte: u8| bytes + u64::from_ne_bytes([0x80 - byte; 8]);
            let lower = eight | LOW << 5;
            let letters = from(lower, b'a') & !from(lower, b'z' + 1);
            let digits = from(eight, b'0') & !from(eight, b'9' + 1);
            let of_words = (letters | digits) & HIGH;
            self.n_letters += (of_words >> 7).wrapping_mul(LOW) >> 56;
            // What is neither letter nor white space.
            let mut others = from(eight, b'!') & !of_words & HIGH;
            while others != 0 {
                self.see_mark(text, 8 * k + others.trailing_zeros() as usize / 8, &mut is_first);
                others &= others - 1;
            }
        }
    }

    /// Counts the byte `at` a place of a text, if it is a mark; `is_first` is true until one is detached after the
    /// first word.
    fn see_mark(&mut self, text: &[u8], at: usize, is_first: &mut bool) {
        let is_outside = |at: usize| text.get(at).is_none_or(|byte| is_python_space(char::from(*byte)));
        let starts = |at: usize| at == 0 || is_outside(at - 1);
        let byte = &text[at];
        let detached = match byte {
            b'.' | b',' | b'!' | b'?' | b';' | b':' if is_outside(at + 1) => {
                self.n_attached_marks += u64::from(!starts(at));
                starts(at)
            }
            b'\'' => {
                let rest = &text[at..];
                let has_not = at > 0 && starts(at - 1) && text[at - 1] == b'n';
                starts(at) && (rest.starts_with(b"'s") && is_outside(at + 2))
                    || starts(at) && (rest.starts_with(b"'re") && is_outside(at + 3))
                    || has_not && rest.starts_with(b"'t") && is_outside(at + 2)
            }
            _ => false,
        };
        if detached {
            let start = at - usize::from(*byte == b'\'' && !starts(at));
            *is_first = *is_first && text[..start].iter().all(|byte| is_python_space(char::from(*byte)));
            self.n_detached_marks += u64::from(!*is_first);
        }
    }

    fn see_any(&mut self, text: &str) {
        let mut in_run = false;
        for c in text.chars() {
            let unspaced = is_written_without_spaces(c);
            self.n_unspaced_runs += u64::from(unspaced && !in_run);
            in_run = unspaced;
            if c.is_alphanumeric() {
                self.n_letters += 1;
                self.n_non_ascii += u64::from(!c.is_ascii());
                self.n_unspaced += u64::from(unspaced);
                self.n_southeast += u64::from(is_southeast(c));
                self.n_kana += u64::from(matches!(c, '\u{3041}'..='\u{30ff}'));
            }
        }
        for (k, word) in text.split(is_python_space).filter(|word| !word.is_empty()).enumerate() {
            if matches!(word, "." | "," | "!" | "?" | ";" | ":" | "n't" | "'s" | "'re") {
                self.n_detached_marks += u64::from(k > 0);
            } else if word.ends_with(['.', ',', '!', '?', ';', ':']) {
                self.n_attached_marks += 1;
            }
        }
    }

    /// Detects tokenised texts: most marks follow a space, and at least one text in ten contains such a mark.
    ///
    /// Text whose tokenizer removed the punctuation looks the same as text that never had any.
    pub fn tokenised(&self) -> bool {
        self.n_detached_marks > self.n_attached_marks
            && self.n_detached_marks.saturating_mul(10) >= self.n_texts
    }

    /// Detects texts that need a tokenizer: most marks directly follow a word, in at least one text in ten, or words
    /// are written without spaces.
    pub fn untokenised(&self) -> bool {
        let marks = self.n_attached_marks > self.n_detached_marks
            && self.n_attached_marks.saturating_mul(10) >= self.n_texts;
        marks || self.unsegmented()
    }

    /// Detects texts in which at least a fifth of the letters are of scripts without spaces, in long runs.
    pub fn unsegmented(&self) -> bool {
        self.n_unspaced.saturating_mul(5) >= self.n_letters
            && self.n_unspaced > self.n_unspaced_runs.saturating_mul(4)
    }

    /// Detects texts in Thai, Lao, Khmer or Burmese rather than in Chinese or Japanese.
    pub fn southeast(&self) -> bool {
        self.n_southeast > self.n_unspaced / 2
    }

    /// Detects texts in Japanese rather than in Chinese.
    pub fn japanese(&self) -> bool {
        self.n_kana.saturating_mul(10) > self.n_unspaced
    }

    /// The share of letters and digits outside ASCII, from 0 to 1; 0 if there are none.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
    pub fn non_ascii_share(&self) -> f64 {
        if self.n_letters == 0 { 0.0 } else { self.n_non_ascii as f64 / self.n_letters as f64 }
    }
}

/// Returns true if `c` is in a Unicode block of Thai, Lao, Burmese or Khmer.
fn is_southeast(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// Returns true if `c` is in a Unicode block of a script that is written without spaces between words.
fn is_written_without_spaces(c: char) -> bool {
    is_southeast(c)
        || matches!(c,
        '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_before_full_stops_look_tokenised() {
        let looks = Looks::of(["A dog runs .", "Two men , one dog .", "It does n't bark"]);
        assert!(looks.tokenised() && !looks.untokenised());
    }

    #[test]
    fn attached_full_stops_look_untokenised() {
        let looks = Looks::of(["A dog runs.", "Two men, one dog.", "It doesn't bark", "a sloppy one ."]);
        assert!(!looks.tokenised() && looks.untokenised());
    }

    #[test]
    fn ascii_is_counted_like_any_text() {
        let pieces = [
            "a",
            "n't",
            "'s",
            "'re",
            "n",
            "'",
            "'t",
            ".",
            ",",
            "..",
            "!",
            " ",
            "  ",
            "\t",
            "\u{1c}",
            "b.c",
            "7",
            ":",
            "a word of many letters ",
        ];
        let mut state = 1_usize;
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..state % 9 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(state >> 40) % pieces.len()]);
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut any = Looks { n_texts: 1, ..Looks::default() };
            any.see_any(&text);
            assert_eq!(Looks::of([text.as_str()]), any, "{text:?}");
        }
    }

    #[test]
    fn texts_without_marks_look_like_neither() {
        let looks = Looks::of(["a dog runs", "two men"]);
        assert!(!looks.tokenised() && !looks.untokenised());
        assert!(!Looks::of([]).unsegmented() && !Looks::of([""]).untokenised());
    }

    #[test]
    fn chinese_without_spaces_looks_unsegmented_until_it_is_split() {
        assert!(Looks::of(["两只小狗在草地上玩。"]).untokenised());
        assert!(!Looks::of(["两 只 小狗 在 草地 上 玩"]).untokenised());
    }

    #[test]
    fn accented_letters_are_not_ascii() {
        assert_eq!(Looks::of(["élève"]).non_ascii_share(), 0.4);
        assert_eq!(Looks::of([]).non_ascii_share(), 0.0);
    }

    #[test]
    fn counts_add_up() {
        let mut sum = Looks::of(["a b."]);
        sum += Looks::of(["c ."]);
        assert_eq!(sum, Looks::of(["a b.", "c ."]));
    }
}
