//! Traces of requests and compactions, sent by the OpenTelemetry protocol.
//!
//! The spans are those of `tracing`: `request` by the guard, `session` around the work on a stored session, `compaction` by
//! the live session or the job that makes one. Here they become spans of a trace, which goes on where the caller's trace ended
//! and is passed to the provider behind the proxy. Attributes are those of the conventions for HTTP and for generative AI.

use std::env;

use axum::extract::Request;
use axum::http::{HeaderMap, Method};
use epitome::wire::{Address, Route};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Status, TraceContextExt as _, TracerProvider as _};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::Deserialize;
use tracing::{Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The variables that say where traces go. Without one of them nothing is traced: a service does not look for a collector
/// that nobody spoke of.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Where the spans of health checks and of scrapes come from, which are many and tell nothing.
const PROBES: &str = "epitome_server::probes";

/// The name of the service in its traces, where no variable says another.
const SERVICE: &str = "epitome";

/// Sends what is traced. Dropping it sends the rest.
#[derive(Debug)]
pub(crate) struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// Whether the variables ask for traces. Errors where they ask for what this program cannot do.
fn is_wanted(variable: impl Fn(&str) -> Option<String>) -> Result<bool, String> {
    let given = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    if given("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(false);
    }
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        let Some(protocol) = given(name) else { continue };
        if !["http/protobuf", "http/json"].contains(&protocol.as_str()) {
            return Err(format!("{name} is `{protocol}`: traces are sent by http/protobuf or http/json"));
        }
    }
    match given("OTEL_TRACES_EXPORTER").as_deref() {
        None => Ok(ENDPOINTS.iter().any(|name| given(name).is_some())),
        Some("otlp") => Ok(true),
        Some("none") => Ok(false),
        Some(other) => Err(format!("OTEL_TRACES_EXPORTER is `{other}`: traces go by `otlp`, or `none` are sent")),
    }
}

/// What makes traces of the spans of a subscriber, with what sends them; nothing where the variables ask for none.
pub(crate) fn start<S>() -> Result<Option<(impl Layer<S>, Traces)>, String>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let variable = |name: &str| env::var(name).ok();
    if !is_wanted(variable)? {
        return Ok(None);
    }
    // Who sends to an address with TLS needs to know how; the service may have said so already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let exporter = SpanExporter::builder().with_http().build();
    let exporter = exporter.map_err(|error| format!("the OTEL_EXPORTER_OTLP_… variables: {error}"))?;
    let is_named = variable("OTEL_SERVICE_NAME").is_some_and(|name| !name.is_empty())
        || variable("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|pairs| pairs.contains("service.name="));
    let resource = match Resource::builder() {
        named if is_named => named,
        unnamed => unnamed.with_service_name(SERVICE),
    };
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("epitome"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false);
    Ok(Some((layer.with_filter(filter_fn(is_traced)), Traces(provider))))
}

/// Records are logs, and stay with them.
fn is_traced(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target().starts_with("epitome") && metadata.target() != PROBES
}

/// The span of a request, which goes on with the caller's trace. From here on the request itself names this span as the
/// one that it belongs to: so does what the proxy sends to the provider. Probes are not traced.
pub(crate) fn request_span(number: u64, route: &str, is_probe: bool, request: &mut Request) -> Span {
    // Signed: the numbers of traces are.
    let (method, number) = (request.method().clone(), number.cast_signed());
    if is_probe {
        return tracing::info_span!(target: PROBES, "request", number, route, %method, tenant = tracing::field::Empty);
    }
    let span = tracing::info_span!(
        "request",
        number,
        route,
        %method,
        tenant = tracing::field::Empty,
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
    );
    let propagator = TraceContextPropagator::new();
    let parent = propagator.extract(&HeaderExtractor(request.headers()));
    // An error is a span that is not traced.
    if span.set_parent(parent).is_err() {
        return span;
    }
    span.set_attribute("http.request.method", method.to_string());
    span.set_attribute("http.route", route.to_owned());
    let context = span.context();
    if context.span().span_context().is_valid() {
        propagator.inject_context(&context, &mut HeaderInjector(request.headers_mut()));
    }
    span
}

/// Notes in the span of a request to a provider which API and which model it asks. `body` is what came, whole; where it is
/// compressed, [`note_model`] notes the model later.
pub(crate) fn note_inference(method: &Method, path: &str, body: &[u8]) {
    let Some(inference) = Inference::of_path(path) else { return };
    let span = Span::current();
    if method != Method::POST || !span.context().span().span_context().is_sampled() {
        return;
    }
    span.set_attribute("gen_ai.operation.name", inference.operation);
    span.set_attribute("gen_ai.provider.name", inference.provider);
    match inference.model {
        Some(model) => span.set_attribute("gen_ai.request.model", model),
        None => note_model(body),
    }
}

/// Notes in the current span which model a request's body names, where it names one.
pub(crate) fn note_model(body: &[u8]) {
    #[derive(Deserialize)]
    struct Named {
        model: Option<String>,
    }
    let span = Span::current();
    if !span.context().span().span_context().is_sampled() {
        return;
    }
    // A body that is not JSON is the provider's to refuse.
    if let Ok(Named { model: Some(model) }) = serde_json::from_slice(body) {
        span.set_attribute("gen_ai.request.model", model);
    }
}

/// What a request's path says of it, in the words of the conventions for generative AI.
#[derive(Debug, PartialEq, Eq)]
struct Inference {
    operation: &'static str,
    provider: &'static str,
    /// The model, where it is in the path.
    model: Option<String>,
}

impl Inference {
    /// `None` where it is not a request of a conversation.
    fn of_path(path: &str) -> Option<Self> {
        let (_, wire) = Route::of_path(path).filter(|(route, _)| *route == Route::Conversation)?;
        let (operation, provider) = wire.operation();
        Some(Self { operation, provider, model: Address::read(path, None).model })
    }
}

/// Notes how a request was answered, and what the proxy did with it.
pub(crate) fn note_answer(span: &Span, status: u16, headers: &HeaderMap) {
    span.set_attribute("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.set_attribute("error.type", status.to_string());
        span.set_status(Status::error(""));
    }
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(done) = header("x-epitome-status") else { return };
    span.set_attribute("epitome.status", done.to_owned());
    span.set_attribute("gen_ai.conversation.compacted", is_compacted(done, header("x-epitome-epoch")));
    for (name, attribute) in
        [("x-epitome-tokens-before", "epitome.tokens.before"), ("x-epitome-tokens-after", "epitome.tokens.after")]
    {
        if let Some(tokens) = header(name).and_then(|tokens| tokens.parse::<i64>().ok()) {
            span.set_attribute(attribute, tokens);
        }
    }
}

/// Whether a conversation was compacted, by the answer's headers: what was done now, and the number of compactions that are
/// in the request, which answers to a client's own compaction do not have.
fn is_compacted(done: &str, epoch: Option<&str>) -> bool {
    matches!(done, "compacted" | "answered") || epoch.is_some_and(|epoch| epoch != "0")
}

/// Notes which session is worked on. Ids may be people's: `session` is a hash of one, as in the log.
pub(crate) fn note_session(span: &Span, session: &str) {
    span.set_attribute("gen_ai.conversation.id", session.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expect: Result<bool, &str>) {
        let given = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        match (is_wanted(given), expect) {
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
            (wanted, expect) => assert_eq!(wanted, expect.map_err(str::to_owned), "{variables:?}"),
        }
    }

    #[test]
    fn what_a_path_says_of_a_request() {
        let check = |path: &str, expect: Option<(&str, &str, Option<&str>)>| {
            let said = Inference::of_path(path);
            let said = said.as_ref().map(|it| (it.operation, it.provider, it.model.as_deref()));
            assert_eq!(said, expect, "{path}");
        };
        check("/v1/chat/completions", Some(("chat", "openai", None)));
        check("/v1/responses", Some(("chat", "openai", None)));
        check("/v1/messages/", Some(("chat", "anthropic", None)));
        let gemini = |model| Some(("generate_content", "gcp.gemini", Some(model)));
        check("/v1beta/models/a-model:generateContent", gemini("a-model"));
        check("/v1beta/models/a-model:streamGenerateContent", gemini("a-model"));
        check("/v1beta/models/a-model:countTokens", None);
        check("/v1/messages/count_tokens", None);
        check("/v1/models", None);
    }

    #[test]
    fn what_counts_as_compacted() {
        let check = |done, epoch, expect| assert_eq!(is_compacted(done, epoch), expect, "{done} {epoch:?}");
        check("compacted", Some("1"), true);
        check("passed", Some("2"), true);
        check("passed", Some("0"), false);
        check("bypassed", None, false);
        // A client's own compaction: its item is in front of the answer, or is the answer.
        check("compacted", Some("0"), true);
        check("answered", None, true);
        check("refused", None, false);
    }

    #[test]
    fn traces_are_sent_where_they_are_asked_for() {
        let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");
        check(&[], Ok(false));
        check(&[here], Ok(true));
        check(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4318/v1/traces")], Ok(true));
        check(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], Ok(false));
        check(&[("OTEL_TRACES_EXPORTER", "otlp")], Ok(true));
        check(&[here, ("OTEL_TRACES_EXPORTER", "none")], Ok(false));
        check(&[here, ("OTEL_SDK_DISABLED", "TRUE")], Ok(false));
        check(&[here, ("OTEL_TRACES_EXPORTER", "zipkin")], Err("OTEL_TRACES_EXPORTER is `zipkin`"));
        check(&[here, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], Err("http/protobuf or http/json"));
        check(&[here, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")], Ok(true));
    }
}
