//! A service under fuzz: started once, asked over its port as any client would, with bytes that no client would send.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use epitome::Config;
use epitome_server::{Limits, Service, Settings, StoreLocation, Upstreams};

/// The longest that an answer may take: beyond it the service hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest body, so that the service's own bound is met too.
const BODY_BYTES: usize = 256 * 1024;

/// Where the service listens. With an `upstream` it is a proxy in front of that.
pub fn service(upstream: Option<&str>) -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let mut upstreams = Upstreams::default();
        if let Some(url) = upstream {
            upstreams.add(url).expect("the address of an upstream");
        }
        let (told, address) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let registry = epitome::registry();
                let text = "[budget]\nwindow = 3000\nreserve_output = 500\n[live]\nmemory_flush = true\n";
                let config = Config::parse(text, "fuzz.toml", &registry).expect("a configuration");
                let settings = Settings {
                    listen: SocketAddr::from(([127, 0, 0, 1], 0)),
                    store: StoreLocation::In("sqlite::memory:".to_owned()),
                    upstreams,
                    limits: Limits { body_bytes: BODY_BYTES, requests_per_minute: 0, ..Limits::default() },
                    config: config.clone(),
                    ..Settings::default()
                };
                let built = config.build(&registry).expect("a runtime of the configuration");
                let service = Service::bind(built, registry, settings).await.expect("a service");
                told.send(service.address()).expect("somebody waits");
                service.run(std::future::pending::<()>()).await.expect("the service");
            });
        });
        address.recv().expect("the service starts")
    })
}

/// An upstream that answers every request with the same small answer, whatever it asks. Its base URL.
#[allow(dead_code)]
pub fn upstream() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        url
    })
}

/// Reads a request with its body and answers it, once.
fn answer(mut stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    let ends = |seen: &[u8]| {
        let head = seen.windows(4).position(|four| four == b"\r\n\r\n")?;
        let text = String::from_utf8_lossy(&seen[..head]).to_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        (seen.len() >= head + 4 + length.unwrap_or(0)).then_some(())
    };
    while ends(&seen).is_none() {
        match stream.read(&mut part) {
            Ok(count) if count > 0 => seen.extend(&part[..count]),
            _ => return,
        }
    }
    let body = "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"ok\"}}]}";
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// Sends one request and holds the answer against what every answer must be: there in time, HTTP, and no 500, which
/// stands for a panic. What is full or slow (503, 504) is an answer.
pub fn ask(address: SocketAddr, method: &str, path: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(address).expect("the service listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    // A body that is too large is refused before it is read to its end: writing the rest of it may fail.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    let mut answer = Vec::new();
    let read = stream.take(64 << 20).read_to_end(&mut answer);
    if answer.is_empty() && body.len() > BODY_BYTES {
        return; // refused and reset before the answer could be read
    }
    assert!(answer.starts_with(b"HTTP/1.1 "), "{method} {path}: no answer ({read:?})");
    assert!(!answer.starts_with(b"HTTP/1.1 500"), "{method} {path}: {}", String::from_utf8_lossy(&answer));
}
