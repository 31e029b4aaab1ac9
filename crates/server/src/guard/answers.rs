//! Answers on their way: what clients do not take is bounded, all of it together.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};

use super::quotas::{QuotaPermit, TenantQuotas};
use crate::http::Problem;

/// Answers up to this size count for nothing: connections are bounded, and so are these.
const SMALL: u64 = 64 << 10;

/// A large answer is sent in pieces of this size, and each is forgotten once it is sent.
const PIECE: usize = 64 << 10;

/// An answer, its size counted among those that are on their way until it is sent or its client is gone. 503 where
/// there is no room for it. Small answers and streams are returned as they are. Linear in a large answer.
pub(super) async fn meter_answer(answers: &Arc<TenantQuotas>, tenant: &Arc<str>, response: Response) -> Response {
    let size = match response.body().size_hint().exact() {
        Some(size) if size > SMALL => size as usize,
        _ => return response,
    };
    let Some(share) = answers.take(tenant, size) else {
        return Problem::Busy.with("too many bytes of answers wait for those who asked").into_response();
    };
    let (parts, body) = response.into_parts();
    match to_bytes(body, size).await {
        Ok(whole) => Response::from_parts(parts, Body::new(MeteredAnswer::new(&whole, share))),
        Err(error) => {
            tracing::error!(%error, "an answer is not what it was said to be");
            Problem::Internal.into_response()
        }
    }
}

/// An answer in pieces, with what it takes of the room for answers.
struct MeteredAnswer {
    pieces: VecDeque<Bytes>,
    left: usize,
    share: QuotaPermit,
}

impl MeteredAnswer {
    fn new(whole: &Bytes, share: QuotaPermit) -> Self {
        // Copies: a part of the whole would keep all of it in memory.
        let pieces = whole.chunks(PIECE).map(Bytes::copy_from_slice).collect();
        Self { pieces, left: whole.len(), share }
    }
}

impl HttpBody for MeteredAnswer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let piece = self.pieces.pop_front();
        if let Some(piece) = &piece {
            self.left -= piece.len();
            self.share.shrink(piece.len());
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn answer(bytes: usize) -> Response {
        Response::new(Body::from(vec![b'x'; bytes]))
    }

    #[tokio::test]
    async fn large_answers_are_counted_until_they_are_sent() {
        let (answers, tenant) = (TenantQuotas::new(300_000, false), Arc::from("alice"));
        let first = meter_answer(&answers, &tenant, answer(200_000)).await;
        let second = meter_answer(&answers, &tenant, answer(200_000)).await;
        assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 503));
        assert_eq!(meter_answer(&answers, &tenant, answer(SMALL as usize)).await.status(), 200, "small ones are not");
        assert_eq!(first.body().size_hint().exact(), Some(200_000));
        assert_eq!(to_bytes(first.into_body(), usize::MAX).await.unwrap(), vec![b'x'; 200_000]);
        let third = meter_answer(&answers, &tenant, answer(200_000)).await;
        assert_eq!(third.status(), 200, "the first is sent");
        drop(third);
        assert_eq!(meter_answer(&answers, &tenant, answer(300_000)).await.status(), 200, "the third's client is gone");
    }
}
