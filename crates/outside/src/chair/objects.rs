//! The objects that captions can mention, with their synonyms.

use capeval_choice::Refusal;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use twox_hash::XxHash3_64;

/// The checksum of the list that the authors of CHAIR published, `data/synonyms.txt` of LisaAnne/Hallucination.
const PUBLISHED: u64 = 0x2f67_017f_4b01_dca7;

/// Two words that the programs take for one, whatever the list says.
const PAIRS: &str = "motor bike, motor cycle, air plane, traffic light, street light, traffic signal, stop light, fire hydrant, \
    stop sign, parking meter, suit case, sports ball, baseball bat, baseball glove, tennis racket, wine glass, hot dog, cell \
    phone, mobile phone, teddy bear, hair drier, potted plant, laptop computer, home plate, train track";

/// Animals before which `baby` and `adult` are no person.
const ANIMALS: &str = "bird cat dog horse sheep cow elephant bear zebra giraffe animal cub";

/// A list of objects.
#[derive(Debug)]
pub struct Objects {
    /// The name of each object: the first word of its line.
    names: Vec<String>,
    /// The object of each word.
    by_word: HashMap<String, u16, FixedState>,
    /// The object that several words together mean.
    phrases: HashMap<String, String, FixedState>,
    /// The number of words of the longest phrase.
    longest: usize,
    /// The words of which the first drops the second: a `seat` is no chair where there is a toilet.
    drops: Option<[&'static str; 2]>,
    hash: u64,
}

impl Objects {
    /// Reads a list: a line for each object, its name first, and its synonyms behind it, separated by commas.
    ///
    /// The list that CHAIR's authors published is read as their program reads it, with its rules for pairs of words; in
    /// all others, words are trimmed and in small letters, and a name of several words is found as such.
    pub fn read(text: &str) -> Result<Self, Refusal> {
        Self::of(text, XxHash3_64::oneshot(text.trim().as_bytes()) == PUBLISHED)
    }

    /// Reads a list as the published one is read, or as others are.
    pub(crate) fn of(text: &str, is_published: bool) -> Result<Self, Refusal> {
        let hash = XxHash3_64::oneshot(text.trim().as_bytes());
        let mut objects = Self {
            names: Vec::new(),
            by_word: HashMap::default(),
            phrases: HashMap::default(),
            longest: 1,
            drops: is_published.then_some(["toilet", "seat"]),
            hash,
        };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let words: Vec<String> = match is_published {
                true => line.trim().split(", ").map(str::to_owned).collect(),
                false => {
                    let trimmed =
                        line.split(',').map(|word| word.split_whitespace().collect::<Vec<_>>().join(" "));
                    trimmed.filter(|word| !word.is_empty()).map(|word| word.to_lowercase()).collect()
                }
            };
            let Some(name) = words.first() else {
                return Err(Refusal::new(format!("line {}: there is no object", number + 1)));
            };
            let known = objects.names.iter().position(|known| known == name);
            let place = known.unwrap_or(objects.names.len());
            let object =
                u16::try_from(place).map_err(|_| Refusal::new("there are more than 65,535 objects"))?;
            if known.is_none() {
                objects.names.push(name.clone());
            }
            for word in &words {
                if !is_published
                    && let Some(other) = objects.by_word.get(word).filter(|other| **other != object)
                {
                    let other = &objects.names[usize::from(*other)];
                    let why = format!("line {}: {word} is a word for {other} and for {name}", number + 1);
                    return Err(Refusal::new(why).with_remedy("leave it at one of them"));
                }
                objects.by_word.insert(word.clone(), object);
                if !is_published && word.contains(' ') {
                    objects.phrase(word.clone(), word.clone());
                }
            }
        }
        if objects.names.is_empty() {
            return Err(Refusal::new("there are no objects in it")
                .with_remedy("write a line for each object: its name, and synonyms behind commas"));
        }
        if is_published {
            objects.published_phrases();
        }
        Ok(objects)
    }

    fn phrase(&mut self, words: String, taken_for: String) {
        self.longest = self.longest.max(words.split(' ').count());
        self.phrases.insert(words, taken_for);
    }

    fn published_phrases(&mut self) {
        for pair in PAIRS.split(", ") {
            self.phrase(pair.to_owned(), pair.to_owned());
        }
        for animal in ANIMALS.split(' ') {
            self.phrase(format!("baby {animal}"), animal.to_owned());
            self.phrase(format!("adult {animal}"), animal.to_owned());
        }
        for vehicle in ["jet", "train"] {
            self.phrase(format!("passenger {vehicle}"), vehicle.to_owned());
        }
        // The singular of pattern.en has no second s.
        for (pair, word) in [("bow tie", "tie"), ("toilet seat", "toilet"), ("wine glas", "wine glass")] {
            self.phrase(pair.to_owned(), word.to_owned());
        }
    }

    /// The name of an object.
    pub fn name(&self, object: u16) -> &str {
        &self.names[usize::from(object)]
    }

    /// The object that a word is for.
    pub fn find(&self, word: &str) -> Option<u16> {
        self.by_word.get(word).copied()
    }

    /// A hash of the list.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// The words with each phrase as one, the longest first, and how many of `words` each one is.
    pub fn joined(&self, words: &[String]) -> Vec<(String, usize)> {
        let mut joined = Vec::with_capacity(words.len());
        let mut at = 0;
        while at < words.len() {
            let longest = self.longest.min(words.len() - at);
            let found = (2..=longest).rev().find_map(|n| {
                let phrase = words[at..at + n].join(" ");
                Some((self.phrases.get(&phrase)?.clone(), n))
            });
            let (word, n) = found.unwrap_or_else(|| (words[at].clone(), 1));
            joined.push((word, n));
            at += n;
        }
        joined
    }

    /// Returns true if a word is dropped because of another in the same caption.
    pub fn drops<'w>(&self, words: impl Iterator<Item = &'w str> + Clone) -> Option<&'static str> {
        let [cause, dropped] = self.drops?;
        words.into_iter().any(|word| word == cause).then_some(dropped)
    }
}
