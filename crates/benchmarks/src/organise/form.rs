//! The form of a phase: its fields have the names of those of [`PhasePlan`], and `references.0.name` is that of the
//! first reference set. Empty fields get their defaults.

use std::collections::{BTreeMap, BTreeSet};

use capeval_site::prelude::*;
use serde::de::DeserializeOwned;

use super::receive::Parcel;
use crate::about::Column;
use crate::settings::{BaselinePlan, PhasePlan, ReferencePlan};
use crate::source::Source;
use crate::workers::GivenMeasure;

/// Fields that list names, in any number of fields.
const LISTS: [&str; 2] = ["board_columns", "metrics"];

/// The field with a formula in each line.
const DERIVE: &str = "derive";

type Fields<'p> = Vec<(&'p str, &'p str)>;

/// The plan of a phase that a form describes, and the first fault in the form, whose field has its default in the plan;
/// the phase is now `known`.
pub fn phase(parcel: &Parcel, known: Option<&PhasePlan>) -> (PhasePlan, Option<Fault>) {
    let mut fault = None;
    let mut plain = Fields::new();
    for (name, text) in &parcel.fields {
        if name.contains('.') || text.trim().is_empty() {
            continue;
        }
        let each: Vec<&str> = match name.as_str() {
            DERIVE => text.lines().collect(),
            name if LISTS.contains(&name) => text.split([' ', ',']).collect(),
            _ => vec![text],
        };
        plain.extend(each.into_iter().filter(|one| !one.trim().is_empty()).map(|one| (name.as_str(), one)));
    }
    if let Some(known) = known {
        plain.retain(|(name, _)| *name != "slug");
        plain.push(("slug", &known.slug));
    }
    let mut phase: PhasePlan =
        read(plain, &["slug", "title"], &mut fault).unwrap_or_else(|| PhasePlan::new("", ""));
    if let Some(known) = known {
        // Boxes have an order of their own, and metrics may be listed in another one.
        let sorted = |metrics: &[String]| metrics.iter().cloned().collect::<BTreeSet<_>>();
        if sorted(&known.metrics) == sorted(&phase.metrics) {
            phase.metrics.clone_from(&known.metrics);
        }
    }
    if phase.metrics.is_empty()
        || parcel.fields.iter().all(|(name, text)| name != "metrics" || text.trim().is_empty())
    {
        phase.metrics.clear();
        fault.get_or_insert_with(|| fault!(UNPROCESSABLE_ENTITY, "metrics", "Choose at least one metric."));
    }
    let optional = |name: &str, of: fn(&PhasePlan) -> &Option<Source>| {
        let is_new = parcel.has_file(name);
        let named =
            if is_new { Some(name.to_owned().into()) } else { known.and_then(|known| of(known).clone()) };
        named.filter(|_| parcel.field(&format!("{name}.remove")).is_none())
    };
    phase.vectors = optional("vectors", |phase| &phase.vectors);
    phase.program = optional("program", |phase| &phase.program);
    phase.public_ids = optional("public_ids", |phase| &phase.public_ids);
    for fields in rows(parcel, "given").into_values() {
        phase.given.extend(read::<GivenMeasure>(fields, &["key", "label"], &mut fault));
    }
    phase.references = references(parcel, known.map_or(&[], |known| &known.references), &mut fault);
    for mut fields in rows(parcel, "columns").into_values() {
        // One choice in a line.
        let choices = take(&mut fields, "choices").unwrap_or("");
        fields.extend(
            choices.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| ("choices", line)),
        );
        phase.columns.extend(read::<Column>(fields, &["key", "label"], &mut fault));
    }
    phase.baselines = baselines(parcel, known.map_or(&[], |known| &known.baselines), &mut fault);
    (phase, fault)
}

/// Sets of references, with the files of those that were known unless others come with the form.
fn references(parcel: &Parcel, known: &[ReferencePlan], fault: &mut Option<Fault>) -> Vec<ReferencePlan> {
    let mut sets = Vec::new();
    for (place, mut fields) in rows(parcel, "references") {
        let was = take(&mut fields, "was");
        let was = known.iter().find(|set| Some(set.name.as_str()) == was);
        let (file, images) = (format!("references.{place}.file"), format!("references.{place}.images"));
        fields.push(("file", &file));
        let Some(mut set) = read::<ReferencePlan>(fields, &["name"], fault) else { continue };
        if let Some(was) = was.filter(|_| !parcel.has_file(&file)) {
            set.file = was.file.clone();
        }
        set.images = match parcel.has_file(&images) {
            true => Some(images.into()),
            false => was.and_then(|was| was.images.clone()),
        };
        sets.push(set);
    }
    sets
}

/// Baselines, as [`references`].
fn baselines(parcel: &Parcel, known: &[BaselinePlan], fault: &mut Option<Fault>) -> Vec<BaselinePlan> {
    let mut baselines = Vec::new();
    for (place, mut fields) in rows(parcel, "baselines") {
        let was = take(&mut fields, "was");
        let was = known.iter().find(|baseline| Some(baseline.method.as_str()) == was);
        let file = format!("baselines.{place}.file");
        fields.push(("file", &file));
        let Some(mut baseline) = read::<BaselinePlan>(fields, &["method"], fault) else { continue };
        if let Some(was) = was.filter(|_| !parcel.has_file(&file)) {
            baseline.file = was.file.clone();
        }
        baselines.push(baseline);
    }
    baselines
}

/// As [`phase`], of fields alone, for fuzz targets.
#[cfg(fuzzing)]
pub fn of_fields(fields: Vec<(String, String)>, known: Option<&PhasePlan>) -> PhasePlan {
    phase(&Parcel::of_fields(fields), known).0
}

fn take<'p>(fields: &mut Fields<'p>, name: &str) -> Option<&'p str> {
    let place = fields.iter().position(|(known, _)| *known == name)?;
    Some(fields.remove(place).1)
}

/// The rows of a list in which something was filled in and that are not to be removed, by their numbers.
fn rows<'p>(parcel: &'p Parcel, list: &str) -> BTreeMap<usize, Fields<'p>> {
    let mut rows: BTreeMap<usize, Fields<'p>> = BTreeMap::new();
    for (name, text) in &parcel.fields {
        let Some((place, field)) =
            name.strip_prefix(list).and_then(|rest| rest.strip_prefix('.')?.split_once('.'))
        else {
            continue;
        };
        let Ok(place) = place.parse() else { continue };
        rows.entry(place)
            .or_default()
            .extend(Some((field, text.trim())).filter(|(_, text)| !text.is_empty()));
    }
    let is_named =
        |fields: &Fields<'_>| fields.iter().any(|(name, _)| matches!(*name, "key" | "method" | "name"));
    rows.retain(|place, fields| {
        let has_file = parcel.has_file(&format!("{list}.{place}.file"));
        (is_named(fields) || has_file) && !fields.iter().any(|(name, _)| *name == "remove")
    });
    rows
}

/// Reads fields. If that fails, the reason is the fault, and what can be read is: those that `required` names may be
/// empty, and others are left out.
fn read<T: DeserializeOwned>(
    fields: Fields<'_>,
    required: &[&'static str],
    fault: &mut Option<Fault>,
) -> Option<T> {
    let error = match parse(&fields) {
        Ok(read) => return Some(read),
        Err(error) => error,
    };
    fault.get_or_insert_with(|| Fault::malformed(&error));
    let (mut readable, others): (Fields<'_>, Fields<'_>) =
        fields.into_iter().partition(|(name, _)| required.contains(name));
    let is_missing = |name: &&str| readable.iter().all(|(known, _)| known != name);
    let missing: Fields<'_> = required.iter().copied().filter(is_missing).map(|name| (name, "")).collect();
    readable.extend(missing);
    for field in others {
        readable.push(field);
        if parse::<T>(&readable).is_err() {
            readable.pop();
        }
    }
    parse(&readable).ok()
}

fn parse<T: DeserializeOwned>(fields: &Fields<'_>) -> Result<T, serde_html_form::de::Error> {
    let pairs = fields.iter().map(|(name, text)| format!("{}={}", encode(name), encode(text)));
    serde_html_form::from_str(&pairs.collect::<Vec<_>>().join("&"))
}
