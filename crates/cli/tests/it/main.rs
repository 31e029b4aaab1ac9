//! The command as a user meets it: arguments and files in, output, reports and exit codes out.

#![allow(clippy::unwrap_used, reason = "tests")]

mod bad_input;
mod bench;
mod bench_model;
mod by_hand;
mod compact;
mod context;
mod count;
mod eval;
mod eval_subjects;
mod fit;
mod history;
mod hook;
mod in_place;
mod inform;
#[cfg(unix)]
mod mcp;
mod model;
mod moving;
mod options;
mod pages;
mod place;
mod probes;
mod provider;
mod replay;
mod search;
mod serve;
mod serve_killed;
mod setup;
mod several;
mod watch;
mod write;
