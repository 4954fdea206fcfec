//! The request that caused what is being done: its id is in the log, in the answer, and in the jobs that it adds.

use axum::extract::Request;

use crate::ids;
use crate::web::network;

tokio::task_local! {
    static CAUSE: Option<String>;
}

/// Does work that a request caused, or a job that a request had caused.
pub async fn within<T>(cause: Option<String>, work: impl Future<Output = T>) -> T {
    CAUSE.scope(cause, work).await
}

/// The id of the request that caused what is being done, if there was one.
pub fn current() -> Option<String> {
    CAUSE.try_with(Clone::clone).ok().flatten()
}

/// The id of a request: what a listed proxy calls it, or a new one.
pub fn of_request(request: &Request, proxies: &[String]) -> String {
    let told = request.headers().get("x-request-id").and_then(|value| value.to_str().ok());
    let is_known = |id: &str| {
        (16..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    match told {
        Some(id) if is_known(id) && network::is_proxied(request, proxies) => id.to_owned(),
        _ => ids::new_id(),
    }
}
