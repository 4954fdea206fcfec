//! The program `capeval`.

use std::process::ExitCode;

use capeval_cli::StandardOutput;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(capeval_cli::run(std::env::args_os(), standard_output()))
}

/// Standard output as the process got it, seen before Rust's runtime opens `/dev/null` in the place of a closed one.
#[cfg(unix)]
fn standard_output() -> StandardOutput {
    if early::IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        StandardOutput::Closed
    } else {
        StandardOutput::Open
    }
}

#[cfg(not(unix))]
fn standard_output() -> StandardOutput {
    StandardOutput::Open
}

/// Code that runs before `main`. It must not use Rust's runtime, which is not ready: one system call and one store.
#[cfg(unix)]
mod early {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    #[ctor::ctor(unsafe)]
    fn look_at_standard_output() {
        let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
        IS_CLOSED.store(is_closed, Ordering::Relaxed);
    }
}
