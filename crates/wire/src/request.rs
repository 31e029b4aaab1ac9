//! What a provider's requests are made of.

use serde_json::{Value, json};

use crate::json::{Object, value_of};

/// The form of a provider's requests.
pub trait Requests {
    /// Returns the field that holds the messages, or items.
    fn list_field(&self) -> &'static str;

    /// Returns the spellings of the field that holds the system prompt, the usual one first; none where that is a message.
    fn system_fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the field that holds the system prompt; `None` where that is a message.
    fn system_field(&self) -> Option<&'static str> {
        self.system_fields().first().copied()
    }

    /// Returns the tokens that a request leaves for its answer, where it says so.
    fn answer_tokens(&self, fields: &Object<'_>) -> Option<u32> {
        let number = |name: &&str| fields.get(name)?.parse().ok();
        ANSWER_LIMITS.iter().find_map(number)
    }

    /// Whether one turn of the model is several items of the list.
    fn has_turns_of_items(&self) -> bool {
        false
    }

    /// Whether neighbouring messages of one side are one message.
    fn merges_neighbours(&self) -> bool {
        false
    }

    /// Whether a history with calls in it has to come with the definitions of their tools.
    fn needs_called_tools(&self) -> bool {
        true
    }

    /// Whether the model may call a tool that is added to a request. It may not where the tool choice is `none` or some of
    /// the client's own tools, where several answers are asked for, where tools are named in the old form, or where a
    /// response format is asked for without tools, which many services do not take together with tools.
    fn takes_tools(&self, fields: &Object<'_>) -> bool {
        let choice = fields.value("tool_choice");
        let chosen = choice.as_str().or(choice["type"].as_str()).unwrap_or_default();
        let is_single = fields.value("n").as_u64().unwrap_or(1) <= 1;
        let has_tools = fields
            .get("tools")
            .is_some_and(|tools| tools.trim_start_matches(['[', ' ', '\n', '\r', '\t']).starts_with('{'));
        let form = |json: &Value| json["type"].as_str().is_some_and(|kind| kind != "text");
        let has_form = form(&fields.value("response_format"))
            || form(&fields.value("text")["format"])
            || form(&fields.value("output_format"))
            || form(&fields.value("output_config")["format"]);
        !matches!(chosen, "none" | "allowed_tools")
            && is_single
            && !fields.is_given("functions")
            && (has_tools || !has_form)
    }

    /// Returns a tool as a request defines it.
    fn tool_definition(&self, tool: &FunctionTool<'_>) -> Value;

    /// Returns the tools that a request has, by the JSON of its field; `None` where none can be added to them.
    fn given_tools<'a>(&self, tools: &'a str) -> Option<GivenTools<'a>> {
        GivenTools::of_list(tools)
    }

    /// Returns a list of tools, by the definitions of its functions joined by commas.
    fn tool_list(&self, definitions: &str) -> String {
        format!("[{definitions}]")
    }

    /// Returns a message of the user with this text; `None` where nothing is asked within requests of the interface.
    fn user_message(&self, text: &str) -> Option<Value> {
        Some(json!({ "role": "user", "content": text }))
    }

    /// Whether something can be asked within requests of the interface.
    fn is_asked_within(&self) -> bool {
        self.user_message("").is_some()
    }

    /// Returns the field, and its value, by which a request is answered in text, as far as that can be said without losing the
    /// provider's cache; `None` where it is answered so as it came.
    fn answered_in_text(&self, fields: &Object<'_>) -> Option<(&'static str, Value)> {
        let name = if fields.has("functions") { "function_call" } else { "tool_choice" };
        let has_tools = ["tools", "functions"].iter().any(|name| fields.has(name));
        has_tools.then(|| (name, json!("none")))
    }

    /// Returns the field, and its value, by which a stream tells the tokens; `None` where it does so as it comes.
    fn usage_in_stream(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// Returns the path under a service's base address, which may name the version or not; `None` where that depends on more.
    fn path_below(&self, _base: &str) -> Option<&'static str> {
        None
    }

    /// Returns what the provider takes in one request of a model beside tokens. Source for OpenAI's two interfaces:
    /// developers.openai.com/api/docs/guides/images-vision; the smaller figures of its versions, for the many services that take
    /// the same.
    fn limits(&self, _model: Option<&str>) -> Limits {
        Limits { bytes: 50_000_000, images: 500, crowd: None }
    }

    /// Returns the header that carries a service's key; `None` where that is a bearer's.
    fn key_header(&self) -> Option<&'static str> {
        None
    }

    /// Returns the header that names the version of the interface, and the version.
    fn version_header(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns a request's operation and its provider in the words of OpenTelemetry's conventions for generative AI.
    fn operation(&self) -> (&'static str, &'static str) {
        ("chat", "openai")
    }

    /// Returns the field that forbids calls, in its spellings, and the JSON with which it does.
    fn no_calls(&self) -> (&'static [&'static str], &'static str) {
        (&["tool_choice"], "\"none\"")
    }
}

/// The field of a mark that clients move from message to message with each turn, and that says nothing of the one that
/// carries it. Anthropic's.
pub const CACHE_MARK: &str = "cache_control";

/// The fields that bound an answer's length, by their providers' generations.
pub(crate) const ANSWER_LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// A provider's limits for one request, beside tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of the body.
    pub bytes: usize,
    /// How many images.
    pub images: usize,
    /// With more images than the first number, none may have more pixels at a side than the second.
    pub crowd: Option<(usize, u32)>,
}

/// The routes of providers that take a conversation, or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The next answer of a conversation.
    Conversation,
    /// OpenAI's compactions.
    Compactions,
    /// The tokens of a conversation.
    Counting,
}

/// A function that a model may call.
#[derive(Debug, Clone)]
pub struct FunctionTool<'a> {
    /// The name.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// The JSON Schema of its arguments.
    pub schema: &'a Value,
}

/// The tools that a request has already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenTools<'a> {
    /// The names of its functions.
    pub names: Vec<String>,
    /// The list that more functions are added to; `None` where there is none, or nothing in it.
    pub list: Option<&'a str>,
}

impl<'a> GivenTools<'a> {
    /// The tools of a list of functions, beside which there may be others; `None` where it is no list.
    pub(crate) fn of_list(list: &'a str) -> Option<Self> {
        let tools = value_of(Some(list));
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        let tools = tools.as_array()?;
        Some(Self { names: tools.iter().filter_map(name).collect(), list: (!tools.is_empty()).then_some(list) })
    }
}
