//! Files in an object store that speaks S3, which several machines share.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::SystemTime;
use std::{fmt, io};

use anyhow::Context;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::buffered::BufWriter;
use object_store::{ObjectStore, ObjectStoreExt, path};
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Handle};

use crate::bucket_client::Connector;

/// A folder of an object store. Its calls wait for the answer, wherever they are made.
#[derive(Clone)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: path::Path,
    runtime: Handle,
}

impl Bucket {
    /// Opens `s3://NAME` or `s3://NAME/PREFIX`. The address of the service, its region and the secrets are in the
    /// environment, as Amazon's programs want them.
    pub fn open(address: &str) -> anyhow::Result<Self> {
        let rest = address.strip_prefix("s3://").context("bucket begins with s3://")?;
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_http_connector(Connector);
        let store = builder.build().context("bucket")?;
        // Its own thread, since those that wait may be the threads that would do the work.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("bucket".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
        Ok(Self { store: Arc::new(store), prefix: path::Path::parse(prefix)?, runtime: handle })
    }

    /// A folder in this one.
    #[must_use]
    pub fn folder(&self, name: &str) -> Self {
        Self { prefix: self.prefix.clone().join(name), ..self.clone() }
    }

    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        let (send, receive) = mpsc::sync_channel(1);
        self.runtime.spawn(async move { send.send(work.await) });
        receive.recv().map_err(io::Error::other)?
    }

    /// Stores a file.
    pub fn put(&self, name: &str, file: &Path) -> io::Result<()> {
        let (store, file) = (Arc::clone(&self.store), file.to_owned());
        let to = self.prefix.clone().join(name);
        self.wait(async move {
            let mut from = tokio::fs::File::open(file).await?;
            let mut writer = BufWriter::new(store, to);
            match tokio::io::copy(&mut from, &mut writer).await {
                Ok(_) => writer.shutdown().await,
                Err(error) => {
                    // What is left behind otherwise costs space only.
                    let _ = writer.abort().await;
                    Err(error)
                }
            }
        })
    }

    /// Writes what is stored into a file.
    pub fn get(&self, name: &str, file: &Path) -> io::Result<()> {
        let (store, file) = (Arc::clone(&self.store), file.to_owned());
        let from = self.prefix.clone().join(name);
        self.wait(async move {
            let mut chunks = store.get(&from).await?.into_stream();
            let mut to = tokio::fs::File::create(file).await?;
            while let Some(chunk) = chunks.next().await {
                to.write_all(&chunk?).await?;
            }
            to.flush().await
        })
    }

    /// The names of everything that is stored, and when it was.
    pub fn list(&self) -> io::Result<Vec<(String, SystemTime)>> {
        let (store, prefix) = (Arc::clone(&self.store), self.prefix.clone());
        self.wait(async move {
            let entries: Vec<_> = store.list(Some(&prefix)).try_collect().await?;
            let named = entries.into_iter().filter_map(|entry| {
                Some((entry.location.filename()?.to_owned(), entry.last_modified.into()))
            });
            Ok(named.collect())
        })
    }

    /// Since when something is stored under this name; `None` if there is nothing.
    pub fn since(&self, name: &str) -> io::Result<Option<SystemTime>> {
        let store = Arc::clone(&self.store);
        let asked = self.prefix.clone().join(name);
        match self.wait(async move { Ok(store.head(&asked).await?.last_modified) }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            known => known.map(|time| Some(time.into())),
        }
    }

    /// Removes what is stored, if there is anything.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let store = Arc::clone(&self.store);
        let gone = self.prefix.clone().join(name);
        let removed = self.wait(async move { Ok(store.delete(&gone).await?) });
        removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.store, self.prefix)
    }
}
