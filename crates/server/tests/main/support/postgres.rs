//! A private PostgreSQL server on loopback, from the packages of the system, for as long as the tests run.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use capeval_testkit::{eventually, skip};

use super::process::program;

/// The beginning of the names of its folders, which end with the id of the process.
const PREFIX: &str = "capeval-test-postgres-";

/// Runs a program until standard input ends, as it does with the process that holds its other end, however that ends;
/// then removes a folder. Signals cannot tell that: a shell that was started in the background ignores some for ever.
/// What this process was given by those who started it, such as a lock, is closed first.
const GUARD: &str = r#"
for open in /proc/$$/fd/*; do open=${open##*/}; if [ "$open" -gt 2 ]; then eval "exec $open>&-"; fi; done
trap : HUP INT TERM
"$@" </dev/null & read -r _
kill -QUIT $!; kill -TERM $!; wait; rm -rf "$0"
"#;

/// Returns true if PostgreSQL is installed.
pub fn is_here() -> bool {
    let is_here = programs().is_some();
    if !is_here {
        skip("postgresql", "PostgreSQL is not installed; install the package postgresql");
    }
    is_here
}

/// The folder of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut versions: Vec<PathBuf> =
        versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    versions.sort();
    versions.into_iter().rev().find(|bin| bin.join("initdb").exists())
}

/// The address of a new database with the tables of the program, a copy of one that is made once.
pub fn new_database() -> String {
    static MODEL: OnceLock<String> = OnceLock::new();
    let model = MODEL.get_or_init(|| {
        let url = empty_database();
        let folder = tempfile::tempdir().unwrap();
        // Any command makes the tables.
        let made = program(folder.path(), &url).arg("doctor").output().unwrap();
        assert!(!made.stdout.is_empty(), "{}", String::from_utf8_lossy(&made.stderr));
        url
    });
    copy_of(model)
}

/// The address of a copy of a database that no one has open.
pub fn copy_of(url: &str) -> String {
    create(&format!("TEMPLATE {}", name(url)))
}

/// Removes a database, even if it is open.
pub fn remove(url: &str) {
    run(&format!("DROP DATABASE {} WITH (FORCE)", name(url)));
}

fn name(url: &str) -> &str {
    url.split('?').next().and_then(|url| url.rsplit('/').next()).unwrap()
}

/// The address of a new database without tables.
pub fn empty_database() -> String {
    create("")
}

fn create(options: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("test{}", COUNT.fetch_add(1, Ordering::Relaxed));
    run(&format!("CREATE DATABASE {name} {options}"));
    format!("postgres://test@localhost/{name}?host={}", server().display())
}

/// Runs a statement.
fn run(sql: &str) {
    let psql = programs().unwrap().join("psql");
    let mut psql = Command::new(psql);
    let psql = psql.arg("-h").arg(server()).args(["-U", "test", "-d", "postgres", "-qc", sql]);
    let done = psql.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The folder of the server, which is started once. It has the server's socket: another program could take a port.
fn server() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(start)
}

fn start() -> PathBuf {
    let bin = programs().expect("PostgreSQL is installed");
    remove_old();
    let folder = place().join(format!("{PREFIX}{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    // PostgreSQL refuses to run as root.
    let user = if is_root() { Some(65_534) } else { None };
    if let Some(user) = user {
        chown(&folder, Some(user), Some(user)).unwrap();
    }
    let data = folder.join("data");
    let mut initdb = as_user(user, &bin.join("initdb"));
    let made = initdb
        .args(["-U", "test", "-A", "trust", "--no-sync", "-D"])
        .arg(&data)
        .current_dir(&folder)
        .output();
    let made = made.unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut postgres = as_user(user, Path::new("bash"));
    postgres
        .args(["-c", GUARD])
        .arg(&folder)
        .arg(bin.join("postgres"))
        .arg("-D")
        .arg(&data)
        .arg("-k")
        .arg(&folder);
    // Nothing has to outlive a crash of the machine, and the hundreds of databases need no care.
    let settings = "listen_addresses= max_connections=300 shared_buffers=32MB fsync=off full_page_writes=off \
                    synchronous_commit=off wal_level=minimal max_wal_senders=0 max_wal_size=64MB \
                    min_wal_size=32MB autovacuum=off jit=off";
    postgres.args(settings.split_whitespace().flat_map(|setting| ["-c", setting]));
    postgres.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    // It has the pipe that ends with this process.
    static GUARDED: OnceLock<Child> = OnceLock::new();
    GUARDED.get_or_init(|| postgres.spawn().unwrap());
    eventually("PostgreSQL starts", || {
        let mut ready = Command::new(bin.join("pg_isready"));
        let ready = ready.args(["-q", "-U", "test", "-h"]).arg(&folder).status().unwrap();
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(!log.contains("FATAL:  could not"), "PostgreSQL does not start: {log}");
        ready.success().then_some(())
    });
    folder
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// A program, as another user if one is given.
fn as_user(user: Option<u32>, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if let Some(user) = user {
        command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]);
    }
    command.arg(program);
    command
}

/// The folder of its folders: memory, if the system has a place there. A database is a thousand files, and for each of
/// hundreds a disk looks for free places.
fn place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let is_usable = tempfile::tempfile_in(&memory).is_ok();
    if is_usable { memory } else { std::env::temp_dir() }
}

/// Removes the folders of processes that were killed with their servers.
fn remove_old() {
    for entry in fs::read_dir(place()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(id) = name.strip_prefix(PREFIX)
            && !Path::new("/proc").join(id).exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process that starts the server may ignore signals and hold files that are open.
#[test]
fn a_guarded_program_ends_with_standard_input_and_inherits_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut guarded = Command::new("bash");
    guarded.args(["-c", "trap '' QUIT INT; exec 7</dev/null 12</dev/null; exec \"$@\"", "bash"]);
    guarded.args(["bash", "-c", GUARD]).arg(folder.path().join("data"));
    guarded.args(["bash", "-c", "echo /proc/$$/fd/*; exec tail -f /dev/null"]);
    let mut guarded = guarded.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let (stdin, mut stdout) = (guarded.stdin.take(), BufReader::new(guarded.stdout.take().unwrap()));
    let mut open = String::new();
    stdout.read_line(&mut open).unwrap();
    let open: Vec<&str> = open.split_whitespace().map(|path| path.rsplit('/').next().unwrap()).collect();
    assert!(!open.contains(&"7") && !open.contains(&"12"), "{open:?}");
    drop(stdin);
    // Its end closes the pipe.
    stdout.read_to_string(&mut String::new()).unwrap();
    assert!(guarded.wait().unwrap().success());
    assert!(!folder.path().join("data").exists());
}
