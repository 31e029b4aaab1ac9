//! Sessions that are hard on whoever compares everything with everything, as OpenAI chat requests.

use std::fmt::Write as _;

/// How the calls of [`parallel_calls`] are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// In the order of the calls.
    InOrder,
    /// The newest call first.
    Backwards,
    /// In order, but all calls have one id.
    OneId,
    /// Not at all: the talk goes on without them.
    None,
}

/// A tool's result of so many bytes of one letter, between two questions.
pub fn one_letter(bytes: usize) -> String {
    result_of(&"a".repeat(bytes))
}

/// A tool's result of so many characters of words, numbers and signs without a line feed, between two questions.
pub fn one_line(characters: usize) -> String {
    let mut text = String::with_capacity(characters + 64);
    for number in 0_u64.. {
        let _ = write!(text, "{{'id':{number},'path':'src/m{}/f_{}.rs','ok':true}},", number % 97, number * 31 % 1_009);
        if text.len() >= characters {
            break;
        }
    }
    text.truncate(characters); // it is ASCII throughout
    result_of(&text)
}

/// One step of so many calls, each answered by a line.
pub fn parallel_calls(calls: usize, results: Results) -> String {
    let id = |number: usize| if results == Results::OneId { 0 } else { number };
    let made: Vec<String> = (0..calls).map(|number| call(id(number), number)).collect();
    let mut messages = vec![user("Look into every file."), calling(&made)];
    let answer = |number: usize| result(id(number), &format!("file {number}: {} lines, nothing found", number % 700));
    match results {
        Results::InOrder | Results::OneId => messages.extend((0..calls).map(answer)),
        Results::Backwards => messages.extend((0..calls).rev().map(answer)),
        Results::None => {}
    }
    request(messages)
}

/// So many messages of a word each, the user's and the model's in turns.
pub fn tiny_messages(messages: usize) -> String {
    let said = |number: usize| match number % 2 {
        0 => user("and?"),
        _ => r#"{"role":"assistant","content":"yes"}"#.to_owned(),
    };
    request((0..messages).map(said).collect())
}

/// A question, a call with `text` as its result, and what [`request`] ends with.
fn result_of(text: &str) -> String {
    request(vec![user("What does it print?"), calling(&[call(0, 0)]), result(0, text)])
}

/// The request of these messages, with a newest step and a newest question behind them.
fn request(mut messages: Vec<String>) -> String {
    messages.push(r#"{"role":"assistant","content":"I have seen it all."}"#.to_owned());
    messages.push(user("Then go on."));
    format!("{{\"messages\":[{}]}}", messages.join(","))
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn calling(calls: &[String]) -> String {
    format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","))
}

fn call(id: usize, number: usize) -> String {
    let arguments = format!(r#"{{\"path\":\"src/f{number}.rs\"}}"#);
    format!(r#"{{"id":"call_{id}","type":"function","function":{{"name":"read_file","arguments":"{arguments}"}}}}"#)
}

fn result(id: usize, text: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"call_{id}","content":"{text}"}}"#)
}
