//! No description of a metric that is a program, and no line that it answers with, makes a reader panic.

pub fn check(bytes: &[u8]) {
    capeval_outside::programs::fuzz(bytes);
}
