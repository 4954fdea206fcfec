//! `capeval submit` and `capeval.submit` talk to the real server, which says every refusal in words.

use std::net::{SocketAddr, TcpListener};
use std::ops::ControlFlow;

use capeval::corpus::{self, Captions, ReadOptions};
use capeval_api::SubmissionState;
use capeval_api::client::{About, Error, Kind, Results, Server, Submission};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::feature;
use capeval_site::jobs::runner;
use capeval_site::jobs::runner::Post;
use capeval_site::web::Scope;

use crate::benchmarks::{benchmark, results};
use crate::support::{Database, Site, on_sqlite, settings};

on_sqlite! {
    results_are_handed_in_and_every_refusal_has_words
}

/// A site on a port of this machine, with a worker.
async fn served() -> (Site, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let listen = listener.local_addr().unwrap().to_string();
    let settings = capeval_site::settings::Settings { listen: listen.clone(), ..settings(Database::Sqlite) };
    let site = Site::with(settings).await;
    let router = site.router.clone().into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (site, format!("http://{listen}"))
}

fn captions(json: &str) -> Captions {
    corpus::read_bytes(json.as_bytes(), "results.json", &ReadOptions::candidates()).unwrap()
}

/// Submits as the commands do.
fn submit(to: &str, token: &str, phase: &str, json: &str, team: Option<&str>) -> Result<Submission, Error> {
    let results = Results::new(&captions(json))?;
    let server = Server::new(to, token)?;
    let phase = server.phase(phase)?;
    results.fit(&phase)?;
    let submission = server.submit(&phase, &results, &About { method: "Ours", team, ..About::default() })?;
    server.follow(submission, &mut |_| ControlFlow::Continue(()))
}

fn check(to: &str, token: &str, json: &str) -> Result<(), Error> {
    let server = Server::new(to, token)?;
    server.check(&server.phase("b/p")?, &Results::new(&captions(json))?)
}

/// The kind, the words and the remedy of a refusal.
#[track_caller]
fn refused<T: std::fmt::Debug>(answer: Result<T, Error>) -> (Kind, String) {
    let error = answer.unwrap_err();
    let remedy = error.refusal.remedy().map(ToString::to_string).unwrap_or_default();
    (error.kind, format!("{error}; {remedy}"))
}

async fn results_are_handed_in_and_every_refusal_has_words() {
    let (site, to) = served().await;
    let phase = benchmark(&site, "per_day = 3").await;
    let (_stop, mut stopping) = tokio::sync::watch::channel(false);
    let app = site.app.clone();
    let worker = tokio::spawn(async move {
        loop {
            if !runner::step(&app, &feature::works(FEATURES), Post::ALL, &mut stopping).await.unwrap() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        }
    });
    let token = site.program("Ada", Role::Member, Scope::Submit).await.token.unwrap();
    let reader = site.program("Ada", Role::Member, Scope::Read).await.token.unwrap();
    let run = {
        let (to, token) = (to.clone(), token.clone());
        tokio::task::spawn_blocking(move || {
            let good = results(40, 5);
            check(&to, &token, &good).unwrap();
            let done = submit(&to, &token, "b/p", &good, None).unwrap();
            assert!(done.state == SubmissionState::Scored && !done.is_repeated);
            assert!(done.scores.as_ref().unwrap()["c5"]["cider-d"] > 0.0);
            assert_eq!(done.page, format!("{to}/submissions/{}", done.id));
            // The same captions: 409, which is no error but the earlier submission.
            let again = submit(&to, &token, "p", &good, None).unwrap();
            assert_eq!((&again.id, again.is_repeated), (&done.id, true));

            // 401, 403, 404.
            let (kind, words) = refused(submit(&to, "cev_wrong", "b/p", &results(40, 6), None));
            assert_eq!(kind, Kind::Denied);
            assert!(
                words.starts_with("the server does not know this token; ") && words.contains("/account"),
                "{words}"
            );
            let (kind, words) = refused(submit(&to, &reader, "b/p", &results(40, 6), None));
            assert_eq!(kind, Kind::Denied);
            assert!(words.contains("create a token with the scope `submit`"), "{words}");
            let (kind, words) = refused(submit(&to, &token, "b/q", &results(40, 6), None));
            assert_eq!(kind, Kind::Refused);
            assert!(words.contains("no phase is called 'b/q'") && words.contains("b/p"), "{words}");

            // 422 with its report: unknown and missing images.
            let foreign = results(40, 6).replace("\"image_id\":39", "\"image_id\":77");
            for answer in [check(&to, &token, &foreign), submit(&to, &token, "b/p", &foreign, None).map(drop)]
            {
                let (kind, words) = refused(answer);
                assert_eq!(kind, Kind::Refused);
                assert!(words.contains("1 images have no caption: 39"), "{words}");
                assert!(words.contains("1 captions are of images that are not in this phase: 77"), "{words}");
            }
            let (_, words) = refused(submit(&to, &token, "b/p", &results(39, 6), None));
            assert!(words.contains("there are 39 captions, but b/p has 40 images"), "{words}");

            // Teams are named as people call them.
            let (_, words) = refused(submit(&to, &token, "b/p", &results(40, 6), Some("Strangers")));
            assert!(
                words.contains("you are in no team called 'Strangers'") && words.contains("Ada"),
                "{words}"
            );
            submit(&to, &token, "b/p", &results(40, 6), Some("Ada")).unwrap();

            // 429 with when.
            submit(&to, &token, "b/p", &results(40, 7), None).unwrap();
            let (kind, words) = refused(submit(&to, &token, "b/p", &results(40, 8), None));
            assert_eq!(kind, Kind::Refused);
            assert!(words.contains("Your team has used all of its submissions for today: 3."), "{words}");
            assert!(words.contains("; try again in "), "{words}");

            // Wrong addresses.
            let (kind, words) = refused(submit(&format!("{to}/b/b/p"), &token, "b/p", &good, None));
            assert_eq!(kind, Kind::Connection);
            assert!(words.contains("is not an evaluation server (status 404)"), "{words}");
            let (_, words) = refused(submit(&to.replace("http:", "https:"), &token, "b/p", &good, None));
            assert!(words.contains("cannot reach https://127.0.0.1"), "{words}");
            // A port that is taken, by a socket that does not listen.
            let mute = tokio::net::TcpSocket::new_v4().unwrap();
            mute.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let mute_at = mute.local_addr().unwrap();
            let (_, words) = refused(submit(&format!("http://{mute_at}"), &token, "b/p", &good, None));
            assert!(words.contains("connection refused"), "{words}");
            // A token is sent in clear only on this machine, unless the user allows it.
            assert!(!Server::new(&to, &token).unwrap().is_in_clear());
            assert!(Server::new("http://captions.example.org", &token).unwrap().is_in_clear());
            assert!(!Server::new("https://captions.example.org", &token).unwrap().is_in_clear());
        })
    };
    run.await.unwrap();
    for (change, words) in [
        (
            "UPDATE phase SET frozen_at = 1",
            "b/p takes no submissions now: The hosts have stopped submissions",
        ),
        (
            "UPDATE phase SET frozen_at = NULL, closes_at = 1767225600000",
            "b/p takes no submissions now: This phase closed on 2026-01-01 00:00 UTC",
        ),
    ] {
        site.app.store.execute(change, args![]).await.unwrap();
        let (to, token) = (to.clone(), token.clone());
        let answer = tokio::task::spawn_blocking(move || submit(&to, &token, "b/p", &results(40, 8), None));
        let (kind, said) = refused(answer.await.unwrap());
        assert_eq!(kind, Kind::Refused);
        assert!(said.contains(words), "{said}");
    }
    site.app.store.execute("UPDATE benchmark SET visibility = 'hidden'", args![]).await.unwrap();
    let id = phase.clone();
    let answer = tokio::task::spawn_blocking(move || submit(&to, &token, &id, &results(40, 8), None));
    assert!(refused(answer.await.unwrap()).1.contains("this account sees no benchmark on this server"));
    worker.abort();
}
