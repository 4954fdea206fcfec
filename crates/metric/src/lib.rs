//! What is a metric? The contract that every metric fulfils.
