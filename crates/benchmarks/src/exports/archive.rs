//! An archive of a benchmark for its hosts: plan, teams, submissions with their files and scores, boards, and the log.
//! References stay on the server.
//!
//! Rows are read page by page and files are copied, so that memory does not grow with the benchmark. The archive is
//! written to the disk first, so an incomplete one is never sent.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use anyhow::Context;
use axum::response::Response;
use capeval_api::{SubmissionKind, SubmissionState};
use capeval_site::blobs::Blobs;
use capeval_site::prelude::*;
use capeval_site::web::download;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::board::{self, BoardQuery};
use crate::files::records as files;
use crate::records::{self, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::settings::{Benchmark, Phase, Plan};
use crate::submissions::Submission;
use crate::{notes, plan};

pub const KIND: &str = "application/zip";

/// The rows that are read at once.
const PAGE: usize = 200;

const README: &str = "# What is in this archive

- `benchmark.toml`: the plan, which names files of references that are not in the archive.
- `teams.jsonl`: the teams of each phase, with the names of their members.
- `audit.jsonl`: who did what, the newest first.
- `phases/PHASE/leaderboard-SET.csv`: the leaderboard by each reference set.
- `phases/PHASE/submissions.jsonl`: all submissions in full precision: `scores` are by reference set and measure, each
  with the ends of its interval, and `files` are the paths of captions, of the file as it was uploaded, and of scores
  image by image, if someone has asked for them.
- `phases/PHASE/files`: the files for those who take part.
";

pub async fn send(app: App, by: Visitor, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Response> {
    app.limits.take("exports", &by.id, 2)?;
    app.blobs.try_write()?;
    let file = write(&app, &seen.benchmark).await?;
    let mut tx = app.store.begin().await?;
    let detail = json!({ "slug": seen.benchmark.slug });
    notes::note(&mut tx, Some(&by.id), "benchmark.archive", &seen.benchmark.id, detail).await?;
    tx.commit().await?;
    download::send_made(file, &format!("{}.zip", seen.benchmark.slug), KIND).await
}

/// Writes the archive into a file without a name.
pub async fn write(app: &App, benchmark: &Benchmark) -> anyhow::Result<File> {
    let mut archive = Archive::begin(&app.blobs)?;
    let store = &app.store;
    archive.text("README.md", README)?;
    archive.text(plan::FILE, &Plan::of(store, benchmark).await?.to_toml()?)?;
    archive.text("teams.jsonl", &teams(app, benchmark).await?)?;
    archive.begin_file("audit.jsonl")?;
    let mut next = Some(At::start(PAGE));
    while let Some(at) = next {
        let page = audit::page(store, &audit::OF_PLACE, &benchmark.id, at).await?;
        for note in &page.rows {
            let detail: Value = serde_json::from_str(&note.detail).unwrap_or(Value::Null);
            archive.line(&json!({
                "at": clock::iso(note.at), "actor": note.actor, "action": note.action, "subject": note.subject,
                "detail": detail,
            }))?;
        }
        next = page.after.map(|after| At { place: Place { after, ..Place::default() }, most: PAGE });
    }
    for (phase, sets) in
        records::phases_with_sets(store, Some(&benchmark.id)).await?.remove(&benchmark.id).unwrap_or_default()
    {
        let of = SeenPhase { seen: SeenBenchmark { benchmark: benchmark.clone(), is_host: true }, phase };
        archive = phase_files(app, &of, &sets, archive).await?;
    }
    archive.finish()
}

#[derive(Deserialize)]
struct Member {
    phase: String,
    team: String,
    member: Option<String>,
}

/// The teams of all phases as lines.
async fn teams(app: &App, benchmark: &Benchmark) -> anyhow::Result<String> {
    let sql = "SELECT phase.slug AS phase, team.name AS team, account.name AS member FROM entry \
               JOIN phase ON phase.id = entry.phase JOIN team ON team.id = entry.team \
               LEFT JOIN team_member ON team_member.team = team.id \
               LEFT JOIN account ON account.id = team_member.account WHERE phase.benchmark = $1 \
               ORDER BY phase.position, team.name, account.name, account.id";
    let rows: Vec<Member> = app.store.fetch(sql, args![&benchmark.id]).await?;
    let same = |a: &Member, b: &Member| (&a.phase, &a.team) == (&b.phase, &b.team);
    let lines = rows.chunk_by(same).map(|team| {
        let members: Vec<&String> = team.iter().filter_map(|row| row.member.as_ref()).collect();
        json!({ "phase": team[0].phase, "team": team[0].team, "members": members }).to_string() + "\n"
    });
    Ok(lines.collect())
}

/// The part of the archive that is about a phase.
async fn phase_files(
    app: &App,
    of: &SeenPhase,
    sets: &[ReferenceSet],
    mut archive: Archive,
) -> anyhow::Result<Archive> {
    let (store, phase) = (&app.store, &of.phase);
    let folder = format!("phases/{}", phase.slug);
    for set in sets {
        let asked =
            BoardQuery { set: set.name.clone(), columns: vec!["all".to_owned()], ..BoardQuery::default() };
        if let Some(board) = board::board(app, of, sets, None, &asked).await? {
            let name = files::clean_name(&set.name);
            archive
                .text(&format!("{folder}/leaderboard-{name}.csv"), &board::as_csv(&board, phase.decimals))?;
        }
    }
    let mut copies = Vec::new();
    for file in files::of_phase(store, &phase.id).await? {
        copies.push((format!("{folder}/files/{}", file.name), file.blob));
    }
    archive.begin_file(&format!("{folder}/submissions.jsonl"))?;
    let mut after = String::new();
    loop {
        let sql = "SELECT * FROM submission WHERE phase = $1 AND id > $2 ORDER BY id LIMIT 200";
        let page: Vec<Submission> = store.fetch(sql, args![&phase.id, &after]).await?;
        let Some(last) = page.last() else { break };
        after.clone_from(&last.id);
        for submission in &page {
            let (line, own) = described(app, phase, sets, submission, &folder).await?;
            archive.line(&line)?;
            copies.extend(own);
        }
    }
    let blobs = app.blobs.clone();
    let copied = tokio::task::spawn_blocking(move || -> anyhow::Result<Archive> {
        for (path, hash) in copies {
            archive.copy(&blobs, &path, &hash)?;
        }
        Ok(archive)
    });
    copied.await?
}

/// A submission as a line, and the files that belong to it.
async fn described(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    submission: &Submission,
    folder: &str,
) -> anyhow::Result<(Value, Vec<(String, String)>)> {
    const SCORES: &str = "SELECT reference_set, metric, value, low, high FROM score \
        WHERE score_set = $1 AND submission = $2 ORDER BY reference_set, metric";
    const IMAGES: &str =
        "SELECT reference_set, lines FROM image_result WHERE submission = $1 ORDER BY reference_set";
    type Row = (String, String, f64, Option<f64>, Option<f64>);
    let store = &app.store;
    let name = |id: &String| sets.iter().find(|set| set.id == *id).map(|set| set.name.clone());
    let mut scores: Map<String, Value> = Map::new();
    let score_set = phase.score_set.as_deref().unwrap_or_default();
    for (set, metric, value, low, high) in
        store.fetch::<Row>(SCORES, args![score_set, &submission.id]).await?
    {
        if let Some(name) = name(&set) {
            let of_set = scores.entry(name).or_insert_with(|| json!({}));
            of_set[metric] = json!({ "value": value, "low": low, "high": high });
        }
    }
    let own = format!("{folder}/submissions/{}", submission.id);
    let mut files = Vec::new();
    if let Some(blob) = &submission.blob {
        files.push((format!("{own}/captions.json"), blob.clone()));
    }
    if let (Some(upload), SubmissionKind::Entry) = (&submission.upload, submission.kind) {
        files.push((format!("{own}/upload-{}", files::clean_name(&submission.file)), upload.clone()));
    }
    for (set, lines) in store.fetch::<(String, String)>(IMAGES, args![&submission.id]).await? {
        let set = files::clean_name(&name(&set).unwrap_or(set));
        files.push((format!("{own}/images-{set}.jsonl"), lines));
    }
    let paths: Vec<&String> = files.iter().map(|(path, _)| path).collect();
    let team = crate::submissions::team_name(store, submission).await?;
    let line = json!({
        "id": submission.id,
        "kind": submission.kind.to_string(),
        "team": team,
        "method": submission.method,
        "about": submission.about_for_programs(&phase.columns),
        "state": submission.state.to_string(),
        "reason": submission.reason,
        "disqualified": submission.disqualified_for,
        "submitted_at": clock::iso(submission.created_at),
        "scores": if submission.state == SubmissionState::Scored { Value::Object(scores) } else { Value::Null },
        "files": paths,
    });
    Ok((line, files))
}

/// An archive that is being written.
struct Archive {
    zip: ZipWriter<BufWriter<File>>,
}

impl Archive {
    fn begin(blobs: &Blobs) -> io::Result<Self> {
        Ok(Self { zip: ZipWriter::new(BufWriter::new(tempfile::tempfile_in(blobs.drafts())?)) })
    }

    fn begin_file(&mut self, path: &str) -> anyhow::Result<()> {
        let options = SimpleFileOptions::default().large_file(true);
        Ok(self.zip.start_file(path, options)?)
    }

    fn text(&mut self, path: &str, text: &str) -> anyhow::Result<()> {
        self.begin_file(path)?;
        Ok(self.zip.write_all(text.as_bytes())?)
    }

    fn line(&mut self, value: &Value) -> anyhow::Result<()> {
        Ok(writeln!(self.zip, "{value}")?)
    }

    fn copy(&mut self, blobs: &Blobs, path: &str, hash: &str) -> anyhow::Result<()> {
        let options =
            SimpleFileOptions::default().large_file(true).compression_method(CompressionMethod::Deflated);
        self.zip.start_file(path, options)?;
        let mut file = blobs.fetch(hash).and_then(File::open).with_context(|| path.to_owned())?;
        io::copy(&mut file, &mut self.zip)?;
        Ok(())
    }

    fn finish(self) -> anyhow::Result<File> {
        Ok(self.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?)
    }
}
