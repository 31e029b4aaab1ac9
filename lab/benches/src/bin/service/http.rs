//! HTTP/1.1 by hand, on this machine: a client that keeps its connection, and a provider that takes everything.

use std::io::{self, BufRead, BufReader, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How long a connection may be silent before the measurement is given up.
const SILENCE: Duration = Duration::from_secs(120);

/// A connection that is kept.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
    key: String,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) took: Duration,
    /// `x-epitome-status`, where there is one.
    pub(crate) did: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// `key` is what the client shows the provider: conversations of other keys are other conversations.
    pub(crate) fn connect(host: SocketAddr, key: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        Ok(Self { stream: BufReader::new(stream), host, key: key.to_owned() })
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.ask("GET", path, &[])
    }

    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> io::Result<Answer> {
        self.ask("POST", path, body)
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> io::Result<Answer> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.host,
            self.key,
            body.len()
        );
        let started = Instant::now();
        write_all(self.stream.get_mut(), head.as_bytes(), body)?;
        let (first, headers) = head_of(&mut self.stream)?;
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no answer: {first:?}")))?;
        let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let mut answer = Vec::new();
        match header("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => self.stream.by_ref().take(length).read_to_end(&mut answer).map(drop)?,
            None => self.chunks(&mut answer)?,
        }
        let did = header("x-epitome-status").unwrap_or_default().to_owned();
        Ok(Answer { status, took: started.elapsed(), did, body: answer })
    }

    fn chunks(&mut self, answer: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let length = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            self.stream.by_ref().take(length).read_to_end(answer)?;
            line.clear();
            self.stream.read_line(&mut line)?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}

/// Listens as a provider that reads each request to its end and says nothing much.
pub(crate) fn provider() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that goes away ends its own connection and nothing else.
            thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

fn serve(stream: TcpStream) -> io::Result<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(256 * 1024, stream);
    loop {
        let (first, headers) = head_of(&mut stream)?;
        if first.is_empty() {
            return Ok(());
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, length)| length.parse().ok()).unwrap_or(0);
        io::copy(&mut stream.by_ref().take(length), &mut io::sink())?;
        stream.get_mut().write_all(ANSWER)?;
    }
}

/// The first line, and the headers with their names in small letters.
fn head_of(stream: &mut impl BufRead) -> io::Result<(String, Vec<(String, String)>)> {
    let mut first = String::new();
    stream.read_line(&mut first)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        let n_read = stream.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) if n_read > 0 => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            _ => return Ok((first.trim_end().to_owned(), headers)),
        }
    }
}

/// Head and body in as few writes as possible.
fn write_all(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let written = stream.write_vectored(&[IoSlice::new(head), IoSlice::new(body)])?;
    if written < head.len() {
        stream.write_all(&head[written..])?;
        return stream.write_all(body);
    }
    stream.write_all(&body[written - head.len()..])
}
