//! Calls that only look at what they are given.

use std::ops::Deref;

use epitome::brief::{Brief, brief};
use epitome::context::ContextStatus;
use epitome::engine::Ledger;
use epitome::formats::{Format, LoadedFile, Violation, validate};
use epitome::lookup::tools::{self, Tool};
use epitome::lookup::{Call, LogIndex, SessionPast};
use epitome::recall::Index;
use epitome::strategy::ArchivedContent;

use super::Answer;
use super::read::read;
use super::told::{BriefTold, BrokenRule, ContextOverflow, FormatEntry, LookUpTold, ToolEntry};
use super::words::{
    BriefWords, ConvertWords, Counter, EngineHandle, LookUpWords, NoWords, Options, ReadWords, Refusal, SearchWords,
    ValidateWords,
};
use crate::{Failure, Input, Inspection, Parts, choose, format_of, load, measure_fullness, provider_of, write_session};

/// Carries out a call that only looks at what it is given; `words` and `data` as [`Calls::answer`](super::Calls::answer) has
/// them. `parts` gives the engine of the number in the words, `archive` what left a context under a handle, beside what the
/// session itself has.
pub fn ask<P: Deref<Target = Parts>>(
    name: &str,
    words: &str,
    data: Vec<u8>,
    parts: impl Fn(u32) -> Result<P, Failure>,
    archive: impl Fn(&str) -> Option<ArchivedContent>,
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
        "tools" => {
            read::<NoWords>(words)?;
            let entry = |Tool { name, description, schema }: Tool| ToolEntry { name, description, parameters: schema };
            Ok(Answer::json(&tools::tools(false, false).into_iter().map(entry).collect::<Vec<_>>()))
        }
        "look-up" => {
            let words: LookUpWords = read(words)?;
            let parts = parts(words.engine)?;
            look_up(&parts, &words, data, archive)
        }
        "brief" => {
            let words: BriefWords = read(words)?;
            let runtime = &parts(words.engine)?.runtime;
            let (loaded, index) = chosen(data, words.objects, words.format.as_deref(), words.name.as_deref())?;
            let Brief { text, messages, .. } = brief(&loaded.sessions[index].session, runtime, words.tokens(runtime)?)?;
            Ok(Answer::json(&BriefTold { text, messages }))
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
        other => Err(Failure::other(format!(
            "there is no call `{other}`: the parts of this program or package are of two versions"
        ))),
    }
}

/// Answers a model's call of a tool. Wrong arguments are no failure: the model is told what is right.
fn look_up(
    parts: &Parts,
    words: &LookUpWords,
    data: Vec<u8>,
    archive: impl Fn(&str) -> Option<ArchivedContent>,
) -> Result<Answer, Failure> {
    let told = |text: String, is_error| Ok(Answer::json(&LookUpTold { text, is_error }));
    let call = match Call::read(&words.tool, &words.arguments) {
        Ok(call) => call,
        Err(problem) => return told(problem, true),
    };
    let (loaded, index) = chosen(data, words.objects, words.format.as_deref(), words.name.as_deref())?;
    let session = &loaded.sessions[index].session;
    let status = || {
        let fullness = |_: &Ledger| measure_fullness(parts, &loaded, index);
        ContextStatus::measure(session, &parts.engine(), &parts.runtime.budget, fullness)
    };
    let archive = |handle: &str| Ok(archive(handle));
    let mut past = SessionPast { session, index: &mut LogIndex::default(), archive: &archive, status: &status };
    let answer = past.answer(&call);
    told(answer.text, answer.is_refusal)
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
