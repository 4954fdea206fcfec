//! The upload of pictures: up to 20 files, with what their uploader declares about them.

use askama::Template;
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::json;

use super::records::{self, Collection, Seen};
use super::{apply, pages, picture, processing};
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::upload::{broken, discard, of_field};
use crate::blobs::Draft;
use crate::fault;
use crate::fault::Fault;
use crate::jobs::queue::{self, Priority};
use crate::store::Tx;
use crate::web::language::say;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock, ids};

/// The most files of an upload.
const FILES: usize = 20;

/// The most pictures of a person that wait for processing or for a moderator.
const WAITING: i64 = 200;

/// What uploaders declare.
const DECLARATION: &str = say(
    "I took these screenshots myself, I may publish them under this licence, and no names, chat or faces of other people are in them.",
);

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/upload", Access::Person(Scope::Read), "The form to upload pictures", form),
        post("/c/{slug}/upload", Access::Person(Scope::Submit), "Upload pictures", upload).upload(),
    ]
}

/// What an uploader says about pictures.
#[derive(Clone, Debug, Default)]
struct About {
    game: String,
    platform: String,
    licence: String,
    is_declared: bool,
}

/// What became of a file.
struct Taken {
    name: String,
    refusal: Option<Fault>,
}

#[derive(Template)]
#[template(path = "collections/upload.html")]
struct Form<'a> {
    page: &'a Page,
    seen: &'a Seen,
    about: &'a About,
    declaration: &'a str,
    closed: Option<String>,
    problem: Option<String>,
    refused: Vec<(String, String)>,
    taken: usize,
    picture_mib: u64,
    most: usize,
}

async fn form(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    show(&app, &page, &seen, &About::default(), None, &[])
}

fn show(
    app: &App,
    page: &Page,
    seen: &Seen,
    about: &About,
    problem: Option<&Fault>,
    taken: &[Taken],
) -> Result<Response, Fault> {
    let refused = taken.iter().filter_map(|one| Some((one.name.clone(), page.fault(one.refusal.as_ref()?))));
    let refused: Vec<(String, String)> = refused.collect();
    let status = match problem {
        Some(fault) => fault.status,
        None if refused.is_empty() => StatusCode::OK,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let shown = page.show(&Form {
        page,
        seen,
        about,
        declaration: page.t(DECLARATION),
        closed: seen.collection.is_closed().map(|fault| page.fault(&fault)),
        problem: problem.map(|fault| page.fault(fault)),
        taken: taken.len() - refused.len(),
        refused,
        picture_mib: app.settings.picture_mib,
        most: FILES,
    })?;
    Ok((status, shown).into_response())
}

async fn upload(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let (about, files) = match receive(&app, request).await {
        Ok(received) => received,
        Err(fault) => return show(&app, &page, &seen, &About::default(), Some(&fault), &[]),
    };
    if let Err(fault) = check(&app, &seen.collection, &visitor, &about, &files).await {
        return show(&app, &page, &seen, &about, Some(&fault), &[]);
    }
    let consent = consent(&app, &page, &seen.collection, &visitor, &about).await?;
    let mut taken = Vec::new();
    for (name, draft) in files {
        let refusal = take(&app, &seen.collection, &visitor, &about, &consent, draft).await.err();
        if let Some(fault) = refusal.as_ref().filter(|fault| fault.status.is_server_error()) {
            return Err(fault.clone());
        }
        taken.push(Taken { name, refusal });
    }
    app.wake.notify_one();
    if taken.iter().all(|one| one.refusal.is_none()) {
        return Ok(Redirect::to(&format!("/c/{slug}/mine?done=uploaded")).into_response());
    }
    show(&app, &page, &seen, &about, None, &taken)
}

/// Receives the form: what is said, and each file with its name.
async fn receive(app: &App, request: Request) -> Result<(About, Vec<(String, Draft)>), Fault> {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length: u64 = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > app.settings.upload_mib << 20 {
        // A browser that is still sending would not see the answer.
        discard(app, request.into_body()).await;
        return Err(fault!(
            PAYLOAD_TOO_LARGE,
            "upload-too-large",
            "The pictures are larger than {} MiB together. Upload fewer at a time.",
            app.settings.upload_mib
        ));
    }
    let mut form = Multipart::from_request(request, app).await.map_err(|_| broken())?;
    let (mut about, mut files) = (About::default(), Vec::new());
    while let Some(field) = form.next_field().await.map_err(|_| broken())? {
        let name = field.name().unwrap_or("").to_owned();
        // More files than allowed are refused below, and not kept until then.
        if name == "files" && files.len() > FILES {
            continue;
        }
        if name == "files" {
            let file_name: String = field.file_name().unwrap_or("").chars().take(80).collect();
            let draft = of_field(app, field).await?;
            // A form without a chosen file sends an empty one without a name.
            if draft.size() > 0 || !file_name.is_empty() {
                files.push((file_name, draft));
            }
            continue;
        }
        let text = field.text().await.map_err(|_| broken())?;
        match name.as_str() {
            "game" => about.game = super::rules::text::clean(&text),
            "platform" => about.platform = super::rules::text::clean(&text),
            "licence" => about.licence = text,
            "rights" => about.is_declared = true,
            _ => {}
        }
    }
    Ok((about, files))
}

async fn check(
    app: &App,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
    files: &[(String, Draft)],
) -> Result<(), Fault> {
    if let Some(fault) = collection.is_closed() {
        return Err(fault);
    }
    if files.is_empty() || files.len() > FILES {
        return Err(fault!(UNPROCESSABLE_ENTITY, "files", "Choose 1 to {} pictures.", FILES));
    }
    if !about.is_declared {
        return Err(fault!(UNPROCESSABLE_ENTITY, "rights", "Declare that the pictures are yours."));
    }
    if !collection.licences.contains(&about.licence) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "licence", "Choose a licence of this collection."));
    }
    let is_long = |text: &str| text.chars().count() > 80;
    if about.game.is_empty() || is_long(&about.game) || is_long(&about.platform) {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "game",
            "Give the title of the game; titles and platforms have at most 80 characters."
        ));
    }
    let row = app
        .store
        .first(
            "SELECT COUNT(*) AS n FROM image WHERE uploader = $1 AND state IN ('processing', 'pending')",
            args![&visitor.id],
        )
        .await?;
    if row.map_or(Ok(0), |row| row.get::<i64>("n"))? + files.len() as i64 > WAITING {
        return Err(fault!(
            TOO_MANY_REQUESTS,
            "pictures-wait",
            "At most {} of your pictures may wait for a moderator. Please come back later.",
            WAITING
        )
        .retry_after(3_600));
    }
    Ok(())
}

/// Notes what the uploader declared, and that they take part.
async fn consent(
    app: &App,
    page: &Page,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
) -> Result<String, Fault> {
    let id = ids::new_id();
    let mut tx = app.store.begin().await?;
    tx.execute(
        "INSERT INTO consent (id, collection, account, licence, declaration, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
        args![&id, &collection.id, &visitor.id, &about.licence, page.t(DECLARATION), clock::now()],
    )
    .await?;
    pages::join(&mut tx, &collection.id, &visitor.id).await?;
    tx.commit().await?;
    Ok(id)
}

/// Takes a file, whose picture a job then decodes.
async fn take(
    app: &App,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
    consent: &str,
    draft: Draft,
) -> Result<(), Fault> {
    app.limits.take("pictures", &visitor.id, app.settings.pictures_per_minute)?;
    if draft.size() > app.settings.picture_mib << 20 {
        return Err(fault!(
            PAYLOAD_TOO_LARGE,
            "picture-too-large",
            "The picture is larger than {} MiB.",
            app.settings.picture_mib
        ));
    }
    let blobs = app.blobs.clone();
    let keep = move || {
        let mut draft = draft;
        let head = draft.head(16)?;
        if picture::format(&head).is_none() {
            return Ok(None);
        }
        Ok::<_, std::io::Error>(Some(blobs.keep(draft)?))
    };
    let Some(hash) = tokio::task::spawn_blocking(keep).await?? else {
        return Err(fault!(UNPROCESSABLE_ENTITY, "type", "It is not a JPEG, PNG or WebP picture."));
    };
    let mut tx = app.store.begin().await?;
    let id = add(&mut tx, collection, visitor, about, consent, &hash).await?;
    queue::add(&mut tx, processing::WORK.kind, &id, Priority::Background).await?;
    audit::note(&mut tx, Some(&visitor.id), "image.add", &id, json!({ "collection": collection.slug }))
        .await?;
    Ok(tx.commit().await?)
}

async fn add(
    tx: &mut Tx,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
    consent: &str,
    hash: &str,
) -> Result<String, Fault> {
    let id = ids::new_id();
    let group = ids::digest(format!("{}\n{}", visitor.id, about.game.to_lowercase()));
    let added = tx
        .execute(
            "INSERT INTO image (id, collection, uploader, consent, licence, game, platform, source_hash, upload, \
             split_group, state, wanted, slots_taken, accepted, shuffle, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, 'processing', $10, 0, 0, $11, $12) \
             ON CONFLICT DO NOTHING",
            args![
                &id,
                &collection.id,
                &visitor.id,
                consent,
                &about.licence,
                &about.game,
                &about.platform,
                hash,
                group,
                collection.wanted,
                super::rules::next::place(super::slots::random()?),
                clock::now()
            ],
        )
        .await?;
    if added == 0 {
        return Err(fault!(CONFLICT, "same-picture", "The same picture is in this collection already."));
    }
    Ok(id)
}

impl About {
    /// The address of a licence, if it has one.
    fn address(licence: &str) -> &'static str {
        apply::LICENCES.iter().find(|(name, _)| *name == licence).map_or("", |(_, address)| address)
    }
}
