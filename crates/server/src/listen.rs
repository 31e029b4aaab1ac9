//! Connections: taken, given so long for the headers of a request, and ended when the service stops.

pub(crate) mod connections;
pub(crate) mod files;
mod stream;

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response, StatusCode};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::guard::OverConnectionLimit;
use connections::{ConnectionSlot, ConnectionUse, Connections};
use stream::Stream;

/// The pause after the system had no connection to give, such as when there are too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// Connections beyond the bound: enough for health checks, and each is over after one request.
const MOST_CROWDED: usize = 64;

/// The time that a connection beyond the bound has for the headers of its request.
const CROWDED_HEADERS: Duration = Duration::from_secs(2);

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For the headers of a request, the first or the next: who sends a byte now and then does not keep the connection.
    pub(crate) headers: Duration,
    /// For taking something of an answer.
    pub(crate) write: Duration,
}

/// Answers connections until `stop` is done; then accepts no new ones, and waits for the requests under way.
///
/// `connections` bounds how many there are. Where all are taken by requests under way, a few more are still answered that
/// ask for health.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    patience: Patience,
    stop: impl Future<Output = ()>,
) {
    let (stopping, told) = watch::channel(());
    // Each connection holds a sender: nothing is left when all are gone.
    let (under_way, mut all_done) = mpsc::channel::<()>(1);
    let crowded = Connections::new(MOST_CROWDED, MOST_CROWDED);
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, address)) => {
                let address = address.ip();
                let place = connections.take(address);
                let is_crowded = place.is_none();
                // Where even those are taken by requests under way, it is closed.
                let Some(place) = place.or_else(|| crowded.take(address)) else { continue };
                let (router, told, under_way) = (router.clone(), told.clone(), under_way.clone());
                tokio::spawn(async move {
                    connection(stream, router, place, is_crowded, patience, told).await;
                    drop(under_way);
                });
            }
            Err(error) if is_of_the_client(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop((listener, stopping, under_way));
    let _ = all_done.recv().await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    place: Arc<ConnectionSlot>,
    is_crowded: bool,
    patience: Patience,
    mut told: watch::Receiver<()>,
) {
    // A small piece of a stream is sent at once, and does not wait for the next.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection will send small pieces late");
    }
    let mut builder = http1::Builder::new();
    let headers = if is_crowded { CROWDED_HEADERS.min(patience.headers) } else { patience.headers };
    builder.timer(TokioTimer::new()).header_read_timeout(headers).keep_alive(!is_crowded);
    let requests = Requests { router: TowerToHyperService::new(router), place: Arc::clone(&place), is_crowded };
    let stream = TokioIo::new(Stream::new(stream, patience.write, Arc::clone(&place)));
    let served = builder.serve_connection(stream, requests).with_upgrades();
    let mut served = std::pin::pin!(served);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            ended = served.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = place.eviction() => {
                tracing::debug!("an idle connection makes room for another");
                return;
            }
            _ = told.changed(), if !is_stopping => {
                is_stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Answers the requests of a connection; while one is under way, up to the end of its answer, the connection is not idle.
struct Requests {
    router: TowerToHyperService<Router>,
    place: Arc<ConnectionSlot>,
    is_crowded: bool,
}

impl Service<Request<Incoming>> for Requests {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        let under_way = self.place.begin();
        if self.is_crowded {
            request.extensions_mut().insert(OverConnectionLimit);
        }
        let answered = self.router.call(request);
        Box::pin(async move {
            let answer = answered.await?;
            if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
                under_way.keep();
                return Ok(answer);
            }
            Ok(answer.map(|body| Body::new(TrackedBody { body, _under_way: under_way })))
        })
    }
}

/// An answer's body; the request is under way until it is dropped.
struct TrackedBody {
    body: Body,
    _under_way: ConnectionUse,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
