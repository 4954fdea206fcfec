//! The metric whose statistics are read instead of measured.

use std::sync::Arc;

use capeval_metric::{
    About, AnyMetric, Explanation, Input, Learns, Mean, Metric, Part, Reading, References, Segment,
    Signature, Step,
};

/// Given scores by one measure. A corpus score is their mean over images.
pub(crate) struct GivenMetric {
    part: Part,
    /// The scores by system and image.
    values: Arc<Vec<Vec<f64>>>,
}

impl GivenMetric {
    /// A measure with the scores of each system by image.
    pub fn metric(part: Part, values: Vec<Vec<f64>>) -> AnyMetric {
        AnyMetric::new(Self { part, values: Arc::new(values) })
    }

    /// Returns true if a metric is a given score.
    pub fn is(metric: &AnyMetric) -> bool {
        metric.signature().is_given()
    }

    fn value(&self, segment: &Segment<'_>) -> f64 {
        let of_system = self.values.get(segment.system);
        of_system.and_then(|values| values.get(segment.image)).copied().unwrap_or(f64::NAN)
    }
}

impl Metric for GivenMetric {
    type Model = ();
    type Stats = Mean;
    type Scratch = ();

    fn about(&self) -> About {
        let signature = Signature::given(&self.part.key);
        About::new(signature, Input::new(Reading::Raw), Mean::columns(), vec![self.part.clone()])
            .learns(Learns::Nothing)
            .reading_texts(false)
    }

    fn fit(&self, _: &References<'_>) {}

    fn measure(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Mean {
        Mean::of(self.value(segment))
    }

    fn score(&self, stats: &Mean, values: &mut [f64]) {
        values.fill(stats.value());
    }

    fn explain(&self, (): &(), segment: &Segment<'_>, (): &mut ()) -> Explanation {
        let step = Step::given(self.part.label.clone(), self.value(segment)).noted("given, not computed");
        Explanation { scores: vec![step], ..Explanation::over_words(segment) }
    }
}
