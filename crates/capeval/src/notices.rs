//! What a reader of the scores should know about texts and tokenizers.

use std::collections::BTreeSet;

use capeval_corpus::Captions;
use capeval_metric::{AnyMetric, Reading};
use capeval_report::Notice;
use capeval_text::{Looks, Texts, Tokenizer};

/// How many texts are looked at.
const SAMPLE: usize = 2000;

/// The share of letters beyond ASCII from which text is hardly English; English captions have fewer than
/// one in a thousand.
const FOREIGN: f64 = 0.01;

/// Guesses about whether texts and tokenizers fit each other. They change no score.
pub(crate) fn about_texts(
    references: &Texts,
    systems: &[(String, &Captions)],
    metrics: &[AnyMetric],
) -> Vec<Notice> {
    let tokenizers: BTreeSet<Tokenizer> =
        metrics.iter().filter_map(|metric| tokenizer(metric.input().reading)).collect();
    let reference_looks = Looks::of(sample(references.len()).map(|k| references.get(k)));
    let candidate_looks: Vec<(&str, Looks)> = systems
        .iter()
        .map(|(name, captions)| (name.as_str(), Looks::of(sample(captions.len()).map(|k| captions.text(k)))))
        .collect();
    let everyone = || {
        let candidates = candidate_looks.iter().map(|(name, looks)| (Some(*name), *looks));
        std::iter::once((None, reference_looks)).chain(candidates)
    };
    let mut notices = Vec::new();
    for tokenizer in tokenizers {
        match tokenizer {
            Tokenizer::None | Tokenizer::Whitespace => {
                notices.extend(
                    everyone()
                        .filter(|(_, looks)| looks.untokenised())
                        .map(|(system, looks)| untokenised(tokenizer, system, &looks)),
                );
            }
            Tokenizer::Ptb | Tokenizer::PtbRaw | Tokenizer::V13a | Tokenizer::Intl => {
                notices.extend(
                    everyone()
                        .filter(|(_, looks)| looks.tokenised())
                        .map(|(system, _)| tokenised(tokenizer, system)),
                );
            }
            _ => {}
        }
        if matches!(tokenizer, Tokenizer::Ptb | Tokenizer::PtbRaw | Tokenizer::V13a) {
            let foreign = |looks: &Looks| {
                looks.unsegmented() || (is_english(tokenizer) && looks.non_ascii_share() >= FOREIGN)
            };
            notices.extend(
                everyone()
                    .filter(|(_, looks)| foreign(looks))
                    .map(|(system, looks)| not_english(tokenizer, system, &looks)),
            );
        }
    }
    notices
}

/// Systems that describe different images.
pub(crate) fn different_images() -> Notice {
    let message = "the systems were scored on different images, so their scores do not compare; score missing \
                   captions as empty (--missing empty), or only the images that all describe (--images)";
    notice("different-images", None, message.to_owned())
}

/// Whether a tokenizer knows English alone.
fn is_english(tokenizer: Tokenizer) -> bool {
    matches!(tokenizer, Tokenizer::Ptb | Tokenizer::PtbRaw)
}

fn tokenizer(reading: Reading) -> Option<Tokenizer> {
    match reading {
        Reading::Raw => None,
        Reading::Tokens(tokenizer) | Reading::Stems(tokenizer, _) => Some(tokenizer),
    }
}

/// Indices of up to [`SAMPLE`] of `n` texts, evenly spread.
fn sample(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(n.div_ceil(SAMPLE).max(1))
}

fn notice(code: &str, system: Option<&str>, message: String) -> Notice {
    Notice { code: code.into(), message, system: system.map(str::to_owned), ids: Vec::new(), count: None }
}

fn whose(system: Option<&str>) -> String {
    system.map_or_else(|| "the references".to_owned(), |system| format!("the captions of {system}"))
}

fn untokenised(tokenizer: Tokenizer, system: Option<&str>, looks: &Looks) -> Notice {
    let remedy = if looks.unsegmented() { "zh, char or jieba" } else { "ptb, as COCO does" };
    let message = format!(
        "{} look untokenised, and the tokenizer {tokenizer} leaves punctuation on its words; \
         scores will be too low to compare with others; consider --tokenizer {remedy}",
        whose(system)
    );
    notice("untokenised", system, message)
}

fn tokenised(tokenizer: Tokenizer, system: Option<&str>) -> Notice {
    let message = format!(
        "{} look tokenised already and are tokenised again by {tokenizer}; where that matters, give the \
         text as it was written",
        whose(system)
    );
    notice("tokenised", system, message)
}

fn not_english(tokenizer: Tokenizer, system: Option<&str>, looks: &Looks) -> Notice {
    let remedy = if looks.unsegmented() {
        "for Chinese or Japanese consider --tokenizer zh, char or jieba"
    } else {
        "for other languages consider --tokenizer intl"
    };
    let message = format!(
        "{:.0} % of the letters of {} are not ASCII, and the tokenizer {tokenizer} is made for English; {remedy}",
        (looks.non_ascii_share() * 100.0).max(1.0),
        whose(system)
    );
    notice("not-english", system, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use capeval_corpus::SegmentId;

    fn codes(references: &[&str], candidates: &[&str], tokenizer: &str) -> Vec<(String, Option<String>)> {
        let texts: Texts = references.iter().copied().collect();
        let mut captions = Captions::new("x");
        candidates.iter().for_each(|text| captions.push(SegmentId::from(1), text));
        let metrics = crate::metrics(["bleu"], &[("tok", tokenizer)]).unwrap();
        let notices = about_texts(&texts, &[("x".to_owned(), &captions)], &metrics);
        notices.into_iter().map(|notice| (notice.code, notice.system)).collect()
    }

    #[test]
    fn text_with_punctuation_under_no_tokenizer_is_noticed() {
        assert_eq!(codes(&["A dog runs."], &["a dog runs"], "none"), [("untokenised".into(), None)]);
        assert_eq!(codes(&["A dog runs."], &["a dog runs"], "ptb"), []);
    }

    #[test]
    fn text_that_is_tokenised_twice_is_noticed() {
        let found = codes(&["A dog runs."], &["a dog runs ."], "ptb");
        assert_eq!(found, [("tokenised".into(), Some("x".into()))]);
    }

    #[test]
    fn chinese_under_an_english_tokenizer_is_noticed() {
        assert_eq!(codes(&["两只小狗在草地上玩"], &["a dog"], "ptb"), [("not-english".into(), None)]);
        assert_eq!(codes(&["两只小狗在草地上玩"], &["a dog"], "zh"), []);
    }

    #[test]
    fn a_sample_is_spread_evenly() {
        assert_eq!(sample(0).count(), 0);
        assert_eq!(sample(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(sample(200_000).count() <= SAMPLE);
    }
}
