//! Builds results image by image.

use std::fs::File;
use std::io;

use capeval_api::{PerImage, SetState, SubmissionState};
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{Allowance, ShowImages};
use tempfile::TempDir;

use crate::settings::Phase;
use crate::submissions::{self, Submission};
use crate::{programs, records};

/// Builds the results of a submission image by image.
pub struct BuildImages;

/// The results for a phase as it was then; `None` if it showed nothing.
pub struct Results(Option<(Phase, Vec<OfSet>)>);

/// The results by one reference set.
struct OfSet {
    /// The id of the set.
    set: String,
    policy: String,
    page: KeptFile,
    lines: KeptFile,
}

/// A file among the blobs.
struct KeptFile {
    hash: String,
    size: u64,
}

impl Work for BuildImages {
    const KIND: &'static str = "images";
    const LANE: Lane = Lane::Checks;
    /// The submission.
    type Subject = String;
    type Output = Results;

    async fn run(app: &App, job: &Job) -> Result<Results, Failure> {
        let submission = submissions::by_id(&app.store, &job.subject).await?;
        let phase = records::phase_of(&app.store, &submission.phase).await?;
        if phase.per_image == PerImage::Nothing || submission.state != SubmissionState::Scored {
            return Ok(Results(None));
        }
        let mut built = Vec::new();
        for set in records::all_sets(&app.store, &phase.id).await? {
            if set.state != SetState::Ready {
                continue;
            }
            if let Some(prepared) = set.for_child(&phase, app).await? {
                built.push(build(app, &phase, &submission, &set.name, prepared).await?);
            }
        }
        Ok(Results(Some((phase, built))))
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Results, String>) -> Result<()> {
        let Ok(Results(Some((then, built)))) = outcome else { return Ok(()) };
        let phase = records::phase_alone(tx, &then.id).await?;
        let is_same = (phase.per_image, &phase.pictures, &phase.score_set)
            == (then.per_image, &then.pictures, &then.score_set);
        // The hosts have changed their minds, or everything was scored again: those who still want it ask again.
        if !is_same {
            return Ok(());
        }
        for OfSet { set, policy, page, lines } in built {
            let row = columns! {
                submission: &job.subject, reference_set: &set, score_set: phase.score_set.as_deref(),
                page: &page.hash, page_size: page.size as i64, policy: &policy, lines: &lines.hash,
                lines_size: lines.size as i64, built_at: clock::now(),
            };
            tx.put_row("image_result", &["submission", "reference_set"], row).await?;
        }
        Ok(())
    }
}

/// Builds the results by one reference set.
async fn build(
    app: &App,
    phase: &Phase,
    submission: &Submission,
    name: &str,
    set: capeval_tasks::Set,
) -> Result<OfSet, Failure> {
    let Some(blob) = &submission.blob else {
        return Err(Failure::Lasting(reason!("the captions are missing")));
    };
    let captions = app.blobs.ready(blob).await?;
    let folder = TempDir::new_in(app.blobs.drafts())?;
    let (page, lines) = (folder.path().join("page"), folder.path().join("lines"));
    let allowance = Allowance {
        write: vec![folder.path().to_owned()],
        gives_way: true,
        ..programs::allowance(app, [&set.metrics], [set.prepared.clone(), captions.clone()])
    };
    let id = set.id.clone();
    let task = ShowImages {
        captions,
        set,
        system: submission.method.clone(),
        references: name.to_owned(),
        is_explained: phase.per_image == PerImage::Explained,
        pictures: Some(phase.pictures.clone()).filter(|pictures| !pictures.is_empty()),
        digits: phase.decimals,
        page: page.clone(),
        lines: lines.clone(),
    };
    let shown = child::run(app, allowance, task).await?;
    let blobs = app.blobs.clone();
    let keep = move || {
        let kept = [page, lines].map(|path| {
            let file = File::open(path)?;
            let size = file.metadata()?.len();
            Ok::<_, io::Error>(KeptFile { hash: blobs.put(file)?, size })
        });
        drop(folder);
        let [page, lines] = kept;
        Ok::<_, io::Error>((page?, lines?))
    };
    let (page, lines) = tokio::task::spawn_blocking(keep).await??;
    Ok(OfSet { set: id, policy: shown.policy, page, lines })
}
