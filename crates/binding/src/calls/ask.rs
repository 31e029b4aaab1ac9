//! Calls that only look at what they are given.

use std::ops::Deref;

use epitome::formats::{Format, LoadedFile, Violation, validate};
use epitome::recall::Index;

use super::Answer;
use super::read::read;
use super::told::{BrokenRule, ContextOverflow, FormatEntry};
use super::words::{ConvertWords, Counter, EngineHandle, Options, ReadWords, Refusal, SearchWords, ValidateWords};
use crate::{Failure, Input, Inspection, Parts, choose, format_of, load, measure_fullness, provider_of, write_session};

/// Carries out a call that only looks at what it is given; `words` and `data` as [`Calls::answer`](super::Calls::answer) has
/// them. `parts` gives the engine of the number in the words.
pub fn ask<P: Deref<Target = Parts>>(
    name: &str,
    words: &str,
    data: Vec<u8>,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Answer, Failure> {
    match name {
        "inspect" | "check" | "count" => {
            let words: ReadWords = read(words)?;
            let parts = parts(words.engine)?;
            let (loaded, index) = chosen(data, words.objects, words.format.as_deref(), words.name.as_deref())?;
            let session = &loaded.sessions[index].session;
            Ok(match name {
                "inspect" => Answer::json(&Inspection::measure(&parts, session, loaded.format)),
                "check" => Answer::json(&measure_fullness(&parts, &loaded, index)),
                // The tool definitions are not counted in.
                _ => Answer::json(&parts.engine().ledger(session).total()),
            })
        }
        "count-text" => {
            let text = String::from_utf8_lossy(&data);
            let tokens = match read::<Counter>(words)? {
                Counter { engine: Some(engine), counter: None } => parts(engine)?.runtime.counter.count(&text),
                Counter { counter: Some(name), .. } => {
                    epitome::tokens::by_name(&name).map_err(|error| Failure::config(error.to_string()))?.count(&text)
                }
                Counter { engine: None, counter: None } => return Err(Failure::config("`counter` is missing")),
            };
            Ok(Answer::json(&tokens))
        }
        "search" => {
            let words: SearchWords = read(words)?;
            let (loaded, index) = chosen(data, words.objects, words.format.as_deref(), words.name.as_deref())?;
            let session = &loaded.sessions[index].session;
            let mut page = Index::build(session).search(&words.query()).map_err(Failure::other)?;
            page.locate(session);
            Ok(Answer::json(&page))
        }
        "convert" => {
            let words: ConvertWords = read(words)?;
            let to = format_of(&words.to)?;
            let (loaded, index) = chosen(data, words.objects, words.format.as_deref(), words.name.as_deref())?;
            let (bytes, warnings) = write_session(&loaded, index, &loaded.sessions[index].session, to)?;
            Ok(Answer::json(&warnings).with_bytes(bytes))
        }
        "validate" => broken_rules(&read::<ValidateWords>(words)?, data),
        "strategies" => {
            let parts = parts(read::<EngineHandle>(words)?.engine)?;
            let metas: Vec<_> = parts.registry.iter().map(|registration| &registration.meta).collect();
            Ok(Answer::json(&metas))
        }
        "formats" => {
            let entries = Format::ALL.iter().map(|(format, name, about)| {
                let writable = format.is_writable();
                FormatEntry { name, about, writable }
            });
            Ok(Answer::json(&entries.collect::<Vec<_>>()))
        }
        // What only a package takes, beside the options of a call.
        "check-options" => match read::<Options>(words)?.problem() {
            None => Ok(Answer::json(&())),
            Some(problem) => Err(Failure::config(problem)),
        },
        "context-overflow" => {
            let Refusal { status } = read(words)?;
            let found = epitome::providers::chat::is_context_overflow(
                status.0.unwrap_or_default(),
                &String::from_utf8_lossy(&data),
            );
            Ok(Answer::json(&found.map(|it| ContextOverflow { limit: it.limit, actual: it.actual })))
        }
        other => {
            Err(Failure::other(format!("there is no call `{other}`: the parts of this package are of two versions")))
        }
    }
}

/// A session as it was read, and its number in what was read.
fn chosen(
    bytes: Vec<u8>,
    is_objects: bool,
    format: Option<&str>,
    name: Option<&str>,
) -> Result<(LoadedFile, usize), Failure> {
    let loaded = load(Input { bytes, is_objects }, format)?;
    let index = choose(&loaded, name)?;
    Ok((loaded, index))
}

/// The rules of its provider that a request breaks: where, which rule, what is wrong.
fn broken_rules(words: &ValidateWords, data: Vec<u8>) -> Result<Answer, Failure> {
    let format = match &words.format {
        Some(name) => format_of(name)?,
        None => load(data.clone(), None)?.format,
    };
    let profile = provider_of(format)?;
    let text = String::from_utf8(data).map_err(|error| Failure::Format(format!("not UTF-8: {error}")))?;
    let told = |Violation { path, rule, message }| BrokenRule { path, rule, message };
    Ok(Answer::json(&validate(&text, profile).into_iter().map(told).collect::<Vec<_>>()))
}
