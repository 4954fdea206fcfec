//! Reads challenges of EvalAI, whose description is `challenge_config.yaml`.

use std::collections::HashSet;
use std::rc::Rc;

use capeval_api::ColumnKind;
use capeval_site::clean_text;

use super::draft::{Draft, board};
use super::measures::GivenColumn;
use super::yaml::Node;
use crate::about::{Column, check};
use crate::settings::{MOST_DECIMALS, PhasePlan};

pub const NAMES: [&str; 2] = ["challenge_config.yaml", "challenge_config.yml"];

/// The submissions of a team where a phase does not say.
const SUBMISSIONS: u32 = 100_000;

/// The most characters of a column's label.
const LABEL: usize = 40;

/// Why fields have no counterpart.
const REASONS: &[(&str, &str)] = &[
    ("allowed_submission_file_types", "every format that capeval reads is accepted"),
    ("is_docker_based", "nothing that participants send is run"),
    ("is_partial_submission_evaluation_enabled", "results describe all images of a phase"),
    ("is_public", "a benchmark is seen with all its phases"),
    (
        "is_restricted_to_select_one_submission",
        "the best submission of a team stands, or the one that it chooses",
    ),
    ("is_static_dataset_code_upload", "nothing that participants send is run"),
    ("is_submission_public", "captions of submissions are for their team and the hosts"),
    ("max_concurrent_submissions_allowed", "submissions are scored in the order in which they came"),
    ("max_submissions_per_month", "limits are per day and in total"),
    ("published", "the import is a draft: publish it when it is complete"),
    ("remote_evaluation", "jobs run on this site"),
    ("tags", "benchmarks have no tags"),
];

/// The pages of a challenge.
const PAGES: [(&str, &str); 4] = [
    ("description", "Overview"),
    ("evaluation_details", "Evaluation"),
    ("evaluation_criteria", "Evaluation"),
    ("submission_guidelines", "Submission"),
];

/// Reads a description.
pub fn read(draft: &mut Draft<'_>, root: &Node) -> anyhow::Result<&'static str> {
    draft.head(root, "short_description");
    for (key, title) in PAGES {
        if let Some(node) = root.get(key) {
            draft.page(title, node)?;
        }
    }
    if let Some(node) = root.get("leaderboard_description") {
        draft.paragraph("Leaderboard", node.text().unwrap_or_default());
        draft.keep(node.line, "leaderboard_description, in the rules");
    }
    for phase in root.list_of("challenge_phases") {
        if let Some(node) = phase.get("description") {
            let title = phase.text_of("name").unwrap_or("Phase").to_owned();
            draft.page(&title, node)?;
        }
    }
    if let Some(node) = root.get("terms_and_conditions") {
        draft.terms(node)?;
    }
    draft.logo(root.get("image"))?;
    if let Some(node) = root.get("evaluation_script") {
        let name = node.text().unwrap_or_default();
        draft.lose(node.line, format!("{name} is not run: the measures that the board names stand for it"));
    }
    for phase in root.list_of("challenge_phases") {
        let phase = self::phase(draft, root, phase)?;
        draft.plan.phases.push(phase);
    }
    root.pass(&["dataset_splits"]);
    draft.name_rest(root, REASONS);
    Ok("EvalAI")
}

fn phase(draft: &mut Draft<'_>, root: &Node, node: &Node) -> anyhow::Result<PhasePlan> {
    let title = draft.title(node.get("name"), "Phase");
    let mut phase = draft.phase(title)?;
    node.pass(&["challenge", "codename", "is_active"]);
    phase.opens = draft.date(node.get("start_date").or_else(|| root.get("start_date")));
    phase.closes = draft.date(node.get("end_date").or_else(|| root.get("end_date")));
    phase.per_day = draft.limit(node.get("max_submissions_per_day"), SUBMISSIONS);
    phase.in_total = draft.limit(node.get("max_submissions"), SUBMISSIONS);
    draft.keep(
        node.line,
        format!(
            "the phase {}: dates, {} submissions a day, {} in all",
            phase.slug, phase.per_day, phase.in_total
        ),
    );
    if let Some(file) = node.get("test_annotation_file") {
        draft.references(&mut phase, "references", file)?;
    }
    let id = node.text_of("id");
    let splits = root.list_of("challenge_phase_splits");
    let own: Vec<&Rc<Node>> =
        splits.iter().filter(|split| split.text_of("challenge_phase_id") == id).collect();
    let visibility =
        |split: &&Rc<Node>| split.text_of("visibility").and_then(|text| text.parse().ok()).unwrap_or(3);
    let most_visible = own.iter().map(visibility).max().unwrap_or(3_u32);
    let is_hidden = !node.is("leaderboard_public") && most_visible != 2;
    phase.board = board(is_hidden || most_visible == 1, most_visible == 2);
    let split = own.iter().max_by_key(|split| visibility(split));
    for other in own.iter().filter(|other| split.is_some_and(|split| !Rc::ptr_eq(split, other))) {
        other.pass(&[
            "leaderboard_id",
            "dataset_split_id",
            "leaderboard_decimal_precision",
            "is_leaderboard_order_descending",
        ]);
        let text = format!(
            "the phase {} has several splits of its data: see `group_by`, or make a phase of each",
            phase.slug
        );
        draft.lose(other.line, text);
    }
    split.iter().for_each(|split| split.pass(&["dataset_split_id"]));
    if let Some(decimals) =
        split.and_then(|split| split.text_of("leaderboard_decimal_precision")?.parse().ok())
    {
        phase.decimals = u32::min(decimals, MOST_DECIMALS as u32);
    }
    let board = split.and_then(|split| split.text_of("leaderboard_id"));
    let all = root.list_of("leaderboard");
    let board = all.iter().find(|known| known.text_of("id") == board).or(all.first());
    let is_ascending = split.is_some_and(|split| {
        split.get("is_leaderboard_order_descending").is_some() && !split.is("is_leaderboard_order_descending")
    });
    let (columns, main) = board.map_or_else(Default::default, |board| columns(board, is_ascending));
    draft.measure(&mut phase, &columns, main)?;
    questions(draft, &mut phase, node);
    Ok(phase)
}

/// The columns of a board, and the place of that which ranks.
fn columns(board: &Node, is_ascending: bool) -> (Vec<GivenColumn>, usize) {
    let Some(schema) = board.get("schema") else { return Default::default() };
    let metadata = schema.get("metadata");
    let main = schema.text_of("default_order_by");
    let labels = schema.list_of("labels").iter().filter_map(|label| Some((label.text()?, label.line)));
    let columns: Vec<GivenColumn> = labels
        .map(|(title, line)| {
            let about = metadata.and_then(|metadata| metadata.get(title));
            about.iter().for_each(|about| about.pass(&["description"]));
            let told =
                about.and_then(|about| about.get("sort_ascending").map(|_| about.is("sort_ascending")));
            let lower_is_better = told.unwrap_or(is_ascending && main == Some(title));
            GivenColumn {
                key: title.to_owned(),
                title: title.to_owned(),
                line,
                lower_is_better,
                computed: None,
            }
        })
        .collect();
    let main = columns.iter().position(|column| Some(column.title.as_str()) == main).unwrap_or(0);
    (columns, main)
}

/// What teams are asked about their methods.
fn questions(draft: &mut Draft<'_>, phase: &mut PhasePlan, node: &Node) {
    for asked in node.list_of("submission_meta_attributes") {
        let name = clean_text::line(asked.text_of("name").unwrap_or_default());
        let label: String = name.chars().take(LABEL).collect();
        asked.pass(&["description"]);
        let choices: Vec<String> = asked
            .list_of("options")
            .iter()
            .filter_map(|choice| Some(clean_text::line(choice.text()?)))
            .collect();
        let kind = match asked.text_of("type") {
            Some("boolean") => ColumnKind::YesNo,
            Some("radio") => ColumnKind::Choice,
            _ => ColumnKind::Text,
        };
        if asked.text_of("type") == Some("checkbox") {
            draft.doubt(asked.line, format!("{label} allowed several choices; it is a text in the draft"));
        }
        let key =
            label.to_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).collect::<Vec<_>>().join("-");
        let choices = if kind == ColumnKind::Choice { choices } else { Vec::new() };
        let required = asked.is("required");
        let column = Column { key, label: label.clone(), kind, unit: String::new(), choices, required };
        let all: Vec<Column> = phase.columns.iter().cloned().chain([column]).collect();
        match check(&all) {
            Ok(()) => phase.columns = all,
            Err(error) => draft.lose(asked.line, format!("the question {label}: {error}")),
        }
    }
    let names: HashSet<&str> = node
        .list_of("default_submission_meta_attributes")
        .iter()
        .filter_map(|attribute| attribute.get("is_visible").and(attribute.text_of("name")))
        .collect();
    if !phase.columns.is_empty() {
        draft.keep(
            node.line,
            format!("questions about methods in the phase {}: {}", phase.slug, phase.columns.len()),
        );
    }
    if !names.is_empty() {
        draft.keep(node.line, "name, description and links of methods, which every submission has");
    }
}
