//! Signs scores with everything that they depend on, and says what readers of them should know.

use capeval_choice::{Argument, Code, NoticeCode};
use capeval_corpus::{Empty, Missing};
use capeval_evaluate::{MetricScores, ReferenceSet, SystemScores};
use capeval_lexical::fluency::{EndSymbol, Perplexity};
use capeval_lexical::sacrebleu_signature;
use capeval_metric::{Signature, Statistics as _};
use capeval_report::Notice;

use crate::common::Common;
use crate::findings::Findings;
use crate::{VERSION, notices};

/// The smallest and the greatest number of references of an image; 0 without images.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerImage {
    pub least: usize,
    pub most: usize,
}

impl PerImage {
    fn of(scores: &SystemScores, references: &ReferenceSet) -> Self {
        let each = scores.images.iter().map(|image| references.of(*image as usize).len());
        Self { least: each.clone().min().unwrap_or(0), most: each.max().unwrap_or(0) }
    }
}

/// The things that the scores of a system depend on besides metrics and references.
#[derive(Clone, Copy, Default)]
pub(crate) struct Signing<'a> {
    /// Notices about what was left out or replaced.
    pub notices: &'a [Notice],
    /// The number of listed images, if there is a list.
    pub subset: Option<usize>,
    /// The images that all systems describe, if others were left out.
    pub common: Option<&'a Common>,
    /// Other entries, which come after these.
    pub extras: &'a [(&'static str, String)],
    /// The hashes of given scores, by measure.
    pub given: &'a [(String, String)],
    /// The entry for candidates or runs that were put together.
    pub several: Option<&'a (&'static str, String)>,
}

impl Signing<'_> {
    /// Signs the scores of one system by each metric, and adds its notices to `found`.
    pub fn sign(
        self,
        scores: &SystemScores,
        references: &ReferenceSet,
        found: &mut Findings,
    ) -> Vec<Signature> {
        let per_image = PerImage::of(scores, references);
        for metric in &scores.metrics {
            found.add(unknown_words(&scores.name, metric, scores.images.len()));
            found.add_once(of_sacrebleu(metric, per_image));
        }
        let notices = self.notices.iter().map(|notice| {
            let skips = notice.code == NoticeCode::Applied(Argument::Missing, Missing::Skip.name());
            let notice = match skips {
                true => notices::left_out(notice.clone(), scores.metrics.iter().map(|metric| &metric.metric)),
                false => notice.clone(),
            };
            notice.system(&*scores.name)
        });
        found.add_once(notices);
        found.add_once(scores.metrics.iter().flat_map(|metric| metric.notices.iter().cloned()));
        scores.metrics.iter().map(|metric| self.signature(&metric.signature, per_image)).collect()
    }

    /// The signature of a metric with everything that all scores depend on: the number of references per image, what
    /// was left out or replaced, and the version of capeval.
    pub fn signature(self, of_metric: &Signature, PerImage { least, most }: PerImage) -> Signature {
        let Self { notices, subset, common, extras, given, several } = self;
        let mut signature = of_metric.clone();
        if of_metric.is_given() {
            let hash = given.iter().find(|(measure, _)| of_metric.get("measure") == Some(measure));
            hash.into_iter().for_each(|(_, hash)| signature.push("file", hash));
        } else if most == 0 {
            // Without references, a signature does not speak of them.
        } else if least == most {
            signature.push("nrefs", least);
        } else {
            signature.push("nrefs", format_args!("{least}-{most}"));
        }
        if let Some(images) = subset {
            signature.push("subset", images);
        }
        if let Some(common) = common {
            common.sign(&mut signature);
        }
        // What each system lacks itself is among the images that are not common.
        let skipped = [
            NoticeCode::Applied(Argument::Missing, Missing::Skip.name()),
            NoticeCode::Applied(Argument::Empty, Empty::Skip.name()),
        ];
        // Captions and given scores may each lack some images, which are then counted together.
        let mut applied: Vec<(Argument, &str, usize)> = Vec::new();
        for notice in notices.iter().filter(|notice| common.is_none() || !skipped.contains(&notice.code)) {
            if let NoticeCode::Applied(policy, value) = notice.code {
                let count = notice.count.unwrap_or_default();
                match applied.iter_mut().find(|(known, of, _)| (*known, *of) == (policy, value)) {
                    Some((.., sum)) => *sum += count,
                    None => applied.push((policy, value, count)),
                }
            }
        }
        while let Some((policy, ..)) = applied.first().copied() {
            let of_policy = applied.extract_if(.., |(known, ..)| *known == policy);
            let values: Vec<String> =
                of_policy.map(|(_, value, count)| format!("{value}({count})")).collect();
            signature.push(policy.name(), values.join("+"));
        }
        for (name, value) in several.into_iter().chain(extras) {
            signature.push(name, value);
        }
        with_version(signature)
    }
}

/// The signature with the version of capeval, which comes last.
pub(crate) fn with_version(mut signature: Signature) -> Signature {
    signature.push("capeval", VERSION);
    signature
}

/// A notice with the signature that sacreBLEU itself prints, for its metrics, for use in papers.
pub(crate) fn of_sacrebleu(metric: &MetricScores, per_image: PerImage) -> Option<Notice> {
    let PerImage { least, most } = per_image;
    let theirs = sacrebleu_signature(&metric.signature, (most > 0 && least == most).then_some(least))?;
    let message = format!("sacreBLEU signs {} as {theirs}", metric.signature.metric());
    Some(Notice::new(Code::SacrebleuSignature, message))
}

/// A notice about the words of a system that the saved model of `metric` does not know, if `metric` is a perplexity
/// under a saved model.
pub(crate) fn unknown_words(name: &str, metric: &MetricScores, n_captions: usize) -> Option<Notice> {
    let signature = &metric.signature;
    let has_end = signature.get("end") != Some(EndSymbol::Omitted.name());
    if signature.metric() != "perplexity" || signature.get("lm").is_none_or(|lm| lm == "references") {
        return None;
    }
    let total = Perplexity::load(&metric.table.total());
    let words = total.tokens - if has_end { n_captions as f64 } else { 0.0 };
    let message = format!(
        "the model does not know {} of {words} words of {name}, so they count as <unk>",
        total.unknown
    );
    let remedy = format!(
        "make sure that the model was trained with the same tokenizer ({})",
        signature.get("tok").unwrap_or("ptb")
    );
    (total.unknown > 0.0).then(|| Notice::new(Code::UnknownWords, message).remedy(remedy).system(name))
}
