//! Connections of the site, each of which gets an answer although the server stops.
//!
//! A server that stops closes connections on which it has read nothing. A request may be on its way on one that was
//! accepted a moment ago, so a door is closed first: no more connections are accepted, and those that have sent nothing
//! may do so.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::{Listener, ListenerExt, TapIo};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The state of the connections.
#[derive(Debug, Default)]
struct State {
    is_closing: bool,
    /// True if no more connections are accepted.
    is_closed: bool,
    /// Connections that have sent nothing.
    silent: usize,
}

/// Lets connections in until it is closed.
#[derive(Clone, Debug, Default)]
pub struct Door(watch::Sender<State>);

/// Connections, for [`axum::serve`], which gets their addresses only from such a type.
pub type Connections = TapIo<Incoming, fn(&mut Connection)>;

impl Door {
    /// The connections that it lets in.
    pub fn connections(&self, listener: TcpListener) -> Connections {
        Incoming { listener, door: self.clone() }.tap_io(|_| {})
    }

    /// Lets no more connections in, and waits for those that have sent nothing, but no longer than `patience`.
    pub async fn close(&self, patience: Duration) {
        let mut state = self.0.subscribe();
        self.0.send_modify(|state| state.is_closing = true);
        let is_quiet = state.wait_for(|state| state.is_closed && state.silent == 0);
        let _ = tokio::time::timeout(patience, is_quiet).await;
    }
}

/// A listener behind a door.
#[derive(Debug)]
pub struct Incoming {
    listener: TcpListener,
    door: Door,
}

impl Listener for Incoming {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let mut state = self.door.0.subscribe();
        tokio::select! {
            biased;
            _ = state.wait_for(|state| state.is_closing) => {}
            (stream, address) = Listener::accept(&mut self.listener) => {
                self.door.0.send_modify(|state| state.silent += 1);
                return (Connection { stream, silence: Some(Silence(self.door.clone())) }, address);
            }
        }
        self.door.0.send_modify(|state| state.is_closed = true);
        std::future::pending().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Counts a connection as silent.
#[derive(Debug)]
struct Silence(Door);

impl Drop for Silence {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.silent -= 1);
    }
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// Until something is read.
    silence: Option<Silence>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.silence = None;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Long enough for any machine.
    const LONG: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_connection_that_has_sent_nothing_gets_an_answer_although_the_server_stops() {
        let (door, listener) = (Door::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        let closing = door.clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let signal = async move {
            let _ = stopped.await;
            closing.close(LONG).await;
        };
        let serving = axum::serve(door.connections(listener), router).with_graceful_shutdown(signal);
        let serving = tokio::spawn(serving.into_future());
        let mut client = TcpStream::connect(address).await.unwrap();
        let mut state = door.0.subscribe();
        state.wait_for(|state| state.silent == 1).await.unwrap();
        stop.send(()).unwrap();
        state.wait_for(|state| state.is_closed).await.unwrap();
        // Another one waits for the next server.
        let _late = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("here"), "{answer}");
        serving.await.unwrap().unwrap();
        assert_eq!(door.0.borrow().silent, 0);
    }

    #[tokio::test]
    async fn a_connection_that_never_sends_anything_does_not_keep_the_server_for_long() {
        let (door, listener) = (Door::default(), TcpListener::bind("127.0.0.1:0").await.unwrap());
        let address = listener.local_addr().unwrap();
        let closing = door.clone();
        let mut state = door.0.subscribe();
        let signal = async move {
            let _ = state.wait_for(|state| state.silent == 1).await;
            closing.close(Duration::from_millis(1)).await;
        };
        let serving = axum::serve(door.connections(listener), Router::new()).with_graceful_shutdown(signal);
        let serving = tokio::spawn(serving.into_future());
        let _client = TcpStream::connect(address).await.unwrap();
        serving.await.unwrap().unwrap();
    }
}
