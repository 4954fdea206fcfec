//! Reads bundles of CodaLab 1.5 and Codabench, whose description is `competition.yaml`.

use std::rc::Rc;

use super::draft::{Draft, board};
use super::measures::{GivenColumn, MEAN_RANK};
use super::yaml::Node;
use crate::settings::PhasePlan;

pub const NAMES: [&str; 2] = ["competition.yaml", "competition.yml"];

/// The submissions of a team on a day and in all, where a phase does not say.
const PER_DAY: u32 = 5;
const IN_TOTAL: u32 = 100;

/// Why fields have no counterpart.
const REASONS: &[(&str, &str)] = &[
    ("admin_names", "accounts of another site: name hosts by their email addresses"),
    ("allow_public_submissions", "captions of submissions are for their team and the hosts"),
    ("allow_teams", "everyone takes part as a team, of one or more"),
    ("auto_migrate_to_this_phase", "`from` and `carry` take over what stands for teams, and admit no others"),
    ("auto_migration", "`from` and `carry` take over what stands for teams, and admit no others"),
    ("color", "appearance"),
    ("competition_docker_image", "nothing that participants send is run"),
    ("disallow_leaderboard_modifying", "the best submission of a team stands, or the one that it chooses"),
    ("docker_image", "nothing that participants send is run"),
    ("enable_detailed_results", "see `per_image`: what teams see image by image"),
    ("enable_forum", "hosts publish announcements"),
    ("execution_time_limit", "nothing that participants send is run"),
    ("force_submission_to_leaderboard", "the best submission of a team stands, or the one that it chooses"),
    ("forum_enabled", "hosts publish announcements"),
    ("has_registration", "see `visibility`: who sees the benchmark"),
    ("ingestion_program", "nothing that participants send is run"),
    ("is_scoring_only", "submissions are results"),
    ("make_programs_available", "no program of the bundle is run"),
    ("queue", "jobs run on this site"),
    ("registration_auto_approve", "see `visibility`: who sees the benchmark"),
    ("show_datasets_from_yaml", "see `files` of a phase"),
    ("solutions", "not given out: add an example submission to `files`"),
    ("start_date", "phases have dates"),
    ("submission_rule", "the best submission of a team stands, or the one that it chooses"),
];

/// Reads a description.
pub fn read(draft: &mut Draft<'_>, root: &Node) -> anyhow::Result<&'static str> {
    let is_newer = root.text_of("version").is_some_and(|version| version.starts_with('2'))
        || root.get("tasks").is_some();
    draft.head(root, "description");
    pages(draft, root)?;
    draft.logo(root.get("image"))?;
    let boards = boards(draft, root);
    let given = if is_newer { newer_phases(root) } else { older_phases(root) };
    let mut described = Vec::new();
    for (place, node) in given.iter().enumerate() {
        let mut phase = phase(draft, root, node, given.get(place + 1).map(Rc::as_ref), is_newer)?;
        if let Some(text) = node.text_of("description") {
            described.push(format!(
                "- **{}**: {}",
                phase.title,
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            ));
        }
        let main = boards.main;
        draft.measure(&mut phase, &boards.columns, main)?;
        phase.decimals = boards.decimals.unwrap_or(phase.decimals);
        draft.plan.phases.push(phase);
    }
    draft.paragraph("Phases", &described.join("\n"));
    draft.name_rest(root, REASONS);
    Ok(if is_newer { "Codabench" } else { "CodaLab 1.5" })
}

/// Pages, terms, and what else is said to those who take part.
fn pages(draft: &mut Draft<'_>, root: &Node) -> anyhow::Result<()> {
    for page in root.list_of("pages") {
        if let Some(file) = page.get("file") {
            draft.page(page.text_of("title").unwrap_or("Page"), file)?;
        }
    }
    let mut terms = root.get("terms");
    if let Some(html) = root.get("html") {
        for (name, node) in html.read_fields() {
            match name.as_str() {
                "terms" => terms = Some(node),
                name => draft.page(&titled(name), node)?,
            }
        }
    }
    if let Some(terms) = terms {
        draft.terms(terms)?;
    }
    for (key, title) in [("reward", "Prizes"), ("contact_email", "Contact")] {
        if let Some(node) = root.get(key) {
            draft.paragraph(title, node.text().unwrap_or_default());
            draft.keep(node.line, format!("{key}, in the rules"));
        }
    }
    Ok(())
}

/// The title of a page from the name of its field.
fn titled(name: &str) -> String {
    let text = name.replace(['_', '-'], " ");
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn newer_phases(root: &Node) -> Vec<Rc<Node>> {
    let mut phases = root.list_of("phases").to_vec();
    phases.sort_by_key(|phase| phase.text_of("index").and_then(|index| index.parse::<u32>().ok()));
    phases
}

fn older_phases(root: &Node) -> Vec<Rc<Node>> {
    let Some(phases) = root.get("phases") else { return Vec::new() };
    let mut phases: Vec<Rc<Node>> = phases.read_fields().iter().map(|(_, phase)| Rc::clone(phase)).collect();
    let number =
        |phase: &Rc<Node>| phase.text_of("phasenumber").and_then(|number| number.parse::<u32>().ok());
    phases.sort_by_key(number);
    // In version 1.8, the first is the parent of those that run at once.
    if phases.iter().any(|phase| phase.is("is_parallel_parent") || phase.get("parent_phasenumber").is_some())
    {
        phases.remove(0);
    }
    phases
}

fn phase(
    draft: &mut Draft<'_>,
    root: &Node,
    node: &Node,
    next: Option<&Node>,
    is_newer: bool,
) -> anyhow::Result<PhasePlan> {
    let name = if is_newer { "name" } else { "label" };
    let title = draft.title(node.get(name), "Phase");
    let mut phase = draft.phase(title)?;
    let (start, end) = if is_newer { ("start", "end") } else { ("start_date", "end_date") };
    phase.opens = draft.date(node.get(start));
    // In the older form, a phase ends when the next begins.
    let end = match (is_newer, next) {
        (true, _) => node.get(end),
        (false, Some(next)) => next.get(start),
        (false, None) => root.get(end),
    };
    phase.closes = draft.date(end);
    phase.per_day = draft.limit(node.get("max_submissions_per_day"), PER_DAY);
    phase.in_total = draft.limit(node.get("max_submissions"), IN_TOTAL);
    let is_hidden = root.text_of("leaderboard_management_mode") == Some("hide_results")
        || root.list_of("leaderboards").first().is_some_and(|board| board.is("hidden"));
    phase.board = board(is_hidden, false);
    draft.keep(
        node.line,
        format!(
            "the phase {}: dates, {} submissions a day, {} in all",
            phase.slug, phase.per_day, phase.in_total
        ),
    );
    let is_open = root.is("make_input_data_available");
    if is_newer {
        node.pass(&["index"]);
        for wanted in node.list_of("tasks") {
            let index = |task: &&Rc<Node>| task.text_of("index") == wanted.text();
            if let Some(task) = root.list_of("tasks").iter().find(index) {
                let set = task.text_of("name").map_or_else(|| "references".to_owned(), str::to_owned);
                task_files(draft, &mut phase, (&set, task), is_open)?;
            }
        }
    } else {
        task_files(draft, &mut phase, ("references", node), is_open)?;
    }
    for (key, title) in [("starting_kit", "Starting kit"), ("public_data", "Public data")] {
        draft.file(&mut phase, title, node.get(key))?;
    }
    Ok(phase)
}

/// The references of a task, and what it has besides.
fn task_files(
    draft: &mut Draft<'_>,
    phase: &mut PhasePlan,
    (set, task): (&str, &Node),
    is_open: bool,
) -> anyhow::Result<()> {
    let set: String = set.chars().take(80).collect();
    if let Some(node) = task.get("reference_data") {
        draft.references(phase, &set, node)?;
    }
    if let Some(node) = task.get("scoring_program") {
        let name = node.text().unwrap_or_default();
        draft.lose(node.line, format!(
            "the scoring program {name} is not run: the measures that the board names stand for it in the phase {}", phase.slug
        ));
    }
    // What a program reads may be as hidden as the references.
    match task.get("input_data") {
        Some(node) if is_open => draft.file(phase, "Input data", Some(node)),
        Some(node) => {
            let name = node.text().unwrap_or_default();
            draft.lose(
                node.line,
                format!("the input data {name} are not given out: add what may be public to `files`"),
            );
            Ok(())
        }
        None => Ok(()),
    }
}

/// The columns of the first board.
struct Boards {
    columns: Vec<GivenColumn>,
    /// The place of the column that ranks.
    main: usize,
    decimals: Option<u32>,
}

fn boards(draft: &mut Draft<'_>, root: &Node) -> Boards {
    let mut all: Vec<(Option<u32>, &Node, String)> = Vec::new();
    let mut primary = None;
    match root.get("leaderboard").and_then(|board| board.get("columns")) {
        Some(columns) => {
            root.get("leaderboard").into_iter().for_each(|board| board.pass(&["leaderboards"]));
            for (name, column) in columns.read_fields() {
                all.push((number(column, "rank"), column, name.clone()));
            }
        }
        None => {
            let boards = root.list_of("leaderboards");
            if let Some(board) = boards.first() {
                board.pass(&["title", "key", "index"]);
                primary = number(board, "primary_index");
                for column in board.list_of("columns") {
                    let key = column.text_of("key").unwrap_or_default().to_owned();
                    all.push((number(column, "index"), column, key));
                }
            }
            for board in boards.iter().skip(1) {
                draft.lose(board.line, "a phase has one board; this is another one");
            }
        }
    }
    all.sort_by_key(|(rank, ..)| rank.unwrap_or(1));
    let main = all.iter().position(|(rank, column, _)| {
        primary.is_some() && *rank == primary || primary.is_none() && !column.is("hidden")
    });
    let main = main.unwrap_or(0);
    let decimals = all
        .get(main)
        .and_then(|(_, column, _)| number(column, "precision").or_else(|| number(column, "numeric_format")));
    let columns = all.iter().map(|(_, column, key)| given_column(column, key, &all)).collect();
    Boards { columns, main, decimals: decimals.map(|n| n.min(crate::settings::MOST_DECIMALS as u32)) }
}

fn given_column(node: &Node, key: &str, all: &[(Option<u32>, &Node, String)]) -> GivenColumn {
    let title = node.text_of("title").or_else(|| node.text_of("label")).unwrap_or(key).to_owned();
    let sorting = node.text_of("sorting").or_else(|| node.text_of("sort")).unwrap_or("desc");
    // In the older form, the board of a column is written out in it.
    node.pass(&["leaderboard", "hidden", "precision", "numeric_format"]);
    let place = |index: &Rc<Node>| {
        let index = index.text()?.parse().ok();
        all.iter().position(|(known, ..)| index.is_some() && *known == index)
    };
    let of =
        node.list_of("computation_indexes").iter().map(|index| place(index).unwrap_or(usize::MAX)).collect();
    let computed = node.text_of("computation").map(|function| (function.to_owned(), of));
    let computed = computed.or_else(|| mean_of_ranks(node.get("computed")?, all));
    GivenColumn {
        key: key.to_owned(),
        title,
        line: node.line,
        lower_is_better: sorting.starts_with("asc"),
        computed,
    }
}

/// A column of the older form that is the mean of the ranks by others.
fn mean_of_ranks(computed: &Node, all: &[(Option<u32>, &Node, String)]) -> Option<(String, Vec<usize>)> {
    let operation = computed.text_of("operation")?.to_ascii_lowercase();
    let fields = computed.text_of("fields")?.split(',').map(str::trim);
    let place = |field: &str| all.iter().position(|(.., key)| key == field).unwrap_or(usize::MAX);
    let operation = if operation == "avg" { MEAN_RANK.to_owned() } else { operation };
    Some((operation, fields.map(place).collect()))
}

fn number(node: &Node, key: &str) -> Option<u32> {
    node.text_of(key).and_then(|text| text.parse().ok())
}
