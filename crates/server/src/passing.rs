//! Which errors pass by themselves: a full disk or a database that is busy, unlike a row that cannot be read.

use std::error::Error;
use std::io;

use tokio::task::JoinError;

use crate::fault::Fault;
use crate::store;

/// Whether another try may succeed, by the error or by what caused it.
pub fn passes(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        if let Some(error) = cause.downcast_ref::<store::Error>() {
            return store::passes(error);
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return !matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
        }
        // Its source is that of the error of the disk, which it keeps to itself.
        if let Some(error) = cause.downcast_ref::<serde_json::Error>() {
            return error.is_io();
        }
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return fault.passes;
        }
        // A panic may have had a passing cause; those that have none end after a few attempts.
        cause.is::<JoinError>()
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn what_is_wrong_in_itself_does_not_pass() {
        let json = || serde_json::from_str::<u8>("x").unwrap_err();
        assert!(!passes(&json()));
        assert!(!passes(&Fault::from(json())));
        assert!(!passes(&Fault::not_found()));
        assert!(!passes(&store::Error::ColumnNotFound("x".to_owned())));
        assert!(!passes(&io::Error::from(io::ErrorKind::InvalidData)));
        assert!(!passes(anyhow::anyhow!("the column has an unknown type").as_ref()));
    }

    #[test]
    fn disks_and_connections_recover() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        assert!(passes(&full()));
        assert!(passes(&Fault::from(full())));
        assert!(passes(&store::Error::PoolTimedOut));
        assert!(passes(&serde_json::Error::io(full())));
        let caused = Err::<(), _>(full()).context("the backup cannot be written").unwrap_err();
        assert!(passes(caused.as_ref()));
    }
}
