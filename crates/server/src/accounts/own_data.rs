//! What the site keeps about a person: each feature says what it exports and how it forgets the person.

use std::io::{Cursor, Write};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Visitor;
use crate::app::App;
use crate::audit;
use crate::fault::Fault;
use crate::store::Tx;
use crate::web::route::{get, post};
use crate::web::{Access, Person, Route, Scope};

/// The most bytes of files in an archive; whoever has more gets the rest from their list.
const LARGEST: u64 = 512 << 20;

/// What a feature keeps about people.
pub trait PersonalData: Sync {
    /// What a person has contributed.
    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export, Fault>> {
        let _ = (app, account);
        Box::pin(async { Ok(Export::default()) })
    }

    /// Withdraws what a person has contributed, each thing in a transaction of its own, so that others need not wait.
    /// If the process is killed, it is asked again.
    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        let _ = (app, account);
        Box::pin(async { Ok(()) })
    }

    /// Deletes what is left of the contributions, or says that something was contributed since they were withdrawn.
    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        let _ = (tx, account);
        Box::pin(async { Ok(()) })
    }

    /// Forgets a person whose account is deleted by the same transaction.
    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<(), Fault>>;
}

/// A part of an export.
#[derive(Default)]
pub struct Export {
    /// Rows, by what they are.
    pub data: Map<String, Value>,
    /// Files: the name in the archive, and the hash among the blobs.
    pub files: Vec<(String, String)>,
}

/// A person whose account is being deleted.
pub struct Leaving {
    /// The id of the account.
    pub id: String,
    /// The email address.
    pub email: String,
    /// The name.
    pub name: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/account/contributions.zip", Access::Person(Scope::Read), "Download your contributions", export),
        get(
            "/api/v1/me/contributions",
            Access::Person(Scope::Read),
            "Export your contributions",
            export_json,
        ),
        post(
            "/account/contributions/delete",
            Access::Person(Scope::Host),
            "Delete all your contributions",
            delete,
        ),
    ]
}

/// The exports of all features as one.
async fn exported(app: &App, visitor: Visitor) -> Result<Export, Fault> {
    let mut all = Export::default();
    for feature in app.personal_data {
        let Export { data, files } = feature.export(app, &visitor.id).await?;
        all.data.extend(data);
        all.files.extend(files);
    }
    all.data.insert("name".to_owned(), visitor.name.into());
    all.data.insert("email".to_owned(), visitor.email.into());
    Ok(all)
}

async fn export_json(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    Ok(axum::Json(exported(&app, visitor).await?.data).into_response())
}

async fn export(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    app.limits.take("exports", &visitor.id, 2)?;
    let Export { data, files } = exported(&app, visitor).await?;
    let text = serde_json::to_vec_pretty(&data)?;
    let blobs = app.blobs.clone();
    let pack = move || -> std::io::Result<Vec<u8>> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        archive.start_file("contributions.json", options)?;
        archive.write_all(&text)?;
        let mut size = 0;
        for (name, hash) in files {
            let bytes = blobs.read(&hash)?;
            size += bytes.len() as u64;
            if size > LARGEST {
                break;
            }
            archive.start_file(name, options.compression_method(CompressionMethod::Stored))?;
            archive.write_all(&bytes)?;
        }
        Ok(archive.finish()?.into_inner())
    };
    let bytes = tokio::task::spawn_blocking(pack).await??;
    let headers = [
        (header::CONTENT_TYPE, "application/zip"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"contributions.zip\""),
    ];
    Ok((headers, bytes).into_response())
}

async fn delete(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    withdraw(&app, &visitor.id).await?;
    app.wake.notify();
    Ok(Redirect::to("/account?done=removed").into_response())
}

/// Deletes what a person has contributed.
///
/// # Errors
/// If a moderator has to decide about something first, or something was contributed at the same time.
pub(super) async fn withdraw(app: &App, account: &str) -> Result<(), Fault> {
    for feature in app.personal_data {
        feature.withdraw(app, account).await?;
    }
    let mut tx = app.store.begin().await?;
    clear(&mut tx, app, account).await?;
    audit::note(&mut tx, Some(account), "account.contributions-delete", account, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Forgets a person whose account is deleted by this transaction.
pub(super) async fn forget(tx: &mut Tx, app: &App, person: &Leaving) -> Result<(), Fault> {
    clear(tx, app, &person.id).await?;
    for feature in app.personal_data {
        feature.forget(tx, person).await?;
    }
    Ok(())
}

async fn clear(tx: &mut Tx, app: &App, account: &str) -> Result<(), Fault> {
    for feature in app.personal_data {
        feature.clear(tx, account).await?;
    }
    Ok(())
}
