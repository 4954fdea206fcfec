//! Notices about texts, tokenizers and resampling.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use capeval_choice::{Argument, Code, Remedy, Task};
use capeval_corpus::{Alignment, Captions, Format, GroupedCaptions, Pair, SegmentId};
use capeval_metric::AnyMetric;
use capeval_report::{Comparison, Notice, TooFewResamples};
use capeval_stats::Resampling;
use capeval_text::tokenizers::UNSPACED;
use capeval_text::{Looks, Scratch, Texts, Tokenizer};
use rayon::prelude::*;

/// The number of texts in a sample.
const SAMPLE: usize = 2000;

/// The share of non-ASCII letters above which text is probably not English; in English captions, it is below one in a
/// thousand.
const FOREIGN: f64 = 0.01;

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
    let empty = || references.iter().filter(|(_, text)| text.trim().is_empty()).map(|(id, _)| id);
    let first = empty().next()?;
    let (count, source) = (empty().count(), references.source());
    let (are, such) = if count == 1 { ("reference is", "that") } else { ("references are", "the first one") };
    let message = format!("{count} {are} empty in {source}, {such} of image {}", first.quoted());
    let ids = empty().take(Notice::MAX_IDS).cloned().collect();
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

/// The number of resamples below which the bounds of an interval are unreliable.
const ENOUGH_RESAMPLES: usize = 200;

/// A notice if intervals come from few resamples.
pub(crate) fn few_resamples(resamples: usize) -> Option<Notice> {
    (resamples < ENOUGH_RESAMPLES).then(|| {
        let message = format!(
            "with {resamples} resample{}, the ends of intervals are left to chance",
            if resamples == 1 { "" } else { "s" },
        );
        let remedy = Remedy::set(Argument::Resamples, "1000").to("draw enough");
        Notice::new(Code::FewResamples, message).remedy(remedy).count(resamples)
    })
}

/// Notices about tokenizers that do not seem to suit the texts. They change no score.
pub(crate) fn about_texts(
    references: &Texts,
    systems: Vec<(&str, Looks)>,
    metrics: &[AnyMetric],
) -> Vec<Notice> {
    let tokenizers: BTreeSet<Tokenizer> =
        metrics.iter().filter_map(|metric| metric.input().reading.tokenizer()).collect();
    let texts = Everyone { references: look_at(references.len(), |k| references.get(k)), systems };
    let mut notices = Vec::new();
    for tokenizer in tokenizers {
        match tokenizer {
            Tokenizer::None | Tokenizer::Whitespace => {
                notices.extend(texts.those(Looks::untokenised).map(|those| those.untokenised(tokenizer)));
            }
            // It splits what it has split before no further, so that only texts of two kinds differ.
            Tokenizer::Ptb | Tokenizer::PtbEach | Tokenizer::PtbRaw
                if texts.those(Looks::untokenised).is_none() => {}
            Tokenizer::Ptb | Tokenizer::PtbEach | Tokenizer::PtbRaw | Tokenizer::V13a | Tokenizer::Intl => {
                notices.extend(texts.those(Looks::tokenised).map(|those| those.tokenised(tokenizer)));
            }
            _ => {}
        }
        let foreign = |looks: &Looks| match tokenizer {
            Tokenizer::Ptb | Tokenizer::PtbEach | Tokenizer::PtbRaw => {
                looks.unsegmented() || looks.non_ascii_share() >= FOREIGN
            }
            Tokenizer::V13a | Tokenizer::Intl => looks.unsegmented(),
            // It splits Chinese only.
            Tokenizer::Zh => looks.unsegmented() && (looks.southeast() || looks.japanese()),
            _ => false,
        };
        notices.extend(texts.those(foreign).map(|those| those.not_english(tokenizer)));
        if tokenizer.drops_beyond_ascii() {
            let loses = |looks: &Looks| looks.non_ascii_share() >= FOREIGN;
            notices.extend(texts.those(loses).map(|those| those.beyond_ascii(tokenizer)));
        }
    }
    let mut by_language: BTreeMap<&[String], BTreeSet<&str>> = BTreeMap::new();
    for metric in metrics.iter().filter(|metric| !metric.about().languages.is_empty()) {
        by_language.entry(&metric.about().languages).or_default().insert(metric.signature().metric());
    }
    for (languages, metrics) in by_language {
        let unknown = texts.those(|looks| is_other_language(languages, looks));
        notices.extend(unknown.map(|those| those.other_language(languages, metrics.into_iter().collect())));
    }
    notices
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
        limited.iter().find_map(|metric| Some((id, metric, metric.exceeded_limit(text)?)))
    };
    let captions: Vec<_> = captions.collect();
    let cut: Vec<_> = captions.into_par_iter().filter_map(cut).collect();
    let (first, metric, limit) = *cut.first()?;
    let who = of_whom(system, cut.len());
    let (are, such) = if cut.len() == 1 { ("is", "it is") } else { ("are", "the first is") };
    let message = format!(
        "{} {who} {are} too long for {}, which reads {limit}: the sentence that is too long is left out, and what follows \
         it; {such} that of image {}",
        cut.len(),
        metric.signature().metric(),
        first.quoted()
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

/// Counts over a sample of `n` texts.
pub(crate) fn look_at<'t>(n: usize, text: impl Fn(usize) -> &'t str) -> Looks {
    Looks::of(sample(n).map(text))
}

/// Indices of up to [`SAMPLE`] of `n` texts, evenly distributed.
fn sample(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(n.div_ceil(SAMPLE).max(1))
}

/// The counts over the references and over the captions of each system.
struct Everyone<'s> {
    references: Looks,
    systems: Vec<(&'s str, Looks)>,
}

/// Texts that look alike.
struct Those {
    /// A description of the texts, as the subject of a sentence.
    who: String,
    /// The system, if there is only one.
    system: Option<String>,
    looks: Looks,
}

impl Everyone<'_> {
    /// The texts that look like `this`, if there are any.
    fn those(&self, this: impl Fn(&Looks) -> bool) -> Option<Those> {
        let mut looks = Looks::default();
        let references = this(&self.references);
        if references {
            looks += self.references;
        }
        let systems: Vec<&str> = self
            .systems
            .iter()
            .filter(|(_, theirs)| this(theirs))
            .map(|(name, theirs)| {
                looks += *theirs;
                *name
            })
            .collect();
        let candidates = match &systems[..] {
            [] => None,
            _ if systems.len() == self.systems.len() && references => Some("the candidates".to_owned()),
            [one] => Some(format!("the captions of {one}")),
            [first, others @ ..] => Some(format!("the captions of {first} and {} more", others.len())),
        };
        let references = references.then(|| "the references".to_owned());
        let system = match (&references, &systems[..]) {
            (None, [one]) => Some((*one).to_owned()),
            _ => None,
        };
        let who: Vec<String> = references.into_iter().chain(candidates).collect();
        (!who.is_empty()).then(|| Those { who: who.join(" and "), system, looks })
    }
}

impl Those {
    fn untokenised(self, tokenizer: Tokenizer) -> Notice {
        let other = if self.looks.unsegmented() { unsegmented(&self.looks) } else { vec!["ptb"] };
        let message = format!(
            "{} look untokenised, and the tokenizer {tokenizer} leaves punctuation attached to words, so scores \
             are not comparable with published ones",
            self.who
        );
        notice(Code::Untokenised, self.system, message).remedy(tokenizers(&other))
    }

    fn tokenised(self, tokenizer: Tokenizer) -> Notice {
        let message = format!("{} look tokenised already, and are tokenised again by {tokenizer}", self.who);
        notice(Code::Tokenised, self.system, message).remedy("use the text as it was written, if you have it")
    }

    fn beyond_ascii(self, tokenizer: Tokenizer) -> Notice {
        let other = if self.looks.unsegmented() {
            unsegmented(&self.looks).first().copied().unwrap_or("char").to_owned()
        } else {
            "intl".to_owned()
        };
        let remedy = match tokenizer {
            Tokenizer::RougeScore => format!("consider rouge-score:tok={other}"),
            Tokenizer::ImageClef | Tokenizer::Letters | Tokenizer::Ascii => format!("consider tok={other}"),
            _ => format!("use rouge-score with another tokenizer: rouge-score:tok={other}"),
        };
        let message = format!(
            "{:.0}% of the letters in {} are not ASCII, and the tokenizer {tokenizer} drops them as its reference \
             program does, so that words break or vanish",
            (self.looks.non_ascii_share() * 100.0).max(1.0),
            self.who
        );
        notice(Code::BeyondAscii, self.system, message).remedy(remedy)
    }

    fn not_english(self, tokenizer: Tokenizer) -> Notice {
        if self.looks.unsegmented() {
            let message = format!(
                "{} are written without spaces between words, and the tokenizer {tokenizer} splits at these, so most \
                 captions become one word",
                self.who
            );
            return notice(Code::NotEnglish, self.system, message)
                .remedy(tokenizers(&unsegmented(&self.looks)));
        }
        let message = format!(
            "{:.0}% of the letters in {} are not ASCII, and the tokenizer {tokenizer} is not made for them",
            (self.looks.non_ascii_share() * 100.0).max(1.0),
            self.who
        );
        notice(Code::NotEnglish, self.system, message)
            .remedy(tokenizers(&["intl"]).to("read other languages"))
    }

    /// A notice of texts in a language that metrics do not know.
    fn other_language(self, languages: &[String], metrics: Vec<&str>) -> Notice {
        let knows = if metrics.len() == 1 { "knows" } else { "know" };
        let names: Vec<&str> = languages.iter().map(|code| language_name(code)).collect();
        let (code, looks) = match languages {
            [english] if english == ENGLISH => {
                let share = (self.looks.non_ascii_share() * 100.0).max(1.0);
                (Code::EnglishOnly, format!("{share:.0}% of the letters in {} are not ASCII", self.who))
            }
            _ => {
                let spaces = if self.looks.unsegmented() { "without" } else { "with" };
                (Code::OtherLanguage, format!("{} are written {spaces} spaces between words", self.who))
            }
        };
        let message = format!(
            "{looks}, and {} {knows} only {}, so the scores mean little",
            metrics.join(" and "),
            names.join(" and ")
        );
        notice(code, self.system, message).remedy("choose metrics for any language")
    }
}

/// The code of the language whose texts are ASCII.
const ENGLISH: &str = "en";

/// Returns true if texts that look like this are in none of these languages, as far as that can be seen.
fn is_other_language(languages: &[String], looks: &Looks) -> bool {
    let knows = |code: &str| languages.iter().any(|known| known == code);
    match looks.unsegmented() {
        true => !UNSPACED.iter().any(|(code, _)| knows(code)),
        false if languages.iter().all(|code| code == ENGLISH) => looks.non_ascii_share() >= FOREIGN,
        false => {
            looks.n_letters > 0
                && languages.iter().all(|code| UNSPACED.iter().any(|(known, _)| known == code))
        }
    }
}

/// The name of a language; its code if it is a rare one.
fn language_name(code: &str) -> &str {
    match code {
        "ar" => "Arabic",
        "cs" => "Czech",
        "de" => "German",
        ENGLISH => "English",
        "es" => "Spanish",
        "fr" => "French",
        "it" => "Italian",
        "ja" => "Japanese",
        "ko" => "Korean",
        "pt" => "Portuguese",
        "ru" => "Russian",
        "zh" => "Chinese",
        _ => code,
    }
}

fn notice(code: Code, system: Option<String>, message: String) -> Notice {
    Notice { system, ..Notice::new(code, message) }
}

/// The tokenizers that this program has for text like this, without spaces between words.
fn unsegmented(looks: &Looks) -> Vec<&'static str> {
    let all: &[&str] = match (looks.southeast(), looks.japanese()) {
        (true, _) => &["char"],
        (false, true) => &["ja-mecab", "char"],
        (false, false) => &["zh", "char", "jieba"],
    };
    all.iter().copied().filter(|name| name.parse::<Tokenizer>().is_ok()).collect()
}

/// The advice to use one of these tokenizers.
fn tokenizers(names: &[&'static str]) -> Remedy {
    let mut all = names.iter().map(|name| Remedy::set(Argument::Tokenizer, *name));
    let first = all.next().unwrap_or_else(|| Remedy::run(Task::ListTokenizers));
    all.fold(first, Remedy::or)
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

capeval_choice::named! {
    /// The unit that is resampled.
    pub(crate) enum Unit ("unit") {
        Image = "image", "an image";
        Block = "block", "a block of images";
    }
}

impl Unit {
    /// The code of a notice that an interval is of a single one.
    const fn one(self) -> Code {
        match self {
            Self::Image => Code::IntervalOfOneImage,
            Self::Block => Code::IntervalOfOneBlock,
        }
    }

    /// The code of a notice that there are few.
    const fn few(self) -> Code {
        match self {
            Self::Image => Code::FewImages,
            Self::Block => Code::FewBlocks,
        }
    }
}

/// Notices about the intervals of scores over these numbers of units.
pub(crate) fn of_intervals(
    resampling: Resampling,
    numbers: impl IntoIterator<Item = usize> + Clone,
    unit: Unit,
) -> impl Iterator<Item = Notice> {
    let of_one = numbers.clone().into_iter().any(|n| n == 1).then(|| {
        let message = format!(
            "a confidence interval needs more than one {unit}: every resample of a single one is the same"
        );
        Notice::new(unit.one(), message)
    });
    let least = numbers.into_iter().filter(|n| *n > 1).min();
    [of_one, few_resamples(resampling.resamples), least.and_then(|n| resamples_of_few(n, unit))]
        .into_iter()
        .flatten()
}

/// Results on fewer images than this hardly generalise: with five, not even the sign test can be significant at 95 %.
pub(crate) const FEW_IMAGES: usize = 10;

/// A notice if few units (`n`, at least two) are resampled: images, or blocks of them.
pub(crate) fn resamples_of_few(n: usize, unit: Unit) -> Option<Notice> {
    (2..FEW_IMAGES).contains(&n).then(|| {
        let message = format!(
            "resamples of {n} {unit}s repeat the same few, so that intervals are too narrow and p-values of the \
             bootstrap too small"
        );
        Notice::new(unit.few(), message).count(n)
    })
}

/// A notice if the pairs of a category describe so few images that resamples often contain none of them.
pub(crate) fn rare_categories(rare: &[(&str, usize)]) -> Option<Notice> {
    let listed: Vec<String> = rare
        .iter()
        .map(|(name, n)| format!("{name} ({n} image{})", if *n == 1 { "" } else { "s" }))
        .collect();
    (!rare.is_empty()).then(|| {
        let message = format!(
            "few images have pairs of {}; resamples without any of them are left out of the intervals of these \
             categories and of the mean, which are therefore too narrow",
            listed.join(", ")
        );
        Notice::new(Code::RareCategories, message).count(rare.len())
    })
}

/// Adds notices about reasons to doubt the tests of a comparison.
pub(crate) fn add_doubts(comparison: &mut Comparison) {
    let mut found = Vec::new();
    match comparison.report.systems.first().map(|system| system.n_images) {
        Some(1) => found.push(Notice::new(
            Code::FewImages,
            "one image tells nothing about others: all its resamples are the same, so that neither its intervals \
             nor the p-values of the bootstrap mean anything",
        )),
        n => found.extend(n.and_then(|n| resamples_of_few(n, Unit::Image))),
    }
    if let Some(TooFewResamples { tests, resamples, enough }) = comparison.too_few_resamples() {
        let message = format!(
            "with {resamples} resamples and {tests} tests corrected together, no difference can be found, however \
             large"
        );
        let remedy = Remedy::set(Argument::Resamples, enough.to_string())
            .to("draw enough")
            .or(Remedy::say("compare fewer metrics or systems"));
        found.push(Notice::new(Code::TooFewResamples, message).remedy(remedy).count(tests));
    }
    comparison.report.head.notices.append(&mut found);
}

#[cfg(test)]
mod tests {
    use capeval_metric::{About, Input, Mean, Metric, Part, Reading, References, Segment, Signature};

    use super::*;

    fn codes(references: &[&str], candidates: &[&str], tokenizer: &str) -> Vec<(String, Option<String>)> {
        let texts: Texts = references.iter().copied().collect();
        let metrics = crate::metrics(["bleu"], &[("tok", tokenizer)]).unwrap();
        let looks = look_at(candidates.len(), |k| candidates[k]);
        let notices = about_texts(&texts, vec![("x", looks)], &metrics);
        notices.into_iter().map(|notice| (notice.code.to_string(), notice.system)).collect()
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
        assert_eq!(codes(&["A dog runs ."], &["a dog runs ."], "ptb"), [], "both are read alike");
        assert_eq!(codes(&["A dog runs ."], &["a dog runs"], "ptb"), []);
        assert_eq!(codes(&["A dog runs ."], &["a dog runs ."], "13a"), [("tokenised".into(), None)]);
    }

    #[test]
    fn chinese_under_an_english_tokenizer_is_noticed() {
        assert_eq!(codes(&["两只小狗在草地上玩"], &["a dog"], "ptb"), [("not-english".into(), None)]);
        assert_eq!(codes(&["两只小狗在草地上玩"], &["a dog"], "zh"), []);
    }

    #[test]
    fn other_languages_under_metrics_that_know_only_english_are_noticed() {
        let english = [AnyMetric::new(Short)];
        for (text, noticed) in [
            ("两只小狗在草地上玩", true),
            ("Две собаки играют на траве", true),
            ("كلبان يلعبان على العشب", true),
            ("Ein Mädchen läuft über die Straße", true),
            ("two dogs play on the grass", false),
        ] {
            let texts: Texts = [text].into_iter().collect();
            let notices = about_texts(&texts, vec![("x", look_at(1, |_| text))], &english);
            let told = notices.iter().find(|notice| notice.code == Code::EnglishOnly);
            assert_eq!(told.is_some(), noticed, "{text}");
        }
        let texts: Texts = ["二匹の犬"].into_iter().collect();
        let notices = about_texts(&texts, vec![("x", look_at(1, |_| "a dog"))], &english);
        assert_eq!(
            notices[0].message,
            "100% of the letters in the references are not ASCII, and short knows only English, so the scores mean \
             little"
        );
        let any = crate::metrics(["rouge-l:tok=zh"], &[]).unwrap();
        assert_eq!(about_texts(&texts, vec![("x", look_at(1, |_| "两只"))], &any), []);
    }

    #[test]
    fn text_that_rouge_would_drop_is_noticed() {
        for text in [
            "两只小狗在草地上玩",
            "二匹の犬が草の上で遊ぶ",
            "كلبان يلعبان على العشب",
            "두 마리 개가 잔디에서 논다",
            "Ein Mädchen läuft über die Straße",
        ] {
            let texts: Texts = ["a dog"].into_iter().collect();
            for (metric, noticed) in
                [("rouge-score", true), ("rouge155", true), ("rouge-score:tok=char", false)]
            {
                let metrics = crate::metrics([metric], &[]).unwrap();
                let notices = about_texts(&texts, vec![("x", look_at(1, |_| text))], &metrics);
                assert_eq!(
                    notices.iter().any(|notice| notice.code == Code::BeyondAscii),
                    noticed,
                    "{metric} {text}"
                );
            }
        }
    }

    /// A metric that reads three letters of each caption.
    struct Short;

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

        fn exceeded_limit(&self, caption: &str) -> Option<&'static str> {
            (caption.len() > 3).then_some("three letters")
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
             what follows it; it is that of image 0"
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

    #[test]
    fn a_sample_is_spread_evenly() {
        assert_eq!(sample(0).count(), 0);
        assert_eq!(sample(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(sample(200_000).count() <= SAMPLE);
    }
}
