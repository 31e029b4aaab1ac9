//! The console's files: who gets them, and what else is under their addresses.

use epitome_server::Settings;
use reqwest::redirect::Policy;
use reqwest::{Client, header};

use crate::support::{Running, SMALL, in_front_of, with_tokens};

/// Status, `Location` and content type of an answer that is not followed.
async fn look(service: &Running, path: &str, token: Option<&str>) -> (u16, String, String) {
    let client = Client::builder().no_proxy().redirect(Policy::none()).build().unwrap();
    let request = client.get(service.url(path));
    let request = match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let response = request.send().await.unwrap();
    let value = |name| response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    (response.status().as_u16(), value(header::LOCATION), value(header::CONTENT_TYPE))
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TOKEN: &str = "open-sesame-one-two";

#[tokio::test]
async fn the_page_is_there_without_a_token_and_nothing_else_is() {
    let service = Running::start(SMALL, with_tokens(&format!("alice {TOKEN}\n"))).await;
    let check = async |path: &str, status: u16, location: &str, kind: &str| {
        assert_eq!(look(&service, path, None).await, (status, location.to_owned(), kind.to_owned()), "{path}");
    };
    check("/", 307, "console/", "").await;
    check("/console", 307, "console/", "").await;
    check("/console/", 200, "", HTML).await;
    check("/console/index.html", 200, "", HTML).await;
    check("/console/nothing.js", 404, "", JSON).await;
    check("/console/..%2fv1%2fsessions", 404, "", JSON).await;
    check("/consoles", 401, "", JSON).await;
    check("/v1/sessions", 401, "", JSON).await;
    let posted = service.post_text("/console/", "{}").send().await.unwrap();
    assert_eq!(posted.status().as_u16(), 405);
}

#[tokio::test]
async fn a_proxys_own_address_is_the_providers() {
    let settings =
        Settings { tokens: with_tokens(&format!("alice {TOKEN}\n")).tokens, ..in_front_of("http://127.0.0.1:9") };
    let service = Running::start(SMALL, settings).await;
    assert_eq!(look(&service, "/", None).await.0, 401);
    assert_eq!(look(&service, "/", Some(TOKEN)).await.0, 502);
    assert_eq!(look(&service, "/console/", None).await.0, 200);
}

/// A page elsewhere that has its own name resolve to this machine gets nothing of a service without tokens.
#[tokio::test]
async fn strangers_do_not_get_the_page() {
    let service = Running::start(SMALL, Settings::default()).await;
    let request = service.client.get(service.url("/console/")).header("host", "evil.example");
    assert_eq!(request.send().await.unwrap().status().as_u16(), 403);
}
