//! WordNet as used by METEOR: lemmas, irregular forms, synset numbers.
//!
//! METEOR ignores the part of speech, so two words are synonyms if they share a synset *number*; 282 numbers
//! of WordNet 3.0 belong to synsets of different parts of speech, so `habit` matches `now`.

use capeval_arrays::Reader;
use capeval_choice::Refusal;

use super::arrays::{Lists, Strings};
use super::sections::{Key, Kind, Writer};
use crate::error::damaged;
use crate::java::utf16_len;
use crate::language::Language;

/// Endings and their replacements, in the order in which METEOR tries them.
const ENDINGS: [(&str, &str); 20] = [
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("s", ""),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
];

/// The dictionary of the synonym matcher.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexicon {
    lemmas: Strings,
    lemma_synsets: Lists,
    forms: Strings,
    form_synsets: Lists,
}

impl Lexicon {
    pub(super) fn open(reader: &Reader, language: Language) -> Result<Option<Self>, Refusal> {
        let key = |kind| Key::new(kind, language);
        if reader.section(key(Kind::Lemmas).number()).is_none() {
            return Ok(None);
        }
        let lexicon = Self {
            lemmas: Strings::open(reader, key(Kind::Lemmas))?,
            lemma_synsets: Lists::open(reader, key(Kind::LemmaSynsets))?,
            forms: Strings::open(reader, key(Kind::Forms))?,
            form_synsets: Lists::open(reader, key(Kind::FormSynsets))?,
        };
        if lexicon.lemmas.len() == lexicon.lemma_synsets.len()
            && lexicon.forms.len() == lexicon.form_synsets.len()
        {
            Ok(Some(lexicon))
        } else {
            Err(damaged("the lexicon of METEOR's resource file is inconsistent"))
        }
    }

    /// Returns true if the lists are consistent.
    pub(super) fn is_whole(&self, file: &[u8]) -> bool {
        self.lemma_synsets.is_whole(file) && self.form_synsets.is_whole(file)
    }

    /// Replaces `synsets` with the synset numbers, ascending, that METEOR has for `word`.
    ///
    /// These are the synsets of the word itself and of its bases: the listed bases of an irregular form,
    /// otherwise the first lemma found by replacing an ending.
    pub(crate) fn synsets(&self, file: &[u8], word: &str, synsets: &mut Vec<u32>) {
        synsets.clear();
        if let Some(lemma) = self.lemmas.find(file, word.as_bytes()) {
            synsets.extend(self.lemma_synsets.get(file, lemma as usize));
        }
        if let Some(form) = self.forms.find(file, word.as_bytes()) {
            synsets.extend(self.form_synsets.get(file, form as usize));
        } else if let Some(base) = self.base(file, word) {
            synsets.extend(self.lemma_synsets.get(file, base as usize));
        }
        synsets.sort_unstable();
        synsets.dedup();
    }

    /// The lemma of a regular form.
    fn base(&self, file: &[u8], word: &str) -> Option<u32> {
        // Here METEOR uses the word itself, whose synsets are already included.
        if word.ends_with("ss") || utf16_len(word) <= 2 {
            return None;
        }
        let mut candidate = Vec::new();
        ENDINGS.iter().find_map(|(ending, replacement)| {
            let stem = word.strip_suffix(ending)?;
            candidate.clear();
            candidate.extend_from_slice(stem.as_bytes());
            candidate.extend_from_slice(replacement.as_bytes());
            self.lemmas.find(file, &candidate)
        })
    }
}

/// METEOR's two dictionary files, parsed and ready to be written.
#[derive(Default)]
pub(super) struct LexiconSource {
    /// Ascending synset numbers by lemma.
    synsets: std::collections::BTreeMap<String, Vec<u32>>,
    /// Bases by irregular form.
    bases: std::collections::BTreeMap<String, Vec<String>>,
}

impl LexiconSource {
    /// Reads `synsets` (lines: lemma / synset numbers) and `exceptions` (lines: base / irregular forms).
    pub(super) fn read(synsets: &str, exceptions: &str) -> Result<Self, Refusal> {
        let mut source = Self::default();
        for (at, (lemma, numbers)) in pairs(synsets, "the synset file")?.into_iter().enumerate() {
            let numbers: Result<Vec<u32>, _> = numbers.split_ascii_whitespace().map(str::parse).collect();
            let mut numbers =
                numbers.map_err(|e| Refusal::new(format!("the synset file, line {}: {e}", 2 * at + 2)))?;
            numbers.sort_unstable();
            numbers.dedup();
            source.synsets.insert(lemma.to_owned(), numbers);
        }
        for (base, forms) in pairs(exceptions, "the exceptions file")? {
            for form in forms.split_ascii_whitespace() {
                source.bases.entry(form.to_owned()).or_default().push(base.to_owned());
            }
        }
        Ok(source)
    }

    pub(super) fn write(&self, writer: &mut Writer, language: Language) {
        let key = |kind| Key::new(kind, language);
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for numbers in self.synsets.values() {
            values.extend_from_slice(numbers);
            ends.push(values.len() as u32);
        }
        Strings::write(writer, key(Kind::Lemmas), self.synsets.keys().map(String::as_bytes));
        Lists::write(writer, key(Kind::LemmaSynsets), &ends, &values);
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for bases in self.bases.values() {
            let mut numbers: Vec<u32> =
                bases.iter().filter_map(|base| self.synsets.get(base)).flatten().copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
            values.extend_from_slice(&numbers);
            ends.push(values.len() as u32);
        }
        Strings::write(writer, key(Kind::Forms), self.bases.keys().map(String::as_bytes));
        Lists::write(writer, key(Kind::FormSynsets), &ends, &values);
    }
}

/// The lines of `text` in pairs; an odd number of lines means that the file is truncated.
fn pairs<'t>(text: &'t str, what: &str) -> Result<Vec<(&'t str, &'t str)>, Refusal> {
    let mut lines = text.lines();
    let mut pairs = Vec::new();
    while let Some(first) = lines.next() {
        let second =
            lines.next().ok_or_else(|| Refusal::new(format!("{what} ends in the middle of an entry")))?;
        pairs.push((first, second));
    }
    Ok(pairs)
}
