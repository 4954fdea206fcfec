//! Finds the labelled texts of an answer, such as `Caption: … Tags: …`, and chooses the caption among them by the
//! labels, never by the order alone.

use std::collections::{HashMap, HashSet};

use capeval_choice::Code;

use super::FEW;
use super::shared::are_nearly_all;
use super::thoughts::{is_of_thoughts, labels};

/// What a label says of the text after it, from the least like a caption to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// Thoughts, whose names are known.
    Thoughts,
    /// What stands beside a caption: a note, tags.
    Beside,
    /// The start of the next turn of a conversation.
    Turn,
    /// A question of the next turn, or of the caption itself.
    Question,
    /// A text without a label, or with one that says nothing.
    Unknown,
    Answer,
    Final,
}

impl Role {
    /// The role that a label gives.
    fn of(label: &str) -> Self {
        const TURNS: &[&str] = &["user", "human", "prompt", "instruction", "instructions", "query"];
        const QUESTIONS: &[&str] = &["question", "q"];
        const BESIDE: &[&str] = &[
            "note",
            "notes",
            "explanation",
            "tag",
            "tags",
            "keyword",
            "keywords",
            "hashtag",
            "hashtags",
            "confidence",
            "score",
            "probability",
            "rating",
            "alt",
            "objects",
            "disclaimer",
            "justification",
            "comment",
            "comments",
            "source",
            "language",
            "system",
        ];
        const ANSWERS: &[&str] = &[
            "caption",
            "captions",
            "answer",
            "a",
            "description",
            "response",
            "output",
            "result",
            "assistant",
            "gpt",
            "model",
            "bot",
            "ai",
            "chatbot",
            "agent",
        ];
        let label = label.to_lowercase();
        let has = |names: &[&str]| label.split(' ').any(|word| names.contains(&word));
        if is_of_thoughts(&label) {
            Self::Thoughts
        } else if has(BESIDE) {
            Self::Beside
        } else if has(QUESTIONS) {
            Self::Question
        } else if has(TURNS) {
            Self::Turn
        } else if has(&["final"]) {
            Self::Final
        } else if has(ANSWERS) {
            Self::Answer
        } else {
            Self::Unknown
        }
    }
}

/// A text with the label before it, if it has one.
struct Section<'t> {
    label: Option<&'t str>,
    text: &'t str,
    role: Role,
}

impl<'t> Section<'t> {
    /// The sections of a text, divided by the labels that `is_label` knows.
    fn all(text: &'t str, is_label: impl Fn(&str) -> bool) -> Vec<Self> {
        let known: Vec<(&str, usize, usize)> = labels(text).filter(|(label, ..)| is_label(label)).collect();
        let first = known.first().map_or(text.len(), |(_, start, _)| *start);
        let ends = known.iter().skip(1).map(|(_, start, _)| *start).chain([text.len()]);
        let head = (None, text.get(..first));
        let labelled =
            known.iter().zip(ends).map(|((label, _, start), end)| (Some(*label), text.get(*start..end)));
        let section = |(label, text): (Option<&'t str>, Option<&'t str>)| {
            let text = trimmed(text?);
            let role = label.map_or(Role::Unknown, Role::of);
            // A number is no caption, and may be an answer.
            let is_number = role == Role::Unknown && !text.contains(char::is_alphabetic);
            let role = if is_number { Role::Beside } else { role };
            (!text.is_empty()).then_some(Self { label, text, role })
        };
        std::iter::once(head).chain(labelled).filter_map(section).collect()
    }

    fn name(&self) -> String {
        self.label.unwrap_or_default().to_lowercase()
    }
}

/// A text without blanks and marks of emphasis around it, and without a line between it and what follows.
fn trimmed(text: &str) -> &str {
    let text = text.trim_matches(|c: char| c == '*' || c.is_whitespace());
    text.trim_end_matches("---").trim_matches(|c: char| c == '*' || c.is_whitespace())
}

/// The place of the caption among some sections; `None` if their labels do not tell.
fn chosen(sections: &[Section<'_>]) -> Option<usize> {
    if sections.len() == 1 {
        return Some(0);
    }
    // What follows a turn of the person who asks belongs to another answer, if there is one before.
    let is_turn = |at: usize| {
        let before = sections[..at].iter().map(|section| section.role).max();
        match sections[at].role {
            Role::Turn => before >= Some(Role::Unknown),
            Role::Question => before >= Some(Role::Answer),
            _ => false,
        }
    };
    let end = (0..sections.len()).find(|at| is_turn(*at)).unwrap_or(sections.len());
    let sections = &sections[..end];
    let asks = sections.iter().skip(1).any(|section| section.role == Role::Question)
        && sections[0].label.is_none()
        && sections[0].role == Role::Unknown;
    let best = sections.iter().map(|section| section.role).max().filter(|_| !asks)?;
    let best = if best >= Role::Unknown { best } else { Role::Beside };
    let mut of_it = (0..sections.len()).filter(|at| sections[*at].role == best);
    let first = of_it.next()?;
    let is_same = |at: usize| sections[at].text == sections[first].text;
    of_it.all(is_same).then_some(first)
}

/// The answer after a label of its own, in a text that begins with the label of thoughts: `Thought: … Answer: a dog`.
pub(super) fn after_labelled_thoughts(text: &str) -> Option<&str> {
    labels(text).next().filter(|(first, start, _)| *start == 0 && is_of_thoughts(first))?;
    let has_answer = labels(text).any(|(label, ..)| Role::of(label) >= Role::Answer);
    let sections = Section::all(text, |label| !has_answer || Role::of(label) != Role::Unknown);
    chosen(&sections).filter(|at| *at > 0).map(|at| sections[at].text)
}

/// The labels that most captions of a side have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels {
    /// The labels in lower case.
    known: Vec<String>,
    /// Those whose texts are the same in nearly all captions; empty for the text before the first label.
    constant: Vec<String>,
    /// True if texts have more than a label at their start.
    pub has_several: bool,
}

/// What labels say of a text.
pub(super) struct LabelledText<'t> {
    /// The kind of the text.
    pub code: Code,
    /// The caption in it; `None` if the labels do not tell.
    pub caption: Option<&'t str>,
}

impl Labels {
    /// The labels that at least half of the captions have, and the others do not, and the rarer ones beside them.
    pub fn of(captions: &[&str], others: &[&str]) -> Option<Self> {
        let (mine, theirs) = (counts(captions), counts(others));
        let is_new = |label: &str| theirs.get(label).copied().unwrap_or_default() * 20 <= others.len();
        let least = |n: usize, share: usize| n >= 3 && n * share >= captions.len();
        let mut known: Vec<String> = mine
            .iter()
            .filter(|(label, n)| least(**n, 10) && is_new(label))
            .map(|(l, _)| l.clone())
            .collect();
        known.sort_unstable();
        if !known.iter().any(|label| least(mine[label], 2)) {
            return None;
        }
        let mut labels = Self { known, ..Self::default() };
        let mut texts: HashMap<String, HashMap<&str, usize>> = HashMap::new();
        let mut n_several = 0;
        for text in captions {
            let sections = labels.sections(text);
            n_several += usize::from(sections.len() > 1);
            for section in sections {
                *texts.entry(section.name()).or_default().entry(section.text).or_default() += 1;
            }
        }
        labels.has_several = n_several * 2 > captions.len();
        let is_constant = |(label, texts): (&String, &HashMap<&str, usize>)| {
            let (n, most) = (texts.values().sum::<usize>(), texts.values().max().copied());
            (n >= FEW && are_nearly_all(most.unwrap_or_default(), n)).then(|| label.clone())
        };
        // If all are, the captions of a system are one text.
        let constant: Vec<String> = texts.iter().filter_map(is_constant).collect();
        labels.constant = if constant.len() < texts.len() { constant } else { Vec::new() };
        labels.constant.sort_unstable();
        Some(labels)
    }

    /// A label at the start of all captions.
    #[cfg(test)]
    pub fn first(label: &str) -> Self {
        Self { known: vec![label.to_owned()], ..Self::default() }
    }

    /// The largest number of words of a label.
    pub fn n_words(&self) -> usize {
        self.known.iter().map(|label| label.split(' ').count()).max().unwrap_or_default()
    }

    fn sections<'t>(&self, text: &'t str) -> Vec<Section<'t>> {
        let mut sections = Section::all(text, |label| self.known.contains(&label.to_lowercase()));
        for section in &mut sections {
            if section.role == Role::Unknown && self.constant.contains(&section.name()) {
                section.role = Role::Beside;
            }
        }
        sections
    }

    /// What the labels say of a text; `None` if it has none of them.
    pub fn found<'t>(&self, text: &'t str) -> Option<LabelledText<'t>> {
        let sections = self.sections(text);
        if !sections.iter().any(|section| section.label.is_some()) {
            return None;
        }
        let at = chosen(&sections);
        let is_thought = |section: &Section<'_>| section.label.is_none() || section.role == Role::Thoughts;
        let code = match at {
            Some(0) if sections.len() == 1 => Code::ChatRoles,
            Some(at) if at > 0 && sections[..at].iter().all(is_thought) => Code::Thoughts,
            _ => Code::LabelledTexts,
        };
        Some(LabelledText { code, caption: at.map(|at| sections[at].text) })
    }

    /// The labels of a text, as they are written.
    pub fn names<'t>(&self, text: &'t str) -> Vec<&'t str> {
        self.sections(text).iter().filter_map(|section| section.label).collect()
    }
}

/// How many texts have each label with something after it, in lower case.
fn counts(texts: &[&str]) -> HashMap<String, usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in texts {
        let mut seen = HashSet::new();
        for (label, _, end) in labels(text) {
            let is_empty = text.get(end..).is_none_or(|rest| trimmed(rest).is_empty());
            let label = label.to_lowercase();
            if !is_empty && seen.insert(label.clone()) {
                *counts.entry(label).or_default() += 1;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the labels of many answers say of one of them, and the caption in it.
    fn of(change: impl Fn(&str) -> String) -> Option<(Code, Option<String>)> {
        let texts: Vec<String> =
            (0..20).map(|k| change(&format!("dog {} runs", "x".repeat(k % 7 + 1)))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let labels = Labels::of(&texts, &["a man sits"])?;
        labels.found(texts[0]).map(|found| (found.code, found.caption.map(str::to_owned)))
    }

    #[test]
    fn the_label_says_which_text_is_the_caption() {
        const TEXT: &str = "dog x runs";
        for (template, code) in [
            ("Caption: {}", Code::ChatRoles),
            ("Caption: {}\nTags: dog, {}", Code::LabelledTexts),
            ("Tags: dog, {}\nCaption: {}", Code::LabelledTexts),
            ("Description: {}\nKeywords: {}, b", Code::LabelledTexts),
            ("{}\n\nExplanation: I see {} here", Code::LabelledTexts),
            ("{}\n\n---\n**Note:** this is for {}.", Code::LabelledTexts),
            ("{}\n\nUser: Describe it.\nGPT: {} again", Code::LabelledTexts),
            ("You see an image.\nUser: Describe it.\nAssistant: {}", Code::LabelledTexts),
            ("Answer: {}\nConfidence: 0.9", Code::LabelledTexts),
            ("Answer: {}\nCertainty: 0.9", Code::LabelledTexts),
            ("Draft: {} and so\nFinal: {}", Code::LabelledTexts),
            ("Caption: {} and so\nFinal caption: {}", Code::LabelledTexts),
            ("Caption: {}\nAlt text: {} again", Code::LabelledTexts),
            ("Thought: it is {} here\nAnswer: {}\nConfidence: 0.9", Code::Thoughts),
            ("I see {} here\nCaption: {}", Code::Thoughts),
            ("Caption: {}\nQuestion: what of {}?\nAnswer: red", Code::LabelledTexts),
        ] {
            let found = of(|text| template.replace("{}", text));
            assert_eq!(found, Some((code, Some(TEXT.to_owned()))), "{template}");
        }
    }

    #[test]
    fn labels_that_do_not_tell_choose_nothing() {
        for template in [
            "Caption 1: {}\nCaption 2: {} again",
            "EN: {}\nDE: ein {}",
            "Short: {}\nLong: {} again",
            "Short caption: {}\nLong caption: {} again",
            "{}\nQuestion: what of {}?\nAnswer: red",
            "{}\nGerman: ein {}",
        ] {
            let found = of(|text| template.replace("{}", text));
            assert_eq!(found, Some((Code::LabelledTexts, None)), "{template}");
        }
        assert_eq!(of(str::to_owned), None);
    }

    #[test]
    fn thoughts_end_where_the_answer_begins() {
        for (text, answer) in [
            ("Thought: it is so. Answer: a dog", Some("a dog")),
            ("Thought: it is so.\nAnswer: a dog\nConfidence: 0.9", Some("a dog")),
            ("Reasoning: it is big.\nColour: brown.\nCaption: a dog", Some("a dog")),
            ("Reasoning: it is so. Score: 4", Some("4")),
            ("Reasoning: it is so. Answer: 4", Some("4")),
            ("Reasoning: it is so. Answer: 4\nConfidence: 0.5", Some("4")),
            ("Thought: it is so. Caption 1: a dog\nCaption 2: a cat", None),
            ("Thought: it is so.", None),
        ] {
            assert_eq!(after_labelled_thoughts(text), answer, "{text}");
        }
    }
}
