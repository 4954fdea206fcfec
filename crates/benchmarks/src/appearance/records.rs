//! The appearance of a benchmark in the database, and the rules that it must follow.

use std::path::PathBuf;

use anyhow::ensure;
use capeval_site::pictures;
use capeval_site::prelude::*;
use capeval_site::store::Columns;
use serde_json::json;

use super::{OwnPage, colour, pages};
use crate::settings::{Benchmark, Phase, Plan};
use crate::{apply, notes};

/// The most characters of whom to ask.
pub const CONTACT: usize = 200;

/// A logo that was encoded again.
pub struct Logo {
    pub hash: String,
    /// The media type.
    pub kind: String,
}

impl Logo {
    /// The columns that store it.
    pub fn columns(self) -> Columns {
        columns! { logo_hash: self.hash, logo_kind: self.kind }
    }
}

/// The appearance in a plan, as it is stored.
///
/// # Errors
/// If something of it cannot be shown.
pub fn check(plan: &Plan) -> anyhow::Result<Plan> {
    let contact = clean_text::line(&plan.contact);
    let is_address =
        people::address(&contact).is_ok() || contact.starts_with("https://") && !contact.contains(' ');
    ensure!(
        contact.is_empty() || is_address && contact.chars().count() <= CONTACT,
        reason!("contact: `{}` is neither an email address nor a page (https://)", contact)
    );
    Ok(Plan {
        contact,
        accent: colour::checked(&plan.accent)?,
        pages: pages::checked(&plan.pages)?,
        ..plan.clone()
    })
}

/// Encodes a logo again, in the sandbox, and keeps a small copy of it.
///
/// # Errors
/// If it is no picture.
pub async fn encode_logo(app: &App, file: PathBuf) -> Result<Logo> {
    let encoded = match pictures::encode(app, file).await {
        Ok(encoded) => encoded.keep(&app.blobs).await,
        Err(failure) => Err(failure),
    };
    match encoded {
        Ok(kept) if kept.pictured.width.max(kept.pictured.height) > SMALL => {
            Ok(Logo { hash: kept.thumb, kind: "image/jpeg".to_owned() })
        }
        Ok(kept) => Ok(Logo { hash: kept.blob, kind: kept.pictured.kind }),
        Err(Failure::Lasting(why)) => {
            Err(fault!(UNPROCESSABLE_ENTITY, "logo", "The logo cannot be used: {}").because(why))
        }
        Err(other) => Err(Fault::internal(&other)),
    }
}

/// The longer side of the largest logo that is sent as it is.
const SMALL: u32 = 480;

impl Benchmark {
    /// The address of whom to ask, as a link; empty if there is none.
    pub fn contact_link(&self) -> String {
        match self.contact.as_str() {
            "" => String::new(),
            page if page.starts_with("https://") => page.to_owned(),
            email => format!("mailto:{email}"),
        }
    }

    /// The page of its hosts with this slug.
    pub fn own_page(&self, slug: &str) -> Option<&OwnPage> {
        self.pages.iter().find(|page| page.slug == slug)
    }
}

/// The dates of all phases, in order: the time, the title of the phase, and what happens.
pub fn schedule<'p>(phases: impl Iterator<Item = &'p Phase>) -> Vec<(i64, String, &'static str)> {
    let of = |phase: &Phase| {
        let dates = phase.dates().into_iter();
        dates.map(|(what, time)| (time, phase.title.clone(), what)).collect::<Vec<_>>()
    };
    let mut dates: Vec<_> = phases.flat_map(of).collect();
    dates.sort_by_key(|(time, ..)| *time);
    dates
}

/// The columns that store the appearance in a checked plan, apart from the logo.
pub fn columns(plan: &Plan) -> Result<Columns, Error> {
    Ok(columns! { contact: &plan.contact, accent: &plan.accent, pages: store::list(&plan.pages)? })
}

/// Changes the appearance of a benchmark as it is by then, since two hosts may write pages at once.
pub async fn change(
    app: &App,
    by: &Visitor,
    benchmark: &str,
    what: &str,
    change: impl FnOnce(&mut Plan) + Send,
) -> Result<()> {
    let mut tx = app.store.begin().await?;
    tx.lock("benchmark", benchmark).await?;
    let now = tx.fetch_optional("SELECT * FROM benchmark WHERE id = $1", args![benchmark]).await?;
    let now: Benchmark = now.ok_or_else(Fault::not_found)?;
    let mut plan = Plan::of_row(&now);
    change(&mut plan);
    let row = check(&plan).and_then(|plan| Ok(columns(&plan)?)).map_err(apply::refusal)?;
    write(tx, by, benchmark, what, row).await
}

/// Changes the logo of a benchmark.
pub async fn change_logo(app: &App, by: &Visitor, benchmark: &str, row: Columns) -> Result<()> {
    write(app.store.begin().await?, by, benchmark, "logo", row).await
}

async fn write(mut tx: Tx, by: &Visitor, benchmark: &str, what: &str, row: Columns) -> Result<()> {
    tx.change_row("benchmark", benchmark, row).await?;
    let detail = json!({ "changed": what });
    notes::note(&mut tx, Some(&by.id), "benchmark.appearance", benchmark, detail).await?;
    Ok(tx.commit().await?)
}
