//! Takes the files of an upload, with what their uploader declares about them.

use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use capeval_benchmarks::upload::{broken, discard, of_field};
use capeval_site::blobs::Draft;
use capeval_site::prelude::*;
use capeval_site::web::answer::unknown_fields;
use capeval_site::web::is_program;
use serde_json::json;

use crate::processing::ProcessPicture;
use crate::records::Collection;
use crate::rules::{order, text};
use crate::{contributors, slots};

/// The most files of an upload.
pub const FILES: usize = 20;

/// The most pictures of a person that wait for processing or for a moderator.
const WAITING: i64 = 200;

/// Counts them.
const WAITING_NOW: &str =
    "SELECT COUNT(*) FROM image WHERE uploader = $1 AND state IN ('processing', 'pending')";

/// The declaration of uploaders.
pub const DECLARATION: &str = say(
    "I made these pictures myself, I may publish them under this licence, and no names, chat or faces of other people are in them.",
);

/// An uploader's description of pictures.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The first thing that the collection asks about them, such as the title of a game.
    pub game: String,
    /// The second one.
    pub platform: String,
    pub licence: String,
    /// True if they declare that they may publish them.
    pub is_declared: bool,
}

impl About {
    /// The questions of a collection about pictures, with the name of each field and the answer.
    pub fn answers<'a>(
        &'a self,
        details: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'static str, &'a str)> {
        let fields = [("game", self.game.as_str()), ("platform", self.platform.as_str())];
        details.iter().zip(fields).map(|(detail, (name, value))| (detail.as_str(), name, value))
    }
}

/// The outcome for a file.
pub struct FileOutcome {
    /// Its name, as the uploader has it.
    pub name: String,
    /// The id of its picture, or why it is refused.
    pub outcome: Result<String>,
}

/// Takes pictures, which jobs then decode: all that are good, whatever is wrong with the others.
pub async fn upload(
    app: &App,
    page: &Page,
    collection: &Collection,
    visitor: &Visitor,
    (about, files): (&About, Vec<(String, Draft)>),
) -> Result<Vec<FileOutcome>> {
    check(app, collection, visitor, about, &files).await?;
    let consent = consent(app, page, collection, visitor, about).await?;
    let mut taken = Vec::new();
    for (name, draft) in files {
        let outcome = take(app, collection, visitor, about, &consent, draft).await;
        if let Some(fault) = outcome.as_ref().err().filter(|fault| fault.status.is_server_error()) {
            return Err(fault.clone());
        }
        taken.push(FileOutcome { name, outcome });
    }
    app.wake.notify();
    Ok(taken)
}

/// Receives a form: what is said, and each file with its name.
pub async fn receive(app: &App, request: Request) -> Result<(About, Vec<(String, Draft)>)> {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length: u64 = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    if length > app.settings.upload_mib << 20 {
        // A browser that is still sending would not see the answer.
        discard(app, request.into_body()).await;
        return Err(fault! {
            PAYLOAD_TOO_LARGE, "upload-too-large",
            "The pictures have more than {} MiB in total. Upload fewer at a time.", app.settings.upload_mib
        });
    }
    let is_program = is_program(request.uri().path());
    let mut form = Multipart::from_request(request, app).await.map_err(|_| broken())?;
    let (mut about, mut files, mut unknown) = (About::default(), Vec::new(), Vec::new());
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
            "game" => about.game = text::clean(&text),
            "platform" => about.platform = text::clean(&text),
            "licence" => about.licence = text,
            // The page sends 1.
            "rights" => about.is_declared = ["1", "yes", "true"].contains(&text.as_str()),
            _ => unknown.push(name),
        }
    }
    match is_program && !unknown.is_empty() {
        true => Err(unknown_fields(unknown)),
        false => Ok((about, files)),
    }
}

async fn check(
    app: &App,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
    files: &[(String, Draft)],
) -> Result<()> {
    collection.require_open()?;
    if files.is_empty() || files.len() > FILES {
        return Err(fault!(UNPROCESSABLE_ENTITY, "files", "Choose 1 to {} pictures.", FILES));
    }
    if !about.is_declared {
        return Err(fault!(UNPROCESSABLE_ENTITY, "rights", "Confirm that the pictures are yours."));
    }
    if !collection.licences.contains(&about.licence) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "licence", "Choose a licence that this collection offers."));
    }
    let is_long = |text: &str| text.chars().count() > 80;
    if is_long(&about.game) || is_long(&about.platform) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "game", "What you say about a picture can have at most 80 characters."
        });
    }
    require_place(app.store.fetch_one(WAITING_NOW, args![&visitor.id]).await?, files.len() as i64)
}

/// Refuses pictures beyond those that may wait.
fn require_place(waiting: i64, more: i64) -> Result<()> {
    if waiting + more <= WAITING {
        return Ok(());
    }
    let fault = fault! {
        TOO_MANY_REQUESTS, "pictures-wait",
        "At most {} of your pictures can wait for a moderator. Please come back later.", WAITING
    };
    Err(fault.retry_after(3_600))
}

/// Notes what the uploader declared, and that they take part.
async fn consent(
    app: &App,
    page: &Page,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
) -> Result<String> {
    let id = ids::new_id();
    let mut tx = app.store.begin().await?;
    people::require_enabled(&mut tx, &visitor.id).await?;
    let row = columns! {
        id: &id, collection: &collection.id, account: &visitor.id, licence: &about.licence,
        declaration: page.t(DECLARATION), created_at: clock::now(),
    };
    tx.insert_row("consent", row).await?;
    contributors::join(&mut tx, &collection.id, &visitor.id).await?;
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
) -> Result<String> {
    app.limits.take("pictures", &visitor.id, app.settings.number(&crate::PICTURES_PER_MINUTE))?;
    if draft.size() > u64::from(app.settings.number(&crate::PICTURE_MIB)) << 20 {
        return Err(fault! {
            PAYLOAD_TOO_LARGE, "picture-too-large",
            "The picture is larger than {} MiB.", u64::from(app.settings.number(&crate::PICTURE_MIB))
        });
    }
    let blobs = app.blobs.clone();
    let keep = move || {
        let mut draft = draft;
        let head = draft.head(16)?;
        if !capeval_tasks::has_known_format(&head) {
            return Ok(None);
        }
        Ok::<_, std::io::Error>(Some(blobs.keep(draft)?))
    };
    let Some(hash) = tokio::task::spawn_blocking(keep).await?? else {
        return Err(fault!(UNPROCESSABLE_ENTITY, "type", "It is not a JPEG, PNG or WebP picture."));
    };
    let mut tx = app.store.begin().await?;
    let id = add(&mut tx, collection, visitor, about, consent, &hash).await?;
    jobs::add::<ProcessPicture>(&mut tx, &id, Priority::Background).await?;
    audit::note(&mut tx, Some(&visitor.id), "image.add", &id, json!({ "collection": collection.slug }))
        .await?;
    tx.commit().await?;
    Ok(id)
}

async fn add(
    tx: &mut Tx,
    collection: &Collection,
    visitor: &Visitor,
    about: &About,
    consent: &str,
    hash: &str,
) -> Result<String> {
    // Uploads at once are counted in turn.
    tx.lock("account", &visitor.id).await?;
    people::require_enabled(tx, &visitor.id).await?;
    require_place(tx.fetch_one(WAITING_NOW, args![&visitor.id]).await?, 1)?;
    let id = ids::new_id();
    // Consent is given once for each upload, whose pictures are likely to be alike.
    let alike = if about.game.is_empty() { consent } else { &about.game.to_lowercase() };
    let group = ids::digest(format!("{}\n{alike}", visitor.id));
    let row = columns! {
        id: &id, collection: &collection.id, uploader: &visitor.id, consent, licence: &about.licence,
        game: &about.game, platform: &about.platform, source_hash: hash, upload: hash, split_group: group,
        state: "processing", shuffle: order::place(slots::random()?), created_at: clock::now(),
    };
    let added = tx.add_row("image", row).await?;
    if !added {
        return Err(fault!(CONFLICT, "same-picture", "The same picture is in this collection already."));
    }
    Ok(id)
}
