//! The files of a phase on pages and by the API: listed, downloaded, added and removed.

use axum::extract::{FromRequest, Multipart, Request};
use axum::http::HeaderMap;
use axum::response::Response;
use capeval_api::PhaseFiles;
use capeval_site::blobs::Draft;
use capeval_site::prelude::*;
use capeval_site::web::{Field, download};
use serde_json::json;

use super::records::{self, NewPhaseFile, PhaseFile};
use crate::records::SeenPhase;
use crate::{admission, notes, upload};

/// The media type of files that are no pictures, which browsers never show.
const KIND: &str = "application/octet-stream";

pub(crate) fn routes() -> Vec<Route> {
    let (public, host) = (Access::Public, Access::Host);
    vec![
        get("/api/v1/phases/{id}/files", public, "List the files of a phase", list),
        get("/b/{slug}/{phase}/files/{name}", public, "Download a file of a phase", send)
            .and("/api/v1/phases/{id}/files/{name}")
            .sends(200, KIND)
            .sends(206, KIND),
        post("/b/{slug}/{phase}/host/files", host, "Add a file to a phase", add)
            .upload()
            .takes([Field::text("title").optional(), Field::list("file")])
            .and("/api/v1/host/phases/{id}/files"),
        post("/b/{slug}/{phase}/host/files/{name}/remove", host, "Remove a file from a phase", remove)
            .and("/api/v1/host/phases/{id}/files/{name}/remove"),
    ]
}

/// A file of a phase that the visitor may see.
struct SeenFile {
    of: SeenPhase,
    file: PhaseFile,
}

/// `{name}` in a phase
impl Subject for SeenFile {
    const KIND: &'static str = "file of a phase";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let of = SeenPhase::find(app, names, visitor).await?;
        let file = records::by_name(&app.store, &of.phase.id, names.require("name")?).await?;
        Ok(Self { of, file })
    }

    fn standing(&self) -> Standing {
        self.of.standing()
    }
}

/// The files of a phase for programs.
pub async fn for_programs(app: &App, of: &SeenPhase) -> Result<PhaseFiles> {
    let files = records::of_phase(&app.store, &of.phase.id).await?;
    let file = |file: PhaseFile| capeval_api::PhaseFile {
        url: app.settings.url(&of.address(&format!("files/{}", file.encoded()))),
        title: file.title,
        name: file.name,
        size: file.size,
        sha256: file.blob,
    };
    Ok(PhaseFiles { files: files.into_iter().map(file).collect() })
}

async fn list(app: App, Visible(of): Visible<SeenPhase>) -> Result<Answer<PhaseFiles>> {
    Ok(Answer::json(&for_programs(&app, &of).await?))
}

async fn send(app: App, page: Page, seen: Visible<SeenFile>, headers: HeaderMap) -> Result<Response> {
    let benchmark = &seen.of.seen.benchmark;
    if benchmark.is_restricted() {
        let Some(visitor) = &page.visitor else {
            return Err(fault!(FORBIDDEN, "sign-in", "Sign in to download the files of this benchmark."));
        };
        if let Some(refusal) = admission::refusal(&app, &benchmark.id, visitor).await? {
            return Err(refusal);
        }
    }
    let path = app.blobs.ready(&seen.file.blob).await?;
    let kind = seen.file.media_type().unwrap_or(KIND);
    download::send(&path, &seen.file.blob, Some(&seen.file.name), kind, &headers).await
}

async fn add(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    request: Request,
) -> Result<Answer<PhaseFiles>> {
    upload::limit(&app, &by)?;
    let (title, name, draft) = receive(&app, request).await?;
    let size = draft.size();
    let blobs = app.blobs.clone();
    let blob = tokio::task::spawn_blocking(move || blobs.keep(draft)).await??;
    let mut tx = app.store.begin().await?;
    let new = NewPhaseFile { title, name, blob, size };
    records::put(&mut tx, &of.phase.id, &new).await?;
    let detail = json!({ "name": new.name, "size": size, "sha256": new.blob });
    notes::note(&mut tx, Some(&by.id), "phase.file-add", &of.phase.id, detail).await?;
    tx.commit().await?;
    Ok(page.then(&of.address("host?done=saved"), &for_programs(&app, &of).await?))
}

/// Receives a form with a file and its title; the name of the file is the title of one that has none.
async fn receive(app: &App, request: Request) -> Result<(String, String, Draft)> {
    let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
    let (mut title, mut file) = (String::new(), None);
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        match (field.name(), field.file_name().map(records::clean_name)) {
            (Some("file"), Some(name)) => file = Some((name, upload::of_field(app, field).await?)),
            (Some("title"), _) => {
                title = clean_text::line(&field.text().await.map_err(|_| upload::broken())?);
            }
            _ => {}
        }
    }
    let none = || fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file.");
    let (name, draft) = file.filter(|(name, draft)| !name.is_empty() && draft.size() > 0).ok_or_else(none)?;
    let title = if title.is_empty() { name.chars().take(80).collect() } else { title };
    records::check_title(&title).map_err(|error| {
        fault!(UNPROCESSABLE_ENTITY, "title", "The file cannot be added: {}.").because(error)
    })?;
    Ok((title, name, draft))
}

async fn remove(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(SeenFile { of, file }): Hosted<SeenFile>,
) -> Result<Answer<PhaseFiles>> {
    let mut tx = app.store.begin().await?;
    records::remove(&mut tx, &of.phase.id, &file.name).await?;
    let detail = json!({ "name": file.name });
    notes::note(&mut tx, Some(&by.id), "phase.file-remove", &of.phase.id, detail).await?;
    tx.commit().await?;
    Ok(page.then(&of.address("host?done=removed"), &for_programs(&app, &of).await?))
}
