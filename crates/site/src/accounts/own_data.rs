//! The data that all features keep about a person: exported as a file for them, and deleted.

use std::io::{BufWriter, Write};

use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::Contributions;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::Visitor;
use super::providers::identities;
use crate::app::App;
use crate::audit;
use crate::fault::Result;
pub use crate::personal_data::{Export, Leaving, PersonalData};
use crate::store::Tx;
use crate::web::route::{get, post};
use crate::web::{Access, Answer, Route, Scope, download};

/// The most bytes of files in an archive; the list in it names the rest.
const LARGEST: u64 = 512 << 20;

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
async fn exported(app: &App, visitor: Visitor) -> Result<Export> {
    let mut all = Export::default();
    for feature in app.personal_data() {
        let Export { data, files } = feature.export(app, &visitor.id).await?;
        all.data.extend(data);
        all.files.extend(files);
    }
    let identities = identities::exported(&app.store, &visitor.id).await?;
    all.data.insert("sign_ins".to_owned(), serde_json::to_value(identities)?);
    all.data.insert("name".to_owned(), visitor.name.into());
    all.data.insert("email".to_owned(), visitor.email.into());
    Ok(all)
}

async fn export_json(app: App, by: Visitor) -> Result<Answer<Contributions>> {
    Ok(Answer::json(&Contributions(exported(&app, by).await?.data)))
}

async fn export(app: App, by: Visitor) -> Result<Response> {
    app.limits.take("exports", &by.id, 2)?;
    let Export { data, files } = exported(&app, by).await?;
    let text = serde_json::to_vec_pretty(&data)?;
    let blobs = app.blobs.clone();
    // On the disk: the pictures of a person may be many.
    let pack = move || -> std::io::Result<std::fs::File> {
        let file = tempfile::tempfile_in(blobs.drafts())?;
        let mut archive = ZipWriter::new(BufWriter::new(file));
        let options = SimpleFileOptions::default();
        archive.start_file("contributions.json", options)?;
        archive.write_all(&text)?;
        let mut size = 0;
        for (name, hash) in files {
            let mut picture = std::fs::File::open(blobs.fetch(&hash)?)?;
            size += picture.metadata()?.len();
            if size > LARGEST {
                break;
            }
            archive.start_file(name, options.compression_method(CompressionMethod::Stored))?;
            std::io::copy(&mut picture, &mut archive)?;
        }
        archive.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)
    };
    let file = tokio::task::spawn_blocking(pack).await??;
    download::send_made(file, "contributions.zip", "application/zip").await
}

async fn delete(app: App, by: Visitor) -> Result<Response> {
    withdraw(&app, &by.id).await?;
    app.wake.notify();
    Ok(Redirect::to("/account?done=removed").into_response())
}

/// Deletes what a person has contributed.
pub(super) async fn withdraw(app: &App, account: &str) -> Result<()> {
    for feature in app.personal_data() {
        feature.withdraw(app, account).await?;
    }
    let mut tx = app.store.begin().await?;
    clear(&mut tx, app, account).await?;
    audit::note(&mut tx, Some(account), "account.contributions-delete", account, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Forgets a person whose account is deleted by this transaction.
pub(super) async fn forget(tx: &mut Tx, app: &App, person: &Leaving) -> Result<()> {
    clear(tx, app, &person.id).await?;
    for feature in app.personal_data() {
        feature.forget(tx, person).await?;
    }
    Ok(())
}

async fn clear(tx: &mut Tx, app: &App, account: &str) -> Result<()> {
    for feature in app.personal_data() {
        feature.clear(tx, account).await?;
    }
    Ok(())
}

/// Returns true if a feature must know the addresses of a person who leaves, should they come back.
pub(super) async fn is_remembered(tx: &mut Tx, app: &App, account: &str) -> Result<bool> {
    for feature in app.personal_data() {
        if feature.is_remembered(tx, account).await? {
            return Ok(true);
        }
    }
    Ok(false)
}
