//! Bodies for the service's routes, with sessions to work on.
#![no_main]

mod http;

/// A method and a path; the first byte of the input picks one.
const ROUTES: &[(&str, &str)] = &[
    ("POST", "/v1/sessions"),
    ("POST", "/v1/sessions/import"),
    ("POST", "/v1/sessions/s/messages"),
    ("POST", "/v1/sessions/s/compact"),
    ("POST", "/v1/sessions/s/maintain"),
    ("POST", "/v1/sessions/s/preview"),
    ("POST", "/v1/sessions/s/apply"),
    ("POST", "/v1/sessions/s/undo"),
    ("POST", "/v1/sessions/s/overflow"),
    ("PATCH", "/v1/sessions/s"),
    ("PUT", "/v1/agents/a"),
    ("PUT", "/v1/channels/c"),
    ("POST", "/v1/compact"),
    ("POST", "/v1/preview"),
    ("POST", "/v1/check"),
    ("POST", "/v1/inspect"),
    ("POST", "/v1/compress"),
    ("POST", "/v1/retrieve"),
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, body)) = data.split_first() else { return };
    let address = http::service(None);
    // There is a session `s` again after each input that deleted or replaced it: refused where it is there.
    let session = br#"{"id":"s","request":{"messages":[{"role":"user","content":"go"}]}}"#;
    http::ask(address, "POST", "/v1/sessions", session);
    let (method, path) = ROUTES[usize::from(*first) % ROUTES.len()];
    http::ask(address, method, path, body);
    for read in ["/v1/sessions/s/messages?view=full", "/v1/sessions/s/request", "/v1/sessions/s/history"] {
        http::ask(address, "GET", read, b"");
    }
});
