//! METEOR on any text with any settings: the best reference is the same as if each were scored alone, and the
//! explanation evaluates to the score. Of short sentences, no alignment is better than the one that is found.

use std::sync::{Arc, OnceLock};

use capeval_meteor::{Matcher, Meteor, Options, Parameters, Resources, TextForm, Unit, Workspace};

use crate::meteor::tiny_meteor;
use crate::words;

fn resources() -> Arc<Resources> {
    static TINY: OnceLock<Arc<Resources>> = OnceLock::new();
    let open = || Resources::open(Arc::new(tiny_meteor())).expect("a newly compiled file is valid");
    Arc::clone(TINY.get_or_init(|| Arc::new(open())))
}

/// The widest beam with which pairs are packed.
const PACKED: usize = 1000;

/// The words of the made-up lists, so that a few bytes produce sentences with matches; other bytes are text.
const WORDS: [&str; 32] = [
    "dog", "hound", "big", "large", "red", "crimson", "scarlet", "car", "cat", "animal", "in", "front", "of",
    "before", "go", "went", "walk", "walks", "man", "men", "the", "a", "huge", "vast", "big dog", "dogs",
    "walking", "colour", "for", "left", "run", "leave",
];

pub fn check(data: &[u8]) {
    let Some((settings, texts)) = data.split_first_chunk::<10>() else { return };
    let mut options = Options::coco();
    if settings[0] & 1 == 1 {
        options.beam = usize::from(settings[1]) + 1;
    }
    if settings[0] & 2 == 2 {
        let part = |k: usize| f64::from(settings[k]) / 255.0;
        options.parameters =
            Parameters { alpha: part(2), beta: 4.0 * part(3), gamma: part(4), delta: part(5) };
        options.weights = (6..10).map(part).collect();
    }
    if settings[0] & 4 == 4 {
        options.matchers.reverse();
    }
    if settings[0] & 8 == 8 {
        options.unit = Unit::Characters;
    }
    options.text = [
        TextForm::Normalized,
        TextForm::NormalizedWithoutPunctuation,
        TextForm::Lowercase,
        TextForm::Verbatim,
    ][usize::from(settings[0] >> 4) % 4];
    let Ok(meteor) = Meteor::new(options.clone(), resources()) else { return };
    let texts: Vec<String> =
        texts.split(|byte| *byte == 255).take(8).map(|bytes| words::text(&WORDS, bytes)).collect();
    let Some((hypothesis, references)) = texts.split_first() else { return };
    let mut workspace = Workspace::default();
    let all = meteor.segment(&mut workspace, hypothesis, references.iter().map(String::as_str));
    let alone = references.iter().map(|text| meteor.segment(&mut workspace, hypothesis, [text.as_str()]));
    let mut best = None;
    for (index, segment) in alone.enumerate() {
        if best.is_none_or(|(_, score)| segment.score > score) {
            best = Some((index, segment.score));
        }
    }
    assert_eq!(all.reference, best.map(|(index, _)| index));
    assert_eq!(all.score.to_bits(), best.map_or(0.0, |(_, score)| score).to_bits());
    assert!((0.0..=1.0 + 1e-9).contains(&all.score), "{}", all.score);
    let alignment = meteor.alignment(&mut workspace, hypothesis, references.iter().map(String::as_str));
    assert_eq!(alignment.segment, all);
    let explanation = meteor.explain(alignment);
    assert!(explanation.is_sound());
    explanation.scores[0].check(1e-9).expect("the parts evaluate to the score");
    agrees_with_exhaustive_search(&options, hypothesis, references);
    references.iter().for_each(|reference| is_the_best_of_all(&options, hypothesis, reference));
}

fn is_short(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == ' ';
    text.chars().all(is_plain) && text.split_whitespace().count() <= 4
}

/// Of short sentences, both searches keep all paths: the one that packs pairs, and that for wide beams.
fn agrees_with_exhaustive_search(options: &Options, hypothesis: &str, references: &[String]) {
    if options.unit == Unit::Characters
        || !is_short(hypothesis)
        || !references.iter().all(|text| is_short(text))
    {
        return;
    }
    let [packed, wide] = [PACKED, PACKED + 1].map(|beam| {
        let meteor =
            Meteor::new(Options { beam, ..options.clone() }, resources()).expect("only the beam differs");
        meteor.segment(&mut Workspace::default(), hypothesis, references.iter().map(String::as_str))
    });
    assert_eq!(packed, wide);
}

/// Every way to align the words of two sentences, reference word by reference word.
struct AllPaths {
    /// For each reference word, the hypothesis words that it matches, one matcher after another.
    matches: Vec<Vec<(usize, usize)>>,
    /// The reference words whose only match shares no word with another one, so that it is no choice.
    definite: Vec<bool>,
    /// True for the matchers of which a match counts as a word on both sides; others add nothing while searching.
    exact: Vec<bool>,
}

/// A path up to a reference word.
#[derive(Clone, Copy, Default)]
struct Path {
    used: u64,
    matched: usize,
    chunks: usize,
    distance: usize,
    last_end: Option<usize>,
}

impl AllPaths {
    /// Adds the rank of every path from `path` on, or of those alone that take the matches in `chosen`; least is best.
    fn rank(
        &self,
        word: usize,
        path: Path,
        chosen: Option<&[Option<(usize, usize)>]>,
        ranks: &mut Vec<[usize; 3]>,
    ) {
        let skipped = |path: Path| Path {
            chunks: path.chunks + usize::from(path.last_end.is_some()),
            last_end: None,
            ..path
        };
        let Some(matches) = self.matches.get(word) else {
            let Path { matched, chunks, distance, .. } = skipped(path);
            ranks.push([usize::MAX - matched, chunks, distance]);
            return;
        };
        let mut path = path;
        for (place, matcher) in matches {
            if path.used >> place & 1 == 1 {
                continue;
            }
            let distance = place.abs_diff(word);
            // METEOR adds the distances of matches that it has passed over, and of definite ones.
            let own = if self.definite[word] { distance } else { 0 };
            let taken = Path {
                used: path.used | 1 << place,
                matched: path.matched + if self.exact[*matcher] { 2 } else { 0 },
                chunks: path.chunks + usize::from(path.last_end.is_some_and(|end| end != *place)),
                distance: path.distance + own,
                last_end: Some(place + 1),
            };
            if chosen.is_none_or(|chosen| chosen[word] == Some((*place, *matcher))) {
                self.rank(word + 1, taken, chosen, ranks);
            }
            path.distance += distance;
        }
        if !self.definite[word] && chosen.is_none_or(|chosen| chosen[word].is_none()) {
            self.rank(word + 1, skipped(path), chosen, ranks);
        }
    }
}

/// The matcher of each pair of words alone, without paraphrases, whose matches are longer than words.
fn is_the_best_of_all(options: &Options, hypothesis: &str, reference: &str) {
    if !is_short(hypothesis) || !is_short(reference) {
        return;
    }
    let words = |matcher: &&Matcher| **matcher != Matcher::Paraphrase;
    let matchers: Vec<Matcher> = options.matchers.iter().filter(words).copied().collect();
    let meteor = |matchers: &[Matcher], text, beam| {
        let (matchers, weights) = (matchers.to_vec(), vec![1.0; matchers.len()]);
        Meteor::new(Options { matchers, weights, text, beam, ..options.clone() }, resources()).ok()
    };
    let mut workspace = Workspace::default();
    let mut align = |meteor: &Meteor, hypothesis: &str, reference: &str| {
        meteor.alignment(&mut workspace, hypothesis, [reference])
    };
    let Some(wide) = meteor(&matchers, options.text, 1 << 20) else { return };
    let found = align(&wide, hypothesis, reference);
    let [reference] = &found.references[..] else { return };
    // Of equal sentences, only the first matcher finds matches.
    let n_matchers = if found.hypothesis == *reference { 1 } else { matchers.len() };
    let alone: Vec<Meteor> =
        matchers[..n_matchers].iter().filter_map(|one| meteor(&[*one], TextForm::Verbatim, 1)).collect();
    let mut all = AllPaths { matches: Vec::new(), definite: Vec::new(), exact: Vec::new() };
    all.exact.extend(matchers.iter().map(|matcher| *matcher == Matcher::Exact));
    for word in reference {
        let mut of_word = Vec::new();
        for (number, meteor) in alone.iter().enumerate() {
            for (place, other) in found.hypothesis.iter().enumerate() {
                of_word.extend(align(meteor, other, word).matches.first().map(|_| (place, number)));
            }
        }
        all.matches.push(of_word);
    }
    let shared = |place: usize| all.matches.iter().flatten().filter(|(other, _)| *other == place).count();
    let is_definite =
        |of_word: &Vec<(usize, usize)>| matches!(of_word[..], [(place, _)] if shared(place) == 1);
    all.definite = all.matches.iter().map(is_definite).collect();
    let rank = |chosen: Option<&[_]>| {
        let mut ranks = Vec::new();
        all.rank(0, Path::default(), chosen, &mut ranks);
        ranks
    };
    let ranks = rank(None);
    let narrow = meteor(&matchers, options.text, PACKED).filter(|_| ranks.len() <= PACKED);
    for found in [Some(found.clone()), narrow.map(|narrow| align(&narrow, hypothesis, &reference.join(" ")))]
    {
        let Some(found) = found else { continue };
        let mut chosen = vec![None; reference.len()];
        for one in &found.matches {
            let matcher = matchers.iter().position(|matcher| *matcher == one.matcher).unwrap_or_default();
            chosen[one.reference.start] = Some((one.hypothesis.start, matcher));
        }
        assert_eq!(
            rank(Some(&chosen)).first(),
            ranks.iter().min(),
            "{hypothesis:?}, {reference:?}: {found:?}"
        );
    }
}
