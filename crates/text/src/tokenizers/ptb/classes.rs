//! Character classes: every character belongs to one of at most 128 classes, and the rules use sets of
//! classes.
//!
//! Each printable ASCII character is a class of its own, with its ASCII code as number. The numbers of
//! control characters, and of printable characters that all rules treat alike, are used for groups of
//! non-ASCII characters.

use std::ops::{BitOr, Not};
use std::sync::OnceLock;

/// The letters, marks, digits and symbols of the reference program, in ranges.
const LETTERS: &str = include_str!("letters.txt");

/// The number of classes, which is the length of a row of the automaton.
pub(super) const CLASSES: usize = 128;

/// A character that is dropped unless it is inside a URL or a tag: control characters, unassigned code
/// points, zero-width characters, and each half of a character above U+FFFF.
pub(super) const OTHER: u8 = 0x00;
/// The end of the text, which the rules treat as a line break.
pub(super) const END: u8 = 0x01;
const NEXT_LINE: u8 = 0x02;
const BLANK: u8 = 0x03;
const NO_BREAK: u8 = 0x04;
const UPPER: u8 = 0x05;
const LOWER: u8 = 0x06;
const MARK: u8 = 0x07;
const DIGIT: u8 = 0x08;
const TAB: u8 = b'\t';
const SYMBOL: u8 = 0x0a;
const LINE: u8 = 0x0b;
const FORM_FEED: u8 = 0x0c;
const RETURN: u8 = b'\r';
const LONG_S: u8 = 0x0e;
const DOTLESS_I: u8 = 0x0f;
const DOTTED_I: u8 = 0x10;
const KELVIN: u8 = 0x11;
const SOFT_HYPHEN: u8 = 0x12;
const DASH: u8 = 0x13;
const ROMAN: u8 = 0x14;
const CIRCLED: u8 = 0x15;
const ARABIC_SEPARATOR: u8 = 0x16;
const SCRIPT_SIGN: u8 = 0x17;
const SUPERSCRIPT: u8 = 0x18;
const SUBSCRIPT: u8 = 0x19;
const FRACTION_SLASH: u8 = 0x1a;
const VULGAR_FRACTION: u8 = 0x1b;
const CURRENCY: u8 = 0x1c;
const RIGHT_QUOTE: u8 = 0x1d;
const LEFT_QUOTE: u8 = 0x1e;
const OTHER_QUOTE: u8 = 0x1f;
const HYPHEN: u8 = 0x7f;
// No rule distinguishes between 6, 7, 8 and 9, or between `%` and the symbols.
const ELLIPSIS: u8 = b'%';
const OLD_SIGN: u8 = b'7';
const HYPHEN_BULLET: u8 = b'8';
const IDEOGRAPHIC_COMMA: u8 = b'9';

/// The class of each ASCII character. A line feed counts as a space, since a text is one line.
pub(super) static ASCII: [u8; 128] = ascii();

const fn ascii() -> [u8; 128] {
    let mut classes = [OTHER; 128];
    let mut c = b' ';
    while c < 0x7f {
        classes[c as usize] = match c {
            b'7' | b'8' | b'9' => b'6',
            b'%' => SYMBOL,
            _ => c,
        };
        c += 1;
    }
    classes[b'\n' as usize] = b' ';
    classes[b'\t' as usize] = TAB;
    classes[0x0b] = LINE;
    classes[0x0c] = FORM_FEED;
    classes[b'\r' as usize] = RETURN;
    classes
}

/// The class of `c`.
pub(super) fn of(c: char) -> u8 {
    match u16::try_from(u32::from(c)) {
        Ok(unit) => match ASCII.get(usize::from(unit)) {
            Some(&class) => class,
            None => beyond_ascii(unit),
        },
        Err(_) => OTHER,
    }
}

fn beyond_ascii(unit: u16) -> u8 {
    static TABLE: OnceLock<Box<[u8]>> = OnceLock::new();
    TABLE.get_or_init(build)[usize::from(unit)]
}

/// The classes of all 65,536 UTF-16 units; those below U+0080 are not used.
fn build() -> Box<[u8]> {
    let mut table = vec![OTHER; 0x1_0000].into_boxed_slice();
    let mut fill = |ranges: &[(u16, u16)], class: u8| {
        for &(first, last) in ranges {
            table[usize::from(first)..=usize::from(last)].fill(class);
        }
    };
    for (class, ranges) in letters() {
        fill(&ranges, class);
    }
    fill(&[(0x2160, 0x216f)], ROMAN);
    fill(&[(0x24b6, 0x24cf)], CIRCLED);
    fill(&[(0x0085, 0x0085)], NEXT_LINE);
    fill(&[(0x00a0, 0x00a0)], NO_BREAK);
    fill(&[(0x2000, 0x200a), (0x3000, 0x3000)], BLANK);
    fill(&[(0x2028, 0x2029)], LINE);
    fill(&[(0x017f, 0x017f)], LONG_S);
    fill(&[(0x0131, 0x0131)], DOTLESS_I);
    fill(&[(0x0130, 0x0130)], DOTTED_I);
    fill(&[(0x212a, 0x212a)], KELVIN);
    fill(&[(0x00ad, 0x00ad)], SOFT_HYPHEN);
    fill(&[(0x0096, 0x0097), (0x2013, 0x2015)], DASH);
    fill(&[(0x066b, 0x066c)], ARABIC_SEPARATOR);
    fill(&[(0x207a, 0x207b), (0x208a, 0x208b)], SCRIPT_SIGN);
    fill(&[(0x00b2, 0x00b3), (0x00b9, 0x00b9), (0x2070, 0x2070), (0x2074, 0x2079)], SUPERSCRIPT);
    fill(&[(0x2080, 0x2089)], SUBSCRIPT);
    fill(&[(0x2044, 0x2044)], FRACTION_SLASH);
    fill(&[(0x00bc, 0x00be), (0x2153, 0x215e)], VULGAR_FRACTION);
    fill(&[(0x0080, 0x0080), (0x00a2, 0x00a5), (0x060b, 0x060b), (0x0e3f, 0x0e3f)], CURRENCY);
    fill(&[(0x20a0, 0x20a0), (0x20a4, 0x20a4), (0x20ac, 0x20ac)], CURRENCY);
    fill(&[(0xffe0, 0xffe1), (0xffe5, 0xffe6)], CURRENCY);
    fill(&[(0x0092, 0x0092), (0x2019, 0x2019)], RIGHT_QUOTE);
    fill(&[(0x0091, 0x0091), (0x2018, 0x2018), (0x201b, 0x201b)], LEFT_QUOTE);
    fill(&[(0x0093, 0x0094), (0x00ab, 0x00ab), (0x00bb, 0x00bb)], OTHER_QUOTE);
    fill(&[(0x201a, 0x201a), (0x201c, 0x201f), (0x2039, 0x203a)], OTHER_QUOTE);
    fill(&[(0x058a, 0x058a), (0x2010, 0x2011)], HYPHEN);
    fill(&[(0x2026, 0x2026)], ELLIPSIS);
    fill(&[(0x0095, 0x0095), (0x0099, 0x0099)], OLD_SIGN);
    fill(&[(0x2043, 0x2043)], HYPHEN_BULLET);
    fill(&[(0x3001, 0x3001)], IDEOGRAPHIC_COMMA);
    for (unit, class) in (0..=u16::MAX).zip(table.iter_mut()).filter(|(_, class)| **class == LOWER) {
        // Cherokee has had upper and lower case only since Unicode 8.
        if !matches!(unit, 0x13a0..=0x13f5 | 0x3400..=0xa63f | 0xac00..=0xd7a3)
            && char::from_u32(u32::from(unit)).is_some_and(char::is_uppercase)
        {
            *class = UPPER;
        }
    }
    table
}

/// Each class in the file of letters, with its ranges.
fn letters() -> impl Iterator<Item = (u8, Vec<(u16, u16)>)> {
    LETTERS.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (name, ranges) = line.split_once(' ').expect("a class has ranges");
        let class = match name {
            "letters" => LOWER,
            "marks" => MARK,
            "digits" => DIGIT,
            "symbols" => SYMBOL,
            _ => unreachable!("the file has these four classes"),
        };
        let unit = |digits| u16::from_str_radix(digits, 16).expect("code points are hexadecimal");
        let ranges = ranges.split(' ').map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            (unit(first), unit(last))
        });
        (class, ranges.collect())
    })
}

/// A set of character classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set(u128);

impl Set {
    const fn class(class: u8) -> Self {
        Self(1 << class)
    }

    /// The characters of `ascii`, each as itself: `[2-9]` requires all of 6, 7, 8 and 9.
    pub(super) const fn of(ascii: &str) -> Self {
        let bytes = ascii.as_bytes();
        let mut set = 0;
        let mut k = 0;
        while k < bytes.len() {
            set |= 1 << ASCII[(bytes[k] & 0x7f) as usize];
            k += 1;
        }
        Self(set)
    }

    /// The ASCII characters from `first` to `last`.
    pub(super) const fn range(first: u8, last: u8) -> Self {
        let mut set = 0;
        let mut c = first;
        while c <= last {
            set |= 1 << ASCII[(c & 0x7f) as usize];
            c += 1;
        }
        Self(set)
    }

    /// `c` in either case, with the three non-ASCII characters that fold to a Latin letter.
    pub(super) const fn caseless(c: u8) -> Self {
        let both = 1 << ASCII[(c.to_ascii_lowercase() & 0x7f) as usize]
            | 1 << ASCII[(c.to_ascii_uppercase() & 0x7f) as usize];
        Self(match c.to_ascii_lowercase() {
            b's' => both | 1 << LONG_S,
            b'k' => both | 1 << KELVIN,
            b'i' => both | 1 << DOTTED_I | 1 << DOTLESS_I,
            _ => both,
        })
    }

    /// Set union as a `const fn`.
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// All classes not in `self`, except the end of the text.
    pub(super) const fn inverse(self) -> Self {
        Self(!self.0 & !(1 << END))
    }

    /// Returns true if `class` belongs to the set.
    pub(super) const fn has(self, class: u8) -> bool {
        self.0 >> (class & 0x7f) & 1 == 1
    }

    /// The bits of the set, bit `k` for class `k`.
    pub(super) const fn bits(self) -> u128 {
        self.0
    }
}

impl BitOr for Set {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

impl Not for Set {
    type Output = Self;

    fn not(self) -> Self {
        self.inverse()
    }
}

/// The end of the text.
pub(super) const AT_END: Set = Set::class(END);
/// Any character or the end of the text.
pub(super) const ANY: Set = Set(u128::MAX);
/// A to Z.
pub(super) const CAPITAL: Set = Set::range(b'A', b'Z');
/// The ASCII letters.
pub(super) const LATIN: Set = CAPITAL.or(Set::range(b'a', b'z'));
/// 0 to 9.
pub(super) const FIGURE: Set = Set::range(b'0', b'9');
/// The ASCII letters and digits.
pub(super) const ALNUM: Set = LATIN.or(FIGURE);
/// Letters in the strict sense, of any script.
pub(super) const LETTER: Set = LATIN
    .or(Set::class(UPPER))
    .or(Set::class(LOWER))
    .or(Set::class(LONG_S))
    .or(Set::class(DOTLESS_I))
    .or(Set::class(DOTTED_I))
    .or(Set::class(KELVIN));
/// The characters of a plain word besides digits: letters, marks and the soft hyphen.
pub(super) const WORD_LETTER: Set = LETTER.or(MARKS_ONLY).or(SOFT);
/// Decimal digits of any script.
pub(super) const NUMERAL: Set = FIGURE.or(Set::class(DIGIT));
/// Capital letters of any script, and capitals that are not letters (Roman numerals, circled letters).
pub(super) const UPPERCASE: Set = CAPITAL
    .or(Set::class(UPPER))
    .or(Set::class(DOTTED_I))
    .or(Set::class(KELVIN))
    .or(Set::class(ROMAN))
    .or(Set::class(CIRCLED));
/// Marks and similar characters, which count as letters in plain words.
pub(super) const MARKS_ONLY: Set = Set::class(MARK);
/// The soft hyphen U+00AD.
pub(super) const SOFT: Set = Set::class(SOFT_HYPHEN);
/// White space within a line.
pub(super) const SPACE: Set = Set::of(" \t").or(Set::class(NO_BREAK)).or(Set::class(BLANK));
/// A space or a no-break space.
pub(super) const GAP: Set = Set::of(" ").or(NO_BREAK_SPACE);
/// The no-break space U+00A0.
pub(super) const NO_BREAK_SPACE: Set = Set::class(NO_BREAK);
/// Line breaks that consist of one character.
pub(super) const BREAK: Set = AT_END.or(Set::of("\r\x0b\x0c")).or(Set::class(LINE)).or(Set::class(NEXT_LINE));
/// The apostrophes `'`, U+2019 and U+0092.
pub(super) const APOSTROPHE: Set = Set::of("'").or(Set::class(RIGHT_QUOTE));
/// The apostrophes and the characters often typed instead.
pub(super) const LOOSE_APOSTROPHE: Set = APOSTROPHE.or(Set::of("`")).or(Set::class(LEFT_QUOTE));
/// Curly and angular quotes and the grave accent.
pub(super) const QUOTE: Set =
    Set::of("`").or(Set::class(RIGHT_QUOTE)).or(Set::class(LEFT_QUOTE)).or(Set::class(OTHER_QUOTE));
/// En dash, em dash, horizontal bar, and the two dashes of Windows-1252.
pub(super) const LONG_DASH: Set = Set::class(DASH);
/// Characters that join the parts of a hyphenated word.
pub(super) const JOINER: Set = Set::of("-_").or(Set::class(HYPHEN));
/// Characters that may appear between the digits of a number.
pub(super) const NUMBER_POINT: Set = Set::of(".:,").or(SOFT).or(Set::class(ARABIC_SEPARATOR));
/// Signs before superscript and subscript digits.
pub(super) const SMALL_SIGN: Set = Set::class(SCRIPT_SIGN);
/// Superscript digits.
pub(super) const RAISED: Set = Set::class(SUPERSCRIPT);
/// Subscript digits.
pub(super) const LOWERED: Set = Set::class(SUBSCRIPT);
/// The fraction slash U+2044.
pub(super) const FRACTION_BAR: Set = Set::class(FRACTION_SLASH);
/// Fractions that are a single character.
pub(super) const VULGAR: Set = Set::class(VULGAR_FRACTION);
/// Currency signs other than the dollar.
pub(super) const MONEY: Set = Set::class(CURRENCY);
/// The ellipsis U+2026, and U+0085, which is an ellipsis in Windows-1252.
pub(super) const DOTS: Set = Set::class(ELLIPSIS).or(Set::class(NEXT_LINE));
/// The bullet and the trade mark sign of Windows-1252, U+0095 and U+0099.
pub(super) const WINDOWS_SIGN: Set = Set::class(OLD_SIGN);
/// The hyphen bullet U+2043.
pub(super) const BULLET: Set = Set::class(HYPHEN_BULLET);
/// Commas and similar marks inside a sentence.
pub(super) const MIDDLE_STOP: Set = Set::of(",;:").or(Set::class(IDEOGRAPHIC_COMMA));
/// Characters that are tokens by themselves.
pub(super) const LONE: Set =
    Set::of("+%&~^|\\.").or(Set::class(SYMBOL)).or(Set::class(CIRCLED)).or(SMALL_SIGN).or(FRACTION_BAR);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_letters_has_what_the_reference_program_told() {
        let told: Vec<_> = letters()
            .map(|(class, ranges)| {
                let units = || ranges.iter().flat_map(|&(first, last)| first..=last);
                (class, ranges.len(), units().count(), units().map(u64::from).sum::<u64>())
            })
            .collect();
        let expected = [
            (LOWER, 368, 48_410, 1_523_939_358),
            (MARK, 59, 500, 914_465),
            (DIGIT, 34, 340, 4_444_210),
            (SYMBOL, 61, 2_813, 29_467_802),
        ];
        assert_eq!(told, expected);
        let classes = "aé中ーĀ٣´★\u{378}\u{200b}".chars().map(of).collect::<Vec<_>>();
        assert_eq!(classes, [b'a', LOWER, LOWER, LOWER, UPPER, DIGIT, SYMBOL, SYMBOL, MARK, OTHER]);
    }
}
