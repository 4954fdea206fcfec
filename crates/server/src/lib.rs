//! The program `capeval-server`: it joins the features of the site, and has its commands.
//!
//! `main.rs` reads the command line; everything else is here, where tests can drive a whole server in their process.
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod commands;
mod demo;
mod doctor;
mod front;

use capeval_site::feature::Features;

/// The features of the program, each after those whose tables its own refer to.
pub const FEATURES: Features =
    &[&capeval_site::BASE, &capeval_benchmarks::FEATURE, &capeval_collections::FEATURE, &front::FEATURE];
