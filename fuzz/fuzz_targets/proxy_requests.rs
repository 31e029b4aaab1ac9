//! Requests of agents to their providers, by way of the proxy.
#![no_main]

mod http;

const PATHS: &[&str] = &[
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/responses/compact",
    "/v1/models",
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, body)) = data.split_first() else { return };
    let address = http::service(Some(http::upstream()));
    let path = PATHS[usize::from(*first) % PATHS.len()];
    http::ask(address, "POST", path, body);
    // The same again: now the proxy knows the conversation.
    http::ask(address, "POST", path, body);
});
