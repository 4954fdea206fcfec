//! Tools for tests of metrics: rows of vectors, scored by a metric with a given name.

use std::path::Path;
use std::sync::{Arc, Mutex};

use capeval::choice::SegmentId;
use capeval::{Answers, MetricOptions, OutsideRow};

use crate::embeddings::models::OpenModel;
use crate::embeddings::role::Role;
use crate::embeddings::vectors::Vectors;
use crate::kind::build;
use crate::sources::OpenSources;

/// The vectors of a row.
#[derive(Clone, Default)]
pub(crate) struct Row {
    pub picture: Vec<f32>,
    pub candidate: Vec<f32>,
    pub references: Vec<Vec<f32>>,
}

/// One row.
pub(crate) fn rows_of(picture: &[f32], candidate: &[f32], references: &[Vec<f32>]) -> Vec<Row> {
    vec![Row { picture: picture.to_vec(), candidate: candidate.to_vec(), references: references.to_vec() }]
}

struct ScoreSink(Mutex<Vec<Vec<f64>>>);

impl Answers for ScoreSink {
    fn take(&self, row: usize, scores: &[f64]) {
        self.0.lock().unwrap()[row] = scores.to_vec();
    }

    fn wait(&self) {}
}

/// The tiny models of these names.
pub(crate) fn models(names: &[&str]) -> Vec<OpenModel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/neural");
    names.iter().map(|name| OpenModel::open_at(folder.join(name)).unwrap()).collect()
}

/// The scores of captions with their references, by tiny models.
pub(crate) fn scores_by(
    spec: &str,
    names: &[&str],
    vectors: Vec<(Role, Arc<Vectors>)>,
    rows: &[(&str, &[&str])],
) -> Vec<Vec<f64>> {
    let metric =
        build(&MetricOptions::new([spec]), &OpenSources::new(models(names), vectors)).unwrap().remove(0);
    let ids: Vec<SegmentId> = (0..rows.len() as i64).map(SegmentId::Integer).collect();
    let row = |((candidate, references), id)| OutsideRow {
        system: None,
        image: Some(id),
        candidate,
        rival: None,
        references: <[&str]>::to_vec(references),
        picture: None,
    };
    let asked: Vec<OutsideRow<'_>> = rows.iter().map(|(c, r)| (*c, *r)).zip(&ids).map(row).collect();
    let taken = ScoreSink(Mutex::new(vec![Vec::new(); rows.len()]));
    metric.score(&asked, &taken).unwrap();
    taken.0.into_inner().unwrap()
}

/// The scores of rows, whose images are numbered.
pub(crate) fn scores_of(spec: &str, rows: &[Row]) -> Vec<Vec<f64>> {
    let ids: Vec<SegmentId> = (0..rows.len() as i64).map(SegmentId::Integer).collect();
    let file = |name: &str, of: &dyn Fn(&Row) -> Vec<Vec<f32>>| {
        let all: Vec<(SegmentId, Vec<f32>)> = rows
            .iter()
            .zip(&ids)
            .flat_map(|(row, id)| of(row).into_iter().map(move |vector| (id.clone(), vector)))
            .filter(|(_, vector)| !vector.is_empty())
            .collect();
        let dims = all.first().map_or(0, |(_, vector)| vector.len());
        let (ids, vectors): (Vec<SegmentId>, Vec<Vec<f32>>) = all.into_iter().unzip();
        (dims > 0).then(|| Vectors::from_rows(name, ids, dims, vectors.concat()).unwrap())
    };
    let all = [
        (Role::Pictures, file("pictures.npy", &|row| vec![row.picture.clone()])),
        (Role::Candidates, file("candidates.npy", &|row| vec![row.candidate.clone()])),
        (Role::References, file("references.npy", &|row| row.references.clone())),
    ];
    let given = OpenSources::new(
        Vec::new(),
        all.into_iter().filter_map(|(role, file)| Some((role, Arc::new(file?)))).collect(),
    );
    let metric = build(&MetricOptions::new([spec]), &given).unwrap().remove(0);
    let references: Vec<Vec<String>> = rows
        .iter()
        .map(|row| (0..row.references.len()).map(|nth| format!("reference {nth}")).collect())
        .collect();
    let asked: Vec<OutsideRow<'_>> = ids
        .iter()
        .zip(&references)
        .map(|(id, references)| OutsideRow {
            system: Some("system"),
            image: Some(id),
            candidate: "a caption",
            rival: None,
            references: references.iter().map(String::as_str).collect(),
            picture: None,
        })
        .collect();
    let taken = ScoreSink(Mutex::new(vec![Vec::new(); rows.len()]));
    metric.score(&asked, &taken).unwrap();
    // An explanation tells the score, and recomputes it.
    for (row, scores) in asked.iter().zip(taken.0.lock().unwrap().iter()) {
        if let Some(explanation) = metric.explain(row) {
            for (step, score) in explanation.scores.iter().zip(scores) {
                step.check(1e-9).unwrap();
                assert_eq!(step.value, Some(*score));
            }
        }
    }
    taken.0.into_inner().unwrap()
}
