//! The quiz before a person's first caption, as data.

use std::sync::OnceLock;

use capeval_site::web::language::Language;
use serde::Deserialize;

/// A question with its answers in both languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    en: String,
    zh: String,
    en_options: Vec<String>,
    zh_options: Vec<String>,
    en_why: String,
    zh_why: String,
    right: usize,
}

#[derive(Deserialize)]
struct Quiz {
    question: Vec<Question>,
}

impl Question {
    /// The question.
    pub fn text(&self, language: Language) -> &str {
        if language == Language::Chinese { &self.zh } else { &self.en }
    }

    /// The answers to choose from.
    pub fn options(&self, language: Language) -> &[String] {
        if language == Language::Chinese { &self.zh_options } else { &self.en_options }
    }

    /// The reason why the right answer is right.
    pub fn why(&self, language: Language) -> &str {
        if language == Language::Chinese { &self.zh_why } else { &self.en_why }
    }

    /// Returns true if an answer is the right one.
    pub fn is_right(&self, answer: usize) -> bool {
        answer == self.right
    }
}

/// The questions, read once.
pub fn questions() -> &'static [Question] {
    static QUIZ: OnceLock<Quiz> = OnceLock::new();
    let quiz = QUIZ.get_or_init(|| toml::from_str(include_str!("quiz.toml")).expect("a test reads the file"));
    &quiz.question
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_a_right_answer_in_both_languages() {
        assert_eq!(questions().len(), 5);
        for question in questions() {
            assert_eq!(question.en_options.len(), question.zh_options.len());
            assert!(question.right < question.en_options.len());
            assert!(question.is_right(question.right) && !question.is_right(question.right + 1));
            assert!(
                !question.why(Language::English).is_empty() && !question.text(Language::Chinese).is_empty()
            );
        }
        let rights: Vec<usize> = questions().iter().map(|question| question.right).collect();
        assert!(rights.iter().any(|right| *right != rights[0]), "one answer is always right");
    }
}
