//! The last fields of a comparison as JSON, which are also those of its file.

use std::borrow::Cow;

use super::json::{ContrastFields, PairFields};
use super::{Comparison, Pair};
use crate::render::programs::Map;
use crate::report::json::Tail;

/// The last fields of a comparison: those of its report, and the pairs.
pub(crate) fn tail(comparison: &Comparison) -> Tail<'_> {
    let Comparison { report, correction, pairs, .. } = comparison;
    let name = |system: usize| Cow::Borrowed(report.systems.get(system).map_or("", |s| s.name.as_str()));
    let of_pair = |pair: &Pair| {
        let keys = report.head.keys().map(Cow::Borrowed);
        PairFields {
            baseline: name(pair.baseline),
            system: name(pair.system),
            contrasts: Map(keys.zip(pair.contrasts.iter().map(ContrastFields::new)).collect()),
        }
    };
    Tail {
        correction: Some(*correction),
        comparisons: Some(pairs.iter().map(of_pair).collect()),
        ..Tail::of(report)
    }
}
