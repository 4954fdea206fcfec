//! The projects own chores.
fn main() {}
