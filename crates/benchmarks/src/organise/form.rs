//! The form of a phase: its fields are named as those of [`PhasePlan`], and `references.0.name` is that of the first
//! reference set. Fields that are left empty have their defaults.

use std::collections::{BTreeMap, BTreeSet};

use capeval_site::fault;
use capeval_site::fault::Fault;
use capeval_site::web::encode;
use serde::de::DeserializeOwned;

use super::receive::Parcel;
use crate::settings::{BaselinePlan, PhasePlan, ReferencePlan};

/// Fields that list names, in any number of fields.
const LISTS: [&str; 2] = ["board_columns", "metrics"];

/// The field with a formula in each line.
const DERIVE: &str = "derive";

/// The field with the vectors of pictures.
const VECTORS: &str = "vectors";

/// The field with the ids of the images in the public half.
const PUBLIC_IDS: &str = "public_ids";

type Fields<'p> = Vec<(&'p str, &'p str)>;

/// The plan of a phase that a form describes; the phase is now `known`.
pub fn phase(parcel: &Parcel, known: Option<&PhasePlan>) -> Result<PhasePlan, Fault> {
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
    if plain.iter().all(|(name, _)| *name != "metrics") {
        return Err(fault!(UNPROCESSABLE_ENTITY, "metrics", "Choose at least one metric."));
    }
    let mut phase: PhasePlan = read(&plain)?;
    if let Some(known) = known {
        // Boxes have an order of their own, and metrics may be listed in another one.
        let sorted = |metrics: &[String]| metrics.iter().cloned().collect::<BTreeSet<_>>();
        if sorted(&known.metrics) == sorted(&phase.metrics) {
            phase.metrics.clone_from(&known.metrics);
        }
    }
    phase.given = known.map(|known| known.given.clone()).unwrap_or_default();
    phase.vectors = match parcel.has_file(VECTORS) {
        true => Some(VECTORS.to_owned().into()),
        false => {
            known.filter(|_| parcel.field("vectors.remove").is_none()).and_then(|known| known.vectors.clone())
        }
    };
    phase.public_ids = match parcel.has_file(PUBLIC_IDS) {
        true => Some(PUBLIC_IDS.to_owned().into()),
        false => known
            .filter(|_| parcel.field("public_ids.remove").is_none())
            .and_then(|known| known.public_ids.clone()),
    };
    for (place, mut fields) in rows(parcel, "references") {
        let was = take(&mut fields, "was");
        let was = known.and_then(|known| known.references.iter().find(|set| Some(set.name.as_str()) == was));
        let (file, images) = (format!("references.{place}.file"), format!("references.{place}.images"));
        fields.push(("file", &file));
        let mut set: ReferencePlan = read(&fields)?;
        if let Some(was) = was.filter(|_| !parcel.has_file(&file)) {
            set.file = was.file.clone();
        }
        set.images = match parcel.has_file(&images) {
            true => Some(images.into()),
            false => was.and_then(|was| was.images.clone()),
        };
        phase.references.push(set);
    }
    for mut fields in rows(parcel, "columns").into_values() {
        // One choice in a line.
        let choices = take(&mut fields, "choices").unwrap_or("");
        fields.extend(
            choices.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| ("choices", line)),
        );
        phase.columns.push(read(&fields)?);
    }
    for (place, mut fields) in rows(parcel, "baselines") {
        let was = take(&mut fields, "was");
        let was = known.and_then(|known| known.baselines.iter().find(|one| Some(one.method.as_str()) == was));
        let file = format!("baselines.{place}.file");
        fields.push(("file", &file));
        let mut baseline: BaselinePlan = read(&fields)?;
        if let Some(was) = was.filter(|_| !parcel.has_file(&file)) {
            baseline.file = was.file.clone();
        }
        phase.baselines.push(baseline);
    }
    Ok(phase)
}

/// As [`phase`], of fields alone, for fuzz targets.
#[cfg(fuzzing)]
pub fn of_fields(fields: Vec<(String, String)>, known: Option<&PhasePlan>) -> Option<PhasePlan> {
    phase(&Parcel { fields, ..Parcel::default() }, known).ok()
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

fn read<T: DeserializeOwned>(fields: &Fields<'_>) -> Result<T, Fault> {
    let pairs = fields.iter().map(|(name, text)| format!("{}={}", encode(name), encode(text)));
    let form = pairs.collect::<Vec<_>>().join("&");
    serde_html_form::from_str(&form).map_err(|error| Fault::malformed(&error))
}
