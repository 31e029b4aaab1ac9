//! What a provider's answers are made of, and how they return into requests.

use std::fmt::Debug;

use serde_json::Value;

/// The form of a provider's answers, and of what a request repeats of them.
pub trait Answers: Debug + Sync {
    /// Returns the place of the model's output in a whole answer.
    fn output_pointer(&self) -> &'static str;

    /// Returns the field of the output that lists its parts, the calls among them; `None` where the output is that list.
    fn parts_field(&self) -> Option<&'static str> {
        None
    }

    /// Returns the parts of an output.
    fn parts<'a>(&self, output: &'a Value) -> &'a [Value] {
        let list = self.parts_field().map_or(output, |field| &output[field]);
        list.as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether an output has a call for the client to answer that is of none of these names.
    fn has_calls_beside(&self, output: &Value, names: &[&str]) -> bool {
        self.parts(output).iter().any(|part| self.is_call(part) && !self.is_call_of(part, names))
    }

    /// Returns id, name and arguments of the call of a function that a part is; `None` where it is none.
    fn function_call<'a>(&self, part: &'a Value) -> Option<[&'a Value; 3]>;

    /// Whether a part is a call that the client has to answer, of a function or of another tool.
    fn is_call(&self, part: &Value) -> bool {
        self.function_call(part).is_some()
    }

    /// Whether a part calls a function of one of these names.
    fn is_call_of(&self, part: &Value, names: &[&str]) -> bool {
        let name = self.function_call(part).and_then(|[_, name, _]| name.as_str());
        name.is_some_and(|name| names.contains(&name))
    }

    /// Returns the result of a call.
    fn result(&self, call: &Call, text: &str) -> Value;

    /// Takes the calls of functions of these names out of an output.
    fn remove_calls(&self, output: &mut Value, names: &[&str]) {
        if let Some(parts) = output.as_array_mut() {
            parts.retain(|part| !self.is_call_of(part, names));
        }
    }

    /// Returns a part as a request repeats it. With `is_stored` the provider knows it by its id.
    fn repeated(&self, part: &Value, _is_stored: bool) -> Value {
        part.clone()
    }

    /// Returns an output and the results of all its calls, as messages of a request. With `is_stored` the provider knows what
    /// it said by its id; without, reasoning that cannot be read back is left out.
    fn step(&self, output: &Value, results: Vec<Value>, is_stored: bool) -> Vec<Value>;

    /// Returns the numbers of the calls of these names among all calls, where the interface has an order for them.
    fn places(&self, _parts: &[Value], _names: &[&str]) -> Vec<usize> {
        Vec::new()
    }

    /// Puts calls and their results beside those of a message that the client knows, and of the message behind it. Where a
    /// turn of the model is several items, `said` is the last of these. `None` where they have no place there.
    fn rejoined(&self, hidden: &HiddenCalls, said: &str, next: Option<&str>) -> Option<RejoinedMessages>;

    /// Returns the field of an answer's tokens.
    fn usage_field(&self) -> &'static str {
        "usage"
    }

    /// Ends the turn of an answer whose last calls will not be answered.
    fn end_turn(&self, _answer: &mut Value) {}

    /// Reads an answer in text. Linear in it.
    ///
    /// # Errors
    ///
    /// It has another form, or the service broke off, or the window was full before the first word.
    fn read_answer(&self, _answer: &Value) -> Result<ChatAnswer, AnswerError> {
        Err(AnswerError::Wrong("answers of this interface are not read".to_owned()))
    }
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id; empty where the interface has none.
    pub id: String,
    /// The function's name.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

impl Call {
    pub(crate) fn new([id, name, arguments]: [&Value; 3]) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = if arguments.is_string() { text(arguments) } else { arguments.to_string() };
        Self { id: text(id), name: text(name), arguments }
    }
}

/// Calls that the client never saw beside its own, with their results: they are put back into the request that brings the
/// results of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct HiddenCalls {
    /// The calls as the model made them.
    pub calls: Vec<Value>,
    /// Their results, as requests have them.
    pub results: Vec<Value>,
    /// Their numbers among all calls, where the interface has an order for them.
    pub places: Vec<usize>,
}

/// The messages that replace two neighbouring ones once [`HiddenCalls`] are put back into them.
#[derive(Debug, Default)]
pub struct RejoinedMessages {
    /// The model's message; `None` where it stays as it came.
    pub said: Option<Value>,
    /// What stands between both.
    pub between: Vec<Value>,
    /// The message behind it; `None` where it stays as it came.
    pub next: Option<Value>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It had said everything.
    End,
    /// It ran out of tokens: the text is cut off.
    Length,
    /// It called a tool instead of answering, or beside the answer.
    ToolCall,
    /// It refused, or a filter did.
    Refused,
}

/// A model's answer in text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatAnswer {
    /// The text; may be empty.
    pub text: String,
    /// Why it ends there.
    pub stop: Stop,
    /// Tokens the model read, as the service reports them; 0 where it does not.
    pub input_tokens: u64,
    /// The input tokens that came out of the provider's cache; 0 where it does not say.
    pub cached_tokens: u64,
    /// Tokens the model wrote, as the service reports them; 0 where it does not.
    pub output_tokens: u64,
}

/// Why an answer that came as a success holds no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerError {
    /// It has another shape than the interface's.
    Wrong(String),
    /// The service says that it broke off.
    Busy(String),
    /// The window was full before the first word.
    Full,
}

/// A number of tokens, out of the first of some places that has one; 0 where none has.
pub(crate) fn count<'v>(places: impl IntoIterator<Item = &'v Value>) -> u64 {
    let figure = |value: &Value| {
        value.as_u64().or_else(|| value.as_f64().filter(|count| *count >= 0.0).map(|count| count as u64))
    };
    places.into_iter().find_map(figure).unwrap_or(0)
}

/// A list that an answer has to have.
pub(crate) fn list<'v>(answer: &'v Value, field: &str) -> Result<&'v Vec<Value>, AnswerError> {
    let list = answer.get(field).and_then(Value::as_array);
    list.ok_or_else(|| AnswerError::Wrong(format!("it has no list `{field}`")))
}
