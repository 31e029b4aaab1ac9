//! What a provider counted for a request, read from its answer as that passes: the conversation's counts are corrected by it,
//! and its account grows.

use std::sync::Arc;

use axum::body::Bytes;
use epitome::wire::{Events, ReportedUsage};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::Value;
use tokio::runtime::Handle;

use super::conversation::SharedConversation;
use super::opening::Pieces;
use super::state::Proxy;

/// The largest answer in one piece that is read for its figures.
const READ_BYTES: usize = 4 << 20;

/// Reads the figures of one answer, for the conversation that its request is of.
pub(super) struct UsageReader {
    proxy: Arc<Proxy>,
    shared: SharedConversation,
    model: Option<String>,
    form: Form,
    /// The figures so far.
    usage: ReportedUsage,
}

enum Form {
    Stream(Events),
    Whole(Vec<u8>),
    /// It is too large to be read.
    Unread,
}

impl UsageReader {
    /// For an answer of `model` in the conversation that is `shared`.
    pub(super) fn new(proxy: &Arc<Proxy>, shared: SharedConversation, model: Option<&str>, is_stream: bool) -> Self {
        let form = if is_stream { Form::Stream(Events::default()) } else { Form::Whole(Vec::new()) };
        let (proxy, model) = (Arc::clone(proxy), model.map(str::to_owned));
        Self { proxy, shared, model, form, usage: ReportedUsage::default() }
    }

    /// The same pieces, read as they pass.
    pub(super) fn watch(self, pieces: Pieces) -> impl Stream<Item = Result<Bytes, reqwest::Error>> {
        stream::unfold((pieces, self), |(mut pieces, mut reader)| async {
            let piece = pieces.next().await;
            if let Some(Ok(bytes)) = &piece {
                reader.read(bytes);
            }
            piece.map(|piece| (piece, (pieces, reader)))
        })
    }

    fn read(&mut self, bytes: &Bytes) {
        match &mut self.form {
            Form::Stream(events) => {
                events.push(bytes);
                let reported: Vec<ReportedUsage> =
                    events.by_ref().filter_map(|event| ReportedUsage::read(&event.json)).collect();
                if events.is_too_large() {
                    self.form = Form::Unread;
                }
                reported.into_iter().for_each(|usage| self.take(usage));
            }
            Form::Whole(read) if read.len() + bytes.len() <= READ_BYTES => read.extend_from_slice(bytes),
            Form::Whole(_) => self.form = Form::Unread,
            Form::Unread => {}
        }
    }

    /// Takes figures of the answer; the first for its input corrects the counts.
    fn take(&mut self, told: ReportedUsage) {
        let is_first = self.usage.input.is_none();
        self.usage.update(told);
        if let Some(reported) = told.input.filter(|_| is_first) {
            self.learn(reported);
        }
    }

    /// Learns of it when the conversation has a turn to spare: the answer does not wait.
    fn learn(&self, reported: u64) {
        let shared = self.shared.clone();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { shared.lock().await.reported.learn(reported) });
        }
    }
}

/// An answer whose length is named is not asked for an end behind its last piece: it is over when nobody reads on. So are its
/// figures then, also where it broke off: what came of it has its price.
impl Drop for UsageReader {
    fn drop(&mut self) {
        if let Form::Whole(read) = &self.form
            && let Some(told) = serde_json::from_slice::<Value>(read).ok().as_ref().and_then(ReportedUsage::read)
        {
            self.take(told);
        }
        if self.usage != ReportedUsage::default() {
            self.shared.account().note_usage(&self.proxy.prices, self.model.as_deref(), self.usage);
        }
    }
}
