//! F1 of objects: do candidates mention the objects that references mention?
//!
//! Rewards a system that names an object where a reference names it, and nowhere else. An object is a list of words. A
//! candidate mentions it if it contains one of them, and should mention it if a reference does. Counted are references:
//! an image with five references counts five times. With true positives TP, false positives FP and false negatives FN
//! of an object, `P = TP / (TP + FP)`, `R = TP / (TP + FN)` and `F = 2PR / (P + R)`. The score is the mean of F over
//! the objects.
//!
//! Paper: Hendricks et al., *Deep Compositional Captioning: Describing Novel Object Categories without Paired Training
//! Data* (2016). Reference program: `F1` of `eval/eval_sentences.py` in LisaAnne/DCC at ba861de.
//!
//! Quirks kept on purpose:
//! - F is 0 without a true positive, even if no candidate and no reference mentions the object;
//! - punctuation vanishes without a space, so `bus-stop` is the word `busstop`, and `bus.` is `bus`;
//! - plurals are those of the lists, so `buses` is no bus.
//!
//! One difference: the program reads from two files an object which images should mention it. Here, the references say
//! so, which is how the paper describes these files.

use std::collections::HashMap;

use capeval_choice::{Code, Notice, Refusal};
use capeval_metric::setting::TOK;
use capeval_metric::{
    About, AnyMetric, Column, Input, Learns, Metric, MetricKind, Part, Reading, References, Segment, Setting,
    Settings, Signature,
};
use capeval_text::{Symbol, Tokenizer};

use crate::rouge::Sums;

/// The lists of words that have names: those of DCC, and those of its author before that.
const NAMED: [(&str, &str); 2] = [
    (
        "noc",
        "bus/busses+bottle/bottles+couch/couches/sofa/sofas+microwave/microwaves+pizza/pizzas+\
         racket/rackets/racquet/racquets+suitcase/suitcases/luggage/luggages+zebra/zebras",
    ),
    (
        "noc-no-racquet",
        "bus/busses+bottle/bottles+couch/couches/sofa/sofas+microwave/microwaves+pizza/pizzas+racket/rackets+\
         suitcase/suitcases/luggage/luggages+zebra/zebras",
    ),
];

const SYNTAX: &str = "noc, noc-no-racquet, or the words of each object as in bus/buses+couch/sofa";

/// The entry of the F1 of objects in the registry.
pub const KIND: MetricKind = MetricKind {
    name: "object-f1",
    summary: "mentions of objects, such as those that a system was not trained on",
    paper: "Hendricks et al. 2016, Deep Compositional Captioning",
    program: "DCC's eval_sentences.py",
    settings: &[
        Setting { default: "noc", ..TOK },
        Setting::text("objects", ObjectWords::DEFAULT, "words of each object", SYNTAX),
    ],
    variants: &[],
    need: None,
    seconds: 0.01,
    build,
};

fn build(settings: &Settings<'_>) -> Result<AnyMetric, Refusal> {
    let tokenizer = settings.tokenizer()?;
    let objects = ObjectWords::parse(settings.text("objects"), tokenizer);
    Ok(AnyMetric::new(ObjectF1 { tokenizer, objects: objects.map_err(|error| settings.error(error))? }))
}

/// Objects, each with the words that mention it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectWords {
    /// The objects as they were written.
    text: String,
    /// The first word of each object.
    names: Vec<String>,
    /// The objects that a word mentions.
    of: HashMap<String, Vec<usize>>,
}

impl ObjectWords {
    /// The name of the lists that are used unless others are given.
    pub const DEFAULT: &str = "noc";

    /// Reads the name of lists, or objects with their words as in `bus/buses+couch/sofa`.
    ///
    /// # Errors
    /// When a list has no words, two have the same first word, or the tokenizer reads a word as anything else. Lists
    /// with a name are read with any tokenizer, as a suite of all metrics may set it.
    pub fn parse(text: &str, tokenizer: Tokenizer) -> Result<Self, Refusal> {
        let named = NAMED.iter().find(|(name, _)| *name == text);
        let lists = named.map_or(text, |(_, lists)| *lists);
        let mut objects = Self { text: text.to_owned(), names: Vec::new(), of: HashMap::new() };
        for (k, list) in lists.split('+').enumerate() {
            for (place, word) in list.split('/').enumerate() {
                if named.is_none() && (tokenizer.pieces(word) != [word] || word.is_empty()) {
                    let message =
                        format!("'{word}' in '{text}' is no single word of the tokenizer {tokenizer}");
                    let remedy =
                        "write the words of objects as in bus/buses+couch/sofa, in the tokenizer's form";
                    return Err(Refusal::new(message).with_remedy(remedy));
                }
                if place == 0 && objects.names.iter().any(|name| name == word) {
                    let message = format!("two objects in '{text}' are called '{word}'");
                    return Err(Refusal::new(message).with_remedy("put their words into one list"));
                }
                if place == 0 {
                    objects.names.push(word.to_owned());
                }
                objects.of.entry(word.to_owned()).or_default().push(k);
            }
        }
        Ok(objects)
    }

    /// The objects as they were written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The first word of each object.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The objects that a word mentions, by number.
    pub fn of(&self, word: &str) -> &[usize] {
        self.of.get(word).map_or(&[], Vec::as_slice)
    }
}

/// The F1 of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectF1 {
    /// The tokenizer of the text.
    pub tokenizer: Tokenizer,
    /// The objects.
    pub objects: ObjectWords,
}

/// What the references say of the objects.
#[derive(Debug)]
pub struct Mentions {
    /// The objects that each word mentions.
    of: HashMap<Symbol, Vec<usize>>,
    /// The names of the objects that no reference mentions.
    unmentioned: Vec<String>,
}

impl Mentions {
    fn each(&self, words: &[Symbol], mut mark: impl FnMut(usize)) {
        words.iter().filter_map(|word| self.of.get(word)).flatten().for_each(|object| mark(*object));
    }
}

impl Metric for ObjectF1 {
    type Model = Mentions;
    type Stats = Sums;
    type Scratch = ();

    fn about(&self) -> About {
        let Self { tokenizer, objects } = self;
        let signature = Signature::new(KIND.name).with("objects", objects.text()).with("tok", tokenizer);
        let counts = |name: &String| ["tp", "fp", "fn"].map(|count| Column::count(format!("{count}-{name}")));
        let columns = [Column::count("segments")].into_iter().chain(objects.names.iter().flat_map(counts));
        let of_one = |name: &String| (format!("{}-{name}", KIND.name), format!("Object F1 ({name})"));
        let all = [(KIND.name.to_owned(), "Object F1".to_owned())].into_iter();
        let parts = all.chain(objects.names.iter().map(of_one));
        let parts = parts.map(|(key, label)| Part::score(key, label, 0.0..=1.0)).collect();
        About::new(signature, Input::new(Reading::Tokens(*tokenizer)), columns.collect(), parts)
            .learns(Learns::Words)
            .reading_texts(false)
            .english(*tokenizer == Tokenizer::Noc)
    }

    fn fit(&self, references: &References<'_>) -> Mentions {
        let known = |(word, objects): (&String, &Vec<usize>)| {
            references.vocabulary.get(word).map(|symbol| (symbol, objects.clone()))
        };
        let of = self.objects.of.iter().filter_map(known).collect();
        let mut mentions = Mentions { of, unmentioned: Vec::new() };
        let mut is_mentioned = vec![false; self.objects.names.len()];
        for k in references.images.iter().flat_map(|image| references.of(*image as usize)) {
            mentions.each(references.sentences.words(k), |object| is_mentioned[object] = true);
        }
        let names = self.objects.names.iter().zip(is_mentioned).filter(|(_, is_mentioned)| !is_mentioned);
        mentions.unmentioned = names.map(|(name, _)| name.clone()).collect();
        mentions
    }

    fn notices(&self, mentions: &Mentions) -> Vec<Notice> {
        if mentions.unmentioned.is_empty() {
            return Vec::new();
        }
        let names = mentions.unmentioned.join(", ");
        let message = format!("no reference mentions {names}: F1 of such an object is 0 and lowers the mean");
        vec![Notice::new(Code::UnmentionedObjects, message).remedy("check the words of object-f1:objects=…")]
    }

    fn measure(&self, mentions: &Mentions, segment: &Segment<'_>, (): &mut ()) -> Sums {
        let mut sums = vec![[0.0; 3]; self.objects.names.len()];
        let (mut does, mut should) = (vec![false; sums.len()], vec![false; sums.len()]);
        mentions.each(segment.words, |object| does[object] = true);
        for words in segment.reference_words() {
            mentions.each(words, |object| should[object] = true);
        }
        let n = segment.reference_words().len() as f64;
        for (counts, pair) in sums.iter_mut().zip(does.into_iter().zip(should)) {
            match pair {
                (true, true) => counts[0] = n,
                (true, false) => counts[1] = n,
                (false, true) => counts[2] = n,
                (false, false) => {}
            }
        }
        Sums { segments: 1.0, sums }
    }

    fn score(&self, stats: &Sums, values: &mut [f64]) {
        let mut total = 0.0;
        for (value, counts) in values[1..].iter_mut().zip(&stats.sums) {
            *value = f1(*counts);
            total += *value;
        }
        values[0] = total / stats.sums.len() as f64;
    }
}

fn f1([tp, fp, misses]: [f64; 3]) -> f64 {
    if tp == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (tp / (tp + fp), tp / (tp + misses));
    2.0 * (precision * recall) / (precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ObjectWords, String> {
        ObjectWords::parse(text, Tokenizer::Noc).map_err(|error| error.to_string())
    }

    #[test]
    fn named_lists_differ_by_racquets() {
        let [noc, before] = ["noc", "noc-no-racquet"].map(|name| read(name).unwrap());
        assert_eq!(noc.names(), before.names());
        let racket = noc.of("racket");
        assert!(racket.len() == 1 && noc.of("racquets") == racket && before.of("racquets").is_empty());
        assert!(noc.of("luggage") == noc.of("suitcases") && noc.of("buses").is_empty());
    }

    #[test]
    fn words_that_no_caption_contains_are_refused() {
        for (text, why) in [
            ("bus/bus stop", "'bus stop' in 'bus/bus stop' is no single word of the tokenizer noc"),
            ("Bus", "'Bus' in 'Bus' is no single word"),
            ("", "'' in '' is no single word"),
            ("bus++couch", "is no single word"),
            ("bus/busses+bus", "two objects in 'bus/busses+bus' are called 'bus'"),
        ] {
            assert!(read(text).unwrap_err().contains(why), "{text}: {:?}", read(text));
        }
        assert!(ObjectWords::parse("Bus/バス", Tokenizer::Whitespace).is_ok());
        assert!(ObjectWords::parse("noc", Tokenizer::Char).is_ok());
    }

    #[test]
    fn f_is_0_without_a_true_positive() {
        assert_eq!([f1([0.0; 3]), f1([0.0, 5.0, 5.0]), f1([5.0, 0.0, 0.0])], [0.0, 0.0, 1.0]);
        assert_eq!(f1([10.0, 5.0, 10.0]), 2.0 * (2.0 / 3.0 * 0.5) / (2.0 / 3.0 + 0.5));
    }
}
