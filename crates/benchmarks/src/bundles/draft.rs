//! A draft of a benchmark while it is built: the plan, its files in a folder, and the report about it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use capeval_api::BoardKind;
use capeval_site::clean_text;
use capeval_tasks::MetricSelection;
use tempfile::TempDir;

use super::archive::{Bundle, Member};
use super::dates;
use super::html::as_markdown;
use super::measures::{self, GivenColumn};
use super::yaml::Node;
use crate::apply::MOST;
use crate::plan;
use crate::settings::{FilePlan, PhasePlan, Plan, ReferencePlan};
use crate::source::Source;
use crate::when::When;

/// The most characters of a title, and of a slug.
const TITLE: usize = 80;
const SLUG: usize = 60;

/// The most phases of a draft, each of which has measures of its own.
const MOST_PHASES: usize = 100;

/// The ends of the names of files that may hold references.
const DATA: [&str; 8] = [".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".gz", ".xz"];

/// The metrics of a phase whose columns name none: they need no data.
const PLAIN: [&str; 3] = ["bleu", "rouge-l", "cider-d"];

/// A thing to say about an import, with the line of the description that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub line: Option<usize>,
    pub text: String,
}

/// What an import did, for the person who asked for it.
#[derive(Debug, Default)]
pub struct Remarks {
    /// What came over.
    pub kept: Vec<Remark>,
    /// What has no counterpart.
    pub lost: Vec<Remark>,
    /// What should be looked at.
    pub doubts: Vec<Remark>,
}

/// A draft.
pub struct Draft<'b> {
    pub bundle: &'b Bundle,
    pub plan: Plan,
    pub remarks: Remarks,
    folder: TempDir,
    /// The most bytes to which an archive may unpack.
    most: u64,
}

impl<'b> Draft<'b> {
    /// Begins a draft, whose files are collected beside the folder `out`.
    pub fn begin(bundle: &'b Bundle, out: &Path, hosts: &[String], most: u64) -> anyhow::Result<Self> {
        let parent = out.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let folder =
            TempDir::new_in(parent).with_context(|| format!("{} cannot be written", parent.display()))?;
        let mut plan = Plan::draft(String::new());
        plan.hosts = hosts.to_vec();
        Ok(Self { bundle, plan, remarks: Remarks::default(), folder, most })
    }

    /// Says that something came over.
    pub fn keep(&mut self, line: usize, text: impl Into<String>) {
        self.remarks.kept.push(Remark { line: Some(line), text: text.into() });
    }

    /// Says that something has no counterpart.
    pub fn lose(&mut self, line: usize, text: impl Into<String>) {
        self.remarks.lost.push(Remark { line: Some(line), text: text.into() });
    }

    /// Says that something should be looked at.
    pub fn doubt(&mut self, line: usize, text: impl Into<String>) {
        self.remarks.doubts.push(Remark { line: Some(line), text: text.into() });
    }

    /// A title that fits.
    pub fn title(&mut self, node: Option<&Node>, otherwise: &str) -> String {
        let given = node.and_then(Node::text).map(clean_text::line).filter(|text| !text.is_empty());
        let given = given.unwrap_or_else(|| otherwise.to_owned());
        let title: String = given.chars().take(TITLE).collect();
        if let Some(node) = node.filter(|_| title != given) {
            self.doubt(node.line, format!("the title was cut after {TITLE} characters"));
        }
        title.trim().to_owned()
    }

    /// Reads the title of the benchmark, and its summary from the field `summary`.
    pub fn head(&mut self, root: &Node, summary: &str) {
        self.plan.title = self.title(root.get("title"), "Benchmark");
        if let Some(node) = root.get("title") {
            self.keep(node.line, "title");
        }
        if let Some(node) = root.get(summary) {
            let words = node.text().unwrap_or_default().split_whitespace();
            self.plan.summary = words.collect::<Vec<_>>().join(" ");
            self.keep(node.line, format!("{summary}, as the summary"));
        }
    }

    /// Adds a page to the rules, under a heading.
    pub fn page(&mut self, title: &str, node: &Node) -> anyhow::Result<()> {
        if let Some((name, text)) = self.markdown(node)? {
            self.paragraph(title, &text);
            self.keep(node.line, format!("the page {name}, in the rules as “{title}”"));
        }
        Ok(())
    }

    /// Makes a page the terms that people accept.
    pub fn terms(&mut self, node: &Node) -> anyhow::Result<()> {
        if let Some((name, text)) = self.markdown(node)? {
            self.plan.terms = text;
            self.keep(node.line, format!("the page {name}, as terms that people accept"));
        }
        Ok(())
    }

    /// The name of a page and its text in Markdown; `None` if there is none.
    fn markdown<'n>(&mut self, node: &'n Node) -> anyhow::Result<Option<(&'n str, String)>> {
        let Some(name) = node.text() else { return Ok(None) };
        let Some(Member::File(path)) = self.bundle.find(name) else {
            self.lose(node.line, format!("the page {name} is not in the bundle"));
            return Ok(None);
        };
        let text = self.bundle.text(&path)?;
        let lower = path.to_ascii_lowercase();
        let is_html = lower.ends_with(".html") || lower.ends_with(".htm");
        let text = if is_html { as_markdown(&text) } else { text.replace("\r\n", "\n").trim().to_owned() };
        Ok(Some((name, text)))
    }

    /// Adds a paragraph to the rules, under a heading.
    pub fn paragraph(&mut self, title: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let rules = &mut self.plan.rules;
        let space = if rules.is_empty() { "" } else { "\n\n" };
        let _ = write!(rules, "{space}## {title}\n\n{text}");
    }

    /// A date, in UTC.
    pub fn date(&mut self, node: Option<&Node>) -> Option<When> {
        let node = node?;
        match node.text().and_then(dates::read) {
            Some((time, false)) => Some(When(time)),
            Some((time, true)) => {
                self.doubt(node.line, format!("the date was read as {}", When(time)));
                Some(When(time))
            }
            None => {
                self.doubt(node.line, format!("`{}` is no date", node.text().unwrap_or_default()));
                None
            }
        }
    }

    /// A number of submissions.
    pub fn limit(&mut self, node: Option<&Node>, otherwise: u32) -> u32 {
        let Some(node) = node else { return otherwise };
        match node.text().and_then(|text| text.parse::<u64>().ok()) {
            Some(n) if n > 0 => n.min(MOST as u64) as u32,
            _ => {
                let text = node.text().unwrap_or_default();
                self.doubt(node.line, format!("`{text}` is no limit of submissions: {otherwise} was set"));
                otherwise
            }
        }
    }

    /// A phase, whose slug no other has.
    ///
    /// # Errors
    /// If there are too many.
    pub fn phase(&mut self, title: String) -> anyhow::Result<PhasePlan> {
        ensure!(self.plan.phases.len() < MOST_PHASES, "there are more than {MOST_PHASES} phases");
        let base = slug(&title).unwrap_or_else(|| "phase".to_owned());
        let is_taken = |slug: &str| self.plan.phases.iter().any(|phase| phase.slug == slug);
        let numbered = (2..).map(|n| format!("{}-{n}", &base[..base.len().min(SLUG - 6)]));
        let slug = std::iter::once(base.clone()).chain(numbered).find(|slug| !is_taken(slug));
        Ok(PhasePlan::new(&slug.unwrap_or(base), &title))
    }

    /// Adds a set of references to a phase, if it is clear which file has them.
    pub fn references(&mut self, phase: &mut PhasePlan, name: &str, node: &Node) -> anyhow::Result<()> {
        let Some(given) = node.text() else { return Ok(()) };
        let file = match self.bundle.find(given) {
            None => {
                self.lose(node.line, format!("the references {given} are not in the bundle"));
                return Ok(());
            }
            Some(Member::File(path)) if path.to_ascii_lowercase().ends_with(".zip") => {
                let packed = self.new_file("packed.zip")?;
                self.bundle.copy(&path, &mut File::create(&packed)?)?;
                let inner = Bundle::open(&packed, self.most).with_context(|| path.clone());
                let file = inner.and_then(|inner| self.reference_file(&inner, "", &phase.slug, node));
                fs::remove_file(&packed)?;
                match file {
                    Ok(file) => file,
                    Err(error) => {
                        self.doubt(node.line, format!("the references cannot be read: {error:#}"));
                        None
                    }
                }
            }
            Some(Member::File(path)) => Some(self.copy(self.bundle, &path, &phase.slug)?),
            Some(Member::Folder(folder)) => self.reference_file(self.bundle, &folder, &phase.slug, node)?,
        };
        let Some(file) = file else { return Ok(()) };
        let same = phase.references.iter().filter(|set| set.name.starts_with(name)).count();
        let name = if same == 0 { name.to_owned() } else { format!("{name}-{}", same + 1) };
        self.keep(node.line, format!("references of the phase {}: {given}, as {file}", phase.slug));
        phase.references.push(ReferencePlan {
            name,
            file: Source::Named(file),
            language: "en".to_owned(),
            tokenizer: None,
            images: None,
        });
        Ok(())
    }

    /// Copies the file of a folder that has references; `None` if it is not clear which one does.
    fn reference_file(
        &mut self,
        bundle: &Bundle,
        folder: &str,
        phase: &str,
        node: &Node,
    ) -> anyhow::Result<Option<String>> {
        let all = bundle.list(folder);
        let is_data = |path: &&String| DATA.iter().any(|end| path.to_ascii_lowercase().ends_with(end));
        let data: Vec<&String> = all.iter().filter(is_data).collect();
        let path = match (&all[..], &data[..]) {
            ([only], _) => only,
            (_, [only]) => *only,
            _ => {
                let listed = all.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if all.len() > 5 { " and more" } else { "" };
                self.doubt(node.line, format!(
                    "it is not clear which file has the references of the phase {phase}: {listed}{more} (add one to the plan)"
                ));
                return Ok(None);
            }
        };
        self.copy(bundle, path, phase).map(Some)
    }

    /// Copies a file of a bundle into the folder, and returns its name there.
    pub fn copy(&mut self, bundle: &Bundle, path: &str, owner: &str) -> anyhow::Result<String> {
        let own = path.rsplit('/').next().unwrap_or(path);
        let target = self.new_file(&format!("{owner}-{own}"))?;
        bundle.copy(path, &mut File::create(&target)?)?;
        name_of(&target)
    }

    /// Copies a file, or packs a folder, for those who take part.
    pub fn copy_for_all(&mut self, member: &Member, owner: &str) -> anyhow::Result<String> {
        match member {
            Member::File(path) => self.copy(self.bundle, path, owner),
            Member::Folder(folder) => {
                let own = folder.trim_end_matches('/').rsplit('/').next().unwrap_or("files");
                let target = self.new_file(&format!("{owner}-{own}.zip"))?;
                self.bundle.pack(folder, File::create(&target)?)?;
                name_of(&target)
            }
        }
    }

    /// Takes the logo, if it is a picture that the site shows.
    pub fn logo(&mut self, node: Option<&Node>) -> anyhow::Result<()> {
        let Some((node, name)) = node.and_then(|node| Some((node, node.text()?))) else { return Ok(()) };
        let text = match self.bundle.find(name) {
            Some(Member::File(path)) => {
                let file = self.copy(self.bundle, &path, "logo")?;
                let mut head = Vec::new();
                File::open(self.folder.path().join(&file))?.take(16).read_to_end(&mut head)?;
                if capeval_tasks::has_known_format(&head) {
                    self.keep(node.line, format!("the logo {name}, as {file}"));
                    self.plan.logo = Some(Source::Named(file));
                    return Ok(());
                }
                format!("the logo is no JPEG, PNG or WebP picture; it is {file}")
            }
            _ => format!("the logo {name} is not in the bundle"),
        };
        self.lose(node.line, text);
        Ok(())
    }

    /// Keeps a file of a phase for those who take part.
    pub fn file(&mut self, phase: &mut PhasePlan, title: &str, node: Option<&Node>) -> anyhow::Result<()> {
        let Some((node, name)) = node.and_then(|node| Some((node, node.text()?))) else { return Ok(()) };
        match self.bundle.find(name) {
            Some(member) => {
                let file = self.copy_for_all(&member, &phase.slug)?;
                self.keep(node.line, format!("{title} of the phase {}: {name}, as {file}", phase.slug));
                let file = FilePlan { title: title.to_owned(), file: Source::Named(file) };
                phase.files.get_or_insert_default().push(file);
            }
            None => self.lose(node.line, format!("{name} is not in the bundle")),
        }
        Ok(())
    }

    /// A path in the folder that no file has.
    fn new_file(&self, name: &str) -> anyhow::Result<PathBuf> {
        let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
        let name = name.replace(|c| !is_safe(c), "-");
        let name = name.trim_start_matches(['.', ' ', '-']);
        ensure!(!name.is_empty(), "a file has no name");
        let numbered = (2..10_000).map(|n| format!("{n}-{name}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).map(|name| self.folder.path().join(name));
        let is_free = |path: &PathBuf| !path.exists() && !path.ends_with(plan::FILE);
        free.into_iter().find(is_free).context("too many files have one name")
    }

    /// Gives a phase the metrics that its columns name; the measure of the column `main` ranks.
    pub fn measure(
        &mut self,
        phase: &mut PhasePlan,
        columns: &[GivenColumn],
        main: usize,
    ) -> anyhow::Result<()> {
        let found = measures::find(columns)?;
        for (line, text) in found.notes {
            let remark = Remark { line: Some(line), text };
            if !self.remarks.doubts.contains(&remark) {
                self.remarks.doubts.push(remark);
            }
        }
        let keys: Vec<String> = found.keys.iter().flatten().cloned().collect();
        if let Some((_, rule)) = found.rank_by.filter(|(place, _)| *place == main) {
            phase.metrics = found.metrics;
            phase.derive = found.derive;
            phase.main_metric = keys[0].clone();
            phase.board_columns = keys;
            self.keep(columns[main].line, format!("the board of the phase {}, ranked by {rule}", phase.slug));
            phase.rank_by = Some(rule);
            return self.check(phase);
        }
        let named = found.keys.get(main).cloned().flatten();
        if let Some(key) = named.clone().or_else(|| keys.first().cloned()) {
            phase.metrics = found.metrics;
            phase.derive = found.derive;
            phase.board_columns = keys;
            phase.main_metric = key;
        } else {
            phase.metrics = PLAIN.map(str::to_owned).into();
        }
        if named.is_none() {
            let ranked = columns.get(main).map_or("no column", |column| &column.title);
            let line = columns.get(main).map_or(1, |column| column.line);
            let text = format!(
                "the board was ranked by {ranked}; the draft ranks the phase {} by {}",
                phase.slug, phase.main_metric
            );
            self.doubt(line, text);
        } else if let Some(column) = columns.get(main) {
            self.keep(
                column.line,
                format!(
                    "the board of the phase {}: {}, ranked by {}",
                    phase.slug,
                    phase.board_columns.join(", "),
                    phase.main_metric
                ),
            );
        }
        self.check(phase)
    }

    /// Checks the measures of a phase.
    fn check(&self, phase: &PhasePlan) -> anyhow::Result<()> {
        let selection = MetricSelection {
            names: &phase.metrics,
            derive: &phase.derive,
            rank_by: phase.rank_by(),
            asked: &[("main_metric", phase.main_metric.as_str())],
            ..MetricSelection::default()
        };
        capeval_tasks::check_metrics(selection)
            .with_context(|| format!("the measures of the phase {}", phase.slug))
    }

    /// Names what was not read, with a reason for each that is known.
    pub fn name_rest(&mut self, root: &Node, reasons: &[(&str, &str)]) {
        for (path, line) in root.unread() {
            let own = path.rsplit('.').next().unwrap_or(&path);
            let reason = reasons.iter().find(|(key, _)| *key == own).map(|(_, reason)| format!(": {reason}"));
            self.lose(line, format!("`{path}`{}", reason.unwrap_or_default()));
        }
    }

    /// Ends the draft: writes the plan and the remarks, and gives the folder its name.
    pub fn finish(mut self, out: &Path, description: &str, kind: &str) -> anyhow::Result<(Plan, String)> {
        let slug_of_title = slug(&self.plan.title).unwrap_or_else(|| "benchmark".to_owned());
        self.plan.slug = slug_of_title;
        for phase in &mut self.plan.phases {
            if let (Some(opens), Some(closes)) = (phase.opens, phase.closes)
                && closes.0 <= opens.0
            {
                let text = format!(
                    "the phase {} would close before it opens: it has no end in the draft",
                    phase.slug
                );
                self.remarks.doubts.push(Remark { line: None, text });
                phase.closes = None;
            }
            if phase.references.is_empty() {
                let text = format!("the phase {} has no references: add them before you publish", phase.slug);
                self.remarks.doubts.push(Remark { line: None, text });
            }
        }
        if self.plan.hosts.is_empty() {
            let text =
                "the draft has no hosts: name them in `hosts`, or only administrators see it".to_owned();
            self.remarks.doubts.push(Remark { line: None, text });
        }
        let text = self.remarks.to_text(description, kind);
        fs::write(self.folder.path().join(plan::FILE), self.plan.to_toml()?)?;
        fs::write(self.folder.path().join("IMPORT.md"), &text)?;
        // An empty folder may be there; rename replaces it.
        if cfg!(not(unix)) && out.is_dir() {
            fs::remove_dir(out)?;
        }
        keep_to_owner(self.folder.path())?;
        fs::rename(self.folder.path(), out)
            .with_context(|| format!("{} cannot be written", out.display()))?;
        // What it would remove has another name now.
        let _ = self.folder.keep();
        Ok((self.plan, text))
    }
}

/// The folder of a draft holds references, which are for its owner alone.
#[cfg(unix)]
fn keep_to_owner(folder: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?)
}

#[cfg(not(unix))]
fn keep_to_owner(_: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// Refuses a folder that has files.
pub fn require_new(out: &Path) -> anyhow::Result<()> {
    match fs::read_dir(out).map(Iterator::count) {
        Ok(0) => Ok(()),
        Ok(_) => bail!("{} is not empty: name a new folder", out.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| out.display().to_string()),
    }
}

fn name_of(path: &Path) -> anyhow::Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.context("a file has no name")?.to_owned())
}

/// A part of an address from a title.
fn slug(title: &str) -> Option<String> {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words {
        if slug.len() + 1 + word.len() > SLUG {
            break;
        }
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.push_str(word);
    }
    Some(slug).filter(|slug| !slug.is_empty() && slug != "rules")
}

/// The board of a phase: the first of these that holds.
pub fn board(is_hidden: bool, is_own: bool) -> BoardKind {
    match (is_hidden, is_own) {
        (true, _) => BoardKind::Hidden,
        (_, true) => BoardKind::Own,
        _ => BoardKind::Public,
    }
}

impl Remarks {
    /// The remarks as a page, which names the file that they are about.
    fn to_text(&self, description: &str, kind: &str) -> String {
        let mut text = format!("# Import of {description} ({kind})\n");
        let parts = [
            ("What came over", &self.kept),
            ("What has no counterpart", &self.lost),
            ("What to look at", &self.doubts),
        ];
        for (title, remarks) in parts {
            let _ = write!(text, "\n## {title}\n\n");
            for Remark { line, text: said } in remarks {
                let place = line.map_or(String::new(), |line| format!("{description}:{line}: "));
                let _ = writeln!(text, "- {place}{said}");
            }
            text.push_str(if remarks.is_empty() { "Nothing.\n" } else { "" });
        }
        text
    }
}
