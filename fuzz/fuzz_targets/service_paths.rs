//! Paths and queries of the service: names, numbers and percent signs as nobody writes them.
#![no_main]

mod http;

const BEFORE: &[&str] = &[
    "/v1/sessions/",
    "/v1/sessions?",
    "/v1/sessions/s/messages?",
    "/v1/sessions/s/recall/",
    "/v1/sessions/s/epochs/",
    "/v1/sessions/s/messages/",
    "/v1/memories?",
    "/v1/memories/",
    "/v1/agents/",
    "/v1/channels/",
    "/v1/retrieve/",
    "/console/",
    "/",
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let [method, first, rest @ ..] = data else { return };
    let method = ["GET", "DELETE", "POST", "PUT"][usize::from(*method) % 4];
    // What may stand in a request line: the rest would be another line, or no request at all.
    let rest: String = rest.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect();
    let path = format!("{}{rest}", BEFORE[usize::from(*first) % BEFORE.len()]);
    http::ask(http::service(None), method, &path, b"");
});
