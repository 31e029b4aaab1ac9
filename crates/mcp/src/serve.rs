//! The server over its transports.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use thiserror::Error;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;

use crate::handler::{Handler, ToolBackend};
use crate::lines::between;

/// How long a client may take for the headers of a request.
const HEADERS: Duration = Duration::from_secs(30);

/// The path of a server over HTTP.
pub const PATH: &str = "/mcp";

/// Why a server ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeProblem {
    /// Other machines could call it, and nothing prevents that.
    #[error(
        "{0} can be reached from other machines: listen on 127.0.0.1, or let `epitome serve` have it behind its tokens"
    )]
    NotLocal(SocketAddr),
    /// The address is in use or not one of this machine.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The client did not speak the protocol.
    #[error("the client does not speak the protocol: {0}")]
    Protocol(String),
    /// No threads could be started.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// Returns a service that speaks the protocol over HTTP: one answer for each request, and no state between them. With
/// `any_host` it answers every client that reaches it; otherwise only requests to this machine's names, so that a page
/// in a browser cannot use it.
pub fn http_service<A: ToolBackend>(
    answers: Arc<A>,
    any_host: bool,
) -> StreamableHttpService<Handler<A>, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let config = if any_host { config.disable_allowed_hosts() } else { config.enforce_origin_validation() };
    let handler = Handler::new(answers);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

/// Answers a client on standard input and output until it disconnects.
pub async fn serve_stdio<A: ToolBackend>(answers: Arc<A>) -> Result<(), ServeProblem> {
    let client = between(tokio::io::stdin(), tokio::io::stdout());
    let served = serve_lines(answers, client.messages, client.answers).await;
    // Nothing more is read for a server that has ended; what it answered is written to the end.
    client.bringing.abort();
    let _ = client.writing.await;
    served
}

async fn serve_lines<A: ToolBackend>(
    answers: Arc<A>,
    messages: DuplexStream,
    out: DuplexStream,
) -> Result<(), ServeProblem> {
    match Handler::new(answers).serve((messages, out)).await {
        Ok(server) => server.waiting().await.map(|_| ()).map_err(|error| ServeProblem::Protocol(error.to_string())),
        // A client that disconnects before its first request is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeProblem::Protocol(error.to_string())),
    }
}

/// Answers clients over HTTP at an address of this machine until `stop` completes. `ready` gets the address.
pub async fn serve_http<A: ToolBackend>(
    answers: Arc<A>,
    address: SocketAddr,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), ServeProblem> {
    if !address.ip().is_loopback() {
        return Err(ServeProblem::NotLocal(address));
    }
    let listener = TcpListener::bind(address).await.map_err(|error| ServeProblem::Listen(address, error))?;
    ready(listener.local_addr().map_err(|error| ServeProblem::Listen(address, error))?);
    let service = TowerToHyperService::new(http_service(answers, false));
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => return Ok(()),
        };
        // A connection that ended before it was accepted does not concern the server.
        let Ok((stream, _)) = accepted else { continue };
        let service = service.clone();
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEADERS);
            // A client that disconnects during a request gets no answer.
            let _ = builder.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
