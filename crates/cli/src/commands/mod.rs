//! The subcommands, one file each.

#[cfg(feature = "service")]
pub(crate) mod brief;
pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod context;
pub(crate) mod convert;
pub(crate) mod count;
#[cfg(feature = "eval")]
pub(crate) mod eval;
#[cfg(feature = "service")]
pub(crate) mod fit;
pub(crate) mod history;
#[cfg(feature = "service")]
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod inspect;
#[cfg(feature = "service")]
pub(crate) mod mcp;
#[cfg(feature = "eval")]
mod measure;
#[cfg(feature = "eval")]
pub(crate) mod replay;
pub(crate) mod restore;
pub(crate) mod search;
#[cfg(feature = "service")]
pub(crate) mod serve;
#[cfg(feature = "service")]
pub(crate) mod setup;
#[cfg(feature = "service")]
pub(crate) mod statusline;
pub(crate) mod strategies;
#[cfg(feature = "eval")]
pub(crate) mod tune;
pub(crate) mod watch;
