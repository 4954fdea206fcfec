//! Notices about captions: empty, copied or too long ones; and, in modules, about tokenizers and resamples.

mod resampling;
mod tokenizers;

use std::collections::BTreeSet;
use std::iter;

use capeval_choice::{Argument, Code, Remedy};
use capeval_corpus::{Alignment, Captions, Format, GroupedCaptions, Pair, SegmentId};
use capeval_metric::AnyMetric;
use capeval_report::Notice;
use capeval_text::{Scratch, Tokenizer};
use rayon::prelude::*;

pub(crate) use self::resampling::{
    FEW_IMAGES, Unit, add_doubts, few_resamples, of_intervals, rare_categories, resamples_of_few,
};
pub(crate) use self::tokenizers::{about_texts, look_at};

/// Decides which candidates are empty: those without text, and those of punctuation in which a tokenizer of `metrics`
/// finds no word. All others have a letter or a digit, and are not tokenised.
pub fn is_empty(metrics: &[AnyMetric]) -> impl Fn(&str) -> bool + use<> {
    let tokenizers: BTreeSet<Tokenizer> =
        metrics.iter().filter_map(|metric| metric.input().reading.tokenizer()).collect();
    move |text| {
        let has_word = |tokenizer: &Tokenizer| tokenizer.pieces(text).iter().any(|piece| !piece.is_empty());
        !text.contains(char::is_alphanumeric) && (text.trim().is_empty() || !tokenizers.iter().all(has_word))
    }
}

/// A notice about references without any text.
pub(crate) fn empty_references(references: &Captions) -> Option<Notice> {
    let rows = references.iter().enumerate().filter(|(_, (_, text))| text.trim().is_empty());
    let empty: Vec<(&str, &SegmentId)> = rows.map(|(row, (id, _))| (references.source_of(row), id)).collect();
    let (_, first) = empty.first()?;
    let count = empty.len();
    let mut files: Vec<(&str, usize)> = Vec::new();
    for (file, _) in &empty {
        match files.iter_mut().find(|(known, _)| known == file) {
            Some((_, n)) => *n += 1,
            None => files.push((file, 1)),
        }
    }
    let source = match files.as_slice() {
        [(file, _)] => (*file).to_owned(),
        files => files.iter().map(|(file, n)| format!("{file} ({n})")).collect::<Vec<_>>().join(", "),
    };
    let (are, such) = if count == 1 { ("reference is", "that") } else { ("references are", "the first one") };
    let message = format!("{count} {are} empty in {source}, {such} of image {}", first.quoted());
    let ids = empty.iter().take(Notice::MAX_IDS).map(|(_, id)| (*id).clone()).collect();
    Some(Notice::new(Code::EmptyReferences, message).count(count).ids(ids))
}

/// A notice if every candidate is a reference of its image, word for word; a single one may be by chance.
pub(crate) fn copy_of_references(
    references: &GroupedCaptions,
    name: &str,
    candidates: &Captions,
    aligned: &Alignment,
) -> Option<Notice> {
    let is_copy = |pair: &Pair| {
        let text = pair.candidate.map(|row| candidates.text(row as usize));
        text.is_some_and(|text| references.texts(pair.image as usize).any(|reference| reference == text))
    };
    let is_same_file = candidates.source() == references.captions().source();
    if aligned.len() < 2 && !is_same_file || !aligned.pairs.iter().all(is_copy) {
        return None;
    }
    let message = match is_same_file {
        true => format!("the candidates of {name} and the references are one file, {}", candidates.source()),
        false => format!("every candidate of {name} is word for word a reference of its image"),
    };
    let remedy = Remedy::say("make sure that it is the right file");
    Some(Notice::new(Code::CopyOfReferences, message).system(name).count(aligned.len()).remedy(remedy))
}

/// A notice for each group of systems with the same captions.
pub(crate) fn twins(systems: &[(String, Captions)]) -> Vec<Notice> {
    let is_same =
        |a: &Captions, b: &Captions| a.ids() == b.ids() && (0..a.len()).all(|row| a.text(row) == b.text(row));
    let mut groups: Vec<(&Captions, Vec<&str>)> = Vec::new();
    for (name, captions) in systems {
        match groups.iter_mut().find(|(first, _)| is_same(first, captions)) {
            Some((_, names)) => names.push(name),
            None => groups.push((captions, vec![name])),
        }
    }
    let notice = |(_, names): (&Captions, Vec<&str>)| {
        let (last, others) = names.split_last().filter(|(_, others)| !others.is_empty())?;
        let message = format!("{} and {last} have the same captions", others.join(", "));
        let remedy = Remedy::say("make sure that these are the right files");
        Some(Notice::new(Code::SameCaptions, message).count(names.len()).remedy(remedy))
    };
    groups.into_iter().filter_map(notice).collect()
}

/// A notice of the captions that `ptb-each` may read otherwise than pycocoevalcap, which looks at the next image's
/// caption; `None` without metrics that use it. `texts` are the last ones of images.
pub(crate) fn open_captions<'t>(
    metrics: &[AnyMetric],
    texts: impl Iterator<Item = &'t str>,
) -> Option<Notice> {
    let is_each = |metric: &AnyMetric| metric.input().reading.tokenizer() == Some(Tokenizer::PtbEach);
    if !metrics.iter().any(is_each) {
        return None;
    }
    let is_open = |scratch: &mut Scratch, text: &str| {
        Tokenizer::PtbEach.tokenize_before(text, &|| Box::new(iter::empty()), scratch, |_| {})
    };
    let texts: Vec<&str> = texts.collect();
    let n_open = texts.into_par_iter().map_init(Scratch::default, is_open).filter(|is_open| *is_open).count();
    (n_open > 0).then(|| {
        let (captions, end) = if n_open == 1 { ("caption", "ends") } else { ("captions", "end") };
        let message = format!(
            "{n_open} {captions} {end} in such a way that tokens depend on the next image's caption, at which ptb-each \
             does not look; it assumes that a new sentence follows"
        );
        Notice::new(Code::OpenCaptions, message).count(n_open)
    })
}

/// A notice of captions of which a metric ignores the end since they are too long; `system` is that of candidates.
pub(crate) fn long_captions<'t>(
    metrics: &[AnyMetric],
    system: Option<&str>,
    captions: impl Iterator<Item = (&'t SegmentId, &'t str)>,
) -> Option<Notice> {
    let limited: Vec<&AnyMetric> = metrics.iter().filter(|metric| metric.about().is_limited).collect();
    if limited.is_empty() {
        return None;
    }
    let cut = |(id, text): (&'t SegmentId, &str)| {
        limited.iter().find_map(|metric| Some((id, metric, metric.excess(text)?)))
    };
    let captions: Vec<_> = captions.collect();
    let cut: Vec<_> = captions.into_par_iter().filter_map(cut).collect();
    let (first, metric, excess) = cut.first()?;
    let who = of_whom(system, cut.len());
    let (are, such) = if cut.len() == 1 { ("is", "it is") } else { ("are", "the first is") };
    let message = format!(
        "{} {who} {are} too long for {}, which reads {}: the sentence that is too long is left out, and what follows \
         it; {such} that of image {}: {}",
        cut.len(),
        metric.signature().metric(),
        excess.limit,
        first.quoted(),
        excess.what
    );
    let ids = cut.iter().take(Notice::MAX_IDS).map(|(id, ..)| (*id).clone()).collect();
    let notice = Notice::new(Code::LongCaptions, message).count(cut.len()).ids(ids);
    Some(Notice { system: system.map(str::to_owned), ..notice })
}

/// The owner of so many texts: references, or captions of a system.
fn of_whom(system: Option<&str>, count: usize) -> String {
    match (system, count) {
        (None, 1) => "reference".to_owned(),
        (None, _) => "references".to_owned(),
        (Some(name), 1) => format!("caption of {name}"),
        (Some(name), _) => format!("captions of {name}"),
    }
}

/// The reason why the references have other ids than a person expects: their lines or rows were numbered; with a
/// remedy.
pub(crate) fn numbered(references: &Captions) -> Option<(String, Remedy)> {
    if references.format() == Some(Format::Lines) {
        let message = format!("{} has no ids, so its lines are counted from 0", references.source());
        return Some((message, Remedy::say("give references with ids")));
    }
    let notice = references.notices().iter().find(|notice| notice.code == Code::RowNumbers)?;
    let remedy = notice.remedy.clone();
    Some((notice.message.clone(), remedy.unwrap_or_else(|| Remedy::say("give references with ids"))))
}

/// A notice about images that are left out; it adds that their references are not counted, if a metric counts the
/// images in which n-grams occur.
pub(crate) fn left_out<'m>(notice: Notice, metrics: impl IntoIterator<Item = &'m AnyMetric>) -> Notice {
    if !metrics.into_iter().any(|metric| metric.input().frequencies) {
        return notice;
    }
    Notice { message: format!("{}, document frequencies included", notice.message), ..notice }
}

/// A notice that the systems describe different images.
pub(crate) fn different_images() -> Notice {
    let message = "the systems were scored on different images, so their scores are not comparable";
    let empty = Remedy::set(Argument::Missing, "empty").to("score missing captions as empty");
    let images = Remedy::give(Argument::Images).to("score only the images that all systems describe");
    Notice::new(Code::DifferentImages, message).remedy(empty.or(images))
}

#[cfg(test)]
mod tests {
    use capeval_metric::{About, Excess, Input, Mean, Metric, Part, Reading, References, Segment, Signature};

    use super::*;

    /// A metric that reads three letters of each caption.
    pub(super) struct Short;

    impl Metric for Short {
        type Model = ();
        type Stats = Mean;
        type Scratch = ();

        fn about(&self) -> About {
            let part = Part::score("short", "short", 0.0..=1.0);
            About::new(Signature::new("short"), Input::new(Reading::Raw), Mean::columns(), vec![part])
                .english(true)
                .limited(true)
        }

        fn fit(&self, _: &References<'_>) {}

        fn excess(&self, caption: &str) -> Option<Excess> {
            (caption.len() > 3)
                .then(|| Excess { limit: "three letters", what: "its sentence 1 has five".to_owned() })
        }

        fn measure(&self, (): &(), _: &Segment<'_>, (): &mut ()) -> Mean {
            Mean::of(0.0)
        }

        fn score(&self, stats: &Mean, values: &mut [f64]) {
            values.fill(stats.value());
        }
    }

    #[test]
    fn captions_longer_than_a_metric_reads_are_counted_and_named() {
        let short = AnyMetric::new(Short);
        let part = Part::score("mean", "mean", 0.0..=1.0);
        let mean = AnyMetric::average(vec![short.clone()], part).unwrap();
        let ids: Vec<SegmentId> = (0..9).map(SegmentId::from).collect();
        let notice = |metric: &AnyMetric, system, text: &'static str, n: usize| {
            let captions = ids.iter().map(|id| (id, "dog")).chain(ids[..n].iter().map(|id| (id, text)));
            long_captions(std::slice::from_ref(metric), system, captions)
        };
        assert_eq!(notice(&short, None, "cat", 9), None);
        let one = notice(&short, None, "a dog", 1).unwrap();
        assert_eq!(
            one.message,
            "1 reference is too long for short, which reads three letters: the sentence that is too long is left out, and \
             what follows it; it is that of image 0: its sentence 1 has five"
        );
        let many = notice(&mean, Some("mine"), "a dog", 7).unwrap();
        assert!(
            many.message.starts_with("7 captions of mine are too long for mean, which reads"),
            "{}",
            many.message
        );
        assert_eq!((many.code, many.count, &many.ids[..]), (Code::LongCaptions.into(), Some(7), &ids[..5]));
        assert_eq!(many.system.as_deref(), Some("mine"));
    }
}
