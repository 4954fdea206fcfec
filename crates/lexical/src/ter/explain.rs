//! Explains an edit rate: the words that are kept, edited and moved.

use capeval_metric::{Explanation, Match, Metric, Rule, Segment, Step};
use capeval_text::Symbol;

use super::search::{Scratch, Step as Edit};
use super::{Model, Ter};

const RATE: Rule = Rule::new("100 · edits / words; 100 for edits without words", |parts| match parts {
    [edits, words] if *words > 0.0 => 100.0 * (edits / words),
    [edits, _] if *edits > 0.0 => 100.0,
    _ => 0.0,
});

impl Ter {
    /// The rate as the fewest edits divided by the mean length, with the edits for each reference.
    pub(super) fn explained(
        &self,
        model: &Model,
        segment: &Segment<'_>,
        scratch: &mut Scratch,
    ) -> Explanation {
        let mut explanation = Explanation::over_words(segment);
        let counts = self.measure(model, segment, scratch);
        let mut value = [0.0];
        self.score(&counts, &mut value);
        let sentences = segment.references.of(segment.image);
        let (mut edits, mut lengths) = (Vec::new(), Vec::new());
        for (r, (sentence, once)) in sentences.zip(segment.reference_words()).enumerate() {
            let reference = model.words(sentence, once);
            let name = format!("reference {}", r + 1);
            let step = scratch.explained(&name, segment.words, reference);
            // If the second pass changed the reference, positions would refer to other words.
            edits.push(match scratch.kept(segment.words, reference, r) {
                Some(kept) if reference == once => step.matched(kept),
                _ => step,
            });
            lengths.push(Step::given(name, reference.len() as f64));
        }
        let edits = if edits.is_empty() {
            Step::given("edits, without a reference", counts.edits)
        } else {
            Step::of("edits, the fewest", counts.edits, Rule::LEAST, edits)
        };
        let words = Step::of("words, the mean of the references", counts.words, Rule::MEAN, lengths);
        explanation.scores.push(Step::of("TER", value[0], RATE, vec![edits, words]));
        explanation
    }
}

impl Scratch {
    /// The edits for one reference, by kind.
    fn explained(&mut self, name: &str, candidate: &[Symbol], reference: &[Symbol]) -> Step {
        let parts = self.edits_by_kind(candidate, reference);
        let total = parts.iter().filter_map(|part| part.value).sum();
        Step::of(name, total, Rule::SUM, parts)
    }

    fn edits_by_kind(&mut self, candidate: &[Symbol], reference: &[Symbol]) -> Vec<Step> {
        let of = |title: &str, n: usize| Step::given(title, n as f64);
        if reference.is_empty() || candidate.is_empty() {
            return vec![of("words deleted", candidate.len()), of("words inserted", reference.len())];
        }
        if candidate == reference {
            return vec![of("edits of equal texts", 0)];
        }
        let (shifts, distance) = self.shifts_and_distance(candidate, reference, |_| {});
        let count = |kind: Edit| self.alignment.steps.iter().filter(|step| **step == kind).count();
        let kinds = [
            of("words inserted", count(Edit::Insert)),
            of("words deleted", count(Edit::Delete)),
            of("words replaced", count(Edit::Replace)),
        ];
        let told: f64 = kinds.iter().filter_map(|kind| kind.value).sum();
        let mut parts = vec![of("runs of words moved", shifts)];
        if told == distance as f64 {
            parts.extend(kinds);
        } else {
            // A path outside the beam costs more than its edits.
            parts.push(of("edits within the beam", distance));
        }
        parts
    }

    /// The words that are kept, moved or not.
    fn kept(&mut self, candidate: &[Symbol], reference: &[Symbol], r: usize) -> Option<Match> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        if candidate == reference {
            pairs.extend((0..candidate.len()).map(|k| (k, k)));
        } else if !candidate.is_empty() && !reference.is_empty() {
            let mut places: Vec<usize> = (0..candidate.len()).collect();
            let mut moved = Vec::new();
            self.shifts_and_distance(candidate, reference, |shift| {
                shift.apply(&places, &mut moved);
                std::mem::swap(&mut places, &mut moved);
            });
            let (mut i, mut j) = (0, 0);
            for step in self.alignment.steps.iter().rev() {
                if *step == Edit::Keep {
                    pairs.push((places[i], j));
                }
                i += usize::from(*step != Edit::Insert);
                j += usize::from(*step != Edit::Delete);
            }
        }
        let (mut ours, mut theirs): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        ours.sort_unstable();
        theirs.sort_unstable();
        (!ours.is_empty()).then(|| Match { matcher: "kept", candidate: ours, references: vec![(r, theirs)] })
    }
}
