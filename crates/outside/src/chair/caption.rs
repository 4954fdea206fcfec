//! The objects that a caption mentions.

use capeval::text::tokenizers::treebank::{Rules, tokenize};
use capeval::text::wordnet::WordNet;

use crate::chair::objects::Objects;
use crate::chair::words::{Punkt, Tagger, part_of_speech, singular};

/// The reduction of words before they are looked up.
pub enum Reduction {
    /// To the singular, by the rules of pattern.en, as CHAIR's first program does.
    Singular,
    /// To WordNet's lemma for its part of speech, as the program that was rewritten for Python 3 does.
    Lemma(Box<Tagger>, Box<WordNet>),
}

/// The reader of captions.
pub struct Reader {
    pub punkt: Punkt,
    pub reduction: Reduction,
    pub objects: Objects,
}

/// A caption as it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Its words, before they are reduced.
    pub tokens: Vec<String>,
    /// The number of words, with pairs of words as one.
    pub n_words: usize,
    /// Its mentions, in order: the words, from and to which of `tokens`, and the object.
    pub mentions: Vec<Mention>,
}

/// A mention of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub word: String,
    pub first: usize,
    pub n: usize,
    pub object: u16,
}

impl Reader {
    /// Reads a caption.
    pub fn read(&self, caption: &str) -> Read {
        let sentences = self.punkt.sentences(&caption.to_lowercase());
        let tokens: Vec<String> =
            sentences.iter().flat_map(|sentence| tokenize(sentence, Rules::Nltk)).collect();
        let reduced: Vec<String> = match &self.reduction {
            Reduction::Singular => tokens.iter().map(|token| singular(token)).collect(),
            Reduction::Lemma(tagger, wordnet) => {
                let tags = tagger.tag(&tokens);
                tokens
                    .iter()
                    .zip(tags)
                    .map(|(token, tag)| wordnet.lemma(token, part_of_speech(tag)))
                    .collect()
            }
        };
        let joined = self.objects.joined(&reduced);
        let dropped = self.objects.drops(joined.iter().map(|(word, _)| word.as_str()));
        let mut first = 0;
        let mut mentions = Vec::new();
        for (word, n) in &joined {
            if dropped != Some(word.as_str())
                && let Some(object) = self.objects.find(word)
            {
                mentions.push(Mention { word: word.clone(), first, n: *n, object });
            }
            first += n;
        }
        Read { tokens, n_words: joined.len(), mentions }
    }
}
