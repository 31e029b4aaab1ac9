//! A server on threads of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::handler::ToolBackend;
use crate::serve::{ServeProblem, serve_http, serve_stdio};

/// Serves until the client disconnects, or over HTTP until the process is asked to stop. `prepare` makes the source of
/// the answers, on the server's threads. With `listen` the server is on HTTP at that address, and `ready` gets the
/// address; otherwise it is on standard input and output.
pub fn run<A: ToolBackend, E: From<ServeProblem>>(
    prepare: impl Future<Output = Result<A, E>>,
    listen: Option<SocketAddr>,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), E> {
    let threads = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("epitome-mcp").build();
    let threads = threads.map_err(ServeProblem::Start)?;
    let outcome = threads.block_on(async {
        let answers = Arc::new(prepare.await?);
        match listen {
            Some(address) => serve_http(answers, address, ready, wait_for_interrupt()).await?,
            None => serve_stdio(answers).await?,
        }
        Ok(())
    });
    // A read of standard input cannot be cancelled, so the runtime does not wait for it.
    threads.shutdown_background();
    outcome
}

/// Completes when Ctrl-C is pressed; never where the process cannot be notified of that.
async fn wait_for_interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
