//! What a provider counted for a request, read from its answer as that passes: the conversation's counts are corrected by it.

use std::sync::Arc;

use axum::body::Bytes;
use epitome::wire::{Events, reported_input};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::Value;
use tokio::runtime::Handle;

use super::incoming::Incoming;
use super::opening::Pieces;
use super::state::Proxy;

/// The largest answer in one piece that is read for its figures.
const READ_BYTES: usize = 4 << 20;

/// Reads the figure of one answer, for the conversation that its request is of.
pub(super) struct UsageReader {
    proxy: Arc<Proxy>,
    incoming: Arc<Incoming>,
    form: Form,
}

enum Form {
    Stream(Events),
    Whole(Vec<u8>),
    /// The figure was found, or there is none.
    Done,
}

impl UsageReader {
    pub(super) fn new(proxy: &Arc<Proxy>, incoming: &Arc<Incoming>, is_stream: bool) -> Self {
        let form = if is_stream { Form::Stream(Events::default()) } else { Form::Whole(Vec::new()) };
        Self { proxy: Arc::clone(proxy), incoming: Arc::clone(incoming), form }
    }

    /// The same pieces, read as they pass.
    pub(super) fn watch(self, pieces: Pieces) -> impl Stream<Item = Result<Bytes, reqwest::Error>> {
        stream::unfold((pieces, self), |(mut pieces, mut reader)| async {
            let piece = pieces.next().await;
            match &piece {
                Some(Ok(bytes)) => reader.read(bytes),
                Some(Err(_)) => reader.form = Form::Done,
                None => {}
            }
            piece.map(|piece| (piece, (pieces, reader)))
        })
    }

    fn read(&mut self, bytes: &Bytes) {
        match &mut self.form {
            Form::Stream(events) => {
                events.push(bytes);
                if let Some(reported) = events.by_ref().find_map(|event| reported_input(&event.json)) {
                    self.learn(reported);
                }
            }
            Form::Whole(read) if read.len() + bytes.len() <= READ_BYTES => read.extend_from_slice(bytes),
            Form::Whole(_) => self.form = Form::Done,
            Form::Done => {}
        }
    }

    /// Learns of it when the conversation has a turn to spare: the answer does not wait.
    fn learn(&mut self, reported: u64) {
        self.form = Form::Done;
        let shared = self.proxy.decisions.find(&self.incoming.chain);
        if let (Some(shared), Ok(runtime)) = (shared, Handle::try_current()) {
            runtime.spawn(async move { shared.lock().await.reported.learn(reported) });
        }
    }
}

/// An answer whose length is named is not asked for an end behind its last piece: it is over when nobody reads on.
impl Drop for UsageReader {
    fn drop(&mut self) {
        let Form::Whole(read) = &self.form else { return };
        if let Some(reported) = serde_json::from_slice::<Value>(read).ok().as_ref().and_then(reported_input) {
            self.learn(reported);
        }
    }
}
