//! The program as a process of its own, which can be killed, and a client that speaks just enough HTTP.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

fn program(folder: &Path, database: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_capeval-server"));
    command.arg("--data").arg(folder).env("CAPEVAL_SERVER_LOG", "error");
    if !database.is_empty() {
        command.args(["--database", database]);
    }
    command
}

impl Server {
    /// Starts a server and waits until it answers.
    pub fn start(folder: &Path, database: &str, settings: &[(&str, &str)]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = program(folder, database);
        command.args(["serve", "--listen", &format!("127.0.0.1:{port}")]);
        // A name in full stands for a variable that is no setting.
        let variable = |name: &str| {
            if name.contains("_SERVER_") || name.starts_with("AWS_") {
                name.to_owned()
            } else {
                format!("CAPEVAL_SERVER_{name}")
            }
        };
        command.envs(settings.iter().map(|(name, value)| (variable(name), *value)));
        let child = command.stdout(Stdio::null()).spawn().unwrap();
        let server = Self { child, port };
        let start = Instant::now();
        while !server.request("GET", "/healthz", "", "").is_ok_and(|(status, _)| status == 200) {
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Kills the server as the system does when memory is short, with its children.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks the server to stop, as service managers do, and returns whether it says that it ended well.
    pub fn stop(mut self) -> bool {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        self.child.wait().unwrap().success()
    }

    /// Sends a request with a token, and returns the status and the body.
    pub fn request(&self, method: &str, path: &str, token: &str, body: &str) -> io::Result<(u16, String)> {
        request(self.port, method, path, token, body)
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
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
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
