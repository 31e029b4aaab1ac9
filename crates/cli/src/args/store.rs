//! The arguments that name a store of sessions.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// A store that keeps sessions: `sqlite:PATH` or `postgres://…`
    #[arg(long, value_name = "ADDRESS", group = "kept_in")]
    pub(crate) store: Option<String>,
    /// The environment variable that holds the store's address
    #[arg(long, value_name = "NAME", group = "kept_in")]
    pub(crate) store_variable: Option<String>,
    /// The owner of the sessions in the store; a service without tokens keeps them as `default` [default: default]
    #[arg(long, value_name = "NAME", requires = "kept_in")]
    pub(crate) tenant: Option<String>,
}
