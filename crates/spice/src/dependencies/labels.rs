//! Tests of labels: which of the patterns' tests a category, tag or word passes, as one set of bits.
//!
//! A test is a list of alternatives, `VP|VB*|'not'|{time}`:
//!
//! | alternative | passes |
//! |---|---|
//! | `_` | any label |
//! | `NP`, `{,}` | exactly this label; braces hold one that is not of letters |
//! | `NP~` | `NP` with or without a function: `NP-TMP` |
//! | `VB*`, `*PP`, `*PP*` | labels that start with, end with or contain this |
//! | `'not'` | this word in any case, also with stars |
//! | `{time}` | what passes the named test of [`NAMED`] or is one of the words of [`WORDS`] |
//!
//! `^` in front negates the whole list. All tests are made once; the labels of a tree are looked up once per node, and
//! matching then only reads bits.

use std::collections::HashMap;

/// The largest number of tests.
const CAPACITY: usize = 448;

/// The tests that a label passes.
pub(super) type PassedTests = [u64; CAPACITY / 64];

/// A test, as its place in [`PassedTests`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Test(u16);

impl Test {
    /// Returns true if this is one of the tests that were passed.
    pub(super) fn holds(self, passed: &PassedTests) -> bool {
        passed[usize::from(self.0) / 64] >> (self.0 % 64) & 1 == 1
    }

    /// Adds this test to a set.
    pub(super) fn set(self, passed: &mut PassedTests) {
        passed[usize::from(self.0) / 64] |= 1 << (self.0 % 64);
    }
}

/// Adds the tests of one set to another.
pub(super) fn unite(all: &mut PassedTests, more: &PassedTests) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
}

/// Returns true if all tests of one set are in the other.
pub(super) fn includes(all: &PassedTests, some: &PassedTests) -> bool {
    all.iter().zip(some).all(|(all, some)| some & !all == 0)
}

/// Tests that several patterns share.
const NAMED: &[(&str, &str)] = &[
    ("nominal", "NP~|NX~|NML~|WHNP~|WHNX~|WHNML~"),
    ("adjectival", "ADJP~|ADVP~|WHADJP~|WHADVP~"),
    ("modified", "{nominal}|{adjectival}|VP|NAC|SQ|FRAG|PRN|X|RRC"),
    ("clause", "S|SBAR|SBARQ|SINV|SQ"),
    // Phrases whose conjuncts are phrases of the same kind.
    ("plain", "ADJP|PP|NP~|WHNP~|ADVP|UCP~|NX|NML"),
    // Heads of predications that a preconjunct may introduce, as a search for substrings finds them.
    ("conjoined", "S*|*VP*|*ADJP*|*PP*|*ADVP*|*UCP*|*NX*|*NML*|*SBAR"),
    ("content", "S*|*SINV|A*|N*|V*|PP*|PRP*|J*|W*|R*"),
    ("separator", "PRN|{``}|{''}|{-LRB-}|{-RRB-}|{,}|{:}|{.}"),
    ("opening", "{``}|{-LRB-}|PRN"),
    ("aside", "{``}*|{-LRB-}*|PRN*|PP*|ADVP*|RB*"),
    ("punctuation", "{.}|{:}|{,}|{''}|{``}|{*}|{-LRB-}|{-RRB-}|HYPH"),
    ("verb", "VB*|AUX*"),
    ("finite", "VP|VBZ|VBD|VBP|VB|MD|AUX"),
    ("countable", "NM*|NN*|NX*|NP*|CD*|JJ*|FW*|ADJP*|QP*|RB*|PRN*|{pronoun}"),
    ("adverb", "RB|RBR|RBS|WRB|ADVP|WHADVP"),
    ("both", "'either'|'neither'|'both'"),
    ("only", "'only'|'just'|'merely'"),
    ("lot", "{time}|'lot'"),
    (
        "month",
        "*January*|*February*|*March*|*April*|*May*|*June*|*July*|*August*|*September*|*October*|*November*|*December*|*{Jan.}*|*{Feb.}*|*{Mar.}*|*{Apr.}*|*{Aug.}*|*{Sep.}*|*{Sept.}*|*{Oct.}*|*{Nov.}*|*{Dec.}*",
    ),
];

/// Words that patterns look for, in any case.
const WORDS: &[(&str, &str)] = &[
    ("copula", "be being been am are r is ai was were 'm m 're 's s `s art ar wase"),
    ("be", "am is are r be being 's 're 'm was were been s ai m art ar wase"),
    (
        "be-get",
        "be being been am are r is ai was were 'm m 're 's s `s art ar wase get getting gets got gotten",
    ),
    ("have", "have had has having 've ve v 'd d hvae hav as"),
    ("not", "not n't nt never"),
    ("self", "myself yourself himself herself itself ourselves yourselves themselves"),
    (
        "seem",
        "seem seems seemed seeming resemble resembles resembled resembling become becomes became becoming remain remains \
         remained remaining",
    ),
    ("tell", "tell tells told telling"),
    (
        "know",
        "ask asks asked asking know knows knew knowing specify specifies specified specifying tell tells told telling \
         understand understands understood understanding wonder wonders wondered wondering",
    ),
    // "convice" is a slip of the reference program.
    (
        "urge",
        "advise advises advised advising allow allows allowed allowing ask asks asked asking beg begs begged begging \
         convice convinces convinced convincing demand demands demanded demanding desire desires desired desiring expect \
         expects expected expecting encourage encourages encouraged encouraging force forces forced forcing implore \
         implores implored imploring lobby lobbies lobbied lobbying order orders ordered ordering persuade persuades \
         persuaded persuading pressure pressures pressured pressuring prompt prompts prompted prompting require requires \
         required requiring tell tells told telling urge urges urged urging",
    ),
    (
        "time",
        "monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday \
         sundays year years month months week weeks day days morning mornings evening evenings night nights january jan. \
         february feb. march mar. april apr. may june july august aug. september sept. october oct. november nov. december \
         dec. today yesterday tomorrow spring summer fall autumn winter",
    ),
];

type Predicate = fn(&str) -> bool;

/// Tests that are more than lists.
const COMPUTED: &[(&str, Predicate)] = &[
    ("initials", has_initials),
    ("western-smiley", is_western_smiley),
    ("eastern-smiley", is_eastern_smiley),
    ("pronoun", |label| label.starts_with("PRP") && !label.starts_with("PRP$")),
    ("clausal", |label| label.starts_with('S') && !label.starts_with("SYM")),
];

/// The place of a text in a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    End,
    Anywhere,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    place: Place,
    any_case: bool,
    text: &'static str,
    test: Test,
}

/// All tests of all patterns.
#[derive(Debug, Default)]
pub(super) struct Tests {
    names: HashMap<&'static str, Test>,
    always: PassedTests,
    negated: PassedTests,
    exact: HashMap<&'static str, PassedTests>,
    any_case: HashMap<&'static str, PassedTests>,
    basic: HashMap<&'static str, PassedTests>,
    parts: Vec<Part>,
    computed: Vec<(Predicate, Test)>,
    known: HashMap<&'static str, PassedTests>,
}

/// The categories and tags of the Penn Treebank, whose tests are evaluated once.
const CATEGORIES: &str = "ROOT S SBAR SBARQ SINV SQ ADJP ADVP CONJP FRAG INTJ LST NAC NP NP-TMP NP-ADV NX PP PRN PRT QP RRC UCP VP \
     WHADJP WHADVP WHNP WHPP X MWE PCONJP XS NML JJP CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ \
     RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB , . : '' `` -LRB- -RRB- $ #";

impl Tests {
    /// The test that a text describes; equal texts are one test.
    ///
    /// # Panics
    ///
    /// If the text is not a test: all texts are constants of this crate, and a test reads them all.
    pub(super) fn add(&mut self, text: &'static str) -> Test {
        if let Some(test) = self.names.get(text) {
            return *test;
        }
        assert!(self.names.len() < CAPACITY, "too many tests");
        #[expect(clippy::cast_possible_truncation, reason = "bounded by the capacity")]
        let test = Test(self.names.len() as u16);
        self.names.insert(text, test);
        let list = text.strip_prefix('^').inspect(|_| test.set(&mut self.negated)).unwrap_or(text);
        self.add_alternatives(list, test);
        test
    }

    /// To be called when all tests are known.
    pub(super) fn finish(mut self) -> Self {
        self.known = CATEGORIES.split_ascii_whitespace().map(|label| (label, self.evaluate(label))).collect();
        self
    }

    fn add_alternatives(&mut self, list: &'static str, test: Test) {
        for alternative in list.split('|') {
            self.add_alternative(alternative, test);
        }
    }

    fn add_alternative(&mut self, text: &'static str, test: Test) {
        if text == "_" {
            return test.set(&mut self.always);
        }
        if let Some(label) = text.strip_suffix('~') {
            return test.set(self.basic.entry(label).or_default());
        }
        if let Some(name) = in_braces(text).filter(|text| text.starts_with(|c: char| c.is_ascii_lowercase()))
        {
            return self.add_named(name, test);
        }
        let (start, core) = text.strip_prefix('*').map_or((false, text), |rest| (true, rest));
        let (end, core) = core.strip_suffix('*').map_or((false, core), |rest| (true, rest));
        let folded = core.strip_prefix('\'').and_then(|core| core.strip_suffix('\''));
        let any_case = folded.is_some();
        let text = folded.or(in_braces(core)).unwrap_or(core);
        let place = match (start, end) {
            (false, false) => {
                let map = if any_case { &mut self.any_case } else { &mut self.exact };
                return test.set(map.entry(text).or_default());
            }
            (false, true) => Place::Start,
            (true, false) => Place::End,
            (true, true) => Place::Anywhere,
        };
        self.parts.push(Part { place, any_case, text, test });
    }

    fn add_named(&mut self, name: &'static str, test: Test) {
        if let Some((_, list)) = NAMED.iter().find(|(known, _)| *known == name) {
            self.add_alternatives(list, test);
        } else if let Some((_, words)) = WORDS.iter().find(|(known, _)| *known == name) {
            for word in words.split_ascii_whitespace() {
                test.set(self.any_case.entry(word).or_default());
            }
        } else if let Some((_, function)) = COMPUTED.iter().find(|(known, _)| *known == name) {
            self.computed.push((*function, test));
        } else {
            unreachable!("{name} names no test");
        }
    }

    /// The tests that a label passes.
    pub(super) fn passed(&self, label: &str) -> PassedTests {
        self.known.get(label).copied().unwrap_or_else(|| self.evaluate(label))
    }

    fn evaluate(&self, label: &str) -> PassedTests {
        let mut passed = self.always;
        let lower = label.to_ascii_lowercase();
        let found =
            [self.exact.get(label), self.any_case.get(lower.as_str()), self.basic.get(basic_category(label))];
        for more in found.into_iter().flatten() {
            unite(&mut passed, more);
        }
        for part in &self.parts {
            let label = if part.any_case { &lower } else { label };
            let holds = match part.place {
                Place::Start => label.starts_with(part.text),
                Place::End => label.ends_with(part.text),
                Place::Anywhere => label.contains(part.text),
            };
            if holds {
                part.test.set(&mut passed);
            }
        }
        self.computed.iter().filter(|(holds, _)| holds(label)).for_each(|(_, test)| test.set(&mut passed));
        passed.iter_mut().zip(&self.negated).for_each(|(bits, negated)| *bits ^= negated);
        passed
    }
}

/// The category of a label without its functions and indices: `NP` of `NP-TMP`. A first character is always kept, and
/// so is the second dash of `-LRB-`.
pub(super) fn basic_category(label: &str) -> &str {
    let introduces = |c: char| matches!(c, '-' | '=' | '|' | '#' | '^' | '~' | '_' | '[');
    let mut characters = label.char_indices();
    let Some((_, first)) = characters.next() else { return label };
    let mut dashed = introduces(first);
    for (at, c) in characters {
        if introduces(c) {
            if !(dashed && c == first && at > 1) {
                return &label[..at];
            }
            dashed = false;
        }
    }
    label
}

fn in_braces(text: &'static str) -> Option<&'static str> {
    text.strip_prefix('{').and_then(|text| text.strip_suffix('}'))
}

/// Returns true if a label starts with two capitals, each of which may have a dot.
fn has_initials(label: &str) -> bool {
    let rest = label.strip_prefix(|c: char| c.is_ascii_uppercase());
    let rest = rest.map(|rest| rest.strip_prefix('.').unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Returns true if a label is a face on its side, such as `:-)`.
fn is_western_smiley(label: &str) -> bool {
    let strip = |text: &mut &str, set: &str| {
        let rest = text.strip_prefix(|c| set.contains(c));
        *text = rest.unwrap_or(text);
        rest.is_some()
    };
    let strip_mouth = |text: &mut &str| {
        let rest = text.strip_prefix("-RRB-").or_else(|| text.strip_prefix("-LRB-"));
        let rest = rest.or_else(|| text.strip_prefix(|c| r"DPdpO/\:}{@|[]".contains(c)));
        *text = rest.unwrap_or(text);
        rest.is_some()
    };
    let forwards = |mut text: &str| {
        strip(&mut text, "<>");
        strip(&mut text, ":;=8") && {
            let without_nose = text;
            let mouth = |mut text: &str| strip_mouth(&mut text) && text.is_empty();
            mouth(without_nose) || strip(&mut text, "-o*'") && mouth(text)
        }
    };
    let backwards = |mut text: &str| {
        strip_mouth(&mut text) && {
            strip(&mut text, "-o*'");
            strip(&mut text, ":;=8") && {
                strip(&mut text, "<>");
                text.is_empty()
            }
        }
    };
    forwards(label) || backwards(label)
}

/// Returns true if a label is an upright face, such as `^_^`.
fn is_eastern_smiley(label: &str) -> bool {
    let is_eye = |c: Option<char>| c.is_some_and(|c| "-^x=~<>'".contains(c));
    let face = |text: &str| {
        let text = text.strip_suffix("-RRB-").unwrap_or(text);
        let mut characters = text.chars();
        let left = characters.next();
        let mut right = characters.next();
        if matches!(right, Some('_' | '.')) {
            right = characters.next();
        }
        is_eye(left) && is_eye(right) && characters.next().is_none()
    };
    label != "--" && (face(label) || label.strip_prefix("-LRB-").is_some_and(face))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_lists_of_alternatives() {
        let mut tests = Tests::default();
        let lists = ["NP|VB*|{,}", "^NP~|*'at'*", "*PP", "'not'|{time}", "_", "{pronoun}"];
        let lists = lists.map(|list| tests.add(list));
        let tests = tests.finish();
        let passed = |label: &str| {
            let passed = tests.passed(label);
            lists.map(|test| u8::from(test.holds(&passed)))
        };
        assert_eq!(passed("NP"), [1, 0, 0, 0, 1, 0]);
        assert_eq!(passed("NP-TMP"), [0, 0, 0, 0, 1, 0]);
        assert_eq!(passed("VBZ"), [1, 1, 0, 0, 1, 0]);
        assert_eq!(passed(","), [1, 1, 0, 0, 1, 0]);
        assert_eq!(passed("WHPP"), [0, 1, 1, 0, 1, 0]);
        assert_eq!(passed("NOT"), [0, 1, 0, 1, 1, 0]);
        assert_eq!(passed("Saturday"), [0, 0, 0, 1, 1, 0]);
        assert_eq!((passed("PRP")[5], passed("PRP$")[5]), (1, 0));
    }

    #[test]
    fn functions_are_no_part_of_a_category() {
        for (label, basic) in
            [("NP-TMP", "NP"), ("NP=2", "NP"), ("-LRB-", "-LRB-"), ("--PU", "-"), ("-", "-"), ("", "")]
        {
            assert_eq!(basic_category(label), basic);
        }
    }

    #[test]
    fn faces_are_told_from_dashes() {
        for face in [":-)", ":)", ";P", "8-O", "(:", "<:o)", ":-RRB-", ":-D"] {
            assert_eq!(is_western_smiley(face), !face.contains([')', '(']), "{face}");
        }
        for (face, expected) in
            [("^_^", true), ("-LRB-^.^-RRB-", true), ("--", false), ("-.-", true), ("-", false)]
        {
            assert_eq!(is_eastern_smiley(face), expected, "{face}");
        }
        assert!(has_initials("NATO") && has_initials("A.B.") && !has_initials("Ab") && !has_initials("a"));
    }
}
