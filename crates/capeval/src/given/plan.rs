//! Finds the file that holds the scores of a system by a measure, and the images that they are of.

use capeval_corpus::{Alignment, Captions, ImageIndex, Policy, align_scores};
use capeval_metric::{AnyMetric, Part};

use super::{GivenMetric, GivenScores, averaged, listed, parts};
use crate::Error;
use crate::findings::Findings;
use crate::reference_hash::score_hash;
use crate::restrict::Subset;

/// Given scores of systems by measures.
#[derive(Default)]
pub(crate) struct Plan {
    files: Vec<GivenScores>,
    parts: Vec<Part>,
    systems: Vec<String>,
    /// For each measure and system, the index of the file and the column in it.
    places: Vec<Vec<(usize, usize)>>,
}

/// The scores by measure, system and image of the index.
#[derive(Default)]
pub(crate) struct Values(Vec<Vec<Vec<f64>>>);

impl Plan {
    /// Finds the scores of the systems that `captions` are of, or of all systems in `files` if there are no captions.
    pub fn new(
        files: Vec<GivenScores>,
        captions: &[&str],
        metrics: &[AnyMetric],
        lower_is_better: &[String],
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let parts = parts(&files, lower_is_better, metrics, found)?;
        found.add(averaged(&parts));
        let mut plan = Self { files, parts, ..Self::default() };
        plan.name(captions);
        let of_files: Vec<Vec<&str>> = plan.files.iter().map(|file| file.scores.systems()).collect();
        for (file, systems) in plan.files.iter().zip(&of_files) {
            let unknown: Vec<&str> =
                systems.iter().filter(|name| !captions.contains(name)).copied().collect();
            if !captions.is_empty() && !unknown.is_empty() {
                let message = format!(
                    "{} has scores of {}, and the captions are of {}",
                    file.source(),
                    listed(&unknown),
                    listed(captions),
                );
                let remedy = "give captions and scores of a system the same name, as NAME=FILE";
                return Err(Error::with_remedy(message, remedy));
            }
        }
        let mut systems: Vec<&str> = captions.to_vec();
        for name in of_files.iter().flatten() {
            if !systems.contains(name) {
                systems.push(name);
            }
        }
        let places = plan.find(&systems, &of_files, !captions.is_empty())?;
        let systems = systems.into_iter().map(str::to_owned).collect();
        Ok(Self { systems, places, ..plan })
    }

    /// Names the system of rows that name none: that of the captions, if there is only one, or else after the file.
    fn name(&mut self, captions: &[&str]) {
        for GivenScores { scores, system, stem } in &mut self.files {
            let name = match captions {
                [only] => only,
                _ => stem.as_str(),
            };
            if system.is_none() {
                for row in scores.rows.iter_mut().filter(|row| row.system.is_none()) {
                    row.system = Some(name.to_owned());
                }
            }
        }
    }

    /// The file and the column of each measure and system.
    fn find(
        &self,
        systems: &[&str],
        of_files: &[Vec<&str>],
        has_captions: bool,
    ) -> Result<Vec<Vec<(usize, usize)>>, Error> {
        let mut places = Vec::with_capacity(self.parts.len());
        for Part { key, .. } in &self.parts {
            let mut of_measure = Vec::with_capacity(systems.len());
            let holding = || {
                let files = self.files.iter().zip(of_files).enumerate();
                files.filter_map(|(f, (file, systems))| {
                    Some((f, file.scores.keys.iter().position(|name| name == key)?, systems))
                })
            };
            for system in systems {
                let mut here = holding().filter(|(_, _, systems)| systems.contains(system));
                match (here.next(), here.next()) {
                    (Some((file, column, _)), None) => of_measure.push((file, column)),
                    (Some((a, ..)), Some((b, ..))) => {
                        let (a, b) = (self.files[a].source(), self.files[b].source());
                        return Err(Error::with_remedy(
                            format!("{system} has scores by {key} in two files, {a} and {b}"),
                            "leave one of them out, or name the system or the measure, as in NAME=FILE",
                        ));
                    }
                    (None, _) => {
                        let others: Vec<&str> =
                            holding().flat_map(|(_, _, systems)| systems).copied().collect();
                        let files: Vec<&str> = holding().map(|(f, ..)| self.files[f].source()).collect();
                        let known = match has_captions {
                            true => "which has captions".to_owned(),
                            false => {
                                let of = of_files.iter().position(|systems| systems.contains(system));
                                format!("which is in {}", of.map_or("", |f| self.files[f].source()))
                            }
                        };
                        return Err(Error::with_remedy(
                            format!(
                                "{} has scores by {key} of {}, and none of {system}, {known}",
                                listed(&files),
                                listed(&others),
                            ),
                            "name the system of each file, as in NAME=FILE, since each needs every measure",
                        ));
                    }
                }
            }
            places.push(of_measure);
        }
        Ok(places)
    }

    /// Returns true if no scores are given.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The names of the systems, and the files with their scores.
    pub fn systems(&self) -> impl Iterator<Item = (&str, String)> {
        self.systems.iter().enumerate().map(|(s, name)| {
            let mut files: Vec<&str> = Vec::new();
            for (file, _) in self.places.iter().filter_map(|of_measure| of_measure.get(s)) {
                let source = self.files[*file].source();
                if !files.contains(&source) {
                    files.push(source);
                }
            }
            (name.as_str(), files.join(", "))
        })
    }

    /// A list of all images that have scores, as captions without words; how they are compared is up to the caller.
    pub fn images(files: &[GivenScores]) -> Captions {
        let source = match files {
            [file] => file.source().to_owned(),
            _ => "the scores".to_owned(),
        };
        let mut images = Captions::new(source);
        let mut seen = std::collections::HashSet::new();
        for row in files.iter().flat_map(|file| &file.scores.rows) {
            if seen.insert(&row.image) {
                images.push(row.image.clone(), "");
            }
        }
        images
    }

    /// Matches scores with images, and leaves images without a score out of `aligned`, if the policy allows it.
    pub fn align(
        &self,
        images: &ImageIndex,
        aligned: &mut [Alignment],
        subset: Option<&Subset>,
        policy: &Policy,
    ) -> Result<Values, Error> {
        let mut values = Vec::with_capacity(self.parts.len());
        for (part, places) in self.parts.iter().zip(&self.places) {
            let mut of_measure = Vec::with_capacity(places.len());
            for ((system, place), aligned) in self.systems.iter().zip(places).zip(&mut *aligned) {
                let (ids, scores) = self.column(*place, system, subset);
                let needed: Vec<u32> = aligned.pairs.iter().map(|pair| pair.image).collect();
                let noun = match self.systems.len() {
                    1 => format!("score by {}", part.key),
                    _ => format!("score by {} for {system}", part.key),
                };
                let found = align_scores(images, &ids, &noun, &needed, policy)?;
                let score = |row: &Option<u32>| row.and_then(|row| scores.get(row as usize).copied());
                let scores: Vec<f64> = found.rows.iter().map(|row| score(row).unwrap_or(f64::NAN)).collect();
                aligned.notices.extend(found.notices);
                let has_score = |image: u32| scores.get(image as usize).is_some_and(|score| !score.is_nan());
                aligned.pairs.retain(|pair| has_score(pair.image));
                if aligned.pairs.is_empty() {
                    let message = format!("no image of {} with a {noun} is left", images.source());
                    return Err(Error::request(format!("{}: {message}", ids.source())));
                }
                of_measure.push(scores);
            }
            values.push(of_measure);
        }
        Ok(Values(values))
    }

    /// The scores of a system in a column, and their images; the text of a row is empty if it has no number.
    fn column(
        &self,
        (file, column): (usize, usize),
        system: &str,
        subset: Option<&Subset>,
    ) -> (Captions, Vec<f64>) {
        let scores = &self.files[file].scores;
        let (mut ids, mut values) = (Captions::new(&*scores.source), Vec::new());
        for row in &scores.rows {
            let is_listed = subset.is_none_or(|subset| subset.has(&row.image));
            if row.system.as_deref() != Some(system) || !is_listed {
                continue;
            }
            let value = row.scores.get(column).copied().unwrap_or(f64::NAN);
            let text = if value.is_nan() { "" } else { "1" };
            match (row.place.line, row.place.record) {
                (Some(line), _) => ids.push_at(row.image.clone(), text, line),
                (None, record) => {
                    let first = ids.len();
                    ids.push(row.image.clone(), text);
                    ids.set_record(first, record.unwrap_or(first as u64 + 1));
                }
            }
            values.push(value);
        }
        (ids, values)
    }

    /// For each system, the hashes of its scores by measure, for signatures: of their ids and values, whatever their
    /// order.
    pub fn hashes(&self) -> Vec<Vec<(String, String)>> {
        let of_system = |(s, system): (usize, &String)| {
            let of_measure = |(part, places): (&Part, &Vec<(usize, usize)>)| {
                let (ids, values) = self.column(*places.get(s)?, system, None);
                let rows = ids.ids().iter().zip(values).map(|(id, value)| (id, "", value));
                Some((part.key.clone(), score_hash(rows)))
            };
            self.parts.iter().zip(&self.places).filter_map(of_measure).collect()
        };
        self.systems.iter().enumerate().map(of_system).collect()
    }

    /// The measures as metrics, without scores, to describe them.
    pub fn described(&self) -> Vec<AnyMetric> {
        self.parts.iter().map(|part| GivenMetric::metric(part.clone(), Vec::new())).collect()
    }

    /// The measures as metrics; `place` is the number of each image of the index among the references.
    pub fn metrics(&self, values: Values, place: &[u32]) -> Vec<AnyMetric> {
        let n = place.iter().filter(|place| **place != u32::MAX).count();
        let placed = |scores: Vec<f64>| {
            let mut of_set = vec![f64::NAN; n];
            for (score, place) in scores.into_iter().zip(place) {
                if let Some(slot) = of_set.get_mut(*place as usize) {
                    *slot = score;
                }
            }
            of_set
        };
        let metric = |(part, systems): (&Part, Vec<Vec<f64>>)| {
            GivenMetric::metric(part.clone(), systems.into_iter().map(placed).collect())
        };
        self.parts.iter().zip(values.0).map(metric).collect()
    }
}
