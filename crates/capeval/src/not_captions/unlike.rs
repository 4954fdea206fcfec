//! Detects captions that differ in kind from the references: much longer or shorter, in another script or language,
//! truncated, repetitive, or tokenised in another way.

use capeval_choice::{Argument, Code, Remedy};
use capeval_metric::{AnyMetric, Reading};
use capeval_report::Notice;
use capeval_text::{Looks, Tokenizer};
use unicode_normalization::{IsNormalized, is_nfd_quick};

use super::census::{Letters, n_characters, n_words};
use super::kind::Cleaning;
use super::shared::WordSet;
use super::text::is_composed;
use super::{FEW, excerpt, sample};

/// Lengths that differ by this factor are worth a notice.
const TIMES: f64 = 4.0;

/// A weight by CIDEr-D's length penalty below which a caption adds nearly nothing.
const LOST: f64 = 0.02;

/// Notices of the captions of a system that are of another kind than the references.
pub(super) fn unlike(
    system: &str,
    captions: &[&str],
    references: &[&str],
    metrics: &[AnyMetric],
) -> Vec<Notice> {
    let accents = other_accents(system, captions, references);
    let captions: Vec<&str> = sample(captions).collect();
    let references: Vec<&str> = sample(references).collect();
    if captions.is_empty() || references.is_empty() {
        return Vec::new();
    }
    let letters = [Letters::of(&captions), Letters::of(&references)];
    let n_words: Vec<usize> = captions.iter().map(|text| n_words(text)).collect();
    let script = other_script(system, captions.len(), &letters);
    let split = split_side([&captions, &references]);
    // Words between spaces say something if both sides have spaces where words end, or none.
    let are_alike = script.is_none() && split.is_none();
    let words = if are_alike { other_words(system, &captions, &references) } else { None };
    let segmentation = split.and_then(|split| other_segmentation(system, split, metrics));
    let length = match are_alike {
        true => lengths(system, (&captions, &n_words), &references, metrics),
        false => None,
    };
    let cut = cut_captions(system, &captions, &n_words);
    let repeated = repeated_words(system, &captions, &references);
    let upper = upper_case(system, &letters, metrics);
    let found = [length, script, accents, words, segmentation, cut, repeated, upper];
    found.into_iter().flatten().map(|notice| notice.system(system)).collect()
}

/// A notice of captions, given with their numbers of words, that are many times longer or shorter than the references.
fn lengths(
    system: &str,
    (captions, lengths): (&[&str], &[usize]),
    references: &[&str],
    metrics: &[AnyMetric],
) -> Option<Notice> {
    let here = lengths.iter().sum::<usize>() as f64 / captions.len().max(1) as f64;
    let there = references.iter().map(|text| n_words(text)).sum::<usize>() as f64;
    let there = there / references.len().max(1) as f64;
    if here == 0.0 || there == 0.0 {
        return None;
    }
    let sigma = metrics.iter().find(|metric| metric.signature().metric() == "cider-d");
    let sigma =
        sigma.and_then(|metric| metric.signature().get("sigma")?.parse::<f64>().ok()).filter(|s| *s > 0.0);
    let weight =
        |difference: f64| sigma.map(|sigma| (-difference * difference / (2.0 * sigma * sigma)).exp());
    let lost = weight(here - there).filter(|weight| *weight < LOST);
    let (times, way) = if here > there { (here / there, "longer") } else { (there / here, "shorter") };
    if times <= TIMES && (lost.is_none() || times <= TIMES / 2.0) {
        return None;
    }
    let mut message = format!(
        "the captions of {system} are {times:.1} times {way} than the references: {here:.0} words on average, not {there:.0}"
    );
    if let (Some(lost), Some(twelve)) = (lost, weight(12.0)) {
        message += &format!(
            "; CIDEr-D multiplies by {} for a difference of {:.0} words (by {} for 12), so its score is near 0",
            short(lost),
            (here - there).abs(),
            short(twelve)
        );
    }
    if here < there {
        let shortest = captions.iter().find(|text| !text.trim().is_empty());
        message += &shortest.map(|text| format!(", for example {}", excerpt(text))).unwrap_or_default();
    }
    let verb = if here > there { "shorten" } else { "check" };
    let remedy = match lost {
        Some(_) => {
            format!("{verb} the captions, or use cider or cider-r, which do not weigh lengths this way")
        }
        None => format!("{verb} the captions"),
    };
    Some(Notice::new(Code::LengthMismatch, message).count(captions.len()).remedy(Remedy::say(remedy)))
}

/// A weight with two digits.
fn short(weight: f64) -> String {
    match weight {
        0.01.. => format!("{weight:.2}"),
        0.0001.. => format!("{weight:.4}"),
        _ => "less than 0.0001".to_owned(),
    }
}

/// A notice of `n` captions in another script than the references, by the letters of both.
fn other_script(system: &str, n: usize, [mine, theirs]: &[Letters; 2]) -> Option<Notice> {
    let there =
        |script: &str| theirs.scripts().find(|(known, _)| *known == script).map_or(0.0, |(_, share)| share);
    let foreign = mine.scripts().filter(|(script, share)| *share > 0.5 && there(script) < 0.05);
    let (script, _) = foreign.max_by(|a, b| a.1.total_cmp(&b.1))?;
    if theirs.scripts().all(|(_, share)| share == 0.0) {
        return None;
    }
    let message = format!("the captions of {system} are in {script} letters, and the references are not");
    let remedy = Remedy::say("make sure that both are in one language");
    Some(Notice::new(Code::OtherScript, message).count(n).remedy(remedy))
}

/// A notice of accents that one side writes as characters of their own, and the other as parts of letters.
fn other_accents(system: &str, captions: &[&str], references: &[&str]) -> Option<Notice> {
    let count = |texts: &[&str], is: fn(&str) -> bool| texts.iter().filter(|text| is(text)).count();
    let is_apart = |text: &str| !is_composed(text);
    let has_whole = |text: &str| is_nfd_quick(text.chars()) == IsNormalized::No && is_composed(text);
    let (n, does) = match count(captions, is_apart) {
        n if n > 0 && count(references, has_whole) > 0 => (n, "have accents apart from their letters"),
        _ if count(references, is_apart) > 0 => {
            (count(captions, has_whole), "have accents within their letters")
        }
        _ => return None,
    };
    let message = format!(
        "{n} of {} captions of {system} {does}, unlike the references: words that look alike differ",
        captions.len()
    );
    let remedy = Remedy::set(Argument::Clean, Cleaning::DecomposedLetters.name()).to("join them");
    (n > 0).then(|| Notice::new(Code::DecomposedLetters, message).count(n).remedy(remedy))
}

/// A notice of captions of whose words few occur in any reference, though the references share theirs.
fn other_words(system: &str, captions: &[&str], references: &[&str]) -> Option<Notice> {
    const MANY: usize = 5;
    if captions.len() < MANY || references.len() < MANY {
        return None;
    }
    let (some, references) = (few_of_long(captions), few_of_long(references));
    let half = |first: usize| references.iter().copied().skip(first).step_by(2).collect::<Vec<_>>();
    let (known, held_out) = (WordSet::of(&half(0)), half(1));
    let mean = |texts: &[&str]| texts.iter().map(|text| known.share(text)).sum::<f64>() / texts.len() as f64;
    let (here, there) = (mean(&some), mean(&held_out));
    (there >= 0.3 && here < 0.25 * there).then(|| {
        let message = format!(
            "the captions of {system} use other words than the references: only {:.0}% of their words occur there, for \
             example {}",
            here * 100.0,
            excerpt(captions[0])
        );
        let remedy = Remedy::say("make sure that both are in one language, and words rather than ids");
        Notice::new(Code::OtherWords, message).count(captions.len()).remedy(remedy)
    })
}

/// Those of some texts whose words are looked up: fewer, evenly spread, if texts are long.
fn few_of_long<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    const BYTES: usize = 250_000;
    const LEAST: usize = 20;
    let n_bytes: usize = texts.iter().map(|text| text.len()).sum();
    let step = n_bytes.div_ceil(BYTES).min(texts.len() / LEAST).max(1);
    texts.iter().copied().step_by(step).collect()
}

/// The side that is split into words.
#[derive(Clone, Copy)]
enum Split {
    Captions,
    References,
}

/// The only one of two sides, captions and references, that is split into words in a script without spaces; `None` if
/// both are, or neither.
fn split_side(texts: [&[&str]; 2]) -> Option<Split> {
    // Letters of such a script are beyond ASCII.
    if texts.iter().any(|texts| texts.iter().all(|text| text.is_ascii())) {
        return None;
    }
    let [mine, theirs] = texts.map(|texts| Looks::of(texts.iter().copied()));
    let is_unspaced = |looks: &Looks| looks.n_letters > 0 && looks.n_unspaced * 5 >= looks.n_letters;
    if !is_unspaced(&mine) || !is_unspaced(&theirs) || mine.unsegmented() == theirs.unsegmented() {
        return None;
    }
    Some(if mine.unsegmented() { Split::References } else { Split::Captions })
}

/// A notice of the side that is split into words, if a tokenizer does not split the other one itself.
fn other_segmentation(system: &str, side: Split, metrics: &[AnyMetric]) -> Option<Notice> {
    let splits = |tokenizer| matches!(tokenizer, Tokenizer::Char | Tokenizer::Zh);
    let tokenizers = || metrics.iter().filter_map(|metric| metric.input().reading.tokenizer());
    let first = tokenizers().find(|tokenizer| !splits(*tokenizer))?;
    let captions = format!("the captions of {system}");
    let (split, whole) = match side {
        Split::References => ("the references", &*captions),
        Split::Captions => (&*captions, "the references"),
    };
    let message =
        format!("{split} are split into words, and {whole} are not, which {first} does not make alike");
    let remedy = Remedy::set(Argument::Tokenizer, "char").to("compare characters");
    Some(Notice::new(Code::OtherSegmentation, message).remedy(remedy))
}

/// A notice if many captions end at the greatest length, as if they were cut off there.
fn cut_captions(system: &str, captions: &[&str], n_words: &[usize]) -> Option<Notice> {
    const MANY: usize = 50;
    if captions.len() < MANY {
        return None;
    }
    let cut = |lengths: &[usize]| {
        let longest = lengths.iter().copied().max()?;
        let at = |n: usize| lengths.iter().filter(|length| **length == n).count();
        let (n, before) = (at(longest), longest.checked_sub(1).map_or(0, at));
        let shorter = lengths.iter().filter(|length| **length + 1 < longest).count();
        (longest >= 6 && n * 5 >= captions.len() && n >= 4 * before.max(1) && shorter * 10 >= captions.len())
            .then_some((longest, n))
    };
    let words = cut(n_words).map(|found| (found, "words"));
    let n_characters = || captions.iter().map(|text| n_characters(text)).collect::<Vec<_>>();
    let characters = || cut(&n_characters()).map(|found| (found, "characters"));
    let ((longest, n), unit) = words.or_else(characters)?;
    let message = format!(
        "{n} of {} captions of {system} have exactly {longest} {unit}, and none has more, as if they were cut off",
        captions.len()
    );
    let remedy = Remedy::say("raise the greatest length of the model, if they end in the middle");
    Some(Notice::new(Code::CutCaptions, message).count(n).remedy(remedy))
}

/// A notice of captions that end in repeated words, if references do not.
fn repeated_words(system: &str, captions: &[&str], references: &[&str]) -> Option<Notice> {
    let count = |texts: &[&str]| texts.iter().filter(|text| ends_in_repetition(text)).count();
    let n = count(captions);
    if n < FEW || n * 20 < captions.len() || count(references) * 20 >= references.len() {
        return None;
    }
    let example = captions.iter().find(|text| ends_in_repetition(text));
    let message = format!(
        "{}% of the captions of {system} repeat their words, and each repetition counts, for example {}",
        n * 100 / captions.len(),
        example.map_or(String::new(), |text| excerpt(text))
    );
    let remedy = Remedy::say("let the model stop at its end token, or penalise repetitions");
    Some(Notice::new(Code::RepeatedWords, message).count(n).remedy(remedy))
}

/// Returns true if a text ends in a word four times, in several words three times, or is three words or more twice,
/// whatever stops and capitals are in between.
fn ends_in_repetition(text: &str) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    (1..=words.len() / 2).any(|period| {
        let backwards = words.iter().rev();
        let pairs = backwards.clone().zip(backwards.skip(period));
        // So many words equal those a period before them.
        let n = pairs.take_while(|(word, before)| word.eq_ignore_ascii_case(before)).count();
        match period {
            1 => n >= 3,
            2 => n >= 4,
            _ => n >= 2 * period || n >= period && n + period == words.len(),
        }
    })
}

/// A notice if one side is in capitals and a metric tells these from small letters.
fn upper_case(system: &str, [mine, theirs]: &[Letters; 2], metrics: &[AnyMetric]) -> Option<Notice> {
    let tells = |metric: &&AnyMetric| {
        use Tokenizer::{Intl, None as Whole, PtbRaw, V13a, Whitespace};
        match &metric.input().reading {
            Reading::Raw => false,
            reading => matches!(reading.tokenizer(), Some(V13a | Intl | Whole | Whitespace | PtbRaw)),
        }
    };
    let metric = metrics.iter().find(tells)?;
    let (here, there) = (mine.upper(), theirs.upper());
    let (loud, quiet) = match (here > 0.9, there > 0.9) {
        (true, false) if there < 0.5 => (format!("the captions of {system}"), "the references"),
        (false, true) if here < 0.5 => ("the references".to_owned(), "the captions"),
        _ => return None,
    };
    let message = format!(
        "{loud} are in capitals, {quiet} are not, and {} tells these from small letters",
        metric.signature().metric()
    );
    Some(Notice::new(Code::UpperCase, message).remedy("write both alike"))
}
