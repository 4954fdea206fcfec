//! CHAIR: how many of the objects that captions mention are not in the image.
//!
//! Paper: Rohrbach et al., *Object Hallucination in Image Captioning* (EMNLP 2018). Reference programs:
//! `utils/chair.py` of LisaAnne/Hallucination (6e4d33c), `words=pattern`, and the program that was rewritten for
//! Python 3, `chair.py` of shikiw/OPERA (61426ef), `words=wordnet`, whose numbers papers on vision-language models
//! report. Both with nltk 3.10.4, which compiles most of its patterns with the package regex.
//!
//! The objects of an image are those of its instances, and those that its references mention. `CHAIRi` is hallucinated
//! mentions of all mentions, `CHAIRs` captions with a hallucinated mention of all captions, recall the objects that are
//! mentioned of all objects of the images, length the mean number of words. All are computed from sums.
//!
//! Quirks kept on purpose:
//! - a word counts as often as it stands there, and so does a hallucination;
//! - two words are taken for one only after each is reduced, so `tennis racket` is no object of the first program,
//!   whose singular is `tenni racket`, and a racket is;
//! - the singulars of pattern.en: a single bus is no object of the first program;
//! - words are reduced by the part of speech that a tagger finds, so `parking meter` is no object of the second program
//!   where `parking` is a verb;
//! - in the published list, `iPhone` and two words with a space too many never match;
//! - `baby bird` is a bird, and no person; where there is a toilet, a seat is no chair;
//! - crowds (`iscrowd`) are objects like others.
//!
//! Decided otherwise: without any mention, `CHAIRi` is 0, where both programs divide by zero; without any object, so is
//! recall. Length is the mean itself, where the second program prints a hundredth of it in percent.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use capeval::corpus::SegmentId;
use capeval::metric::{Explanation, Family, Match, Part, Rule, Setting, Signature, Step};
use capeval::stats::Column;
use capeval::{Answers, Outside, OutsideLabel, OutsideRow};
use capeval_choice::{Argument, Code, Notice, Refusal};
use rayon::prelude::*;

use crate::chair::caption::{Mention, Read, Reader};
use crate::chair::instances::Instances;
use crate::chair::{self, Reduce};
use crate::kind::OutsideKind;

/// The number of rows that are read between two looks at the user.
const ROWS_AT_ONCE: usize = 2_000;

/// CHAIR.
pub struct Chair {
    pub label: OutsideLabel,
    /// Its setting `words`.
    pub words: &'static str,
    pub reader: Reader,
    pub instances: Instances,
    /// A hash of the data of NLTK.
    pub data: u64,
    /// The images of the last rows that have no instances, and the number of all.
    pub bare: Mutex<(Vec<SegmentId>, usize)>,
}

/// The entry of CHAIR.
pub(crate) const KIND: OutsideKind = OutsideKind {
    name: "chair",
    summary: "objects that the caption mentions and that are not in the image, less is better",
    paper: "Rohrbach et al. 2018, Object Hallucination in Image Captioning",
    program: "chair.py of shikiw/OPERA; utils/chair.py of LisaAnne/Hallucination (words=pattern)",
    family: Family::Objects,
    needs: "a list of objects, data of NLTK, and instances of the images",
    given: &[Argument::Objects, Argument::Instances, Argument::NltkData],
    instead: &[],
    models: &[],
    settings: &[Setting::choice("words", "wordnet", "how words are reduced", Reduce::NAMES)],
    seconds: 1.0,
    parts,
    build: |spec, settings, sources| chair::build(spec, settings, &sources.named.objects),
};

/// The measures.
pub fn parts() -> Vec<Part> {
    vec![
        Part::score("chair-i", "CHAIRi", 0.0..=1.0).lower(),
        Part::score("chair-s", "CHAIRs", 0.0..=1.0).lower(),
        Part::score("chair-recall", "CHAIR recall", 0.0..=1.0),
        Part::score("chair-words", "words", 0.0..=f64::INFINITY).neither(),
    ]
}

/// The counts of a caption.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// 1 if it has a hallucinated mention.
    pub hallucinated_captions: f64,
    pub hallucinated: f64,
    pub mentions: f64,
    /// The objects of the image that it mentions, each once.
    pub recalled: f64,
    /// The objects of the image.
    pub objects: f64,
    pub words: f64,
}

impl Counts {
    pub fn row(self) -> [f64; 6] {
        let Self { hallucinated_captions, hallucinated, mentions, recalled, objects, words } = self;
        [hallucinated_captions, hallucinated, mentions, recalled, objects, words]
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

impl Chair {
    /// The objects of a row's image, each once.
    fn objects(&self, row: &OutsideRow<'_>, of_references: impl Iterator<Item = u16>) -> HashSet<u16> {
        let instances = row.image.map_or(&[][..], |image| self.instances.of(image));
        instances.iter().copied().chain(of_references).collect()
    }

    fn mentioned(&self, caption: &str) -> Vec<u16> {
        self.reader.read(caption).mentions.iter().map(|mention| mention.object).collect()
    }
}

/// The counts of a caption of an image with these objects.
pub fn counts(read: &Read, objects: &HashSet<u16>) -> Counts {
    let hallucinated = read.mentions.iter().filter(|mention| !objects.contains(&mention.object)).count();
    let recalled: HashSet<u16> = read
        .mentions
        .iter()
        .map(|mention| mention.object)
        .filter(|object| objects.contains(object))
        .collect();
    Counts {
        hallucinated_captions: f64::from(u8::from(hallucinated > 0)),
        hallucinated: hallucinated as f64,
        mentions: read.mentions.len() as f64,
        recalled: recalled.len() as f64,
        objects: objects.len() as f64,
        words: read.n_words as f64,
    }
}

impl Outside for Chair {
    fn label(&self) -> &OutsideLabel {
        &self.label
    }

    fn signature(&self) -> Signature {
        let hash = |hash: u64| format!("{:012x}", hash >> 16);
        Signature::new("chair")
            .with("words", self.words)
            .with("objects", hash(self.reader.objects.hash()))
            .with("instances", self.instances.hash().map_or_else(|| "none".to_owned(), hash))
            .with("nltk", hash(self.data))
    }

    fn needs_references(&self) -> bool {
        true
    }

    fn languages(&self) -> &[String] {
        static ENGLISH: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| vec!["en".to_owned()]);
        &ENGLISH
    }

    fn columns(&self) -> Option<Vec<Column>> {
        let names = ["hallucinated-captions", "hallucinated", "mentions", "recalled", "objects", "words"];
        Some(names.map(Column::count).to_vec())
    }

    fn combine(&self, n: f64, sums: &[f64], scores: &mut [f64]) {
        if let ([captions, hallucinated, mentions, recalled, objects, words], [i, s, recall, length]) =
            (sums, scores)
        {
            *i = share(*hallucinated, *mentions);
            *s = share(*captions, n);
            *recall = share(*recalled, *objects);
            *length = share(*words, n);
        }
    }

    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal> {
        let images: BTreeSet<&SegmentId> = rows.iter().filter_map(|row| row.image).collect();
        let bare = images.iter().filter(|image| !self.instances.knows(image)).map(|image| (*image).clone());
        *self.bare.lock().unwrap_or_else(PoisonError::into_inner) = (bare.collect(), images.len());
        // References that many rows share are read once.
        let different: HashSet<&str> = rows.iter().flat_map(|row| row.references.iter().copied()).collect();
        let different: Vec<&str> = different.into_iter().collect();
        let mut of_references = std::collections::HashMap::with_capacity(different.len());
        for block in different.chunks(ROWS_AT_ONCE) {
            let read: Vec<(&str, Vec<u16>)> =
                block.par_iter().map(|caption| (*caption, self.mentioned(caption))).collect();
            of_references.extend(read);
            answers.wait();
        }
        for (block, rows) in rows.chunks(ROWS_AT_ONCE).enumerate() {
            let counts: Vec<Counts> = rows
                .par_iter()
                .map(|row| {
                    let references = row.references.iter().filter_map(|text| of_references.get(text));
                    let objects = self.objects(row, references.flatten().copied());
                    counts(&self.reader.read(row.candidate), &objects)
                })
                .collect();
            for (row, counts) in counts.into_iter().enumerate() {
                answers.take(block * ROWS_AT_ONCE + row, &counts.row());
            }
            answers.wait();
        }
        Ok(())
    }

    fn notices(&self) -> Vec<Notice> {
        let (bare, n) = &*self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        let what = match (self.instances.n_images(), bare.len()) {
            (0, _) => {
                "CHAIR knows no instances, so only what the references mention is in the images".to_owned()
            }
            (_, 0) => return Vec::new(),
            (_, 1) => format!(
                "CHAIR knows no instances of 1 of {n} images: only what its references mention is in it"
            ),
            (_, bare) => format!(
                "CHAIR knows no instances of {bare} of {n} images: only what their references mention is in them"
            ),
        };
        let ids = bare.iter().take(Notice::MAX_IDS).cloned().collect();
        vec![Notice::new(Code::Instances, what).count(bare.len()).ids(ids)]
    }

    fn explain(&self, row: &OutsideRow<'_>) -> Option<Explanation> {
        let read = self.reader.read(row.candidate);
        let references: Vec<Read> = row.references.iter().map(|text| self.reader.read(text)).collect();
        let mentioned = references.iter().flat_map(|read| &read.mentions).map(|mention| mention.object);
        let objects = self.objects(row, mentioned);
        let counts = counts(&read, &objects);
        let name = |object: u16| self.reader.objects.name(object).to_owned();
        let is_there = |mention: &&Mention| objects.contains(&mention.object);
        let said = |mention: &Mention| match name(mention.object) {
            name if name == mention.word => name,
            name => format!("{} ({name})", mention.word),
        };
        let right: Vec<String> = read.mentions.iter().filter(is_there).map(said).collect();
        let wrong: Vec<String> =
            read.mentions.iter().filter(|mention| !is_there(mention)).map(said).collect();
        let mut all: Vec<String> = objects.iter().map(|object| name(*object)).collect();
        all.sort_unstable();
        let matched = |mention: &Mention| Match {
            matcher: "object",
            candidate: (mention.first..mention.first + mention.n).collect(),
            references: references
                .iter()
                .enumerate()
                .filter_map(|(number, read)| {
                    let own = read.mentions.iter().filter(|other| other.object == mention.object);
                    let places: Vec<usize> =
                        own.flat_map(|other| other.first..other.first + other.n).collect();
                    (!places.is_empty()).then_some((number, places))
                })
                .collect(),
        };
        let quotient = |part: &Part, above: Step, below: Step| {
            let values: Vec<f64> = [&above, &below].into_iter().filter_map(|step| step.value).collect();
            Step::of(part.label.as_str(), (Rule::QUOTIENT.of)(&values), Rule::QUOTIENT, vec![above, below])
        };
        let count = |title: &str, value: f64, words: &[String]| {
            let step = Step::given(title, value);
            if words.is_empty() { step } else { step.noted(words.join(", ")) }
        };
        let [i, s, recall, length] = self.parts() else { return None };
        let mut right_step = count("in the image", right.len() as f64, &right);
        for mention in read.mentions.iter().filter(is_there) {
            right_step = right_step.matched(matched(mention));
        }
        let mut wrong_step = count("hallucinated mentions", counts.hallucinated, &wrong);
        for mention in read.mentions.iter().filter(|mention| !is_there(mention)) {
            wrong_step = wrong_step.matched(Match {
                matcher: "invented object",
                candidate: (mention.first..mention.first + mention.n).collect(),
                references: Vec::new(),
            });
        }
        let mut first = quotient(i, wrong_step, Step::given("mentions", counts.mentions));
        first.parts.push(Step::heading("mentions of objects", vec![right_step]));
        let scores = vec![
            first,
            Step::given(s.label.as_str(), counts.hallucinated_captions),
            quotient(
                recall,
                Step::given("objects that are mentioned", counts.recalled),
                count("objects of the image", counts.objects, &all),
            ),
            Step::given(length.label.as_str(), counts.words),
        ];
        let references = references.into_iter().map(|read| read.tokens).collect();
        Some(Explanation { candidate: read.tokens, references, scores })
    }
}

/// CHAIR among the metrics of a task.
pub fn boxed(chair: Chair) -> Arc<dyn Outside> {
    Arc::new(chair)
}
