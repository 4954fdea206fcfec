//! Checks a plan without looking at anything else.

use anyhow::{Context, bail};
use capeval_files::Home;
use capeval_site::prelude::*;
use capeval_tasks::{MetricSelection, UnsuitedMetrics};
use capeval_text::Tokenizer;

use super::MOST;
use crate::files::records as phase_files;
use crate::settings::{MOST_DECIMALS, PhasePlan, Plan, ReferencePlan};
use crate::when::When;
use crate::{about, admission, appearance, halves, pictures, programs, qualifying, workers};

/// Parts of addresses of benchmarks that no phase can have.
const TAKEN: [&str; 5] = ["appearance", "announcements", "pages", "questions", "rules"];

/// Replaces suites among the metrics of a phase by their metrics, so that it has the same ones wherever it is scored,
/// and refuses metrics that do not suit its references. Metrics that stay need no data on this machine.
pub(super) fn name_metrics(app: &App, known: Option<&Plan>, phase: &mut PhasePlan) -> anyhow::Result<()> {
    phase.references.iter().try_for_each(|set| check_language(phase, set))?;
    let known = known.and_then(|known| known.phase(&phase.slug));
    if phase.program.is_some() && known.is_none_or(|known| known.program.is_none()) {
        programs::require_allowed(app)?;
    }
    if known.is_none_or(|known| known.metrics != phase.metrics) {
        anyhow::ensure!(!phase.metrics.is_empty(), reason!("name at least one metric"));
        let home = app.data().map(Home::new);
        phase.metrics = capeval_tasks::each_metric(&phase.metrics, home.as_ref())?;
    }
    Ok(())
}

/// Refuses metrics that know only English for references in another language, and a language without spaces whose
/// words no tokenizer tells apart.
fn check_language(phase: &PhasePlan, set: &ReferencePlan) -> anyhow::Result<()> {
    match capeval_tasks::unsuited(&phase.metrics, &set.language, set.tokenizer.as_deref()) {
        None => Ok(()),
        Some(UnsuitedMetrics::EnglishOnly { metrics, others }) => {
            let remedy = if others.is_empty() { String::new() } else { format!(": metrics = {others:?}") };
            bail!(reason!(
                "the references {} are in the language {}, and {} can score only English: name other metrics{}",
                set.name,
                set.language,
                metrics.join(", "),
                remedy
            ))
        }
        Some(UnsuitedMetrics::NoSpaces { metrics, tokenizer }) => bail!(reason!(
            "the references {} are in the language {}, which is written without spaces, and have no tokenizer, so {} would read each sentence as one word: add tokenizer = \"{}\" to them",
            set.name,
            set.language,
            metrics.join(", "),
            tokenizer
        )),
    }
}

/// Refuses what cannot be a part of addresses.
pub(crate) fn check_slug(slug: &str) -> anyhow::Result<()> {
    if !clean_text::is_key(slug, 60) || TAKEN.contains(&slug) {
        bail!(reason!("`{}` is not a slug: use lowercase letters, digits and hyphens", slug));
    }
    Ok(())
}

/// A plan without faults, with its lists in the form in which they are stored.
pub(super) fn checked(plan: &Plan) -> anyhow::Result<Plan> {
    check_slug(&plan.slug)?;
    people::name(&plan.title)?;
    plan.phases.iter().try_for_each(check_phase)?;
    let allow = admission::lists::checked("allow", &plan.allow)?;
    let block = admission::lists::checked("block", &plan.block)?;
    Ok(Plan { allow, block, terms: plan.terms.trim().to_owned(), ..appearance::check(plan)? })
}

pub(super) fn check_phase(phase: &PhasePlan) -> anyhow::Result<()> {
    check_slug(&phase.slug)?;
    people::name(&phase.title)?;
    check_settings(phase).with_context(|| reason!("phase {}", phase.slug))?;
    for set in &phase.references {
        people::name(&set.name)?;
    }
    Ok(())
}

fn check_settings(phase: &PhasePlan) -> anyhow::Result<()> {
    if i64::from(phase.per_day.max(phase.in_total)) > MOST {
        bail!(reason!("per_day and in_total are at most {}", MOST));
    }
    if phase.decimals > MOST_DECIMALS as u32 {
        bail!(reason!("decimals are at most {}", MOST_DECIMALS));
    }
    if let (Some(When(opens)), Some(When(closes))) = (phase.opens, phase.closes)
        && closes <= opens
    {
        bail!(reason!("it closes before it opens"));
    }
    if phase.main_set().is_some_and(|main| phase.references.iter().all(|set| set.name != *main)) {
        bail!(reason!("main_set is not among its references"));
    }
    workers::checked(&phase.given)?;
    // The measures of a program are known once its file is stored.
    if phase.program.is_none() {
        check_measures(phase, &[])?;
    }
    if let Some(address) = &phase.pictures {
        pictures::checked(address)?;
    }
    about::check(&phase.columns)?;
    halves::check(phase)?;
    qualifying::check(phase)?;
    for file in phase.files.iter().flatten() {
        phase_files::check_title(&file.title)?;
    }
    for set in &phase.references {
        if let Some(tokenizer) = &set.tokenizer {
            tokenizer
                .parse::<Tokenizer>()
                .map_err(|_| anyhow::Error::msg(reason!("no tokenizer is called {}", tokenizer)))?;
        }
    }
    Ok(())
}

/// Checks that the metrics exist and have the measures that settings name; `of_program` are those of the program.
pub(super) fn check_measures(phase: &PhasePlan, of_program: &[String]) -> anyhow::Result<()> {
    let is_of_metric = |key: &str| {
        phase.columns.iter().all(|column| column.key != key)
            && phase.given.iter().all(|given| given.key != key)
    };
    let columns = phase.board_columns.iter().map(|key| ("board_columns", key.as_str()));
    let asked = std::iter::once(("main_metric", phase.main_metric.as_str())).chain(columns);
    let asked: Vec<_> = asked.filter(|(_, key)| is_of_metric(key)).collect();
    // A rule over measures that machines give is checked once the references are prepared.
    let rank_by = if phase.given.is_empty() { phase.rank_by() } else { "" };
    let selection = MetricSelection {
        names: &phase.metrics,
        derive: &phase.derive,
        rank_by,
        group_by: phase.group_by(),
        of_program,
        asked: &asked,
    };
    capeval_tasks::check_metrics(selection)
}
