//! A request as it came, with the places that it has in its conversation.

use std::ops::Deref;

use epitome_fit::conversation::{self, Digest};

/// A request with the known facts of each of its messages, and with the facts that only the proxy needs.
#[derive(Debug)]
pub(crate) struct Incoming {
    request: conversation::MatchedRequest,
    /// Where the client's own conversation ends, in case there is more in this one: what its model looked up.
    pub(super) woven_at: Option<Digest>,
}

impl Incoming {
    pub(super) fn new(request: conversation::MatchedRequest) -> Self {
        Self { request, woven_at: None }
    }

    /// Whether the texts of its compactions must do without handles, whatever tools the request has.
    pub(super) fn hide_handles(&mut self, hides: bool) {
        self.request.hides_handles = hides;
    }
}

impl Deref for Incoming {
    type Target = conversation::MatchedRequest;

    fn deref(&self) -> &Self::Target {
        &self.request
    }
}
