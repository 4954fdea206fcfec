//! Notices about tokenizers and metrics that do not seem to suit the texts.

use std::collections::{BTreeMap, BTreeSet};

use capeval_choice::{Argument, Code, Remedy, Task};
use capeval_metric::AnyMetric;
use capeval_report::Notice;
use capeval_text::tokenizers::UNSPACED;
use capeval_text::{Looks, Texts, Tokenizer};

/// The number of texts in a sample.
const SAMPLE: usize = 2000;

/// The bytes of a text that are looked at: long texts go on as they begin.
const HEAD: usize = 1000;

/// The share of non-ASCII letters above which text is probably not English; in English captions, it is below one in a
/// thousand.
const FOREIGN: f64 = 0.01;

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
        // Where only one side is split into words, that is told by itself.
        let splits = matches!(tokenizer, Tokenizer::Char | Tokenizer::Zh);
        let foreign = texts.those(foreign).filter(|_| splits || !texts.are_of_two_kinds());
        notices.extend(foreign.map(|those| those.not_english(tokenizer)));
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

/// Counts over the beginnings of a sample of `n` texts.
pub(crate) fn look_at<'t>(n: usize, text: impl Fn(usize) -> &'t str) -> Looks {
    Looks::of(sample(n).map(|k| {
        let text = text(k);
        &text[..text.floor_char_boundary(HEAD)]
    }))
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
    /// Returns true if some texts in a script without spaces are split into words, and others are not.
    fn are_of_two_kinds(&self) -> bool {
        let all = || std::iter::once(&self.references).chain(self.systems.iter().map(|(_, looks)| looks));
        let unspaced =
            || all().filter(|looks| looks.n_letters > 0 && looks.n_unspaced * 5 >= looks.n_letters);
        unspaced().any(Looks::unsegmented) && unspaced().any(|looks| !looks.unsegmented())
    }

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
        if self.looks.unsegmented() {
            return self.not_english(tokenizer);
        }
        let message = format!(
            "{} look untokenised, and the tokenizer {tokenizer} leaves punctuation attached to words, so scores \
             are not comparable with published ones",
            self.who
        );
        notice(Code::Untokenised, self.system, message).remedy(tokenizers(&["ptb"]))
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

#[cfg(test)]
mod tests {
    use super::super::tests::Short;
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

    #[test]
    fn a_sample_is_spread_evenly() {
        assert_eq!(sample(0).count(), 0);
        assert_eq!(sample(5).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(sample(200_000).count() <= SAMPLE);
    }
}
