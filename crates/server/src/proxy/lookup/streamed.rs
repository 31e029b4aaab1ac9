//! Answers that come as streams: one after the other from the provider, as one to the client.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use epitome::wire::{Event, EventKind, Events, MergedAnswer, Output, PartialAnswer, Wire};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{HOLD, Lookup, MOST_BYTES, ProviderRefusal, error_of};

/// The time without data after which a client gets a sign of life.
const SILENCE: Duration = Duration::from_secs(10);

/// A comment: clients pass over it.
const SIGN_OF_LIFE: &[u8] = b": still at work\n\n";

/// The most of a stream that is held back, in bytes of its events and a part for each: what a model thinks before it speaks is
/// a tenth of it.
const MOST_HELD: usize = 8 << 20;

/// The most of an answer that is put together, as bytes of its events: the size of the largest answer that is read whole.
const MOST_OF_ANSWER: usize = MOST_BYTES;

/// What an event takes beside its bytes, roughly.
const OF_EVENT: usize = 512;

/// The error where an answer grows beyond what can be held, after the client got a part of it or a lookup was made.
const TOO_LARGE: &str = "the provider's answer is larger than what the proxy reads while it answers lookups";

/// Pieces that wait for a slow client.
const WAITING: usize = 16;

type Pieces = BoxStream<'static, Result<Bytes, reqwest::Error>>;

/// The body of the answer that the client gets. Dropping it hangs up on the provider.
pub(super) fn body(lookup: Lookup, first: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static) -> Body {
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let mut client = Client { sender, sent_at: Instant::now() };
        // A client that left hears nothing.
        let _ = tell(lookup, first.boxed(), &mut client).await;
    });
    let pieces = stream::unfold(receiver, |mut receiver| async move { Some((receiver.recv().await?, receiver)) });
    Body::from_stream(pieces)
}

/// The client's end of the answer.
struct Client {
    sender: mpsc::Sender<Result<Bytes, io::Error>>,
    /// When it was last sent something.
    sent_at: Instant,
}

/// The client is gone.
#[derive(Debug)]
struct ClientGone;

impl Client {
    async fn send(&mut self, piece: Bytes) -> Result<(), ClientGone> {
        self.sender.send(Ok(piece)).await.map_err(|_| ClientGone)?;
        self.sent_at = Instant::now();
        Ok(())
    }

    /// Breaks the answer off, as the provider's was.
    async fn break_off(&mut self, error: reqwest::Error) -> Result<(), ClientGone> {
        // The text before the error is sent first: an error at once would discard it.
        tokio::task::yield_now().await;
        self.sender.send(Err(io::Error::other(error.without_url()))).await.map_err(|_| ClientGone)
    }

    /// The result of `work`, or that the client has left meanwhile. Within an event there is no place for a sign of life.
    async fn wait_silently<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ClientGone> {
        tokio::select! {
            done = work => Ok(done),
            () = self.sender.closed() => Err(ClientGone),
        }
    }

    /// The result of `work`. The client gets signs of life while it hears nothing else, however often this waits.
    async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, ClientGone> {
        let mut work = pin!(work);
        loop {
            match tokio::time::timeout_at(self.sent_at + SILENCE, &mut work).await {
                Ok(done) => return Ok(done),
                Err(_) => self.send(Bytes::from_static(SIGN_OF_LIFE)).await?,
            }
        }
    }
}

/// One answer of the provider, as far as it is not sent to the client yet.
#[derive(Default)]
struct PendingAnswer {
    events: Vec<Event>,
    ending: Vec<Event>,
    broken: Option<reqwest::Error>,
    /// Whether the client sees it.
    is_shown: bool,
    failed: bool,
    /// Bytes that the events take that are held.
    bytes: usize,
    /// What came of the stream behind the last event, where the answer is larger than what is read.
    too_large: Option<Bytes>,
}

impl PendingAnswer {
    fn hold(&mut self, event: Event, is_ending: bool) {
        self.bytes += event.raw.len() + OF_EVENT;
        if is_ending { &mut self.ending } else { &mut self.events }.push(event);
    }
}

async fn tell(mut lookup: Lookup, mut pieces: Pieces, client: &mut Client) -> Result<(), ClientGone> {
    let mut merged = MergedAnswer::default();
    let mut names = lookup.asking.names.clone();
    loop {
        let shared = names.clone();
        let mut partial = PartialAnswer::new(lookup.wire.interface(), &shared, &merged);
        let mut held = listen(&mut partial, &mut merged, &mut pieces, client).await?;
        if let Some(rest) = held.too_large.take() {
            return pass_on((&mut partial, &mut merged), held, rest, pieces, client).await;
        }
        let said = Output { wire: lookup.wire, json: partial.output() };
        let (calls, has_others) = (said.calls_of(&names), said.has_calls_beside(&names));
        let is_whole = !held.ending.is_empty() && !held.failed && (partial.answer.is_over || held.broken.is_none());
        if calls.is_empty() || has_others || !is_whole || !lookup.may_ask() {
            if is_whole {
                client.wait(lookup.keep_hidden_calls(&said, &calls, has_others)).await?;
                lookup.keep(None);
            }
            return last(&mut partial, &mut merged, held, client).await;
        }
        // The client sees nothing of it, or no more of it than it has seen.
        lookup.is_repeatable &= !held.is_shown;
        for event in held.ending.iter().filter(|_| held.is_shown) {
            if let Some(piece) = merged.client_text(&partial, event) {
                client.send(piece).await?;
            }
        }
        held.events.clear();
        client.wait(lookup.look_up(&said, &calls)).await?;
        merged.continue_with(&partial);
        pieces = match client.wait(lookup.next_answer()).await? {
            Ok(answer) => lookup.pieces(answer),
            Err(refused) if merged.has_begun => return fail(lookup.wire, refused, client).await,
            // The lookups are left out, and the answer is the one to the client's own request.
            Err(_) => {
                (names, lookup.steps, merged) = (Vec::new(), Vec::new(), MergedAnswer::default());
                match client.wait(lookup.send(lookup.asking.plain.clone())).await? {
                    Ok(answer) if answer.status().is_success() => lookup.pieces(answer),
                    Ok(answer) => {
                        let said = client.wait(error_of(answer)).await?;
                        return fail(lookup.wire, ProviderRefusal(said), client).await;
                    }
                    Err(_) => return fail(lookup.wire, ProviderRefusal(None), client).await,
                }
            }
        };
    }
}

/// Reads one answer. Events that the client may see are sent on as they arrive; the rest is held.
async fn listen(
    partial: &mut PartialAnswer<'_>,
    merged: &mut MergedAnswer,
    pieces: &mut Pieces,
    client: &mut Client,
) -> Result<PendingAnswer, ClientGone> {
    let (mut held, mut events, mut said) = (PendingAnswer::default(), Events::default(), 0_usize);
    let mut is_at_end = false;
    while !partial.answer.is_over && !is_at_end {
        match client.wait(pieces.next()).await? {
            None => {
                // A last event may do without its blank line.
                is_at_end = true;
                events.end_here();
            }
            Some(Err(error)) => {
                held.broken = Some(error);
                break;
            }
            Some(Ok(piece)) => events.push(&piece),
        }
        for event in events.by_ref() {
            // The provider's own signs of life say nothing of the answer.
            if event.is_sign_of_life() {
                client.send(event.raw).await?;
                continue;
            }
            let kind = partial.take(&event);
            match kind {
                EventKind::Ours => continue,
                EventKind::Ending => {
                    held.hold(event, true);
                    continue;
                }
                EventKind::Text(characters) => said += characters,
                EventKind::Broken => held.failed = true,
                EventKind::Clients => {}
            }
            held.is_shown |= matches!(kind, EventKind::Clients | EventKind::Broken) || said > HOLD;
            held.hold(event, false);
        }
        if held.is_shown || held.bytes > MOST_HELD {
            held.is_shown = true;
            for event in std::mem::take(&mut held.events) {
                held.bytes -= event.raw.len() + OF_EVENT;
                if let Some(piece) = merged.client_event(partial, &event) {
                    client.send(piece).await?;
                }
            }
        }
        // What is held now are the events of the end.
        if events.is_too_large() || held.bytes > MOST_HELD || partial.answer.weight > MOST_OF_ANSWER {
            held.too_large = Some(events.rest());
            break;
        }
    }
    Ok(held)
}

/// Passes on an answer that is larger than what is read: the rest of it as it comes. Where it is not the client's as it comes,
/// because there was a lookup, it ends with an error.
async fn pass_on(
    (partial, merged): (&mut PartialAnswer<'_>, &mut MergedAnswer),
    held: PendingAnswer,
    rest: Bytes,
    mut pieces: Pieces,
    client: &mut Client,
) -> Result<(), ClientGone> {
    if !merged.is_as_it_comes(partial) {
        return client.send(partial.wire.error_event(TOO_LARGE)).await;
    }
    for event in held.events.into_iter().chain(held.ending) {
        client.send(event.raw).await?;
    }
    client.send(rest).await?;
    while let Some(piece) = client.wait_silently(pieces.next()).await? {
        match piece {
            Ok(piece) => client.send(piece).await?,
            Err(error) => return client.break_off(error).await,
        }
    }
    Ok(())
}

/// Tells the end of the last answer, or where it broke off.
async fn last(
    partial: &mut PartialAnswer<'_>,
    merged: &mut MergedAnswer,
    held: PendingAnswer,
    client: &mut Client,
) -> Result<(), ClientGone> {
    for event in held.events.iter().chain(&held.ending) {
        if let Some(piece) = merged.client_event(partial, event) {
            client.send(piece).await?;
        }
    }
    match held.broken {
        Some(error) => client.break_off(error).await,
        None => Ok(()),
    }
}

/// Tells that the provider failed in the middle, as its own streams do.
async fn fail(wire: Wire, ProviderRefusal(said): ProviderRefusal, client: &mut Client) -> Result<(), ClientGone> {
    let message = said.as_ref().and_then(|said| said["error"]["message"].as_str());
    let message = message.unwrap_or("the provider did not answer the request with what was looked up");
    client.send(wire.error_event(message)).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use epitome::wire::event_text;
    use serde_json::{Value, json};

    /// The data that a client has received after each piece of an answer with one piece a second.
    async fn heard_of(pieces: Vec<String>) -> Vec<String> {
        let (sender, mut receiver) = mpsc::channel(1_000);
        let mut client = Client { sender, sent_at: Instant::now() };
        let pieces = stream::iter(pieces).then(|piece| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from(piece))
        });
        let mut partial =
            PartialAnswer::new(Wire::Anthropic.interface(), &["search_history"], &MergedAnswer::default());
        listen(&mut partial, &mut MergedAnswer::default(), &mut pieces.boxed(), &mut client).await.unwrap();
        drop(client);
        let mut heard = Vec::new();
        while let Some(piece) = receiver.recv().await {
            heard.push(String::from_utf8(piece.unwrap().to_vec()).unwrap());
        }
        heard
    }

    /// What a client gets of an endless answer of which each piece is the same, and whether the proxy ends it; `is_continued`
    /// where there was a lookup before.
    async fn heard_of_endless(wire: Wire, piece: &'static str, is_continued: bool) -> (usize, usize, bool) {
        const MOST: usize = 1 << 30;
        // The rest of the bound was used up before.
        const LEFT: usize = 4 << 20;
        let (sender, mut receiver) = mpsc::channel(1);
        let mut client = Client { sender, sent_at: Instant::now() };
        let (taken, most_taken) = (std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)), MOST);
        let counted = std::sync::Arc::clone(&taken);
        let pieces = stream::repeat(Bytes::from_static(piece.as_bytes())).take_while(move |piece| {
            let bytes = counted.fetch_add(piece.len(), std::sync::atomic::Ordering::Relaxed);
            std::future::ready(bytes < most_taken)
        });
        let mut pieces = pieces.map(Ok).boxed();
        let mut merged = MergedAnswer::default();
        (merged.is_continued, merged.has_begun, merged.weight) = (is_continued, is_continued, MOST_OF_ANSWER - LEFT);
        let work = tokio::spawn(async move {
            let mut partial = PartialAnswer::new(wire.interface(), &["search_history"], &merged);
            let mut held = listen(&mut partial, &mut merged, &mut pieces, &mut client).await.unwrap();
            let rest = held.too_large.take();
            let most_kept = partial.answer.weight + rest.as_ref().map_or(0, Bytes::len) + held.bytes;
            if let Some(rest) = rest {
                // Of an endless answer the client has seen enough.
                let _ = pass_on((&mut partial, &mut merged), held, rest, pieces, &mut client).await;
            }
            most_kept
        });
        let (mut heard, mut is_error) = (0, false);
        while let Some(piece) = receiver.recv().await {
            let piece = piece.unwrap();
            heard += piece.len();
            is_error |= memchr::memmem::find(&piece, TOO_LARGE.as_bytes()).is_some();
            if heard > 14 << 20 {
                break;
            }
        }
        drop(receiver);
        (work.await.unwrap(), heard, is_error)
    }

    #[tokio::test]
    async fn an_endless_answer_takes_no_more_than_its_bound() {
        let bound = MOST_OF_ANSWER + MOST_HELD + epitome::wire::MOST_OF_EVENT + (1 << 20);
        let check = async |wire: Wire, piece: &str| {
            let piece: &'static str = String::leak(piece.to_owned());
            for is_continued in [false, true] {
                let (kept, heard, is_error) = heard_of_endless(wire, piece, is_continued).await;
                let shown: String = piece.chars().take(60).collect();
                assert!(kept <= bound, "{shown}: {kept} bytes are kept");
                assert_eq!(is_error, is_continued, "{shown}: {heard} bytes heard");
                assert_eq!(heard > 14 << 20, !is_continued, "{shown}: {heard} bytes heard");
            }
        };
        let many = "x".repeat(64 << 10);
        // A line without an end, and an event.
        check(Wire::Anthropic, &many).await;
        check(Wire::OpenaiChat, &format!("data: {many}\n")).await;
        // A text, the arguments of a call, and what the model thinks.
        let anthropic = |delta: Value| {
            let delta = json!({"type": "content_block_delta", "index": 0, "delta": delta});
            String::from_utf8(event_text(Some("content_block_delta"), &delta).to_vec()).unwrap()
        };
        check(Wire::Anthropic, &anthropic(json!({"type": "input_json_delta", "partial_json": many}))).await;
        check(Wire::Anthropic, &anthropic(json!({"type": "thinking_delta", "thinking": many}))).await;
        let event = |json: Value| String::from_utf8(event_text(None, &json).to_vec()).unwrap();
        let call = json!({"index": 0, "function": {"name": "bash", "arguments": many}});
        check(Wire::OpenaiChat, &event(json!({"choices": [{"delta": {"tool_calls": [call]}}]}))).await;
        check(Wire::Gemini, &event(json!({"candidates": [{"content": {"parts": [{"text": many}]}}]}))).await;
        // Items, and ends.
        let item =
            json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "text": many}});
        check(Wire::OpenaiResponses, &event(item)).await;
        check(Wire::Anthropic, &event(json!({"type": "message_delta", "x": many}))).await;
    }

    fn thinking() -> String {
        let delta =
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}});
        String::from_utf8(event_text(Some("content_block_delta"), &delta).to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_thinks_for_long_is_alive() {
        let check = async |pieces: Vec<String>, expect: &[&str]| assert_eq!(heard_of(pieces).await, expect);
        let sign = std::str::from_utf8(SIGN_OF_LIFE).unwrap();
        check(vec![thinking(); 9], &[]).await;
        check(vec![thinking(); 35], &[sign; 3]).await;
        // The provider's own go on at once, and ours are for what they do not cover.
        let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n".to_owned();
        check(vec![thinking(), ping.clone(), ": alive\n\n".to_owned(), thinking()], &[&ping, ": alive\n\n"]).await;
        let mut pieces = vec![thinking(); 8];
        pieces.push(ping.clone());
        pieces.extend(vec![thinking(); 9]);
        check(pieces, &[&ping]).await;
    }
}
