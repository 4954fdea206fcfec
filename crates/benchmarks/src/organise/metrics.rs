//! The metrics that hosts choose from.

use capeval_api::{MeasureChoice, MetricChoice, MetricChoices, SuiteChoice};
use capeval_files::Home;
use capeval_site::prelude::*;
use capeval_tasks::{OfferedMeasure, OfferedMetric, offered, offered_suites};

/// The metrics that a phase may have here.
pub fn choices(app: &App) -> Result<MetricChoices> {
    let metrics = offered(app.data().map(Home::new).as_ref())?;
    let suites = offered_suites().into_iter().map(|suite| SuiteChoice {
        name: suite.name.to_owned(),
        summary: suite.summary.to_owned(),
        metrics: suite.metrics,
    });
    Ok(MetricChoices { metrics: metrics.into_iter().map(choice).collect(), suites: suites.collect() })
}

fn choice(metric: OfferedMetric) -> MetricChoice {
    MetricChoice {
        name: metric.name,
        summary: metric.summary.to_owned(),
        measures: metric.measures.into_iter().map(measure).collect(),
        data: metric.data.map(str::to_owned),
        is_installed: metric.absence.is_none(),
        remedy: metric.absence,
        seconds: metric.seconds,
    }
}

fn measure(measure: OfferedMeasure) -> MeasureChoice {
    let OfferedMeasure { key, label, min, max, lower_is_better } = measure;
    MeasureChoice { key, label, min, max: Some(max).filter(|max| max.is_finite()), lower_is_better }
}
