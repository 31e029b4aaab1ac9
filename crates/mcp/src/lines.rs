//! Standard input and output, line by line: what the server cannot read is answered here, and ends nothing.

use tokio::io::{self, AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

use crate::message::{read_message, too_long};

/// The longest message, in bytes: as long as those over HTTP.
const LONGEST: usize = 16 << 20;

/// Bytes that wait between the client and the server.
const WAITING: usize = 64 << 10;

/// Answers that wait for a client that does not read.
const WAITING_ANSWERS: usize = 16;

/// The server's end of a client's lines.
pub(crate) struct ServerEnd {
    /// The messages that the server can read.
    pub(crate) messages: io::DuplexStream,
    /// What it answers.
    pub(crate) answers: io::DuplexStream,
    /// Brings the messages, until the client ends.
    pub(crate) bringing: tokio::task::JoinHandle<()>,
    /// Writes the answers, until the server and `bringing` have ended.
    pub(crate) writing: tokio::task::JoinHandle<()>,
}

/// Stands between a client and the server.
pub(crate) fn between(
    client: impl AsyncRead + Send + Unpin + 'static,
    mut out: impl AsyncWrite + Send + Unpin + 'static,
) -> ServerEnd {
    let (mut to_server, messages) = io::duplex(WAITING);
    let (answers, from_server) = io::duplex(WAITING);
    let (refuse, mut refused) = mpsc::channel::<String>(WAITING_ANSWERS);
    let bringing = tokio::spawn(async move {
        let mut client = BufReader::new(client);
        // An end of either side ends this.
        while let Ok(Some(line)) = next_line(&mut client).await {
            let read = match &line {
                Line::Whole(bytes) => read_message(bytes),
                Line::TooLong => Err(too_long(LONGEST)),
            };
            let is_gone = match read {
                Ok(None) => false,
                Ok(Some(text)) => to_server.write_all(format!("{}\n", text.trim_end()).as_bytes()).await.is_err(),
                Err(refusal) => refuse.send(refusal).await.is_err(),
            };
            if is_gone {
                break;
            }
        }
    });
    let writing = tokio::spawn(async move {
        let mut answers = BufReader::new(from_server).split(b'\n');
        let (mut is_served, mut is_read) = (true, true);
        while is_served || is_read {
            // Each answer is a line of its own.
            let mut answer = tokio::select! {
                answer = answers.next_segment(), if is_served => match answer {
                    Ok(Some(answer)) => answer,
                    _ => {
                        is_served = false;
                        continue;
                    }
                },
                refusal = refused.recv(), if is_read => match refusal {
                    Some(refusal) => refusal.into_bytes(),
                    None => {
                        is_read = false;
                        continue;
                    }
                },
            };
            answer.push(b'\n');
            if out.write_all(&answer).await.is_err() || out.flush().await.is_err() {
                return;
            }
        }
    });
    ServerEnd { messages, answers, bringing, writing }
}

/// A line of a client.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// It was longer than a message may be, and is not kept.
    TooLong,
}

/// The next line, without its end; the last one may have none. `None` at the end.
async fn next_line(client: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Line>> {
    let (mut line, mut is_kept, mut has_begun) = (Vec::new(), true, false);
    loop {
        let available = client.fill_buf().await?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = &available[..end.unwrap_or(available.len())];
        let is_over = end.is_some() || available.is_empty();
        has_begun |= !available.is_empty();
        is_kept &= line.len() + piece.len() <= LONGEST;
        if is_kept {
            line.extend_from_slice(piece);
        } else {
            line = Vec::new();
        }
        let taken = piece.len() + usize::from(end.is_some());
        client.consume(taken);
        if is_over {
            return Ok(has_begun.then_some(if is_kept { Line::Whole(line) } else { Line::TooLong }));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn lines_of_any_length() {
        let long = "x".repeat(LONGEST);
        let text = format!("one\n\n{long}\n{long}y\ntwo\r\nlast");
        let mut client = BufReader::new(text.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = next_line(&mut client).await.unwrap() {
            found.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert!(found == [whole("one"), whole(""), whole(&long), Line::TooLong, whole("two\r"), whole("last")]);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_answered_between_the_answers() {
        let (out, mut heard) = io::duplex(1 << 20);
        let ends = between(&b"nonsense\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n[]\n"[..], out);
        let ServerEnd { messages, mut answers, writing, .. } = ends;
        let mut messages = BufReader::new(messages).lines();
        assert_eq!(messages.next_line().await.unwrap().unwrap(), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(messages.next_line().await.unwrap(), None);
        // A server may write a line in pieces.
        answers.write_all(b"{\"id\":").await.unwrap();
        answers.write_all(b"1}\n").await.unwrap();
        drop(answers);
        writing.await.unwrap();
        let mut text = String::new();
        io::AsyncReadExt::read_to_string(&mut heard, &mut text).await.unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_by_key(|line| line.len());
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], r#"{"id":1}"#);
        assert!(text.contains("-32700") && text.contains("-32600"), "{text}");
    }
}
