//! Answers that come as streams: one after the other from the provider, as one to the client.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::body::{Body, Bytes};
use epitome::formats::Format;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::events::{Event, Events, event_text};
use super::telling::{EventKind, MergedAnswer, Round};
use super::{HOLD, Lookup, ProviderRefusal};

/// The time without data after which a client gets a sign of life.
const SILENCE: Duration = Duration::from_secs(10);

/// A comment: clients pass over it.
const SIGN_OF_LIFE: &[u8] = b": still at work\n\n";

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
}

async fn tell(mut lookup: Lookup, mut pieces: Pieces, client: &mut Client) -> Result<(), ClientGone> {
    let mut told = MergedAnswer::default();
    let mut names = lookup.asking.names.clone();
    loop {
        let shared = names.clone();
        let mut round = Round::new(lookup.format, &shared);
        let mut held = listen(&mut round, &mut told, pieces, client).await?;
        let said = round.utterance();
        let (calls, has_others) = (said.recall_calls(&names), said.has_others(&names));
        let is_whole = !held.ending.is_empty() && !held.failed && (round.is_over || held.broken.is_none());
        if calls.is_empty() || has_others || !is_whole || !lookup.may_ask() {
            if is_whole {
                client.wait(lookup.graft(&said, &calls, has_others)).await?;
                lookup.keep(None);
            }
            return last(&mut round, &mut told, held, client).await;
        }
        // The client sees nothing of it, or no more of it than it has seen.
        lookup.is_repeatable &= !held.is_shown;
        for event in held.ending.iter().filter(|_| held.is_shown) {
            if let Some(piece) = told.tell_words(&round, event) {
                client.send(piece).await?;
            }
        }
        held.events.clear();
        client.wait(lookup.look_up(&said, &calls)).await?;
        told.go_on(&round);
        pieces = match client.wait(lookup.next_answer()).await? {
            Ok(answer) => answer.bytes_stream().boxed(),
            Err(refused) if told.has_begun => return fail(lookup.format, refused, client).await,
            // The lookups are left out, and the answer is the one to the client's own request.
            Err(_) => {
                (names, lookup.steps, told) = (Vec::new(), Vec::new(), MergedAnswer::default());
                match client.wait(lookup.send(lookup.asking.plain.clone())).await? {
                    Ok(answer) if answer.status().is_success() => answer.bytes_stream().boxed(),
                    Ok(answer) => {
                        let said = answer.bytes().await.unwrap_or_default();
                        return fail(lookup.format, ProviderRefusal(serde_json::from_slice(&said).ok()), client).await;
                    }
                    Err(_) => return fail(lookup.format, ProviderRefusal(None), client).await,
                }
            }
        };
    }
}

/// Reads one answer. Events that the client may see are sent on as they arrive; the rest is held.
async fn listen(
    round: &mut Round<'_>,
    told: &mut MergedAnswer,
    mut pieces: Pieces,
    client: &mut Client,
) -> Result<PendingAnswer, ClientGone> {
    let (mut held, mut events, mut said) = (PendingAnswer::default(), Events::default(), 0_usize);
    let mut is_at_end = false;
    while !round.is_over && !is_at_end {
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
        while let Some(event) = events.next() {
            // The provider's own signs of life say nothing of the answer.
            if event.is_sign_of_life() {
                client.send(event.raw).await?;
                continue;
            }
            let kind = round.take(&event);
            match kind {
                EventKind::Ours => continue,
                EventKind::Ending => {
                    held.ending.push(event);
                    continue;
                }
                EventKind::Text(characters) => said += characters,
                EventKind::Broken => held.failed = true,
                EventKind::Quiet | EventKind::Clients => {}
            }
            held.is_shown |= matches!(kind, EventKind::Clients | EventKind::Broken) || said > HOLD;
            held.events.push(event);
        }
        if held.is_shown {
            for event in std::mem::take(&mut held.events) {
                if let Some(piece) = told.tell(round, &event) {
                    client.send(piece).await?;
                }
            }
        }
    }
    Ok(held)
}

/// Tells the end of the last answer, or where it broke off.
async fn last(
    round: &mut Round<'_>,
    told: &mut MergedAnswer,
    held: PendingAnswer,
    client: &mut Client,
) -> Result<(), ClientGone> {
    for event in held.events.iter().chain(&held.ending) {
        if let Some(piece) = told.tell(round, event) {
            client.send(piece).await?;
        }
    }
    match held.broken {
        Some(error) => {
            // The text before the error is sent first: an error at once would discard it.
            tokio::task::yield_now().await;
            client.sender.send(Err(io::Error::other(error.without_url()))).await.map_err(|_| ClientGone)
        }
        None => Ok(()),
    }
}

/// Tells that the provider failed in the middle, as its own streams do.
async fn fail(format: Format, ProviderRefusal(said): ProviderRefusal, client: &mut Client) -> Result<(), ClientGone> {
    let message = said.as_ref().and_then(|said| said["error"]["message"].as_str());
    let message = message.unwrap_or("the provider did not answer the request with what was looked up");
    let json: Value = match format {
        Format::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Format::OpenaiResponses => json!({"type": "error", "code": "server_error", "message": message, "param": null}),
        Format::Gemini => json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
        _ => json!({"error": {"type": "server_error", "code": null, "message": message}}),
    };
    let name = matches!(format, Format::Anthropic | Format::OpenaiResponses).then_some("error");
    client.send(event_text(name, &json)).await
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The data that a client has received after each piece of an answer with one piece a second.
    async fn heard_of(pieces: Vec<String>) -> Vec<String> {
        let (sender, mut receiver) = mpsc::channel(1_000);
        let mut client = Client { sender, sent_at: Instant::now() };
        let pieces = stream::iter(pieces).then(|piece| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from(piece))
        });
        let mut round = Round::new(Format::Anthropic, &["search_history"]);
        listen(&mut round, &mut MergedAnswer::default(), pieces.boxed(), &mut client).await.unwrap();
        drop(client);
        let mut heard = Vec::new();
        while let Some(piece) = receiver.recv().await {
            heard.push(String::from_utf8(piece.unwrap().to_vec()).unwrap());
        }
        heard
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
