//! Connections: taken, given so long for the headers of a request, and ended when the service stops.

use std::io;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// How long to wait after the system had no connection to give, such as when there are too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// Answers connections until `stop` is done; then takes nothing new, and waits for what is under way.
///
/// A connection whose client takes longer than `header_timeout` for the headers of a request, the first or the next, is
/// closed: who sends a byte now and then does not keep it.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    header_timeout: Duration,
    stop: impl Future<Output = ()>,
) {
    let (stopping, told) = watch::channel(());
    // Each connection holds a sender: nothing is left when all are gone.
    let (under_way, mut all_done) = mpsc::channel::<()>(1);
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (router, told, under_way) = (router.clone(), told.clone(), under_way.clone());
                tokio::spawn(async move {
                    connection(stream, router, header_timeout, told).await;
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

async fn connection(stream: TcpStream, router: Router, header_timeout: Duration, mut told: watch::Receiver<()>) {
    // A small piece of a stream is sent at once, and does not wait for the next.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection will send small pieces late");
    }
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_timeout);
    let served = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).with_upgrades();
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
            _ = told.changed(), if !is_stopping => {
                is_stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
