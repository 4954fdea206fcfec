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
            memory: usize::try_from(self.memory).is_ok_and(|n| Vec::<u8>::new().try_reserve_exact(n).is_ok()),
            environment: std::env::vars_os().next().is_some(),
        })
    }
}
