//! Stores the files that a plan names before a transaction begins.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use capeval_choice::SegmentId;
use capeval_site::blobs::Blobs;
use capeval_site::prelude::*;
use capeval_site::store::Columns;

use super::check::check_measures;
use crate::files::records::NewPhaseFile;
use crate::settings::{PhasePlan, Plan};
use crate::source::Source;
use crate::{appearance, halves, programs};

/// The place of the files that a plan names.
#[derive(Clone, Debug)]
pub enum Files {
    /// In a folder.
    In(PathBuf),
    /// Sent along, by name.
    Sent(HashMap<String, SentFile>),
}

/// A file that was sent along.
#[derive(Clone, Debug)]
pub struct SentFile {
    /// The name that it had.
    pub name: String,
    /// Its place now.
    pub path: PathBuf,
}

impl From<&Path> for Files {
    fn from(folder: &Path) -> Self {
        Self::In(folder.to_owned())
    }
}

impl Files {
    /// A file with its own name; `None` if it is not there.
    fn find(&self, name: &str) -> Option<SentFile> {
        match self {
            Self::In(folder) => {
                let own = Path::new(name).file_name()?.to_string_lossy().into_owned();
                Some(SentFile { name: own, path: folder.join(name) }).filter(|file| file.path.exists())
            }
            Self::Sent(files) => files.get(name).cloned(),
        }
    }

    fn lack(&self, name: &str) -> anyhow::Error {
        match self {
            Self::In(folder) => anyhow::anyhow!("{} does not exist", folder.join(name).display()),
            Self::Sent(_) => anyhow::Error::msg(reason!("the file {} was not sent", name)),
        }
    }
}

/// A stored file.
pub(super) struct StoredFile {
    /// The name that it had.
    pub(super) name: String,
    pub(super) hash: String,
    pub(super) size: u64,
}

/// Stores what `source` stands for. A file that did not come with the plan stays what it is now, `known`.
fn store(
    source: &Source,
    known: Option<&Source>,
    blobs: &Blobs,
    files: &Files,
) -> anyhow::Result<StoredFile> {
    let mut draft = blobs.draft()?;
    let mut name = source.name().to_owned();
    match (source, known) {
        (Source::Bytes { bytes, .. }, _) => draft.write_all(bytes)?,
        (Source::Kept { hash, .. }, _) => return stored_file(name, hash, blobs),
        (Source::Named(given), known) => match (files.find(given), known) {
            (Some(file), _) => {
                name = file.name;
                let mut content = File::open(&file.path).with_context(|| file.path.display().to_string())?;
                io::copy(&mut content, &mut draft)?;
            }
            (None, Some(Source::Kept { name: known, hash })) if known == given => {
                return stored_file(name, hash, blobs);
            }
            (None, _) => return Err(files.lack(given)),
        },
    }
    let size = draft.size();
    Ok(StoredFile { name, hash: blobs.keep(draft)?, size })
}

fn stored_file(name: String, hash: &str, blobs: &Blobs) -> anyhow::Result<StoredFile> {
    let size = fs::metadata(blobs.fetch(hash)?)?.len();
    Ok(StoredFile { name, hash: hash.to_owned(), size })
}

/// The files of a phase as they are stored, in the order of the plan.
pub(super) struct StoredFiles {
    pub(super) vectors: Option<StoredFile>,
    pub(super) program: Option<StoredFile>,
    pub(super) public_ids: Option<StoredFile>,
    pub(super) references: Vec<StoredReferences>,
    pub(super) baselines: Vec<StoredFile>,
    /// The files for those who take part; `None` if there are none, and the plan names none.
    pub(super) files: Option<Vec<NewPhaseFile>>,
}

impl StoredFiles {
    /// The columns of the phase that name its files.
    pub(super) fn columns(&self) -> Columns {
        let hash = |file: &Option<StoredFile>| file.as_ref().map(|file| file.hash.clone());
        let name =
            |file: &Option<StoredFile>| file.as_ref().map_or_else(String::new, |file| file.name.clone());
        columns! {
            vectors_hash: hash(&self.vectors), vectors_file: name(&self.vectors),
            program_hash: hash(&self.program), program_file: name(&self.program),
            public_ids_hash: hash(&self.public_ids), public_ids_file: name(&self.public_ids),
        }
    }
}

pub(super) struct StoredReferences {
    pub(super) file: StoredFile,
    /// The ids of the images to keep, as JSON, and the name of the file that listed them.
    pub(super) images: Option<(String, String)>,
}

/// Stores the files of phases. This copies, hashes and uploads them, which takes its time, so it must be done before a
/// transaction begins: SQLite has one writer. The files of a plan that is refused afterwards are swept away.
pub(super) async fn store_files(
    app: &App,
    phases: &[PhasePlan],
    known: Option<Plan>,
    files: Files,
) -> anyhow::Result<Vec<StoredFiles>> {
    let phases = phases.to_vec();
    let (blobs, hidden) = (app.blobs.clone(), app.hidden.clone());
    let most = app.settings.unpacked_mib << 20;
    let store_phase = move |phase: &PhasePlan| -> anyhow::Result<StoredFiles> {
        let known = known.as_ref().and_then(|known| known.phase(&phase.slug));
        let hidden_file = |of: fn(&PhasePlan) -> Option<&Source>| {
            of(phase).map(|source| store(source, known.and_then(of), &hidden, &files)).transpose()
        };
        let vectors = hidden_file(|phase| phase.vectors.as_ref())?;
        let program = hidden_file(|phase| phase.program.as_ref())?;
        if let Some(archive) = &program {
            let measures =
                programs::measures(&hidden, &archive.hash, most).context(reason!("the program"))?;
            check_measures(phase, &measures)?;
        }
        let public_ids = hidden_file(|phase| phase.public_ids.as_ref())?;
        if let Some(list) = &public_ids {
            halves::public_ids(&hidden, &list.hash)?;
        }
        let references = phase.references.iter().map(|set| {
            let known = known.and_then(|known| known.references.iter().find(|known| known.name == set.name));
            let file = store(&set.file, known.map(|known| &known.file), &hidden, &files)?;
            let known = known.and_then(|known| known.images.as_ref());
            let images = set.images.as_ref().map(|images| read_images(images, known, &files)).transpose()?;
            Ok(StoredReferences { file, images })
        });
        let references = references.collect::<anyhow::Result<_>>()?;
        let baselines = phase.baselines.iter().map(|baseline| {
            let known =
                known.and_then(|known| known.baselines.iter().find(|known| known.method == baseline.method));
            store(&baseline.file, known.map(|known| &known.file), &blobs, &files)
                .with_context(|| reason!("baseline {}", baseline.method))
        });
        let baselines = baselines.collect::<anyhow::Result<_>>()?;
        let files = store_phase_files(phase, known, &blobs, &files)?;
        Ok(StoredFiles { vectors, program, public_ids, references, baselines, files })
    };
    let store_phases = move || {
        phases
            .iter()
            .map(|phase| store_phase(phase).with_context(|| reason!("phase {}", phase.slug)))
            .collect()
    };
    tokio::task::spawn_blocking(store_phases).await?
}

/// Stores the files for those who take part; a plan that names none leaves those that are there.
fn store_phase_files(
    phase: &PhasePlan,
    known: Option<&PhasePlan>,
    blobs: &Blobs,
    files: &Files,
) -> anyhow::Result<Option<Vec<NewPhaseFile>>> {
    let known = known.and_then(|known| known.files.as_ref());
    let Some(wanted) = phase.files.as_ref().or(known) else { return Ok(None) };
    let stored = wanted.iter().map(|plan| {
        let known = known.and_then(|known| known.iter().find(|known| known.file.name() == plan.file.name()));
        let StoredFile { name, hash, size } = store(&plan.file, known.map(|known| &known.file), blobs, files)
            .with_context(|| reason!("the file {}", plan.title))?;
        Ok(NewPhaseFile { title: plan.title.clone(), name, blob: hash, size })
    });
    stored.collect::<anyhow::Result<_>>().map(Some)
}

/// The ids of the images that `source` lists, as JSON, and the name of the file.
fn read_images(source: &Source, known: Option<&Source>, files: &Files) -> anyhow::Result<(String, String)> {
    let mut name = source.name().to_owned();
    let of_bytes = |bytes: &[u8]| Ok(String::from_utf8(bytes.to_vec())?);
    let text = match (source, known) {
        (Source::Bytes { bytes, .. }, _) => of_bytes(bytes),
        (named, known) => match (files.find(named.name()), known) {
            (Some(file), _) => {
                name = file.name;
                fs::read_to_string(&file.path).with_context(|| file.path.display().to_string())
            }
            (None, Some(Source::Bytes { name, bytes })) if name == named.name() => of_bytes(bytes),
            (None, _) => Err(files.lack(named.name())),
        },
    };
    let ids = listed_images(&text?).with_context(|| source.name().to_owned())?;
    Ok((serde_json::to_string(&ids)?, name))
}

/// The logo that came with a plan; `None` leaves the one that is there.
pub(super) async fn store_logo(
    app: &App,
    plan: &Plan,
    known: Option<&Plan>,
    files: &Files,
) -> anyhow::Result<Option<appearance::Logo>> {
    let Some(logo) = &plan.logo else { return Ok(None) };
    let known = known.and_then(|known| known.logo.as_ref());
    match files.find(logo.name()) {
        Some(file) => Ok(Some(appearance::encode_logo(app, file.path).await?)),
        None if known.is_some_and(|known| known.name() == logo.name()) => Ok(None),
        None => Err(files.lack(logo.name())),
    }
}

/// The ids of a list: a JSON array, or one per line.
pub fn listed_images(text: &str) -> anyhow::Result<Vec<SegmentId>> {
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).context(reason!("not a JSON array of ids"));
    }
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(SegmentId::from_untyped).collect())
}
