//! A request's bytes, looked at within the bounds of the service.

use std::sync::Arc;

use axum::body::Bytes;
use epitome::wire::{Address, Outline, Wire};
use epitome_fit::conversation::{self, Digest};

use super::incoming::Incoming;
use super::state::Proxy;
use crate::http::parts;

/// A request that was looked at from outside. What is new in it has not been read yet.
#[derive(Debug)]
pub(crate) struct UnreadRequest {
    request: conversation::RawRequest,
    /// What its address says.
    said: Address,
}

/// A request's body, with the places of its parts where these are known already.
#[derive(Debug)]
pub(crate) struct KnownBody {
    pub(crate) bytes: Bytes,
    pub(crate) outline: Option<Outline>,
}

impl From<Bytes> for KnownBody {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, outline: None }
    }
}

impl UnreadRequest {
    /// Looks at a request: linear in its bytes, and quick. An error is a code: the reason why the proxy does not read
    /// the request.
    pub(crate) fn new(
        proxy: &Proxy,
        tenant: Arc<str>,
        wire: Wire,
        seed: Digest,
        KnownBody { bytes, outline }: KnownBody,
        said: Address,
    ) -> Result<Self, &'static str> {
        let outline = outline.map_or_else(|| Outline::read(&bytes, wire), Ok)?;
        let request = conversation::RawRequest::at(&proxy.decider, tenant, wire, seed, bytes, outline);
        if request.len() > proxy.core.settings.limits.parts {
            return Err("too-many-parts");
        }
        Ok(Self { request, said })
    }

    /// Bytes of the messages that have to be read and counted.
    pub(crate) fn new_bytes(&self) -> usize {
        self.request.new_bytes()
    }

    /// Reads and counts the new messages. An error is a code: the reason why the proxy does not read the request.
    pub(crate) fn learn(self, proxy: &Proxy) -> Result<Incoming, &'static str> {
        if self.request.new_messages().any(|message| parts::are_too_many(message, proxy.core.settings.limits.parts)) {
            return Err("too-many-parts");
        }
        let mut request = self.request.learn(&proxy.decider)?;
        request.model = request.model.or(self.said.model);
        // The answer to a call of ours would not be taken out of such a stream.
        request.takes_tools &= !self.said.streams_a_list;
        request.budget = proxy.core.budget_of(&proxy.core.runtime, request.model.as_deref());
        request.hides_handles = proxy.hides_handles(request.takes_tools);
        Ok(Incoming::new(request))
    }
}
