//! The commands of the program.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use capeval_site::accounts::{Role, people};
use capeval_testkit::ends;

use crate::support::process::{Server, command};
use crate::support::{Database, Site, on_sqlite};

on_sqlite! {
    who_types_a_password_keeps_no_one_waiting
    no_one_else_reads_the_database
}

/// Waits for a program that should fail, and returns what it says.
fn failure(mut child: Child) -> String {
    drop(child.stdin.take());
    let output = ends(move || child.wait_with_output().unwrap());
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn program(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
    command.arg("--data").arg(data).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The passwords of the demonstration are known to everyone.
#[test]
fn the_demonstration_keeps_to_its_folder_and_its_machine() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    let add = ["admin", "user", "add", "--email", "a@example.org", "--password-stdin"];
    command(&real, "", &add, "a long password\n");
    let local = ["demo", "--listen", "127.0.0.1:0"];
    let refused = failure(program(&real, &local).spawn().unwrap());
    assert!(refused.contains("has the data of another site"), "{refused}");
    let new = folder.path().join("new");
    let refused = failure(program(&new, &["demo", "--listen", "0.0.0.0:0"]).spawn().unwrap());
    assert!(refused.contains("does not listen on 0.0.0.0:0"), "{refused}");
    let refused = failure(program(&new, &["demo", "--database", "postgres://127.0.0.1/x"]).spawn().unwrap());
    assert!(refused.contains("in a folder of its own"), "{refused}");
    assert!(!new.exists());
    // It goes on with what it has made.
    for line in ["sign in as admin@example.org", "using the existing demo data in"] {
        let mut child = program(&new, &local).spawn().unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let found = lines.by_ref().map_while(Result::ok).take(3).any(|text| text.contains(line));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found, "{line}");
    }
}

/// `admin user add` waits for the password before it writes, so that the site goes on during that time.
async fn who_types_a_password_keeps_no_one_waiting() {
    let site = Site::new(Database::Sqlite).await;
    let add = ["admin", "user", "add", "--email", "a@example.org", "--password-stdin"];
    let mut adding = program(&site.app.folder, &add).spawn().unwrap();
    let mut stdin = adding.stdin.take().unwrap();
    // A pipe holds less than this: once all is written, the program reads. Line breaks at the end do not count.
    let begin = move || {
        stdin.write_all(b"a long password\n").unwrap();
        stdin.write_all(&vec![b'\n'; 1 << 20]).unwrap();
        stdin
    };
    let stdin = tokio::task::spawn_blocking(begin).await.unwrap();
    site.account("Bao", Role::Member).await;
    drop(stdin);
    assert!(adding.wait().unwrap().success());
    assert!(people::by_email(&site.app.store, "a@example.org").await.unwrap().is_some());
}

#[cfg(unix)]
async fn no_one_else_reads_the_database() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new(Database::Sqlite).await;
    site.account("Ada", Role::Member).await;
    let files = std::fs::read_dir(&site.app.folder).unwrap().map(|entry| entry.unwrap());
    let files = files.filter(|entry| entry.file_name().to_string_lossy().starts_with("capeval.db"));
    let modes: Vec<u32> = files.map(|entry| entry.metadata().unwrap().permissions().mode() & 0o777).collect();
    assert!(!modes.is_empty() && modes.iter().all(|mode| *mode == 0o600), "{modes:?}");
}

#[test]
fn the_doctor_finds_what_does_not_fit_together() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let doctor = |settings: &[(&str, &str)]| {
        let settings = settings.iter().map(|(name, value)| (format!("CAPEVAL_SERVER_{name}"), *value));
        let output = program(folder.path(), &["doctor"]).envs(settings).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let alone = doctor(&[]);
    assert!(!alone.contains("proxies is empty") && !alone.contains("without TLS"), "{alone}");
    // In a container, too, where the server listens on all addresses.
    for listen in ["127.0.0.1:8080", "0.0.0.0:8080"] {
        let url = [("LISTEN", listen), ("PUBLIC_URL", "https://captions.example.org")];
        assert!(doctor(&url).contains("proxies is empty"), "{listen}");
    }
    assert!(doctor(&[("LISTEN", "0.0.0.0:8080")]).contains("without TLS"));
    let file = folder.path().join("server.toml");
    for (text, mode, is_told) in [
        ("title = 'Ours'\n", 0o644, false),
        ("smtp = 'smtps://a:word@b'\nmail_from = 'c@example.org'\n", 0o600, false),
        ("smtp = 'smtps://a:word@b'\nmail_from = 'c@example.org'\n", 0o644, true),
    ] {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(doctor(&[]).contains("can read the passwords"), is_told, "{text} {mode:o}");
    }
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_do() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (["user", "add", "--role", "king"], "choose from member, host, admin"),
        (["user", "role", "--role", "hots"], "did you mean host?"),
        (["token", "create", "--scope", "sumbit"], "did you mean submit?"),
    ] {
        let arguments = [&["admin"], &arguments[..], &["--email", "ada@example.org"]].concat();
        let refused = failure(program(folder.path(), &arguments).spawn().unwrap());
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn a_second_server_on_a_folder_must_be_meant() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(folder.path(), "", &[]);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let refused = failure(program(folder.path(), &serve).spawn().unwrap());
    assert!(refused.contains("another server is using") && refused.contains("shared_folder"), "{refused}");
    let second = Server::start(folder.path(), "", &[("SHARED_FOLDER", "true")]);
    second.kill();
    // A server that was killed holds nothing.
    first.kill();
    Server::start(folder.path(), "", &[]).kill();
}
