//! Checks that the server of PostgreSQL can be reached, without waiting for a connection of the pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

/// The time that a request waits before it looks for the server, and for which the result counts.
const LOOK: Duration = Duration::from_millis(700);

/// The longest time for a connection.
const CONNECT: Duration = Duration::from_millis(700);

/// The server of a database.
#[derive(Clone, Debug)]
pub struct Server(Arc<ServerState>);

#[derive(Debug)]
struct ServerState {
    options: PgConnectOptions,
    /// The last result and its time. Those who look at the same time wait for one of them.
    found: Mutex<Option<(Instant, bool)>>,
}

impl Server {
    pub(super) fn at(options: PgConnectOptions) -> Self {
        Self(Arc::new(ServerState { options, found: Mutex::new(None) }))
    }

    /// Ends once the server has been looked for and not found; a server that is only busy is there.
    pub(super) async fn away(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let mut found = self.0.found.lock().await;
            let is_here = match *found {
                Some((at, is_here)) if at.elapsed() < LOOK => is_here,
                _ => {
                    let is_here = self.is_here().await;
                    *found = Some((Instant::now(), is_here));
                    is_here
                }
            };
            if !is_here {
                return;
            }
        }
    }

    async fn is_here(&self) -> bool {
        match tokio::time::timeout(CONNECT, self.0.options.connect()).await {
            Ok(Ok(connection)) => {
                let connection: PgConnection = connection;
                tokio::spawn(connection.close());
                true
            }
            // It answers, and only takes no more connections.
            Ok(Err(sqlx::Error::Database(refusal))) => refusal.code().as_deref() == Some("53300"),
            Ok(Err(_)) | Err(_) => false,
        }
    }
}
