//! The capeval command.
fn main() {}
