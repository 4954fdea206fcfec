//! Tries what no task may do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Tries what no task may do.
#[derive(Serialize, Deserialize)]
pub struct Probe {
    /// A file that exists and may not be read.
    pub file: PathBuf,
    /// More bytes than may be taken.
    pub memory: u64,
}

/// The actions that were possible although they should not be.
#[derive(Debug, Serialize, Deserialize)]
pub struct Possible {
    /// Opening a socket.
    pub socket: bool,
    /// Reading a foreign file.
    pub file: bool,
    /// Starting a program.
    pub program: bool,
    /// Holding another process, to send it signals or to read it.
    pub process: bool,
    /// Taking more memory than is allowed.
    pub memory: bool,
    /// Reading a variable of the environment.
    pub environment: bool,
}

impl Probe {
    pub(crate) fn perform(self) -> anyhow::Result<Possible> {
        Ok(Possible {
            socket: std::net::UdpSocket::bind("127.0.0.1:0").is_ok(),
            file: std::fs::read(self.file).is_ok(),
            program: std::process::Command::new("/bin/true").status().is_ok(),
            process: holds_parent(),
            memory: usize::try_from(self.memory).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok()),
            environment: std::env::vars_os().next().is_some(),
        })
    }
}

#[cfg(target_os = "linux")]
fn holds_parent() -> bool {
    use rustix::process::{PidfdFlags, getppid, pidfd_open};
    getppid().is_some_and(|parent| pidfd_open(parent, PidfdFlags::empty()).is_ok())
}

/// There is no sandbox elsewhere.
#[cfg(not(target_os = "linux"))]
fn holds_parent() -> bool {
    true
}
