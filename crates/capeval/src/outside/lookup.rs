//! A metric of the engine that looks up scores that came from outside before anything else is measured.

use std::sync::Arc;

use capeval_choice::Notice;
use capeval_corpus::SegmentId;
use capeval_metric::{
    About, AnyMetric, Column, Explanation, Input, Learns, Metric, Part, Reading, References, Segment,
    Signature, Statistics, Step,
};
use capeval_stats::Table;

use super::{Outside, OutsideRow, Picture, Summary, width};

/// A metric that looks up the scores that a metric outside of the engine gave.
pub(super) struct Lookup {
    pub outside: Arc<dyn Outside>,
    pub signature: Signature,
    /// The entries of the signature that are known only after scoring.
    pub signed: Vec<(&'static str, String)>,
    pub parts: Vec<Part>,
    /// The names of the systems.
    pub systems: Vec<String>,
    /// The images, where they are known.
    pub places: Vec<Option<Place>>,
    /// The caption of the other system for each image, by system, if the metric compares two.
    pub rivals: Vec<Vec<Option<String>>>,
    /// The values of each caption, by system: image after image, measure after measure.
    pub values: Vec<Vec<f64>>,
    pub notices: Vec<Notice>,
}

/// An image with its picture, if the metric looks at it.
pub(super) struct Place {
    pub id: SegmentId,
    pub picture: Option<Picture>,
}

impl Lookup {
    /// The metric without scores.
    pub fn described(outside: &Arc<dyn Outside>) -> Self {
        Self {
            outside: Arc::clone(outside),
            signature: outside.signature(),
            signed: Vec::new(),
            parts: outside.parts().to_vec(),
            systems: Vec::new(),
            places: Vec::new(),
            rivals: Vec::new(),
            values: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The metric with these scores, with what they turned out to depend on, and with what there is to say of them.
    pub fn with(
        self,
        values: Vec<Vec<f64>>,
        signed: &[(&'static str, String)],
        notices: &[Notice],
    ) -> AnyMetric {
        AnyMetric::new(Self { values, signed: signed.to_vec(), notices: notices.to_vec(), ..self })
    }

    /// The row that a segment was.
    fn row<'r>(&'r self, segment: &Segment<'r>) -> OutsideRow<'r> {
        let place = self.places.get(segment.image).and_then(Option::as_ref);
        let name = self.systems.get(segment.system).map(String::as_str);
        OutsideRow {
            system: name.filter(|_| self.outside.distinguishes_systems()),
            image: place.map(|place| &place.id),
            candidate: segment.text,
            rival: self.rivals.get(segment.system).and_then(|rivals| rivals.get(segment.image)?.as_deref()),
            references: match self.outside.needs_references() {
                true => segment.reference_texts().collect(),
                false => Vec::new(),
            },
            picture: place.and_then(|place| place.picture.as_ref()),
        }
    }

    /// The values of a segment.
    fn of(&self, segment: &Segment<'_>) -> Vec<f64> {
        let n = width(self.outside.as_ref());
        let of_system = self.values.get(segment.system);
        let own = of_system.and_then(|values| values.get(segment.image * n..(segment.image + 1) * n));
        own.map_or_else(|| vec![f64::NAN; n], <[f64]>::to_vec)
    }
}

/// The number of segments, and the sum of what was given of them.
pub(super) struct Sums {
    count: f64,
    sums: Vec<f64>,
}

impl Statistics for Sums {
    fn store(&self, row: &mut [f64]) {
        if let Some((count, sums)) = row.split_first_mut() {
            *count = self.count;
            sums.copy_from_slice(&self.sums);
        }
    }

    fn load(row: &[f64]) -> Self {
        let (count, sums) = row.split_first().map_or((0.0, &[][..]), |(count, sums)| (*count, sums));
        Self { count, sums: sums.to_vec() }
    }
}

impl Metric for Lookup {
    type Model = ();
    type Stats = Sums;
    type Scratch = ();

    fn about(&self) -> About {
        // Names of columns differ.
        let name = |part: &Part| if self.parts.len() == 1 { "sum".to_owned() } else { part.key.clone() };
        let own = self.outside.columns();
        let is_mean = self.outside.summary() == Summary::Mean && own.is_none();
        let sums = own.unwrap_or_else(|| self.parts.iter().map(|part| Column::sum(name(part))).collect());
        let columns = std::iter::once(Column::count("segments")).chain(sums).collect();
        About::new(self.signature.clone(), Input::new(Reading::Raw), columns, self.parts.clone())
            .learns(Learns::Nothing)
            .mean(is_mean)
            .adding_up(self.outside.summary() == Summary::Mean)
            .made_for(self.outside.languages().to_vec())
    }

    fn fit(&self, _: &References<'_>) {}

    fn sign_model(&self, (): &(), signature: &mut Signature) {
        self.signed.iter().for_each(|(name, value)| signature.push(name, value));
    }

    fn notices(&self, (): &()) -> Vec<Notice> {
        self.notices.clone()
    }

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Sums {
        Sums { count: 1.0, sums: self.of(segment) }
    }

    fn score(&self, Sums { count, sums }: &Sums, values: &mut [f64]) {
        if self.outside.columns().is_some() {
            return self.outside.combine(*count, sums, values);
        }
        for (value, sum) in values.iter_mut().zip(sums) {
            *value = if *count == 0.0 { 0.0 } else { sum / count };
        }
    }

    fn score_table(&self, table: &Table, values: &mut [f64]) {
        match self.outside.summary() {
            Summary::Mean => self.score(&Sums::load(&table.total()), values),
            Summary::Median => {
                for (part, value) in values.iter_mut().enumerate() {
                    *value = median(table.rows().map(|row| row[part + 1]).collect());
                }
            }
        }
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Explanation {
        if let Some(explanation) = self.outside.explain(&self.row(segment)) {
            return explanation;
        }
        let mut scores = vec![0.0; self.parts.len()];
        self.score(&Sums { count: 1.0, sums: self.of(segment) }, &mut scores);
        let steps = self.parts.iter().zip(scores);
        let step = |(part, value): (&Part, f64)| {
            Step::given(part.label.clone(), value).noted("computed outside of capeval")
        };
        Explanation { scores: steps.map(step).collect(), ..Explanation::over_words(segment) }
    }
}

/// The median; 0 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
