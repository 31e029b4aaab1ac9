//! Answers to requests with items that cannot be used, or that ask for what no provider does: typed as the provider of
//! the format types them, so that a client's library raises its own exception.

use axum::Json;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use epitome::wire::{COMPACTION_TOO_LARGE, InvalidCompactionRequest, Wire};

use super::item::ItemProblem;
use crate::proxy::answer::STATUS;
use crate::proxy::unpack_budget::busy_response;

/// Why a request is refused here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NativeError {
    cause: Cause,
    /// The place in the request, as in `input[3].encrypted_content`.
    place: String,
}

/// The causes of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// An item cannot be used.
    Item(ItemProblem),
    /// The text beside an item is not the one that was given with it.
    ContentMismatch,
    /// An item that stands for the whole conversation is not its beginning.
    Misplaced,
    /// There are several items that stand for the whole conversation.
    Ambiguous,
    /// The request asks for what no provider does.
    Request(InvalidCompactionRequest),
}

impl NativeError {
    pub(super) fn new(cause: Cause, place: impl Into<String>) -> Self {
        Self { cause, place: place.into() }
    }

    /// Why.
    pub(super) fn cause(&self) -> Cause {
        self.cause
    }

    /// The answer, in the form of `wire`.
    pub(super) fn into_response(self, wire: Wire) -> Response {
        let Some((code, message)) = self.cause.describe() else { return busy_response() };
        let message = format!("{}: {message}", self.place);
        tracing::info!(code, place = self.place, "a compaction item, or the request for one, was refused");
        let body = wire.invalid_request(code, &self.place, &message);
        let mut response = (StatusCode::BAD_REQUEST, Json(body)).into_response();
        response.headers_mut().insert(STATUS, HeaderValue::from_static("refused"));
        response
    }
}

impl Cause {
    /// The code, which is Anthropic's where it has one, and what is wrong with what to do about it. `None` where nothing is
    /// wrong with the request, and it may be sent again.
    fn describe(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Item(ItemProblem::NoRoom) => return None,
            Self::Item(ItemProblem::Damaged) => (
                "compaction_signature_invalid",
                "the compaction item is not whole; send it back as it was given, or leave it out and begin a new session",
            ),
            Self::Item(ItemProblem::UnknownKey) => (
                "compaction_signature_invalid",
                "the compaction item was signed with a key that this service does not have, or not any more; its operator \
                 can give it that key beside the new one, else begin a new session",
            ),
            Self::Item(ItemProblem::WrongSignature) => (
                "compaction_signature_invalid",
                "the compaction item is not one that was made for this caller and this API; send it back as it was given, \
                 with the same credentials",
            ),
            Self::Item(ItemProblem::Newer) => (
                "compaction_signature_invalid",
                "the compaction item was made by a later version of this service; use that version",
            ),
            Self::Item(ItemProblem::TooLarge) => (
                COMPACTION_TOO_LARGE,
                "the compaction item, or the request with it, holds more than a request may have; begin a new session, or \
                 raise --max-body or --max-parts",
            ),
            Self::ContentMismatch => (
                "compaction_content_mismatch",
                "the block's `content` is not the text that it was given with; send the block back unchanged",
            ),
            Self::Misplaced => (
                "compaction_block_misplaced",
                "the block stands for all messages before it and has to be the first of the conversation",
            ),
            Self::Ambiguous => (
                "compaction_block_ambiguous",
                "there are several blocks that stand for the whole conversation; send only the newest",
            ),
            Self::Request(InvalidCompactionRequest::Both) => {
                ("invalid_request", "`compaction` cannot be combined with `context_management`")
            }
            Self::Request(InvalidCompactionRequest::IncompleteTurn) => (
                "compaction_incomplete_turn",
                "the newest message calls tools that have not answered; ask again with their results",
            ),
            Self::Request(InvalidCompactionRequest::NothingToSummarize) => {
                ("compaction_nothing_to_summarize", "there are no messages to compact")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    async fn check(problem: ItemProblem, anthropic: &str, openai: &str) {
        for (wire, pointer, expect) in
            [(Wire::Anthropic, "/error/details/error_code", anthropic), (Wire::OpenaiResponses, "/error/code", openai)]
        {
            let response = NativeError::new(Cause::Item(problem), "input[3]").into_response(wire);
            assert_eq!(response.status(), StatusCode::BAD_REQUEST);
            let body = axum::body::to_bytes(response.into_body(), 10_000).await.unwrap();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body.pointer(pointer).unwrap(), expect, "{body}");
        }
    }

    #[tokio::test]
    async fn codes_of_items() {
        check(ItemProblem::Damaged, "compaction_signature_invalid", "invalid_encrypted_content").await;
        check(ItemProblem::TooLarge, "compaction_too_large", "compaction_too_large").await;
    }
}
