//! People come, sign in, make tokens, and leave.

use axum::http::Request;
use capeval_site::accounts::{Role, invitations, people};
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::json;

use crate::support::{Answer, Client, Database, Page as _, Site, dump, on_both, on_sqlite, settings};

on_both! {
    the_first_administrator_comes_by_a_link_and_invites_a_host
    tokens_do_what_their_scopes_allow
    links_of_administrators_end_with_their_role
    administrators_give_links_and_delete_accounts
}

on_sqlite! {
    over_tls_cookies_are_guarded_and_other_sites_are_refused
    who_tries_too_often_waits
    guesses_from_many_networks_are_limited
    guesses_with_a_stolen_session_are_limited
    guesses_of_others_do_not_keep_the_owner_out
    the_answer_takes_as_long_whether_or_not_there_is_an_account
    pages_of_faults_greet_who_is_signed_in
    one_mailbox_is_one_account
    a_link_to_a_team_makes_no_account
}

async fn the_first_administrator_comes_by_a_link_and_invites_a_host(database: Database) {
    let site = Site::new(database).await;
    let anybody = site.anybody();
    let old = invitations::for_first_administrator(&site.app.store).await.unwrap().unwrap();
    let path = invitations::for_first_administrator(&site.app.store).await.unwrap().unwrap();
    anybody.get(&old).await.expect(410);
    assert!(anybody.get(&path).await.expect(200).text.contains("admin"));

    let ada = [("email", "Ada@example.org"), ("name", "Ada"), ("password", "short")];
    let refused = anybody.post(&path, &ada).await.expect(422);
    assert!(
        refused.text.contains("A password must have 10 to 200 characters.")
            && refused.text.contains("Ada@example.org")
    );
    let ada = [("email", "Ada@example.org"), ("name", "Ada"), ("password", "a long password")];
    let answer = anybody.post(&path, &ada).await.expect(303);
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("HttpOnly; SameSite=Lax") && !cookie.contains("Secure"), "{cookie}");
    let admin = anybody.with_cookie_of(&answer);
    assert!(admin.get("/account").await.expect(200).text.contains("ada@example.org"));
    assert_eq!(invitations::for_first_administrator(&site.app.store).await.unwrap(), None);
    anybody.post(&path, &ada).await.expect(410);

    let invited = admin.post("/admin/invitations", &[("role", "host")]).await.expect(200).text;
    let link = invited.link().to_owned();
    let bob = [("email", "bob@example.org"), ("name", "Bob"), ("password", "another password")];
    anybody.post(&link, &bob).await.expect(303);
    anybody.post(&link, &bob).await.expect(410);

    for (email, password) in
        [("bob@example.org", "wrong password"), ("unknown@example.org", "another password")]
    {
        let refused = anybody.post("/sign-in", &[("email", email), ("password", password)]).await.expect(401);
        assert!(refused.text.contains("Email address and password do not match."));
    }
    let signed_in =
        [("email", " BOB@example.org"), ("password", "another password"), ("to", "//evil.example")];
    let answer = anybody.post("/sign-in", &signed_in).await.expect(303);
    assert_eq!(answer.header("location"), "/");
    let old = anybody.with_cookie_of(&answer);
    old.get("/account").await.expect(200);
    // A new session of the browser ends the one that it had.
    let bob = old.with_cookie_of(&old.post("/sign-in", &signed_in).await.expect(303));
    old.get("/account").await.expect(303);
    bob.get("/account").await.expect(200);
    bob.get("/admin/accounts").await.expect(404);

    let accounts = admin.get("/admin/accounts?q=bob").await.expect(200).text;
    assert!(accounts.contains("bob@example.org") && !accounts.contains("/role\" class=\"inline\">Ada"));
    let id = accounts.between("/admin/accounts/", "/").to_owned();
    admin.post(&format!("/admin/accounts/{id}/role"), &[("role", "disabled")]).await.expect(303);
    assert_eq!(bob.get("/account").await.expect(303).header("location"), "/sign-in?to=/account");
    anybody
        .post("/sign-in", &[("email", "bob@example.org"), ("password", "another password")])
        .await
        .expect(401);
    assert!(admin.get("/admin/audit").await.expect(200).text.contains("account.role"));

    let new = [("old", "a long password"), ("new", "an even longer password")];
    let changed = admin.post("/account/password", &new).await.expect(303);
    admin.get("/account").await.expect(303);
    let admin = admin.with_cookie_of(&changed);
    admin.get("/account").await.expect(200);
    admin.post("/sign-out", &[]).await.expect(303);
    admin.get("/account").await.expect(303);
}

async fn tokens_do_what_their_scopes_allow(database: Database) {
    let site = Site::new(database).await;
    let person = site.person("Eve", Role::Member).await;
    let page =
        person.post("/account/tokens", &[("name", "laptop"), ("scope", "submit")]).await.expect(200).text;
    let token = page.between("cev_", "<");
    let program = Client { token: Some(format!("cev_{token}")), ..site.anybody() };
    let me = program.get("/api/v1/me").await.expect(200).json();
    assert_eq!((me["name"].as_str(), &me["scopes"]), (Some("Eve"), &json!(["read", "submit"])));
    let stored = site.app.store.all("SELECT * FROM api_token", vec![]).await.unwrap();
    assert_ne!(stored[0].get::<String>("hash").unwrap(), token);

    let made = program.post_json("/api/v1/me/tokens", &json!({ "scope": "read" })).await.expect(201).json();
    let reader = Client { token: Some(made["token"].as_str().unwrap().to_owned()), ..site.anybody() };
    let refused = reader.post_json("/api/v1/me/tokens", &json!({ "scope": "read" })).await.expect(403).json();
    assert_eq!(refused["code"], "scope");
    program.post_json("/api/v1/me/tokens", &json!({ "scope": "host" })).await.expect(403);
    program.post_json("/api/v1/me/tokens", &json!({ "scope": "everything" })).await.expect(400);

    let tokens = reader.get("/api/v1/me/tokens").await.expect(200).json();
    assert_eq!(tokens["tokens"].as_array().unwrap().len(), 2);
    assert!(!reader.get("/api/v1/me/tokens").await.text.contains(token));
    let id = tokens["tokens"][0]["id"].as_str().unwrap();
    let other = site.program("Other", Role::Member, Scope::Host).await;
    let delete = |id: &str| Request::delete(format!("/api/v1/me/tokens/{id}"));
    other.send(delete(id), "").await.expect(404);
    program.send(delete(id), "").await.expect(204);
    let refused = program.get("/api/v1/me").await.expect(401);
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    assert_eq!(refused.header("content-type"), "application/problem+json");
    // No token removes one that allows more, and none outlives the password.
    let weak = site.program("Eve", Role::Member, Scope::Submit).await;
    site.program("Eve", Role::Member, Scope::Host).await;
    let tokens = weak.get("/api/v1/me/tokens").await.expect(200).json();
    let of = |scope: &str| {
        let mut tokens = tokens["tokens"].as_array().unwrap().iter();
        tokens.find(|token| token["scopes"] == scope).unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(weak.send(delete(&of("host")), "").await.expect(403).json()["code"], "scope-larger");
    weak.send(delete(&of("read")), "").await.expect(204);
    assert_eq!(weak.get("/api/v1/me/tokens").await.json()["tokens"].as_array().unwrap().len(), 2);
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    let sql = "UPDATE account SET password = $1 WHERE name = 'Eve'";
    site.app.store.execute(sql, args![hash]).await.unwrap();
    let new = [("old", "a long password"), ("new", "another long password")];
    let person = person.with_cookie_of(&person.post("/account/password", &new).await.expect(303));
    weak.get("/api/v1/me").await.expect(401);
    let reader = site.program("Eve", Role::Member, Scope::Read).await;
    // Routes for programs never read cookies, and pages never read tokens.
    person.get("/api/v1/me").await.expect(401);
    reader.get("/account").await.expect(303);
}

async fn over_tls_cookies_are_guarded_and_other_sites_are_refused() {
    let settings = capeval_site::settings::Settings {
        public_url: "https://captions.example.org/".to_owned(),
        registration: "open".to_owned(),
        ..settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    let fields = "email=a%40example.org&name=A&password=a+long+password";
    let post = || Request::post("/register").header("content-type", "application/x-www-form-urlencoded");
    let anybody = site.anybody();
    let refused = anybody.send(post().header("origin", "https://evil.example"), fields).await.expect(403);
    assert!(refused.text.contains("This request came from another site"));
    anybody.send(post().header("sec-fetch-site", "cross-site"), fields).await.expect(403);
    let trusted =
        post().header("origin", "https://captions.example.org").header("sec-fetch-site", "same-origin");
    let answer = anybody.send(trusted, fields).await.expect(303);
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-capeval=") && cookie.contains("; Secure; Path=/;"));
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000; includeSubDomains");
    let chosen = anybody.get("/language/zh").await.expect(303);
    let language = chosen.header("set-cookie");
    assert!(
        language.starts_with("__Host-language=zh; HttpOnly;") && language.contains("; Secure; Path=/;"),
        "{language}"
    );
    assert!(
        anybody.with_cookie_of(&chosen).get("/sign-in").await.expect(200).text.contains("<html lang=\"zh")
    );
}

async fn who_tries_too_often_waits() {
    let settings = capeval_site::settings::Settings { sign_ins_per_minute: 3, ..settings(Database::Sqlite) };
    let site = Site::with(settings).await;
    let anybody = site.anybody();
    let wrong = [("email", "a@example.org"), ("password", "a guess")];
    for _ in 0..3 {
        anybody.post("/sign-in", &wrong).await.expect(401);
    }
    let refused = anybody.post("/sign-in", &wrong).await.expect(429);
    assert!((1..=20).contains(&refused.header("retry-after").parse::<i32>().unwrap()));
}

async fn guesses_from_many_networks_are_limited() {
    let settings = capeval_site::settings::Settings {
        sign_ins_per_minute: 3,
        proxies: vec!["127.0.0.1".to_owned()],
        ..settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    let anybody = site.anybody();
    // Three from each of ten networks.
    let many = (0..30).map(|k| (k, ["a@example.org", "A@example.org", " a@example.org"][k % 3], 401));
    for (k, email, status) in many.chain([(30, "a@example.org", 429), (31, "b@example.org", 401)]) {
        let post = Request::post("/sign-in")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-forwarded-for", format!("203.0.{k}.1"));
        anybody
            .send(post, format!("email={}&password=guess", email.replace('@', "%40")))
            .await
            .expect(status);
    }
}

async fn guesses_with_a_stolen_session_are_limited() {
    let settings = capeval_site::settings::Settings {
        sign_ins_per_minute: 3,
        proxies: vec!["127.0.0.1".to_owned()],
        ..settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    let bao = site.person("Bao", Role::Member).await;
    for (k, path, status) in [
        (1, "/account/delete", 422),
        (2, "/account/address", 422),
        (3, "/account/password", 422),
        (4, "/account/delete", 429),
        // Who tries with a stolen session does not keep others out.
        (5, "/sign-in", 401),
    ] {
        let post = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-forwarded-for", format!("203.0.{k}.1"));
        let guess = "email=bao%40example.org&password=guess&old=guess&new=a+longer+guess";
        bao.send(post, guess).await.expect(status);
    }
}

async fn guesses_of_others_do_not_keep_the_owner_out() {
    let settings = capeval_site::settings::Settings {
        sign_ins_per_minute: 3,
        proxies: vec!["127.0.0.1".to_owned()],
        smtp: "smtp://127.0.0.1:1".to_owned(),
        mail_from: "no-reply@example.org".to_owned(),
        ..settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    let id = site.account("Bao", Role::Member).await;
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
    let send = async |who: &Client, path: &str, network: usize, password: &str| {
        let post = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("x-forwarded-for", format!("203.0.{network}.1"));
        who.send(post, format!("email=bao%40example.org&password={password}")).await
    };
    let sign_in =
        async |who: &Client, network: usize, password: &str| send(who, "/sign-in", network, password).await;
    // The browser that an answer makes known, without its session.
    let known = |answer: &Answer| {
        let mut cookies = answer.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
        let device = cookies.find(|cookie| cookie.starts_with("capeval-device=")).unwrap();
        site.anybody().with_cookie(device.split(';').next().unwrap())
    };
    let anybody = site.anybody();
    for _ in 0..3 {
        sign_in(&anybody, 1, "a+guess").await.expect(401);
    }
    sign_in(&anybody, 1, "a+long+password").await.expect(429);
    let owner = known(&sign_in(&anybody, 2, "a+long+password").await.expect(303));
    // Guesses from everywhere, which use up what strangers have.
    for k in 0..26 {
        sign_in(&anybody, 10 + k / 3, "a+guess").await.expect(401);
    }
    sign_in(&anybody, 90, "a+long+password").await.expect(429);
    sign_in(&anybody, 91, "a+long+password").await.expect(429);
    let again = sign_in(&owner, 92, "a+long+password").await.expect(303);
    assert_eq!(again.headers.get_all("set-cookie").iter().count(), 1, "the browser is known already");
    // The cookie of one person says nothing about another.
    let other = Request::post("/sign-in").header("content-type", "application/x-www-form-urlencoded");
    owner.send(other, "email=eve%40example.org&password=a+guess").await.expect(401);
    let mail = "SELECT COUNT(*) FROM outbox WHERE target = 'bao@example.org'";
    assert_eq!(site.app.store.fetch_one::<i64>(mail, args![]).await.unwrap(), 1, "the owner is told once");

    let mut tx = site.app.store.begin().await.unwrap();
    let link = capeval_site::accounts::links::for_password(&mut tx, None, &id).await.unwrap();
    tx.commit().await.unwrap();
    let reset = known(&send(&anybody, &link, 93, "another+long+password").await.expect(303));
    sign_in(&anybody, 94, "another+long+password").await.expect(429);
    sign_in(&reset, 94, "another+long+password").await.expect(303);
    // The browsers of those who knew the old password are known no more.
    sign_in(&owner, 95, "another+long+password").await.expect(429);
}

/// It takes the same statements of the database.
async fn the_answer_takes_as_long_whether_or_not_there_is_an_account() {
    let settings = capeval_site::settings::Settings {
        smtp: "smtp://127.0.0.1:1".to_owned(),
        mail_from: "no-reply@example.org".to_owned(),
        registration: "open".to_owned(),
        ..settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    site.account("Ada", Role::Member).await;
    let anybody = site.anybody();
    let bao = site.person("Bao", Role::Member).await;
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
    for (who, path, known) in
        [(&anybody, "/forgotten", "ada"), (&anybody, "/register", "cleo"), (&bao, "/account/address", "dora")]
    {
        site.person(known, Role::Member).await;
        let mut work = Vec::new();
        // The first one ends no earlier link. An address gets few links in a minute.
        for name in [format!("first-{known}"), known.to_owned(), format!("no-{known}")] {
            let email = format!("{name}@example.org");
            let email = email.as_str();
            let before = dump(&site).await.lines().count();
            let asked = [("email", email), ("password", "a long password")];
            let (answer, statements) = capeval_site::testing::counting(who.post(path, &asked)).await;
            answer.expect(200);
            work.push((statements, dump(&site).await.lines().count() - before));
        }
        assert!(work[1].0 > 0 && work[1] == work[2], "{path}: statements and rows {work:?}");
    }
    let bodies = "SELECT body FROM outbox WHERE target IN ('cleo@example.org', 'dora@example.org') AND body LIKE '%already have an account%'";
    let bodies: Vec<String> = site.app.store.fetch(bodies, args![]).await.unwrap();
    assert!(bodies.len() == 2 && bodies.iter().all(|body| body.ends_with("/sign-in\n")), "{bodies:?}");
}

async fn pages_of_faults_greet_who_is_signed_in() {
    let site = Site::new(Database::Sqlite).await;
    let bao = site.person("Bao", Role::Member).await;
    let foreign = Request::post("/teams").header("origin", "https://evil.example");
    let foreign = foreign.header("sec-fetch-site", "cross-site");
    for (request, status) in [
        (Request::get("/nowhere"), 404),
        (Request::put("/teams"), 405),
        (foreign, 403),
        (Request::get("/b/lost"), 404),
    ] {
        let page = bao.send(request, "").await.expect(status).text;
        assert!(page.contains("/account\"") && !page.contains("/sign-in"), "{page}");
    }
    assert!(site.anybody().get("/nowhere").await.expect(404).text.contains("/sign-in"));
}

/// Otherwise someone would have several accounts, each with a quota, and pass for another.
async fn one_mailbox_is_one_account() {
    let open =
        capeval_site::settings::Settings { registration: "open".to_owned(), ..settings(Database::Sqlite) };
    let site = Site::with(open).await;
    let register = async |email: &str| {
        let fields = [("email", email), ("name", "Ada"), ("password", "a long password")];
        site.anybody().post("/register", &fields).await.status.as_u16()
    };
    assert_eq!(register("ada@ex\u{e4}mple.org").await, 303);
    for same in ["ada@exa\u{308}mple.org", "ADA@EX\u{c4}MPLE.ORG", "\u{ff41}da@ex\u{e4}mple.org"] {
        assert_eq!(register(same).await, 409, "{same}");
        let sign_in = [("email", same), ("password", "a long password")];
        site.anybody().post("/sign-in", &sign_in).await.expect(303);
    }
    assert_eq!(register("ada\u{200b}@ex\u{e4}mple.org").await, 422);
}

async fn administrators_give_links_and_delete_accounts(database: Database) {
    let site = Site::new(database).await;
    let (admin, anybody) = (site.person("Ada", Role::Admin).await, site.anybody());
    let bao = site.person("Bao", Role::Member).await;
    let program = site.program("Ada", Role::Admin, Scope::Host).await;
    let known = program.get("/api/v1/accounts?q=bao").await.expect(200).json();
    let id = known["accounts"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(known["accounts"].as_array().unwrap().len(), 1);

    assert!(anybody.get("/forgotten").await.expect(200).text.contains("This site sends no email."));
    let page = admin.post(&format!("/admin/accounts/{id}/link"), &[]).await.expect(200).text;
    assert!(page.contains("New password for Bao"));
    let first = page.link().to_owned();
    let made = program.post_json(&format!("/api/v1/accounts/{id}/link"), &json!({})).await.expect(200).json();
    let second = made["url"].as_str().unwrap();
    let second = &second[second.find("/reset/").unwrap()..];
    // The newest link ends those before, and works once.
    anybody.get(&first).await.expect(410);
    anybody.get(second).await.expect(200);
    anybody.get(&second.replace("/reset/", "/address/")).await.expect(410);
    anybody.post(second, &[("password", "short")]).await.expect(422);
    let new = [("password", "a quite new password")];
    assert_eq!(anybody.post(second, &new).await.expect(303).header("location"), "/sign-in?done=password");
    anybody.post(second, &new).await.expect(410);
    bao.get("/account").await.expect(303);
    let signed_in = [("email", "bao@example.org"), ("password", "a quite new password")];
    let bao = anybody.with_cookie_of(&anybody.post("/sign-in", &signed_in).await.expect(303));

    // Without mail, an address changes at once; one that is taken does not.
    let to = |email| [("email", email), ("password", "a quite new password")];
    bao.post("/account/address", &[("email", "b@example.org"), ("password", "a guess")]).await.expect(422);
    bao.post("/account/address", &to("ada@example.org")).await.expect(409);
    bao.post("/account/address", &to("B@example.org")).await.expect(303);
    assert!(bao.get("/account").await.expect(200).text.contains("b@example.org"));

    // Links of accounts that are disabled do not work, nor are any made.
    let link = admin.post(&format!("/admin/accounts/{id}/link"), &[]).await.expect(200).text;
    admin.post(&format!("/admin/accounts/{id}/role"), &[("role", "disabled")]).await.expect(303);
    anybody.post(link.link(), &new).await.expect(410);
    admin.post(&format!("/admin/accounts/{id}/link"), &[]).await.expect(409);

    let delete = || Request::delete(format!("/api/v1/accounts/{id}"));
    site.program("Bob", Role::Host, Scope::Host).await.send(delete(), "").await.expect(404);
    program.send(delete(), "").await.expect(204);
    assert_eq!(program.get("/api/v1/accounts?q=bao").await.json()["accounts"], json!([]));
    // What is deleted stays deleted.
    program.send(delete(), "").await.expect(404);
    admin.post(&format!("/admin/accounts/{id}/role"), &[("role", "member")]).await.expect(404);
    let own = people::by_email(&site.app.store, "ada@example.org").await.unwrap().unwrap().id;
    admin.post(&format!("/admin/accounts/{own}/remove"), &[]).await.expect(409);
}

async fn links_of_administrators_end_with_their_role(database: Database) {
    let site = Site::new(database).await;
    let anybody = site.anybody();
    // The first link ends with the first account, although no one used it.
    let first = invitations::for_first_administrator(&site.app.store).await.unwrap().unwrap();
    let (ada, bao) = (site.person("Ada", Role::Admin).await, site.person("Bao", Role::Admin).await);
    anybody.get(&first).await.expect(410);
    let evil = [("email", "evil@example.org"), ("name", "Evil"), ("password", "a long password")];
    anybody.post(&first, &evil).await.expect(410);

    // Ada makes links, and Bao then disables her.
    let made = ada.post("/admin/invitations", &[("role", "admin")]).await.expect(200).text;
    let link = made.link();
    anybody.get(link).await.expect(200);
    let id = people::by_email(&site.app.store, "ada@example.org").await.unwrap().unwrap().id;
    bao.post(&format!("/admin/accounts/{id}/role"), &[("role", "disabled")]).await.expect(303);
    anybody.get(link).await.expect(410);
    anybody.post(link, &evil).await.expect(410);

    // Two administrators who disable each other at once do not both succeed.
    for round in 0..5 {
        let mut ids = Vec::new();
        for k in 0..2 {
            ids.push(site.account(&format!("boss{round}{k}"), Role::Admin).await);
        }
        let sql = "UPDATE account SET disabled_at = 1 WHERE role = 'admin' AND id NOT IN ($1, $2)";
        site.app.store.execute(sql, args![&ids[0], &ids[1]]).await.unwrap();
        let disable = |id: &str| {
            let (store, id) = (site.app.store.clone(), id.to_owned());
            tokio::spawn(async move {
                let mut tx = store.begin().await.unwrap();
                people::set_role(&mut tx, None, &id, None).await.is_ok() && tx.commit().await.is_ok()
            })
        };
        let both = [disable(&ids[0]), disable(&ids[1])];
        let mut done = 0;
        for one in both {
            done += u32::from(one.await.unwrap());
        }
        assert_eq!(done, 1, "round {round}");
    }
}

async fn a_link_to_a_team_makes_no_account() {
    let settings =
        capeval_site::settings::Settings { registration: "open".to_owned(), ..settings(Database::Sqlite) };
    let site = Site::with(settings).await;
    let (ada, anybody) = (site.person("Ada", Role::Member).await, site.anybody());
    ada.post("/teams", &[("name", "Ours")]).await.expect(303);
    let list = ada.get("/teams").await.expect(200).text;
    let id = list.between("/teams/", "/");
    let page = ada.post(&format!("/teams/{id}/invite"), &[]).await.expect(200).text;
    let link = page.link();
    let evil = [("email", "victim@example.org"), ("name", "Evil"), ("password", "a long password")];
    anybody.post(link, &evil).await.expect(404);
    assert!(people::by_email(&site.app.store, "victim@example.org").await.unwrap().is_none());
    let bao = site.person("Bao", Role::Member).await;
    let link = bao.get(link).await.expect(303).header("location").to_owned();
    bao.post(&link, &[]).await.expect(303);
    assert!(ada.get("/teams").await.expect(200).text.contains("Bao"));
}
