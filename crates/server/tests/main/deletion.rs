//! People delete their accounts: what they contributed goes, and nothing names them.

use capeval_server::accounts::Role;
use capeval_server::web::Scope;
use capeval_server::{args, store};
use serde_json::json;

use crate::collections::{apply, asked, assert_consistent, captioner, counters, open_pictures, sentence};
use crate::support::{Database, Site, on_both};

on_both! { an_account_goes_with_all_that_names_its_owner }

async fn an_account_goes_with_all_that_names_its_owner(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2 })).await;
    open_pictures(&site, 1).await;
    let zoe = captioner(&site, "Zoelina").await;
    let program = site.program("Zoelina", Role::Member, Scope::Read).await;
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    let sql = "UPDATE account SET password = $1 WHERE name = 'Zoelina'";
    site.app.store.execute(sql, args![hash]).await.unwrap();
    zoe.post("/teams", &[("name", "Zoelina")]).await.expect(303);
    let image = asked(&zoe.get("/c/c/caption").await.expect(200).text);
    let caption = [("image", image.as_str()), ("language", "en"), ("text", &sentence(1))];
    zoe.post("/c/c/caption", &caption).await.expect(303);
    assert_eq!(counters(&site, &image).await.1, 1);

    // The page asks for the password, with and without a script.
    assert!(zoe.get("/account").await.expect(200).text.contains("action=\"/account/delete\""));
    let wrong = zoe.post("/account/delete", &[("password", "another password")]).await.expect(422);
    assert!(wrong.text.contains("The password is not right."));
    let gone = zoe.post("/account/delete", &[("password", "a long password")]).await.expect(303);
    assert_eq!(gone.header("location"), "/?done=account-deleted");
    assert!(zoe.get("/account").await.expect(303).header("location").starts_with("/sign-in"));
    program.get("/api/v1/me").await.expect(401);
    let sign_in = [("email", "zoelina@example.org"), ("password", "a long password")];
    assert_eq!(site.anybody().post("/sign-in", &sign_in).await.status.as_u16(), 401);
    assert_eq!(counters(&site, &image).await, ("open".into(), 0, 0));
    assert_consistent(&site).await;
    // Nothing in the database has the name or the address.
    for (sql, column) in [
        ("SELECT email || name AS text FROM account", "account"),
        ("SELECT name AS text FROM team", "team"),
        ("SELECT text FROM caption", "caption"),
        ("SELECT detail AS text FROM audit", "audit"),
    ] {
        for row in site.app.store.all(sql, args![]).await.unwrap() {
            let text: String = store::Row::get(&row, "text").unwrap();
            assert!(!text.to_lowercase().contains("zoelina"), "{column}: {text}");
        }
    }

    // The only administrator stays.
    let root = site.person("Root", Role::Admin).await;
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    let sql = "UPDATE account SET password = $1 WHERE name = 'Root'";
    site.app.store.execute(sql, args![hash]).await.unwrap();
    let refused = root.post("/account/delete", &[("password", "a long password")]).await.expect(409);
    assert!(refused.text.contains("You are the only administrator."), "{}", refused.text);
    site.account("Other", Role::Admin).await;
    root.post("/account/delete", &[("password", "a long password")]).await.expect(303);
}
