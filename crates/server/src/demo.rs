//! Fills an empty site with something to click on: accounts, benchmarks with references of its own making, entries, and
//! a collection.

mod collection;
mod contests;
mod scenes;
mod texts;

use anyhow::bail;
use capeval_site::accounts::Role;
use capeval_site::accounts::people::NewAccount;
use capeval_site::prelude::*;
use capeval_site::settings::Settings;
use serde_json::json;

/// The password of all accounts of the demonstration, which listens on this machine only.
const PASSWORD: &str = "demonstration";

/// The entry of the audit log for a site that was made here.
const MADE: &str = "demo.fill";

/// Makes sure that only the people at this machine can use the accounts, whose password is public.
pub fn check(settings: &Settings) -> anyhow::Result<()> {
    if !settings.is_local() {
        bail!(
            "the demo has public passwords, so it does not listen on {}: use 127.0.0.1:8080",
            settings.listen
        );
    }
    if !settings.bucket.is_empty() {
        bail!("the demo keeps its files in a folder of its own, not in the bucket of the settings");
    }
    if !settings.database.is_empty() {
        bail!("the demo keeps its data in a folder of its own, not in the database of the settings");
    }
    Ok(())
}

/// Fills an empty folder, and returns what to tell people. Entries and the collection come while the site is served,
/// where their jobs run.
pub async fn fill(app: &App) -> anyhow::Result<Vec<String>> {
    let mut lines = vec![format!(
        "sign in as admin@example.org, host@example.org or ada@example.org with the password `{PASSWORD}`"
    )];
    if people::count(&app.store).await? > 0 {
        if !app.store.exists("SELECT 1 FROM audit WHERE action = $1", args![MADE]).await? {
            bail!("{} has the data of another site: give the demo a folder of its own", app.folder.display());
        }
        lines.push(format!("using the existing demo data in {}", app.folder.display()));
        return Ok(lines);
    }
    let password = app.hasher.hash(PASSWORD).await?;
    let mut visitors = Vec::new();
    let mut tx = app.store.begin().await?;
    let names = [("Admin", Role::Admin), ("Host", Role::Host)].into_iter();
    let members = ["Ada", "Bao", "Chen", "Dina", "Emil"].map(|name| (name, Role::Member));
    for (name, role) in names.chain(members) {
        let email = format!("{}@example.org", name.to_lowercase());
        let new = NewAccount { email: &email, name, password: password.clone(), role };
        let id = people::add(&mut tx, new).await?;
        let visitor =
            Visitor { id, name: name.to_owned(), email, role, scopes: Scope::ALL.to_vec(), session: None };
        visitors.push(visitor);
    }
    audit::note(&mut tx, None, MADE, "demo", json!({})).await?;
    tx.commit().await?;

    contests::fill(app, &visitors).await?;
    // Its pictures take a while to draw.
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(error) = collection::fill(&app, &visitors).await {
            tracing::error!(%error, "the collection of the demo cannot be filled");
        }
    });
    Ok(lines)
}
