//! The program as a process of its own, which can be killed, and a client that speaks just enough HTTP.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use capeval_testkit::PATIENCE;

/// The number of times that a test does what can go wrong by chance: `CAPEVAL_ROUNDS`, or a few.
pub fn rounds() -> usize {
    std::env::var("CAPEVAL_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

/// The number of times that a test kills the server: `CAPEVAL_KILLS`, or a few.
pub fn kills() -> usize {
    std::env::var("CAPEVAL_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(6)
}

/// A running server.
pub struct Server {
    child: Child,
    pub port: u16,
}

/// Runs a command of the program on a folder of data, and returns what it prints.
pub fn command(folder: &Path, database: &str, arguments: &[&str], input: &str) -> String {
    let mut child = program(folder, database)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The program on a folder of data, for a test that starts it.
pub fn program(folder: &Path, database: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
    command.arg("--data").arg(folder).env("CAPEVAL_SERVER_LOG", "error");
    if !database.is_empty() {
        command.args(["--database", database]);
    }
    command
}

impl Server {
    /// Starts a server on a free port.
    pub fn start(folder: &Path, database: &str, settings: &[(&str, &str)]) -> Self {
        Self::start_with_log(folder, database, settings, Stdio::inherit())
    }

    /// The same with a place for its log.
    pub fn start_with_log(folder: &Path, database: &str, settings: &[(&str, &str)], log: Stdio) -> Self {
        Self::run(folder, database, &["serve", "--listen", "127.0.0.1:0"], settings, log)
    }

    /// Starts a worker that serves its metrics.
    pub fn worker(folder: &Path, database: &str, settings: &[(&str, &str)]) -> Self {
        Self::run(folder, database, &["worker"], settings, Stdio::inherit())
    }

    /// Starts a server on a socket that listens already, as service managers do.
    pub fn start_on(
        listener: &TcpListener,
        folder: &Path,
        database: &str,
        settings: &[(&str, &str)],
    ) -> Self {
        let mut server = program(folder, database);
        server.arg("serve");
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" \"$@\""]);
        shell.arg(server.get_program()).args(server.get_args());
        shell.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(OwnedFd::from(listener.try_clone().unwrap()));
        Self::spawn(shell, settings, Stdio::inherit())
    }

    fn run(folder: &Path, database: &str, arguments: &[&str], settings: &[(&str, &str)], log: Stdio) -> Self {
        let mut command = program(folder, database);
        command.args(arguments);
        Self::spawn(command, settings, log)
    }

    fn spawn(mut command: Command, settings: &[(&str, &str)], log: Stdio) -> Self {
        // A name in full stands for a variable that is no setting.
        let variable = |name: &str| {
            if name.contains("_SERVER_") || name.starts_with("AWS_") {
                name.to_owned()
            } else {
                format!("CAPEVAL_SERVER_{name}")
            }
        };
        command.envs(settings.iter().map(|(name, value)| (variable(name), *value)));
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        // It listens before it says where, so all requests from now on are served.
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let port = line.rsplit(':').next().and_then(|rest| rest.split('/').next()?.trim().parse().ok());
        let port = port.unwrap_or_else(|| panic!("the server does not say where it listens: {line}"));
        // What else it says is read, so that it never waits for a reader.
        std::thread::spawn(move || io::copy(&mut lines, &mut io::sink()));
        Self { child, port }
    }

    /// Kills the server as the system does when memory is short, with its children.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to stop, as service managers do, and returns whether it says that it ended well.
    pub fn stop(self) -> bool {
        self.ask_to_stop();
        self.ended()
    }

    pub fn ask_to_stop(&self) {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
    }

    /// Waits for the end, and returns whether the server says that it ended well.
    pub fn ended(mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Returns true if no job waits or runs, according to `/metrics`.
    pub fn is_idle(&self) -> bool {
        let (_, metrics) = self.request("GET", "/metrics", "", "").unwrap();
        let mut jobs = metrics.lines().filter(|line| line.starts_with("capeval_jobs{")).peekable();
        jobs.peek().is_some() && jobs.all(|line| line.ends_with(" 0.0"))
    }

    /// Sends a request with a token, and returns the status and the body.
    pub fn request(&self, method: &str, path: &str, token: &str, body: &str) -> io::Result<(u16, String)> {
        request(self.port, method, path, token, body)
    }
}

/// Tells threads to stop once it is dropped, also because a test has failed.
pub struct Stop<'s>(pub &'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request to a port of this machine.
pub fn request(port: u16, method: &str, path: &str, token: &str, body: &str) -> io::Result<(u16, String)> {
    let authorization =
        if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
    let head = format!("{authorization}Content-Type: application/json\r\n");
    let (status, answer) = exchange(port, method, path, &head, body.as_bytes())?;
    Ok((status, answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned()))
}

/// Sends a request with these lines in its head, and returns the status and all of the answer.
pub fn exchange(port: u16, method: &str, path: &str, head: &str, body: &[u8]) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}Content-Length: {}\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("no answer"))?;
    Ok((status, answer))
}
