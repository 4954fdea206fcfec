//! Remedies for errors and notices, as data.

use std::borrow::Cow;
use std::fmt;

use crate::Argument;

/// A remedy for an error or a notice: a single step, or alternatives.
///
/// [`Display`](fmt::Display) uses the terms of [`Plain`]; front ends use [`in_words`](Self::in_words).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy(Vec<Step>);

/// One alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    action: Action,
    /// The effect, as an infinitive without `to`.
    purpose: Option<Cow<'static, str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// Set the argument to a value; `None` leaves the value to the user.
    Set(Argument, Option<Cow<'static, str>>),
    Omit(Argument),
    Do(Task),
    /// Text that is the same in all front ends.
    Say(Cow<'static, str>),
}

/// A capeval job that a remedy recommends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// Install third-party data, such as `meteor`.
    Install(&'static str),
    /// Install third-party data from a local file.
    InstallFrom(&'static str),
    /// Prepare the references again.
    Prepare,
    /// Prepare the references again without these kinds of text.
    PrepareCleaned(String),
    /// Build a table of document frequencies with n-grams of up to this many words.
    BuildFrequencies(Option<usize>),
    /// Score captions of moments of videos.
    ScoreMoments,
    /// Measure how diverse captions are.
    MeasureDiversity,
    /// List the tokenizers.
    ListTokenizers,
    /// List the metrics.
    ListMetrics,
}

/// The words of a front end for arguments and tasks.
pub trait Dialect {
    /// Returns true if this front end has `argument`; steps that set others are left out.
    fn has(&self, _argument: Argument) -> bool {
        true
    }
    /// The name of the argument in the front end.
    fn name(&self, argument: Argument) -> String;
    /// The request to set `argument`, without a verb. `None` leaves the value to the user.
    fn argument(&self, argument: Argument, value: Option<&str>) -> String;
    /// The verb before it.
    fn verb(&self) -> &'static str {
        "pass"
    }
    /// The request to do `task`, with a verb.
    fn task(&self, task: &Task) -> String;
}

/// Terms that are independent of front ends, for users of the library.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Dialect for Plain {
    fn name(&self, argument: Argument) -> String {
        argument.name().to_owned()
    }

    fn argument(&self, argument: Argument, value: Option<&str>) -> String {
        match value {
            Some(value) => format!("{} to {value:?}", argument.name()),
            None => argument.name().to_owned(),
        }
    }

    fn verb(&self) -> &'static str {
        "set"
    }

    fn task(&self, task: &Task) -> String {
        match task {
            Task::Install(what) => format!("install the data of {what}"),
            Task::InstallFrom(what) => format!("install the data of {what} from a file"),
            Task::Prepare => "prepare the references again".to_owned(),
            Task::PrepareCleaned(kinds) => format!("prepare the references again without {kinds}"),
            Task::BuildFrequencies(None) => "build a table of document frequencies".to_owned(),
            Task::BuildFrequencies(Some(order)) => {
                format!("build a table of document frequencies with n-grams of up to {order} words")
            }
            Task::ScoreMoments => "score dense captions".to_owned(),
            Task::MeasureDiversity => "measure diversity".to_owned(),
            Task::ListTokenizers => "see the list of tokenizers".to_owned(),
            Task::ListMetrics => "see the list of metrics".to_owned(),
        }
    }
}

impl Remedy {
    /// Recommends setting `argument` to `value`.
    pub fn set(argument: Argument, value: impl Into<Cow<'static, str>>) -> Self {
        Self::action(Action::Set(argument, Some(value.into())))
    }

    /// Recommends setting `argument` to a value that the user chooses.
    pub fn give(argument: Argument) -> Self {
        Self::action(Action::Set(argument, None))
    }

    /// Recommends omitting `argument`.
    pub fn omit(argument: Argument) -> Self {
        Self::action(Action::Omit(argument))
    }

    /// Recommends running `task`.
    pub fn run(task: Task) -> Self {
        Self::action(Action::Do(task))
    }

    /// Gives advice that refers to no argument, such as `save the file as UTF-8`.
    pub fn say(words: impl Into<Cow<'static, str>>) -> Self {
        Self::action(Action::Say(words.into()))
    }

    fn action(action: Action) -> Self {
        Self(vec![Step { action, purpose: None }])
    }

    /// The alternatives that set or omit only arguments that a task `has`; `None` if there is none.
    pub fn among(&self, has: impl Fn(Argument) -> bool) -> Option<Self> {
        let exists = |step: &&Step| match &step.action {
            Action::Set(argument, _) | Action::Omit(argument) => has(*argument),
            Action::Do(_) | Action::Say(_) => true,
        };
        let steps: Vec<Step> = self.0.iter().filter(exists).cloned().collect();
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// States the effect of the last step: `leave such images out`.
    pub fn to(mut self, purpose: impl Into<Cow<'static, str>>) -> Self {
        if let Some(step) = self.0.last_mut() {
            step.purpose = Some(purpose.into());
        }
        self
    }

    /// Adds alternatives.
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Renders the remedy in the terms of a front end, such as `pass missing="skip" to leave such images out`; `None`
    /// if the front end offers no way out.
    pub fn in_words(&self, dialect: &dyn Dialect) -> Option<String> {
        let Self(steps) = self.among(|argument| dialect.has(argument))?;
        let mut text = String::new();
        let (mut follows_argument, mut ended) = (false, false);
        for Step { action, purpose } in &steps {
            let sets = matches!(action, Action::Set(..));
            if !text.is_empty() {
                // `pass A or B to …`, but `pass A to …, or B to …`.
                text.push_str(if ended || !(sets && follows_argument) { ", or " } else { " or " });
            }
            match action {
                Action::Set(argument, value) => {
                    if !follows_argument {
                        text.push_str(dialect.verb());
                        text.push(' ');
                    }
                    text.push_str(&dialect.argument(*argument, value.as_deref()));
                }
                Action::Omit(argument) => {
                    text.push_str("leave out ");
                    text.push_str(&dialect.name(*argument));
                }
                Action::Do(task) => text.push_str(&dialect.task(task)),
                Action::Say(words) => text.push_str(words),
            }
            if let Some(purpose) = purpose {
                text.push_str(" to ");
                text.push_str(purpose);
            }
            (follows_argument, ended) = (sets, purpose.is_some());
        }
        (!text.is_empty()).then_some(text)
    }
}

impl From<&'static str> for Remedy {
    fn from(words: &'static str) -> Self {
        Self::say(words)
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Self {
        Self::say(words)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&Plain).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flags;

    fn words(remedy: &Remedy) -> String {
        remedy.in_words(&Flags).unwrap()
    }

    impl Dialect for Flags {
        fn has(&self, argument: Argument) -> bool {
            argument != Argument::Segments
        }

        fn name(&self, argument: Argument) -> String {
            format!("--{}", argument.name())
        }

        fn argument(&self, argument: Argument, value: Option<&str>) -> String {
            format!("--{} {}", argument.name(), value.unwrap_or(argument.placeholder()))
        }

        fn task(&self, _task: &Task) -> String {
            "run it".to_owned()
        }
    }

    #[test]
    fn alternatives_share_a_verb_and_a_purpose() {
        let first = Remedy::set(Argument::Several, "first");
        let remedy = first.or(Remedy::set(Argument::Several, "last")).to("take one of them");
        assert_eq!(words(&remedy), "pass --several first or --several last to take one of them");
        assert_eq!(remedy.to_string(), "set several to \"first\" or several to \"last\" to take one of them");
    }

    #[test]
    fn each_step_keeps_its_own_purpose() {
        let skip = Remedy::set(Argument::Missing, "skip").to("leave it out");
        let remedy =
            skip.or(Remedy::set(Argument::Missing, "empty").to("score it")).or(Remedy::say("add it"));
        let words = "pass --missing skip to leave it out, or --missing empty to score it, or add it";
        assert_eq!(self::words(&remedy), words);
    }

    #[test]
    fn an_argument_without_a_value_shows_its_placeholder() {
        let remedy = Remedy::give(Argument::DocumentFrequencies).or(Remedy::run(Task::Prepare));
        assert_eq!(words(&remedy), "pass --df FILE, or run it");
        assert_eq!(words(&Remedy::omit(Argument::Missing)), "leave out --missing");
    }

    #[test]
    fn a_step_that_a_front_end_lacks_is_left_out() {
        let page = Remedy::give(Argument::Segments).to("see them");
        assert_eq!(page.in_words(&Flags), None);
        assert_eq!(words(&page.or(Remedy::say("look"))), "look");
    }
}
