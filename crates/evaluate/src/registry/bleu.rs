//! BLEU of the corpus, and of single sentences.

use capeval_lexical::{Bleu, ReferenceLength, SentenceBleu};
use capeval_metric::AnyMetric;

use super::Kind;
use super::settings::{ORDER, Setting, SettingError, TOK};

pub(super) const BLEU: Kind = Kind {
    name: "bleu",
    summary: "precision of n-grams over the corpus, with a penalty for short captions",
    paper: "Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation",
    program: "pycocoevalcap 1.2",
    settings: &[
        TOK,
        ORDER,
        Setting { name: "reflen", default: "closest", summary: "closest, shortest or average" },
    ],
    build: |settings| {
        let mut bleu = settings.order(Bleu::coco(settings.tokenizer()?), Bleu::with_order)?;
        bleu.reference_length = settings.choice(
            "reflen",
            &[
                ("closest", ReferenceLength::Closest),
                ("shortest", ReferenceLength::Shortest),
                ("average", ReferenceLength::Average),
            ],
            bleu.reference_length,
        )?;
        Ok(AnyMetric::new(bleu))
    },
};

pub(super) const SENTENCE_BLEU: Kind = Kind {
    name: "sentence-bleu",
    summary: "BLEU of each sentence, smoothed; the corpus score is their mean",
    paper: "Lin and Och 2004, ORANGE; Chen and Cherry 2014, Smoothing Techniques for Sentence-Level BLEU",
    program: "NLTK 3.10",
    settings: &[
        TOK,
        ORDER,
        Setting { name: "smooth", default: "add-one", summary: "add-one, or NLTK's method 0 to 7" },
    ],
    build: |settings| {
        let smoothing = settings.get("smooth").unwrap_or("add-one").parse();
        let smoothing = smoothing.map_err(|e| SettingError(format!("{}: {e}", settings.metric)))?;
        let bleu = SentenceBleu::new(settings.tokenizer()?, smoothing);
        Ok(AnyMetric::new(settings.order(bleu, SentenceBleu::with_order)?))
    },
};
