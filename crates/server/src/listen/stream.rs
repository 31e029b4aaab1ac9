//! The bytes of a connection: a client that takes nothing of its answer is hung up on, and one that is still sending when
//! it is refused can read why.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::connections::ConnectionSlot;

/// The time for which a client may continue to send after the last answer was sent. Closing while there is something
/// unread would throw the answer away before the client has read it.
const LINGER: Duration = Duration::from_secs(2);

/// The number of bytes that are read then, and thrown away.
const LINGER_BYTES: usize = 64 << 20;

/// A connection's bytes, with its place among the connections: an upgraded connection keeps that too.
#[derive(Debug)]
pub(crate) struct Stream {
    tcp: TcpStream,
    write_timeout: Duration,
    /// Runs while the client takes nothing.
    stall: Option<Pin<Box<Sleep>>>,
    linger: Option<Pin<Box<Sleep>>>,
    lingered: usize,
    _place: Arc<ConnectionSlot>,
}

impl Stream {
    pub(crate) fn new(tcp: TcpStream, write_timeout: Duration, place: Arc<ConnectionSlot>) -> Self {
        Self { tcp, write_timeout, stall: None, linger: None, lingered: 0, _place: place }
    }

    /// Passes on the result of a write; an error where nothing could be written for too long.
    fn within_time<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stall = None;
            return written;
        }
        let timeout = self.write_timeout;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(stall.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of its answer")))
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(context, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.within_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write_vectored(context, slices);
        self.within_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.tcp).poll_flush(context);
        self.within_time(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.tcp).poll_shutdown(context))?;
            self.linger = Some(Box::pin(sleep(LINGER)));
        }
        let mut thrown_away = [0; 16 << 10];
        loop {
            let is_over = self.linger.as_mut().is_none_or(|linger| linger.as_mut().poll(context).is_ready());
            if is_over || self.lingered > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
            let mut into = ReadBuf::new(&mut thrown_away);
            let read = ready!(Pin::new(&mut self.tcp).poll_read(context, &mut into));
            // The client has closed its side, or is gone.
            if read.is_err() || into.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.lingered += into.filled().len();
        }
    }
}
