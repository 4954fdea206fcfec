//! Turns evaluation lists of ROUGE-1.5.5 into references and candidates.

use capeval_corpus::rouge_xml::Texts;
use capeval_corpus::{Captions, SegmentId};
use capeval_lexical::rouge155::resample;

use crate::Error;

/// The references of a list, and the name and candidates of each system.
pub type RougeCaptions = (Captions, Vec<(String, Captions)>);

/// Turns the texts of an evaluation list into references and candidates; `source` is the name of the list.
///
/// The averages that ROUGE-1.5.5 prints are those of resamples, which depend on the order of evaluations by name. Rows
/// are therefore arranged such that `average=resampled` visits them in the program's order.
pub fn listed(texts: Vec<Texts>, source: &str) -> Result<RougeCaptions, Error> {
    let refuse = |message: String| Err(Error::request(format!("{source}: {message}")));
    if texts.is_empty() {
        return refuse("the list contains no evaluation".to_owned());
    }
    let mut sorted = texts;
    // The program sorts by `ID.PEER`.
    sorted.sort_by_cached_key(|texts| {
        format!("{}.{}", texts.id, texts.candidates.first().map_or("", |(name, _)| name))
    });
    let twice = sorted.windows(2).find(|pair| pair[0].id == pair[1].id);
    if let Some(pair) = twice {
        return refuse(format!("evaluation {} appears twice", pair[0].id));
    }
    let mut arranged: Vec<Option<Texts>> = sorted.iter().map(|_| None).collect();
    for (row, texts) in resample::by_name(sorted.len()).into_iter().zip(sorted) {
        arranged[row] = Some(texts);
    }
    let mut references = Captions::new(source);
    let mut systems: Vec<(String, Captions)> = Vec::new();
    for Texts { id, references: models, candidates } in arranged.into_iter().flatten() {
        let image = SegmentId::from(id.as_str());
        if models.is_empty() {
            return refuse(format!("evaluation {id} has no reference"));
        }
        models.iter().for_each(|text| references.push(image.clone(), text));
        for (k, (name, text)) in candidates.iter().enumerate() {
            if candidates.iter().take(k).any(|(other, _)| other == name) {
                return refuse(format!("evaluation {id} names the system {name} twice"));
            }
            let at = match systems.iter().position(|(known, _)| known == name) {
                Some(at) => at,
                None => {
                    systems.push((name.clone(), Captions::new(source)));
                    systems.len() - 1
                }
            };
            systems[at].1.push(image.clone(), text);
        }
    }
    systems.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok((references, systems))
}
