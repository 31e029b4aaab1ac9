//! An HTTP/1.1 server that answers from a script, for tests of clients.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! use epitome_harness::{ScriptedAnswer, ScriptedServer};
//!
//! let answers = vec![ScriptedAnswer::text(503, "busy"), ScriptedAnswer::json(200, r#"{"done":true}"#)];
//! let server = ScriptedServer::start(answers);
//! let ask = || {
//!     let mut stream = TcpStream::connect(server.address())?;
//!     stream.write_all(b"POST /v1/chat HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")?;
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer)?;
//!     Ok::<_, std::io::Error>(answer)
//! };
//! assert!(ask()?.ends_with("\r\n\r\nbusy"));
//! assert!(ask()?.ends_with(r#"{"done":true}"#));
//! assert_eq!(server.requests()[1].path, "/v1/chat");
//! # Ok::<_, std::io::Error>(())
//! ```

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use epitome_strategy::lock;
use serde_json::Value;

/// How long a test waits for an immediate event before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server's answer to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedAnswer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    is_held: bool,
    end: End,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Complete.
    Whole,
    /// After this many bytes of the body, although the header promises all of them.
    Cut(usize),
    /// Before its first byte.
    HangUp,
}

impl ScriptedAnswer {
    /// Returns an answer with `body` as `application/json`; the body need not be JSON.
    pub fn json(status: u16, body: impl ToString) -> Self {
        Self::text(status, body).header("Content-Type", "application/json")
    }

    /// Returns an answer with `body`, without a type.
    pub fn text(status: u16, body: impl ToString) -> Self {
        Self::bytes(status, body.to_string())
    }

    /// Returns an answer with `body`, without a type.
    pub fn bytes(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), is_held: false, end: End::Whole }
    }

    /// Returns an answer that closes the connection after the request is read.
    pub fn hang_up() -> Self {
        Self { end: End::HangUp, ..Self::text(200, "") }
    }

    /// Returns an answer that sends nothing until [`ScriptedServer::release`], then closes; or until the client
    /// disconnects.
    pub fn hold() -> Self {
        Self::hang_up().held()
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Holds the answer back until [`ScriptedServer::release`], or until the client disconnects.
    pub fn held(mut self) -> Self {
        self.is_held = true;
        self
    }

    /// Closes the connection after `n_bytes` of the body, having promised all of it.
    pub fn cut_after(mut self, n_bytes: usize) -> Self {
        self.end = End::Cut(n_bytes);
        self
    }

    fn write(&self, mut stream: &TcpStream) -> io::Result<()> {
        let body = match self.end {
            End::Whole => &self.body[..],
            End::Cut(n_bytes) => &self.body[..n_bytes.min(self.body.len())],
            End::HangUp => return Ok(()),
        };
        let (status, length) = (self.status, self.body.len());
        let mut head = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {length}\r\nConnection: close\r\n");
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        stream.write_all(body)?;
        stream.flush()
    }
}

/// A request as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// `POST`, `GET`, …
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, names in small letters, in the order of the request.
    pub headers: Vec<(String, String)>,
    /// The number of bytes that `Content-Length` promised.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns the first header called `name`, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON; null where it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

type Script = dyn Fn(usize, &ReceivedRequest) -> ScriptedAnswer + Send + Sync;

/// A server on this machine that answers from a script and records its requests. It takes one request a connection, and
/// answers simultaneous requests in parallel. It ends when the value is dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
}

struct ServerState {
    script: Box<Script>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<ReceivedRequest>,
    n_hang_ups: usize,
    n_releases: usize,
    has_ended: bool,
}

impl ScriptedServer {
    /// Starts a server that gives `answers` in their order, and repeats the last one; without answers it closes
    /// connections.
    pub fn start(answers: Vec<ScriptedAnswer>) -> Self {
        Self::start_with(move |position, _| {
            answers.get(position).or(answers.last()).cloned().unwrap_or_else(ScriptedAnswer::hang_up)
        })
    }

    /// Starts a server that calls `script` for each answer, with the number of earlier requests and the request.
    #[expect(clippy::panic, reason = "a test without its server cannot go on")]
    pub fn start_with(script: impl Fn(usize, &ReceivedRequest) -> ScriptedAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = listener.unwrap_or_else(|error| panic!("no server on this machine: {error}"));
        let shared =
            Arc::new(ServerState { script: Box::new(script), state: Mutex::default(), changed: Condvar::default() });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if served.state().has_ended {
                    break;
                }
                let served = Arc::clone(&served);
                // Clients that disconnect early are among the tested cases.
                thread::spawn(move || {
                    let _ = served.serve(&stream);
                    // Dropping it is not enough: the thread that watches for a disconnect has a copy.
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, shared }
    }

    /// Returns `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far, in their order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.state().requests.clone()
    }

    /// Releases the answers that are held back now.
    pub fn release(&self) {
        self.shared.change(|state| state.n_releases += 1);
    }

    /// Waits until `n_requests` have arrived, and returns all.
    ///
    /// # Panics
    ///
    /// The requests have not arrived within half a minute.
    pub fn wait_for_requests(&self, n_requests: usize) -> Vec<ReceivedRequest> {
        let state = self.shared.wait_for("requests", n_requests, |state| state.requests.len());
        state.requests.clone()
    }

    /// Waits until clients have disconnected from `n_hang_ups` answers that were held back.
    ///
    /// # Panics
    ///
    /// The clients have not disconnected within half a minute.
    pub fn wait_for_hang_ups(&self, n_hang_ups: usize) {
        drop(self.shared.wait_for("clients to hang up", n_hang_ups, |state| state.n_hang_ups));
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.change(|state| state.has_ended = true);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl fmt::Debug for ScriptedServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ScriptedServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ServerState {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    fn wait_for(&self, what: &str, expected: usize, count: impl Fn(&State) -> usize) -> MutexGuard<'_, State> {
        let unmet = |state: &mut State| count(state) < expected;
        let (state, _) =
            self.changed.wait_timeout_while(self.state(), PATIENCE, unmet).unwrap_or_else(PoisonError::into_inner);
        let found = count(&state);
        assert!(found >= expected, "waited for {expected} {what}; there were {found}");
        state
    }

    fn serve(self: &Arc<Self>, stream: &TcpStream) -> io::Result<()> {
        let request = read(stream)?;
        let (mut position, mut n_releases) = (0, 0);
        self.change(|state| {
            (position, n_releases) = (state.requests.len(), state.n_releases);
            state.requests.push(request.clone());
        });
        let answer = (self.script)(position, &request);
        if answer.is_held && !self.hold(stream, n_releases)? {
            return Ok(());
        }
        answer.write(stream)
    }

    /// Waits for a release after the first `n_releases`; returns whether the client is still connected.
    fn hold(self: &Arc<Self>, stream: &TcpStream, n_releases: usize) -> io::Result<bool> {
        let has_left = Arc::new(Mutex::new(false));
        let (watched, mark, shared) = (stream.try_clone()?, Arc::clone(&has_left), Arc::clone(self));
        thread::spawn(move || {
            // Ends when the client hangs up, or after the answer.
            let _ = io::copy(&mut &watched, &mut io::sink());
            shared.change(|_| *lock(&mark) = true);
        });
        let has_left = || *lock(&has_left);
        let is_held = |state: &mut State| state.n_releases == n_releases && !state.has_ended && !has_left();
        let mut state = self.changed.wait_while(self.state(), is_held).unwrap_or_else(PoisonError::into_inner);
        if state.n_releases == n_releases && has_left() {
            state.n_hang_ups += 1;
            drop(state);
            self.changed.notify_all();
            return Ok(false);
        }
        Ok(!state.has_ended)
    }
}

/// Returns the request in `stream`.
fn read(stream: &TcpStream) -> io::Result<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        let n_read = reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':').filter(|_| n_read > 0) else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = ReceivedRequest { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    reader.take(length).read_to_end(&mut request.body)?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn send(server: &ScriptedServer, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let length = body.len();
        write!(stream, "POST /a?b=c HTTP/1.1\r\nX-Name: Value: 1 \r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        stream
    }

    fn answer(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn answers_in_order() {
        let server = ScriptedServer::start(vec![
            ScriptedAnswer::json(429, "{}").header("Retry-After", "1"),
            ScriptedAnswer::text(200, "0123456789").cut_after(4),
            ScriptedAnswer::hang_up(),
        ]);
        let expect = "HTTP/1.1 429 Scripted\r\nContent-Length: 2\r\nConnection: close\r\nContent-Type: application/json\r\n\
                      Retry-After: 1\r\n\r\n{}";
        assert_eq!(answer(send(&server, "{}")), expect);
        assert!(answer(send(&server, "{}")).ends_with("Content-Length: 10\r\nConnection: close\r\n\r\n0123"));
        assert_eq!((answer(send(&server, "{}")), answer(send(&server, "{}"))), (String::new(), String::new()));
        assert_eq!(server.requests().len(), 4);
    }

    #[test]
    fn requests_are_kept() {
        let server =
            ScriptedServer::start_with(|position, request| ScriptedAnswer::text(200, position + request.body.len()));
        assert!(answer(send(&server, "[1]")).ends_with("\r\n\r\n3"));
        assert!(answer(send(&server, "é")).ends_with("\r\n\r\n3"));
        let requests = server.requests();
        assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/a?b=c"));
        assert_eq!(requests[0].header("X-NAME"), Some("Value: 1"));
        assert_eq!((requests[0].json(), requests[1].text()), (serde_json::json!([1]), "é".to_owned()));
    }

    #[test]
    fn held_answers_wait() {
        let server = ScriptedServer::start(vec![ScriptedAnswer::text(200, "late").held(), ScriptedAnswer::hold()]);
        let first = send(&server, "");
        server.wait_for_requests(1);
        let second = send(&server, "");
        server.wait_for_requests(2);
        drop(second);
        server.wait_for_hang_ups(1);
        server.release();
        assert!(answer(first).ends_with("late"));
        let third = send(&server, "");
        server.wait_for_requests(3);
        drop(server);
        assert_eq!(answer(third), "", "nobody holds on to what the server held");
    }
}
