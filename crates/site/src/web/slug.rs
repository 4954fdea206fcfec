//! The part of addresses by which people know a thing.

/// The expectation of someone who saves something about its slug, its part of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slug {
    /// Nothing has it yet.
    Unused,
    /// Nothing has it, or something that they run.
    UnusedOrOwn,
}
