//! CHAIR, a metric of object hallucination: which objects captions mention, and which of them are not in the image.

mod caption;
#[cfg(test)]
mod golden;
mod instances;
mod metric;
mod objects;
mod words;

use std::sync::{Arc, Mutex};

use capeval::lexical::meteor_2005::Synonyms;
use capeval::metric::Settings;
use capeval::text::wordnet::{FILES, WordNet};
use capeval::{MetricOptions, Outside, OutsideLabel};
use capeval_choice::{Argument, Refusal, Remedy};
use capeval_files::{Error, NltkData};
use twox_hash::XxHash3_64;

use caption::{Reader, Reduction};
use instances::Instances;
use metric::Chair;
pub(crate) use metric::KIND;
use objects::Objects;
use words::{Punkt, Tagger};

capeval_choice::named! {
    /// How CHAIR reduces words.
    pub enum Reduce ("words") {
        WordNet = "wordnet", "to WordNet's lemmas, as the program that was rewritten for Python 3 does";
        Pattern = "pattern", "to the singulars of pattern.en, as the first program does";
    }
}

/// The files that a user names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectFiles {
    /// The list of objects with their synonyms.
    pub objects: Option<String>,
    /// Files of instances.
    pub instances: Vec<String>,
    /// The folder of NLTK's data.
    pub nltk_data: Option<String>,
}

impl ObjectFiles {
    /// Refuses files where no metric uses them.
    pub(crate) fn refuse_unused(&self, options: &MetricOptions) -> Result<(), Refusal> {
        let others =
            Self { nltk_data: self.nltk_data.clone().filter(|_| !wants_synonyms(options)), ..self.clone() };
        if others == Self::default() {
            return Ok(());
        }
        Err(Refusal::new(
            "only chair takes objects, instances and data of NLTK; meteor-2005:syn=wordnet takes the data",
        )
        .with_remedy("add one of them to the metrics, or leave these out"))
    }
}

fn build(spec: &str, settings: &Settings<'_>, files: &ObjectFiles) -> Result<Arc<dyn Outside>, Error> {
    let path = files.objects.as_deref().ok_or_else(|| {
        Refusal::new("it counts the objects of a list, and none is named").with_remedy(
            Remedy::set(Argument::Objects, "synonyms.txt").to(
                "use the list of CHAIR's authors, data/synonyms.txt of github.com/LisaAnne/Hallucination",
            ),
        )
    })?;
    let reduce: Reduce = settings.get("words")?;
    let objects = Objects::read(&capeval_files::text(path)?).map_err(|refusal| refusal.at(path))?;
    let mut instances = Instances::default();
    for path in &files.instances {
        let text = capeval_files::text(path)?;
        instances.add(text.as_bytes(), &objects).map_err(|refusal| refusal.at(path.as_str()))?;
    }
    let data = NltkData::new(files.nltk_data.as_deref());
    let mut hash = Vec::new();
    let (punkt, reduction) = (punkt(&data, &mut hash)?, reduction(reduce, &data, &mut hash)?);
    Ok(metric::boxed(Chair {
        label: OutsideLabel::new(spec, metric::parts()),
        words: reduce.name(),
        reader: Reader { punkt, reduction, objects },
        instances,
        data: XxHash3_64::oneshot(&hash),
        bare: Mutex::default(),
    }))
}

/// Reads bytes as lists, instances and captions, for fuzz targets; none of it may panic.
///
/// # Panics
/// If a word is lost or a mention is not where it is said to be.
#[cfg(fuzzing)]
pub fn fuzz(bytes: &[u8], nltk_data: &str, list: &str) {
    use std::sync::LazyLock;
    static READERS: LazyLock<std::sync::Mutex<Vec<Reader>>> = LazyLock::new(Default::default);
    let mut readers = READERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if readers.is_empty() {
        let data = NltkData::new(Some(nltk_data));
        for reduce in [Reduce::WordNet, Reduce::Pattern] {
            let mut hash = Vec::new();
            let (Ok(punkt), Ok(reduction), Ok(objects)) =
                (punkt(&data, &mut hash), reduction(reduce, &data, &mut hash), Objects::of(list, true))
            else {
                return;
            };
            readers.push(Reader { punkt, reduction, objects });
        }
    }
    let own = std::str::from_utf8(bytes).ok().and_then(|text| Objects::read(text).ok());
    let objects = own.as_ref().unwrap_or(&readers[0].objects);
    let _ = Instances::default().add(bytes, objects);
    let _ = Tagger::new(bytes, b"{}", b"[\"NN\"]");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    Punkt::new(text, text, text, text).sentences(text);
    WordNet::new([(text, text); 4]).lemma(text, 'n');
    for reader in readers.iter() {
        let read = reader.read(text);
        for mention in &read.mentions {
            assert!(mention.first + mention.n <= read.tokens.len() && mention.n > 0);
        }
    }
}

/// A file of NLTK's data, which is added to the hash.
fn file(data: &NltkData, package: &str, name: &str, hash: &mut Vec<u8>) -> Result<Vec<u8>, Error> {
    let bytes = data.file(package, name)?;
    hash.extend_from_slice(&XxHash3_64::oneshot(&bytes).to_le_bytes());
    Ok(bytes)
}

fn text_file(data: &NltkData, package: &str, name: &str, hash: &mut Vec<u8>) -> Result<String, Error> {
    let bytes = file(data, package, name, hash)?;
    String::from_utf8(bytes)
        .map_err(|_| Refusal::new(format!("{package}/{name} of NLTK's data is not text in UTF-8")).into())
}

fn punkt(data: &NltkData, hash: &mut Vec<u8>) -> Result<Punkt, Error> {
    let mut of = |name: &str| text_file(data, "tokenizers/punkt_tab", &format!("english/{name}"), hash);
    let (abbreviations, collocations) = (of("abbrev_types.txt")?, of("collocations.tab")?);
    let (starters, contexts) = (of("sent_starters.txt")?, of("ortho_context.tab")?);
    Ok(Punkt::new(&abbreviations, &collocations, &starters, &contexts))
}

fn reduction(reduce: Reduce, data: &NltkData, hash: &mut Vec<u8>) -> Result<Reduction, Error> {
    if reduce == Reduce::Pattern {
        return Ok(Reduction::Singular);
    }
    const TAGGER: &str = "averaged_perceptron_tagger_eng";
    let package = format!("taggers/{TAGGER}");
    let mut of = |kind: &str| file(data, &package, &format!("{TAGGER}.{kind}.json"), hash);
    let (weights, known, classes) = (of("weights")?, of("tagdict")?, of("classes")?);
    let (tagger, wordnet) = rayon::join(
        || Tagger::new(&weights, &known, &classes).map_err(|refusal| refusal.at(TAGGER)),
        || lemmas(data, hash),
    );
    Ok(Reduction::Lemma(Box::new(tagger?), Box::new(wordnet?)))
}

fn lemmas(data: &NltkData, hash: &mut Vec<u8>) -> Result<WordNet, Error> {
    let mut texts = Vec::new();
    for part in FILES {
        let index = text_file(data, "corpora/wordnet", &format!("index.{part}"), hash)?;
        texts.push((index, text_file(data, "corpora/wordnet", &format!("{part}.exc"), hash)?));
    }
    let of = |place: usize| (texts[place].0.as_str(), texts[place].1.as_str());
    Ok(WordNet::new([of(0), of(1), of(2), of(3)]))
}

/// The synonyms of WordNet for NLTK's METEOR, if a metric asks for them.
pub(crate) fn synonyms(options: &MetricOptions, files: &ObjectFiles) -> Result<Option<Synonyms>, Error> {
    if !wants_synonyms(options) {
        return Ok(None);
    }
    let (data, mut hash) = (NltkData::new(files.nltk_data.as_deref()), Vec::new());
    let lemmas = lemmas(&data, &mut hash)?;
    let mut texts = Vec::new();
    for part in FILES {
        texts.push(text_file(&data, "corpora/wordnet", &format!("data.{part}"), &mut hash)?);
    }
    let wordnet = lemmas.with_synonyms([&texts[0], &texts[1], &texts[2], &texts[3]]);
    Ok(Some(Synonyms { wordnet, hash: XxHash3_64::oneshot(&hash) }))
}

/// Returns true if a metric asks for synonyms of WordNet.
pub(crate) fn wants_synonyms(options: &MetricOptions) -> bool {
    let asks = |spec: &String| spec.split(':').any(|setting| setting == "syn=wordnet");
    options.names.iter().any(asks) || options.settings.get("syn").is_some_and(|syn| syn == "wordnet")
}
