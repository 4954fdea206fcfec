//! Sign-in with accounts of other sites, at a small provider on loopback that signs tokens, and may lie.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, State};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use capeval_site::accounts::providers::Provider as Plan;
use capeval_site::accounts::{Role, people, totp};
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use data_encoding::{BASE64, BASE64_MIME_PERMISSIVE, BASE64URL_NOPAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;

use crate::support::{Answer, Client, Database, Page as _, Site, on_both, on_sqlite, settings};

on_both! {
    people_sign_in_with_an_account_that_a_provider_confirms
    what_a_provider_does_not_confirm_needs_a_password
    tokens_and_answers_that_are_wrong_are_refused
    registration_second_factors_and_ends_of_accounts_are_respected
    people_sign_in_with_github
}

on_sqlite! {
    without_providers_there_is_nothing
    a_provider_that_is_away_is_said_to_be
    links_made_with_a_password_end_with_it
    sign_ins_are_exported
    who_does_not_finish_is_forgotten
}

/// A key that signs tokens.
enum Key {
    Ec(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

impl Key {
    fn new_ec() -> Self {
        let random = SystemRandom::new();
        let bytes = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        Self::Ec(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes.as_ref(), &random).unwrap())
    }

    /// The key of `tests/data`, which was made for these tests.
    fn rsa() -> Self {
        let text = include_str!("../data/provider-key.txt");
        let bytes = BASE64_MIME_PERMISSIVE.decode(text.as_bytes()).unwrap();
        Self::Rsa(RsaKeyPair::from_pkcs8(&bytes).unwrap())
    }

    fn public(&self, kid: &str) -> Value {
        let text = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
        match self {
            Self::Ec(key) => {
                let point = &key.public_key().as_ref()[1..];
                json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid,
                    "x": text(&point[..32]), "y": text(&point[32..]) })
            }
            Self::Rsa(key) => {
                let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid,
                "n": text(&n), "e": text(&e) })
            }
        }
    }

    fn algorithm(&self) -> &'static str {
        if matches!(self, Self::Ec(_)) { "ES256" } else { "RS256" }
    }

    fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Ec(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

/// A code that was given out.
struct Grant {
    challenge: String,
    redirect_uri: String,
    nonce: Option<String>,
    /// The person who signs in, with claims in place of the true ones.
    claims: Value,
    is_used: bool,
}

struct Inner {
    address: String,
    kid: String,
    key: Key,
    /// The head of tokens in place of the true one.
    head: Value,
    grants: HashMap<String, Grant>,
    /// The paths that were asked.
    asked: Vec<String>,
}

#[derive(Clone)]
struct Provider(Arc<Mutex<Inner>>);

const SECRET: &str = "hush/hush";

fn token(head: &Value, claims: &Value, key: &Key) -> String {
    let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let message = format!("{}.{}", part(head), part(claims));
    let signature = match head["alg"].as_str() {
        Some("none") => String::new(),
        // Signed with the public key as if it were a secret.
        Some("HS256") => BASE64URL_NOPAD.encode(&[7; 32]),
        _ => BASE64URL_NOPAD.encode(&key.signature(message.as_bytes())),
    };
    format!("{message}.{signature}")
}

async fn give_tokens(
    State(Provider(inner)): State<Provider>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let mut inner = inner.lock().unwrap();
    inner.asked.push("/token".to_owned());
    let refuse = |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error })));
    let basic = format!("Basic {}", BASE64.encode(b"capeval:hush%2Fhush"));
    let is_basic = headers.get("authorization").is_some_and(|value| value == basic.as_str());
    let is_posted = form.get("client_secret").is_some_and(|secret| secret == SECRET);
    if !is_basic && !is_posted {
        return refuse("invalid_client");
    }
    let Inner { grants, key, kid, head, address, .. } = &mut *inner;
    let Some(grant) = grants.get_mut(&form["code"]).filter(|grant| !grant.is_used) else {
        return refuse("invalid_grant");
    };
    grant.is_used = true;
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&form["code_verifier"]));
    if challenge != grant.challenge || form["redirect_uri"] != grant.redirect_uri {
        return refuse("invalid_grant");
    }
    let now = capeval_site::clock::now() / 1000;
    let mut claims =
        json!({ "iss": address, "aud": "capeval", "exp": now + 300, "iat": now, "nonce": grant.nonce });
    merge(&mut claims, &grant.claims);
    let mut full = json!({ "alg": key.algorithm(), "typ": "JWT", "kid": kid });
    merge(&mut full, head);
    let id_token = token(&full, &claims, key);
    (StatusCode::OK, Json(json!({ "access_token": "access", "token_type": "Bearer", "id_token": id_token })))
}

/// Replaces fields, and removes those that are null.
fn merge(value: &mut Value, others: &Value) {
    for (name, other) in others.as_object().unwrap() {
        let fields = value.as_object_mut().unwrap();
        if other.is_null() {
            drop(fields.remove(name));
        } else {
            drop(fields.insert(name.clone(), other.clone()));
        }
    }
}

impl Provider {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (kid, key, head) = ("one".to_owned(), Key::new_ec(), json!({}));
        let inner = Inner { address, kid, key, head, grants: HashMap::new(), asked: Vec::new() };
        let provider = Self(Arc::new(Mutex::new(inner)));
        let described = |State(Self(inner)): State<Self>| async move {
            let mut inner = inner.lock().unwrap();
            inner.asked.push("/.well-known/openid-configuration".to_owned());
            let at = |path: &str| format!("{}{path}", inner.address);
            Json(json!({
                "issuer": inner.address, "authorization_endpoint": at("/authorize?tenant=1"),
                "token_endpoint": at("/token"), "jwks_uri": at("/keys"), "scopes_supported": ["openid"]
            }))
        };
        let keys = |State(Self(inner)): State<Self>| async move {
            let mut inner = inner.lock().unwrap();
            inner.asked.push("/keys".to_owned());
            let other = json!({ "kty": "new", "kid": "other" });
            Json(json!({ "keys": [other, inner.key.public(&inner.kid)] }))
        };
        let user = |headers: HeaderMap| async move {
            assert_eq!(headers["authorization"], "Bearer access");
            Json(json!({ "id": 4711, "login": "ada", "name": "Ada" }))
        };
        let emails = |headers: HeaderMap| async move {
            assert_eq!(headers["authorization"], "Bearer access");
            Json(json!([
                { "email": "other@example.org", "primary": false, "verified": true },
                { "email": "Ada@example.org", "primary": true, "verified": true }
            ]))
        };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(described))
            .route("/keys", get(keys))
            .route("/token", post(give_tokens))
            .route("/login/oauth/access_token", post(give_tokens))
            .route("/api/v3/user", get(user))
            .route("/api/v3/user/emails", get(emails))
            .with_state(provider.clone());
        let clock = Clock::of_thread();
        tokio::spawn(async move {
            if let Some(clock) = clock {
                clock.enter();
            }
            axum::serve(listener, router).await.unwrap();
        });
        provider
    }

    /// Itself, as the settings name it.
    fn plan(&self, more: &str) -> Plan {
        let address = self.0.lock().unwrap().address.clone();
        plan(&address, more)
    }

    /// Agrees, as a person at the provider, to the request of the site. Returns where they are sent back.
    fn agree(&self, sent: &Answer, claims: Value) -> String {
        let location = sent.header("location").to_owned();
        let (endpoint, query) = location.split_once('?').unwrap();
        let mut inner = self.0.lock().unwrap();
        assert!(endpoint.starts_with(&inner.address), "{location}");
        let decoded =
            |text: &str| percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned();
        let asked: HashMap<String, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect();
        assert_eq!((asked["response_type"].as_str(), asked["client_id"].as_str()), ("code", "capeval"));
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(
            asked["state"].len() >= 32
                && asked["redirect_uri"].starts_with("http://127.0.0.1:8080/sign-in/with/")
        );
        let code = capeval_site::ids::secret().unwrap();
        let path = asked["redirect_uri"].strip_prefix("http://127.0.0.1:8080").unwrap().to_owned();
        let grant = Grant {
            challenge: asked["code_challenge"].clone(),
            redirect_uri: asked["redirect_uri"].clone(),
            nonce: asked.get("nonce").cloned(),
            claims,
            is_used: false,
        };
        inner.grants.insert(code.clone(), grant);
        format!("{path}?code={code}&state={}", asked["state"])
    }
}

fn plan(address: &str, more: &str) -> Plan {
    let text = format!(
        "id = 'here'\nname = 'Here'\nissuer = '{address}'\nclient_id = 'capeval'\nclient_secret = '{SECRET}'\n{more}"
    );
    toml::from_str(&text).unwrap()
}

async fn site(database: Database, provider: &Provider, registration: &str) -> Site {
    let registration = registration.to_owned();
    Site::with(Settings { providers: vec![provider.plan("")], registration, ..settings(database) }).await
}

/// Begins a sign-in in a new browser, and agrees. Returns the browser and where it is sent back.
async fn to_provider(site: &Site, provider: &Provider, claims: Value) -> (Client, String) {
    let anybody = site.anybody();
    let sent = anybody.get("/sign-in/with/here?to=/teams").await.expect(303);
    let back = provider.agree(&sent, claims);
    (anybody.with_cookie_of(&sent), back)
}

fn ada() -> Value {
    json!({ "sub": "ada-1", "email": "Ada@example.org", "email_verified": true, "name": "Ada" })
}

async fn confirm(site: &Site, name: &str) {
    let sql = "UPDATE account SET confirmed_at = 1 WHERE name = $1";
    assert_eq!(site.app.store.execute(sql, args![name]).await.unwrap(), 1);
}

/// The account into which an answer signs someone in, if it does.
async fn signed_in(site: &Site, answer: &Answer) -> Option<String> {
    let cookie = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let session = cookie.into_iter().find(|cookie| cookie.starts_with("capeval="))?;
    let cookie = session.split(';').next().map(str::to_owned);
    let page = Client { cookie, ..site.anybody() }.get("/account").await;
    (page.status == StatusCode::OK).then(|| page.text.between("<p class=\"soft\">", " ·").to_owned())
}

async fn people_sign_in_with_an_account_that_a_provider_confirms(database: Database) {
    let provider = Provider::new().await;
    let site = site(database, &provider, "invitation").await;
    assert!(
        site.anybody().get("/sign-in?to=/teams").await.text.contains("href=\"/sign-in/with/here?to=/teams\"")
    );
    // Another site does not begin it.
    let foreign = Request::get("/sign-in/with/here?to=/teams").header("sec-fetch-site", "cross-site");
    let asked = site.anybody().send(foreign, "").await.expect(303);
    assert_eq!(asked.header("location"), "/sign-in?to=/teams");
    site.account("Ada", Role::Member).await;
    confirm(&site, "Ada").await;
    for round in 0..2 {
        let (browser, back) = to_provider(&site, &provider, ada()).await;
        let done = browser.get(&back).await.expect(303);
        assert_eq!(done.header("location"), "/teams", "{round}");
        assert_eq!(signed_in(&site, &done).await.as_deref(), Some("ada@example.org"));
    }
    // From now on the subject counts, and not the address, which may become that of someone else.
    let other = json!({ "sub": "ada-1", "email": "new@example.org", "email_verified": true });
    let (browser, back) = to_provider(&site, &provider, other).await;
    assert_eq!(signed_in(&site, &browser.get(&back).await).await.as_deref(), Some("ada@example.org"));
    // Keys are asked for once, and again when the provider has a new one; also RSA, which most use.
    let count = |what: &str| provider.0.lock().unwrap().asked.iter().filter(|path| *path == what).count();
    assert_eq!((count("/keys"), count("/token")), (1, 3));
    {
        let mut inner = provider.0.lock().unwrap();
        (inner.kid, inner.key) = ("two".to_owned(), Key::rsa());
    }
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock.now() + 61_000);
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    assert!(signed_in(&site, &browser.get(&back).await).await.is_some());
    assert_eq!(count("/keys"), 2);
    // The account page lists the sign-in. The last way into an account stays.
    let ada = site.person("Ada", Role::Member).await;
    let page = ada.get("/account").await.expect(200).text;
    let remove = format!("/account/identities/{}/remove", page.between("/account/identities/", "/remove"));
    assert!(page.contains(">Here<"), "{page}");
    let bao = site.person("Bao", Role::Member).await;
    bao.post(&remove, &[]).await.expect(404);
    ada.post(&remove, &[]).await.expect(409);
    site.app.store.execute("UPDATE account SET password = 'x' WHERE name = 'Ada'", args![]).await.unwrap();
    ada.post(&remove, &[]).await.expect(303);
    assert!(!ada.get("/account").await.text.contains("/account/identities/"));
    let sql = "SELECT action FROM audit WHERE action LIKE 'account.identity%' ORDER BY id";
    let noted: Vec<String> = site.app.store.fetch(sql, args![]).await.unwrap();
    assert_eq!(noted, ["account.identity-add", "account.identity-remove"]);
}

async fn what_a_provider_does_not_confirm_needs_a_password(database: Database) {
    let provider = Provider::new().await;
    let site = site(database, &provider, "open").await;
    let register = [("email", "ada@example.org"), ("name", "Ada"), ("password", "a long password")];
    site.anybody().post("/register", &register).await.expect(303);
    // An address that the provider does not confirm, none, and an account of which no one knows whose address it has.
    for claims in [
        json!({ "sub": "1", "email": "ada@example.org" }),
        json!({ "sub": "1", "email": "ada@example.org", "email_verified": false }),
        json!({ "sub": "1", "email": "ada@example.org", "email_verified": "no" }),
        json!({ "sub": "1" }),
        ada(),
    ] {
        let (browser, back) = to_provider(&site, &provider, claims.clone()).await;
        let asked = browser.get(&back).await.expect(303);
        assert_eq!(
            (asked.header("location"), signed_in(&site, &asked).await),
            ("/sign-in/finish", None),
            "{claims}"
        );
        let page = browser.get("/sign-in/finish").await.expect(200).text;
        assert!(
            page.contains("Connect it with your account") && !page.contains("value=\"create\""),
            "{page}"
        );
        browser.post("/sign-in/finish", &[("action", "create"), ("name", "Ada")]).await.expect(404);
        let wrong = [("email", "ada@example.org"), ("password", "another password")];
        let page = browser.post("/sign-in/finish", &wrong).await.expect(422).text;
        assert!(page.contains("Email address and password do not match."), "{page}");
        // Another browser has nothing of it.
        site.anybody().get("/sign-in/finish").await.expect(409);
    }
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    browser.get(&back).await.expect(303);
    let right = [("email", "ada@example.org"), ("password", "a long password")];
    let done = browser.post("/sign-in/finish", &right).await.expect(303);
    assert_eq!(done.header("location"), "/teams");
    assert_eq!(signed_in(&site, &done).await.as_deref(), Some("ada@example.org"));
    browser.post("/sign-in/finish", &right).await.expect(409);
    // Once is enough.
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    assert!(signed_in(&site, &browser.get(&back).await).await.is_some());
}

async fn tokens_and_answers_that_are_wrong_are_refused(database: Database) {
    let provider = Provider::new().await;
    let site = site(database, &provider, "invitation").await;
    site.account("Ada", Role::Member).await;
    confirm(&site, "Ada").await;
    let with = |more: Value| {
        let mut claims = ada();
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claims
    };
    let now = capeval_site::clock::now() / 1000;
    let address = provider.0.lock().unwrap().address.clone();
    for (what, claims, head) in [
        ("another nonce", json!({ "nonce": "0" }), json!({})),
        ("no nonce", json!({ "nonce": null }), json!({})),
        ("another audience", json!({ "aud": "other" }), json!({})),
        ("several audiences", json!({ "aud": ["capeval", "other"] }), json!({})),
        ("another program", json!({ "azp": "other" }), json!({})),
        ("another issuer", json!({ "iss": format!("{address}.example.org") }), json!({})),
        ("no issuer", json!({ "iss": null }), json!({})),
        ("an end in the past", json!({ "exp": now - 61 }), json!({})),
        ("no end", json!({ "exp": null }), json!({})),
        ("a beginning in the future", json!({ "iat": now + 600 }), json!({})),
        ("no subject", json!({ "sub": "" }), json!({})),
        ("no signature", json!({}), json!({ "alg": "none" })),
        ("a signature with a secret", json!({}), json!({ "alg": "HS256" })),
        ("a signature of another kind", json!({}), json!({ "alg": "RS256" })),
        ("an unknown key", json!({}), json!({ "kid": "three" })),
    ] {
        provider.0.lock().unwrap().head = head;
        let (browser, back) = to_provider(&site, &provider, with(claims)).await;
        let refused = browser.get(&back).await;
        assert_eq!(refused.status.as_u16(), 403, "{what}");
        assert!(refused.text.contains("Here did not confirm who you are."), "{what}: {}", refused.text);
        browser.get("/sign-in/finish").await.expect(409);
    }
    provider.0.lock().unwrap().head = json!({});
    // A signature by another key with the same name.
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let true_key = std::mem::replace(&mut provider.0.lock().unwrap().key, Key::new_ec());
    browser.get(&back).await.expect(403);
    provider.0.lock().unwrap().key = true_key;

    // A wrong state, another browser, and an answer of another provider.
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let (start, state) = back.split_once("&state=").unwrap();
    browser.get(&format!("{start}&state={}", "0".repeat(64))).await.expect(409);
    browser.get(&format!("{start}&state=")).await.expect(409);
    site.anybody().get(&back).await.expect(409);
    let (other, _) = to_provider(&site, &provider, ada()).await;
    other.get(&back).await.expect(409);
    browser.get(&format!("{start}&state={state}&iss=https://evil.example")).await.expect(403);
    // The state was used, although nothing came of it.
    browser.get(&back).await.expect(409);

    // The same answer twice, and a code that was used.
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    assert!(signed_in(&site, &browser.get(&back).await).await.is_some());
    let again = browser.get(&back).await.expect(409).text;
    assert!(again.contains("has been used, or is older than 10 minutes"), "{again}");
    let used = back.between("code=", "&").to_owned();
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let replayed = back.replace(back.between("code=", "&"), &used);
    browser.get(&replayed).await.expect(403);
    // A code of another browser, whose secret this one does not have.
    let (_, stolen) = to_provider(&site, &provider, ada()).await;
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    browser.get(&back.replace(back.between("code=", "&"), stolen.between("code=", "&"))).await.expect(403);

    // The person declines, or takes too long.
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let declined = back.replace("code=", "error=access_denied&x=");
    assert!(browser.get(&declined).await.expect(403).text.contains("was cancelled"));
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock.now() + 600_000);
    browser.get(&back).await.expect(409);
    // Nowhere but to this site.
    for to in ["https://evil.example", "//evil.example", "/%5Cevil.example"] {
        let sent = site.anybody().get(&format!("/sign-in/with/here?to={to}")).await.expect(303);
        let back = provider.agree(&sent, ada());
        let done = site.anybody().with_cookie_of(&sent).get(&back).await.expect(303);
        assert_eq!(done.header("location"), "/");
    }
}

async fn registration_second_factors_and_ends_of_accounts_are_respected(database: Database) {
    let provider = Provider::new().await;
    let closed = site(database, &provider, "invitation").await;
    let (browser, back) = to_provider(&closed, &provider, ada()).await;
    browser.get(&back).await.expect(303);
    let page = browser.get("/sign-in/finish").await.expect(200).text;
    assert!(
        page.contains("Registration is by invitation only.") && !page.contains("value=\"create\""),
        "{page}"
    );
    browser.post("/sign-in/finish", &[("action", "create"), ("name", "Ada")]).await.expect(404);
    assert_eq!(people::count(&closed.app.store).await.unwrap(), 0);

    let site = site(database, &provider, "open").await;
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    browser.get(&back).await.expect(303);
    let page = browser.get("/sign-in/finish").await.expect(200).text;
    assert!(page.contains("name=\"name\" value=\"Ada\"") && page.contains("ada@example.org"), "{page}");
    browser.post("/sign-in/finish", &[("action", "create"), ("name", "\u{200b}")]).await.expect(422);
    let done = browser.post("/sign-in/finish", &[("action", "create"), ("name", "Ada L.")]).await.expect(303);
    assert_eq!(done.header("location"), "/?done=welcome");
    assert_eq!(signed_in(&site, &done).await.as_deref(), Some("ada@example.org"));
    // There is no password that would sign in.
    for password in ["", "-", "a long password"] {
        let given = [("email", "ada@example.org"), ("password", password)];
        site.anybody().post("/sign-in", &given).await.expect(401);
    }

    // The second factor is asked for, and its codes are counted.
    let secret = totp::new_secret().unwrap();
    let sql = "UPDATE account SET totp_secret = $1 WHERE email = 'ada@example.org'";
    site.app.store.execute(sql, args![&secret]).await.unwrap();
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let asked = browser.get(&back).await.expect(303);
    assert_eq!((asked.header("location"), signed_in(&site, &asked).await), ("/sign-in/finish", None));
    let page = browser.get("/sign-in/finish").await.expect(200).text;
    assert!(page.contains("name=\"code\"") && !page.contains("name=\"password\""), "{page}");
    for wrong in ["", "000000"] {
        let refused = browser.post("/sign-in/finish", &[("code", wrong)]).await.expect(422);
        assert_eq!(signed_in(&site, &refused).await, None);
    }
    let code = totp::code_now(&secret).unwrap();
    let done = browser.post("/sign-in/finish", &[("code", &code)]).await.expect(303);
    assert_eq!(signed_in(&site, &done).await.as_deref(), Some("ada@example.org"));
    site.app.store.execute("UPDATE account SET totp_secret = NULL", args![]).await.unwrap();

    // Who is disabled stays out, and who deletes the account takes the sign-in along.
    let account = people::by_email(&site.app.store, "ada@example.org").await.unwrap().unwrap().id;
    site.app.store.execute("UPDATE account SET disabled_at = 1", args![]).await.unwrap();
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let refused = browser.get(&back).await.expect(403);
    assert!(refused.text.contains("This account is disabled.") && signed_in(&site, &refused).await.is_none());
    site.app.store.execute("UPDATE account SET disabled_at = NULL", args![]).await.unwrap();
    capeval_site::accounts::deletion::remove(&site.app, None, &account).await.unwrap();
    assert!(!site.app.store.exists("SELECT 1 FROM identity", args![]).await.unwrap());
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    assert_eq!(browser.get(&back).await.expect(303).header("location"), "/sign-in/finish");
}

async fn people_sign_in_with_github(database: Database) {
    let provider = Provider::new().await;
    let plan = provider.plan("kind = 'github'");
    let site = Site::with(Settings { providers: vec![plan], ..settings(database) }).await;
    site.account("Ada", Role::Member).await;
    confirm(&site, "Ada").await;
    let (browser, back) = to_provider(&site, &provider, json!({})).await;
    let done = browser.get(&back).await.expect(303);
    assert_eq!(signed_in(&site, &done).await.as_deref(), Some("ada@example.org"));
    let subject: String = site.app.store.fetch_one("SELECT subject FROM identity", args![]).await.unwrap();
    assert_eq!(subject, "4711");
    browser.get(&back).await.expect(409);
    // The code is bound to the browser here, too.
    let (_, stolen) = to_provider(&site, &provider, json!({})).await;
    let (browser, back) = to_provider(&site, &provider, json!({})).await;
    browser.get(&back.replace(back.between("code=", "&"), stolen.between("code=", "&"))).await.expect(403);
}

async fn without_providers_there_is_nothing() {
    let site = Site::new(Database::Sqlite).await;
    assert!(!site.anybody().get("/sign-in").await.text.contains("/sign-in/with/"));
    for path in ["/sign-in/with/here", "/sign-in/with/here/done?code=1&state=2"] {
        site.anybody().get(path).await.expect(404);
    }
    site.anybody().get("/sign-in/finish").await.expect(409);
}

async fn a_provider_that_is_away_is_said_to_be() {
    // One that listens and never answers, one that does not listen, one that calls itself something else.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let deaf = tokio::net::TcpSocket::new_v4().unwrap();
    deaf.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let honest = Provider::new().await;
    let address = honest.0.lock().unwrap().address.clone();
    honest.0.lock().unwrap().address = format!("{address}/other");
    let addresses =
        [silent.local_addr().unwrap(), deaf.local_addr().unwrap()].map(|address| format!("http://{address}"));
    for issuer in addresses.into_iter().chain([address]) {
        let providers = vec![plan(&issuer, "seconds = 1")];
        let site = Site::with(Settings { providers, ..settings(Database::Sqlite) }).await;
        let page = site.anybody().get("/sign-in/with/here").await.expect(502).text;
        assert!(
            page.contains(
                "Here does not answer as it should. Try again later, or sign in with your password."
            ),
            "{page}"
        );
        assert!(!site.app.store.exists("SELECT 1 FROM sign_in_attempt", args![]).await.unwrap());
    }
}

/// Someone who knew a password for a while must not keep a way in.
async fn links_made_with_a_password_end_with_it() {
    let provider = Provider::new().await;
    let site = site(Database::Sqlite, &provider, "open").await;
    let register = [("email", "ada@example.org"), ("name", "Ada"), ("password", "a long password")];
    site.anybody().post("/register", &register).await.expect(303);
    let thief = json!({ "sub": "thief", "email": "thief@example.org", "email_verified": true });
    let (browser, back) = to_provider(&site, &provider, thief.clone()).await;
    browser.get(&back).await.expect(303);
    browser.post("/sign-in/finish", &register).await.expect(303);
    let admin = site.person("Root", Role::Admin).await;
    let account = people::by_email(&site.app.store, "ada@example.org").await.unwrap().unwrap().id;
    let page = admin.post(&format!("/admin/accounts/{account}/link"), &[]).await.expect(200).text;
    site.anybody().post(page.link(), &[("password", "a quite new password")]).await.expect(303);
    let (browser, back) = to_provider(&site, &provider, thief).await;
    let asked = browser.get(&back).await.expect(303);
    assert_eq!((asked.header("location"), signed_in(&site, &asked).await), ("/sign-in/finish", None));
}

async fn sign_ins_are_exported() {
    let provider = Provider::new().await;
    let site = site(Database::Sqlite, &provider, "invitation").await;
    let program = site.program("Ada", Role::Member, Scope::Read).await;
    confirm(&site, "Ada").await;
    let none = program.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(none["sign_ins"], json!([]));
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    browser.get(&back).await.expect(303);
    let exported = program.get("/api/v1/me/contributions").await.expect(200).json();
    let issuer = provider.0.lock().unwrap().address.clone();
    let linked = json!([{ "issuer": issuer, "subject": "ada-1", "created_at": "2026-06-15T12:00:00Z" }]);
    assert_eq!(exported["sign_ins"], linked, "{exported}");
}

/// The address of someone without an account is not kept once the sign-in cannot be finished any more.
async fn who_does_not_finish_is_forgotten() {
    let provider = Provider::new().await;
    let site = site(Database::Sqlite, &provider, "open").await;
    let (browser, back) = to_provider(&site, &provider, ada()).await;
    let asked = browser.get(&back).await.expect(303);
    assert_eq!(asked.header("location"), "/sign-in/finish");
    let known = "SELECT COUNT(*) FROM sign_in_attempt WHERE identity LIKE '%ada@example.org%'";
    let count = async || site.app.store.fetch_one::<i64>(known, args![]).await.unwrap();
    site.work_that_is_due().await;
    assert_eq!(count().await, 1);
    browser.get("/sign-in/finish").await.expect(200);
    // The clock moves to the end of the sign-in.
    site.work().await;
    assert_eq!(count().await, 0);
    browser.get("/sign-in/finish").await.expect(409);
}
