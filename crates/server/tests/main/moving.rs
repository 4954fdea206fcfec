//! The commands of `docs/guides/operate.md` that move a site to PostgreSQL, as they stand there.

use std::path::Path;
use std::process::Command;

use crate::benchmarks::references;
use crate::support::process::{Server, command};
use crate::support::{Page, postgres};

const PAGE: &str = include_str!("../../../../docs/guides/operate.md");

const PLAN: &str = "slug = 'b'\ntitle = 'Moved'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\n\
    human = false\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

/// The address in the documentation.
const ADDRESS: &str = "postgres://capeval:word@127.0.0.1/capeval";

/// Runs a line of the documentation in a folder, and returns whether it ended well and what it said.
fn run(folder: &Path, line: &str, address: &str) -> (bool, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_capeval-server"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &line.replace(ADDRESS, address)]).current_dir(folder).env("PATH", path);
    let output = shell.env("CAPEVAL_SERVER_LOG", "error").output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn the_commands_of_the_documentation_move_a_site_to_postgresql() {
    if !postgres::is_here() {
        return;
    }
    let lines: Vec<&str> =
        PAGE.between("## Move to PostgreSQL", "\n## ").between("```sh\n", "```").lines().collect();
    let [move_line, serve_line] = lines[..] else { panic!("two commands: {lines:?}") };
    let folder = tempfile::tempdir().unwrap();
    let (work, url) = (folder.path(), postgres::empty_database());
    let old = work.join("capeval-data");
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("server.toml"), "title = 'Ours'\n").unwrap();
    std::fs::write(work.join("c5.json"), references(20, 5)).unwrap();
    let plan = work.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    command(&old, "", &["admin", "benchmark", "apply", &plan.display().to_string()], "");

    // Not while a server writes.
    let running = Server::start(&old, "", &[]);
    let (moved, said) = run(work, move_line, &url);
    assert!(!moved && said.contains("another server is using"), "{said}");
    assert!(running.stop());

    let (moved, said) = run(work, move_line, "postgres://none@127.0.0.1:1/none");
    assert!(!moved && said.contains("cannot connect to PostgreSQL"), "{said}");
    let left =
        || std::fs::read_dir(work).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(left().len(), 3, "{:?}", left());

    let (moved, said) = run(work, move_line, &url);
    assert!(moved && said.starts_with("moved: rows: "), "{said}");
    assert_eq!(left().len(), 4, "{:?}", left());
    let new = work.join("capeval-data-2");
    assert_eq!(serve_line, "capeval-server --data ./capeval-data-2");
    let server = Server::start(&new, "", &[]);
    let (status, page) = server.request("GET", "/", "", "").unwrap();
    assert!(status == 200 && page.contains("Moved") && page.contains("Ours"), "{page}");
    assert!(!new.join("capeval.db").exists(), "it is PostgreSQL that serves");
    assert!(server.stop());

    let (moved, said) = run(work, move_line, &url);
    assert!(!moved && said.contains("exists already"), "{said}");
    std::fs::remove_dir_all(&new).unwrap();
    let (moved, said) = run(work, move_line, &url);
    assert!(!moved && said.contains("the database is in use") && !new.exists(), "{said}");
}
