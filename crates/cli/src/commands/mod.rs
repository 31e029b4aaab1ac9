//! The subcommands, one file each.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod convert;
#[cfg(feature = "eval")]
pub(crate) mod eval;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod inspect;
#[cfg(feature = "service")]
pub(crate) mod mcp;
#[cfg(feature = "eval")]
pub(crate) mod replay;
pub(crate) mod restore;
pub(crate) mod search;
#[cfg(feature = "service")]
pub(crate) mod serve;
pub(crate) mod strategies;
#[cfg(feature = "eval")]
pub(crate) mod tune;
