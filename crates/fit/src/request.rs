//! The input of a fitting: a list of messages, and what is sent beside it.

use std::ops::Range;

use bytes::Bytes;
use epitome::formats::{Wire, usual_model};
use epitome::live::ModelRequest;
use epitome::strategy::{Cancellation, Tokens};
use epitome::wire::Outline;
use serde_json::value::RawValue;

use crate::FitError;

/// Content that is sent beside the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestPart<'a> {
    /// Nothing.
    #[default]
    Nothing,
    /// This JSON, as the provider's requests have it.
    Json(&'a str),
    /// Content that the host does not show, by its number of tokens.
    Tokens(Tokens),
}

/// A list of messages with the content that is sent beside it.
#[derive(Debug, Clone)]
pub struct FitRequest<'a> {
    /// Each message, or item, as JSON text in the provider's form.
    pub messages: Vec<&'a str>,
    /// The form of the messages, where they tell it; that of the fitter otherwise ([`Fitter::profile`](crate::Fitter::profile)).
    pub profile: Option<Wire>,
    /// The system prompt, where it is not in the list. It is not changed.
    pub system: RequestPart<'a>,
    /// The definitions of tools.
    pub tools: RequestPart<'a>,
    /// Tells conversations apart that begin alike, such as those of two people; it may be a secret. What left a conversation
    /// is found without it: people who do not trust each other need a [`Fitter`](crate::Fitter) each.
    pub key: &'a str,
    /// The input tokens, cached ones included, that the provider reported for the request that the fitting before this one of
    /// the same conversation gave: counts are corrected by it.
    pub reported_tokens: Option<u64>,
    /// A compaction that the conversation's model asks for: it is made where
    /// [`LiveSession::compact_as_asked`](epitome::live::LiveSession::compact_as_asked) finds it wise, whether one is due or not.
    pub asked: Option<ModelRequest>,
    /// Gives up the work under way when requested.
    pub cancellation: Cancellation,
}

impl<'a> FitRequest<'a> {
    /// A list of messages, with nothing beside it.
    pub fn new<M: AsRef<str> + ?Sized + 'a>(messages: impl IntoIterator<Item = &'a M>) -> Self {
        Self {
            messages: messages.into_iter().map(AsRef::as_ref).collect(),
            profile: None,
            system: RequestPart::Nothing,
            tools: RequestPart::Nothing,
            key: "",
            reported_tokens: None,
            asked: None,
            cancellation: Cancellation::never(),
        }
    }

    /// Tokens of content that the host does not show.
    pub(crate) fn hidden_tokens(&self) -> Tokens {
        let hidden = |part: RequestPart<'_>| match part {
            RequestPart::Tokens(tokens) => tokens,
            RequestPart::Nothing | RequestPart::Json(_) => 0,
        };
        hidden(self.system).saturating_add(hidden(self.tools))
    }
}

/// A request of a provider's form, made of a list.
#[derive(Debug)]
pub(crate) struct Composition {
    pub body: Bytes,
    pub outline: Outline,
    /// The number of messages before the first one of the list.
    pub before: usize,
}

impl Composition {
    /// Puts a list into a request, without a look into its messages. Linear in its bytes.
    pub(crate) fn new(profile: Wire, request: &FitRequest<'_>) -> Result<Self, FitError> {
        let (list_name, system_name) = (profile.list_field(), profile.system_field());
        let size = request.messages.iter().map(|message| message.len() + 1).sum::<usize>();
        let mut writer = Writer { text: String::with_capacity(size + 64) };
        let (mut system, mut tools, mut before) = (None, None, 0);
        let mut items = Vec::with_capacity(request.messages.len() + 1);
        writer.text.push('{');
        if let RequestPart::Json(json) = request.tools {
            tools = Some(writer.field("tools", checked(json).map_err(FitError::Tools)?));
        }
        let prompt = match request.system {
            RequestPart::Json(json) => Some(checked(json).map_err(FitError::System)?),
            RequestPart::Nothing | RequestPart::Tokens(_) => None,
        };
        if let (Some(name), Some(json)) = (system_name, prompt) {
            system = Some(writer.field(name, json));
        }
        writer.text.push_str(&format!("\"{list_name}\":["));
        if let (None, Some(json)) = (system_name, prompt) {
            items.push(writer.put(&format!(r#"{{"role":"system","content":{json}}}"#)));
            before = 1;
        }
        for message in &request.messages {
            if !items.is_empty() {
                writer.text.push(',');
            }
            items.push(writer.put(trimmed(message)));
        }
        writer.text.push_str("]}");
        let model = usual_model(profile.into()).map(str::to_owned);
        let outline = Outline { items, system, tools, model, answer_tokens: 0, takes_tools: true };
        Ok(Self { body: Bytes::from(writer.text), outline, before })
    }
}

struct Writer {
    text: String,
}

impl Writer {
    fn put(&mut self, json: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(json);
        start..self.text.len()
    }

    fn field(&mut self, name: &str, json: &str) -> Range<usize> {
        self.text.push_str(&format!("\"{name}\":"));
        let at = self.put(json);
        self.text.push(',');
        at
    }
}

/// A message's JSON without the white space around it.
pub(crate) fn trimmed(json: &str) -> &str {
    json.trim_matches([' ', '\t', '\n', '\r'])
}

/// Returns the text if it is one JSON value, otherwise the problem.
pub(crate) fn checked(json: &str) -> Result<&str, String> {
    let value: &RawValue = serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
    Ok(value.get())
}
