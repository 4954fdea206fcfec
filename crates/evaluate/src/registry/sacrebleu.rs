//! What sacreBLEU reports: BLEU, chrF and TER.

use capeval_lexical::sacrebleu::Smoothing;
use capeval_lexical::{Blanks, Chrf, EffectiveOrder, Orders, SacreBleu, Ter};
use capeval_metric::AnyMetric;

use super::Kind;
use super::settings::{ORDER, Setting, SettingError, Settings, TOK};

const CASE: Setting =
    Setting { name: "case", default: "mixed", summary: "mixed, or lc for lower-cased text" };
const CHARS: Setting = Setting { name: "chars", default: "6", summary: "longest character n-grams" };
const BETA: Setting =
    Setting { name: "beta", default: "2", summary: "how many times recall matters as much as precision" };
const SPACE: Setting =
    Setting { name: "space", default: "no", summary: "count white space as characters: yes or no" };
const CHRF_EFF: Setting =
    Setting { name: "eff", default: "yes", summary: "leave empty orders out: yes, or no for 1e-16" };

pub(super) const SACREBLEU: Kind = Kind {
    name: "sacrebleu",
    summary: "BLEU as sacreBLEU reports it, from 0 to 100",
    paper: "Post 2018, A Call for Clarity in Reporting BLEU Scores",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { default: "13a", ..TOK },
        ORDER,
        CASE,
        Setting { name: "smooth", default: "exp", summary: "none, floor, add-k or exp" },
        Setting {
            name: "by",
            default: "usual",
            summary: "what to smooth by: usual is 0.1 for floor, 1 for add-k",
        },
        Setting {
            name: "eff",
            default: "segments",
            summary: "leave orders beyond the text out: no, in segments, or yes",
        },
    ],
    build: sacrebleu,
};

pub(super) const CHRF: Kind = Kind {
    name: "chrf",
    summary: "F-score of character n-grams, from 0 to 100",
    paper: "Popović 2015, chrF: character n-gram F-score for automatic MT evaluation",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { name: "words", default: "0", summary: "longest word n-grams" },
        CHARS,
        BETA,
        CASE,
        SPACE,
        CHRF_EFF,
    ],
    build: |settings| chrf(settings, Chrf::new()),
};

pub(super) const CHRF_PLUS_PLUS: Kind = Kind {
    name: "chrf++",
    summary: "F-score of character n-grams, and of words and pairs of words, from 0 to 100",
    paper: "Popović 2017, chrF++: words helping character n-grams",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { name: "words", default: "2", summary: "longest word n-grams" },
        CHARS,
        BETA,
        CASE,
        SPACE,
        CHRF_EFF,
    ],
    build: |settings| chrf(settings, Chrf::plus_plus()),
};

pub(super) const TER: Kind = Kind {
    name: "ter",
    summary: "edits and shifts per word that would turn a candidate into its reference, times 100",
    paper: "Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation",
    program: "sacreBLEU 2.6.0",
    settings: &[
        Setting { default: "lc", ..CASE },
        Setting { name: "norm", default: "no", summary: "normalise punctuation and entities: yes or no" },
        Setting { name: "punct", default: "yes", summary: "keep punctuation: yes or no" },
        Setting { name: "asian", default: "no", summary: "norm and punct know East Asian text: yes or no" },
    ],
    build: |settings| {
        let ter = Ter::new();
        Ok(AnyMetric::new(Ter {
            case: settings.case(ter.case)?,
            normalized: settings.yes_or("norm", ter.normalized)?,
            no_punct: !settings.yes_or("punct", !ter.no_punct)?,
            asian_support: settings.yes_or("asian", ter.asian_support)?,
        }))
    },
};

fn sacrebleu(settings: &mut Settings<'_>) -> Result<AnyMetric, SettingError> {
    let tokenizer = settings.tokenizer_or("13a")?;
    let mut bleu = settings.order(SacreBleu::new(tokenizer), SacreBleu::with_order)?;
    bleu.case = settings.case(bleu.case)?;
    let choices = [
        ("none", Smoothing::None),
        ("floor", Smoothing::Floor(0.1)),
        ("add-k", Smoothing::AddK(1.0)),
        ("exp", Smoothing::Exp),
    ];
    bleu.smoothing = settings.choice("smooth", &choices, bleu.smoothing)?;
    if let Some(value) = settings.get("by").filter(|value| *value != "usual") {
        bleu.smoothing = match bleu.smoothing {
            Smoothing::Floor(usual) => Smoothing::Floor(settings.positive("by", usual)?),
            Smoothing::AddK(usual) => Smoothing::AddK(settings.positive("by", usual)?),
            Smoothing::None | Smoothing::Exp => {
                return Err(settings.refuse("by", value, "it with smooth=floor or smooth=add-k"));
            }
        };
    }
    let choices = [
        ("no", EffectiveOrder::Never),
        ("segments", EffectiveOrder::Segments),
        ("yes", EffectiveOrder::Always),
    ];
    bleu.effective_order = settings.choice("eff", &choices, bleu.effective_order)?;
    Ok(AnyMetric::new(bleu))
}

fn chrf(settings: &mut Settings<'_>, preset: Chrf) -> Result<AnyMetric, SettingError> {
    let (chars, words) = preset.char_and_word_order();
    let (chars, words) = (settings.whole("chars", chars)?, settings.whole("words", words)?);
    let mut chrf = preset.with_orders(chars, words).ok_or_else(|| {
        settings.refuse("chars and words", &format!("{chars} and {words}"), "1 to 64 together")
    })?;
    chrf.beta = settings.positive("beta", chrf.beta)?;
    chrf.case = settings.case(chrf.case)?;
    if settings.yes_or("space", chrf.blanks == Blanks::Kept)? {
        chrf.blanks = Blanks::Kept;
    }
    if !settings.yes_or("eff", chrf.orders == Orders::Effective)? {
        chrf.orders = Orders::All;
    }
    Ok(AnyMetric::new(chrf))
}
