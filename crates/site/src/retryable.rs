//! Finds errors that pass by themselves: a full disk or a database that is busy, unlike a row that cannot be read. A
//! disk has space again when someone makes some, so jobs wait for it.

use std::error::Error;
use std::io;
use std::io::ErrorKind;

use tokio::task::JoinError;

use crate::fault::Fault;
use crate::store;

/// Returns true if another try may succeed, by the error or by its cause.
pub fn is_retryable(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        if let Some(error) = cause.downcast_ref::<store::Error>() {
            return store::is_retryable(error);
        }
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return !matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
        }
        // Its source is that of the error of the disk, which it keeps to itself.
        if let Some(error) = cause.downcast_ref::<serde_json::Error>() {
            return error.is_io();
        }
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return fault.is_retryable;
        }
        // A panic may have had a passing cause; those that have none end after a few attempts.
        cause.is::<JoinError>()
    })
}

/// Returns true if a disk has no space for a file, by the error or by its cause.
pub fn lacks_space(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        let kind = json.or_else(|| cause.downcast_ref::<io::Error>().map(io::Error::kind));
        kind.is_some_and(|kind| SPACE.contains(&kind))
    })
}

/// The errors with which a disk that is full refuses files.
const SPACE: [ErrorKind; 2] = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn what_is_wrong_in_itself_does_not_pass() {
        let json = || serde_json::from_str::<u8>("x").unwrap_err();
        assert!(!is_retryable(&json()));
        assert!(!is_retryable(&Fault::from(json())));
        assert!(!is_retryable(&Fault::not_found()));
        assert!(!is_retryable(&store::Error::ColumnNotFound("x".to_owned())));
        assert!(!is_retryable(&io::Error::from(ErrorKind::InvalidData)));
        assert!(!is_retryable(anyhow::anyhow!("the column has an unknown type").as_ref()));
    }

    #[test]
    fn disks_and_connections_recover() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        assert!(is_retryable(&full()));
        assert!(is_retryable(&Fault::from(full())));
        assert!(is_retryable(&store::Error::PoolTimedOut));
        assert!(is_retryable(&serde_json::Error::io(full())));
        let caused = Err::<(), _>(full()).context("the backup cannot be written").unwrap_err();
        assert!(is_retryable(caused.as_ref()));
        assert!(lacks_space(&full()) && lacks_space(&serde_json::Error::io(full())));
        assert!(lacks_space(caused.as_ref()));
        assert!(!lacks_space(&io::Error::from(ErrorKind::NotFound)));
    }
}
