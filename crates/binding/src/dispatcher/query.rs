//! Dispatcher that only look at what they are given.

use std::ops::Deref;

use epitome::brief::{Brief, brief};
use epitome::context::ContextStatus;
use epitome::engine::Ledger;
use epitome::formats::{Format, Violation, validate};
use epitome::lookup::tools::{self, Tool};
use epitome::lookup::{Call, LogIndex, SessionPast};
use epitome::recall::Index;
use epitome::strategy::ArchivedContent;

use super::Reply;
use super::options::{
    BriefOptions, ConvertOptions, CountOptions, EngineHandle, ErrorResponse, LookUpOptions, NoOptions, OptionNames,
    ReadOptions, SearchOptions, ValidateOptions,
};
use super::read_options::read_options;
use super::replies::{BriefReply, BrokenRule, ContextOverflow, FormatEntry, LookUpReply, ToolEntry};
use crate::{Failure, Inspection, Parts, format_of, load, measure_fullness, provider_of, write_session};

/// Carries out a call that only looks at what it is given; `options` and `data` as [`Dispatcher::call`](super::Dispatcher::call)
/// has them. `parts` gives the engine of the number in the options, `archive` what left a context under a handle, beside what the
/// session itself has.
pub fn query<P: Deref<Target = Parts>>(
    name: &str,
    options: &str,
    data: Vec<u8>,
    parts: impl Fn(u32) -> Result<P, Failure>,
    archive: impl Fn(&str) -> Option<ArchivedContent>,
) -> Result<Reply, Failure> {
    match name {
        "inspect" | "check" | "count" => {
            let options: ReadOptions = read_options(options)?;
            let parts = parts(options.engine)?;
            let (loaded, index) = options.load(data)?;
            let session = &loaded.sessions[index].session;
            Ok(match name {
                "inspect" => Reply::json(&Inspection::measure(&parts, session, loaded.format)),
                "check" => Reply::json(&measure_fullness(&parts, &loaded, index)),
                // The tool definitions are not counted in.
                _ => Reply::json(&parts.engine().ledger(session).total()),
            })
        }
        "count-text" => {
            let text = String::from_utf8_lossy(&data);
            let tokens = match read_options::<CountOptions>(options)? {
                CountOptions { engine: Some(engine), counter: None } => parts(engine)?.runtime.counter.count(&text),
                CountOptions { counter: Some(name), .. } => {
                    epitome::tokens::by_name(&name).map_err(|error| Failure::config(error.to_string()))?.count(&text)
                }
                CountOptions { engine: None, counter: None } => return Err(Failure::config("`counter` is missing")),
            };
            Ok(Reply::json(&tokens))
        }
        "search" => {
            let options: SearchOptions = read_options(options)?;
            let (loaded, index) = options.load(data)?;
            let session = &loaded.sessions[index].session;
            let mut page = Index::build(session).search(&options.query()).map_err(Failure::other)?;
            page.locate(session);
            Ok(Reply::json(&page))
        }
        "tools" => {
            read_options::<NoOptions>(options)?;
            let entry = |Tool { name, description, schema }: Tool| ToolEntry { name, description, parameters: schema };
            Ok(Reply::json(&tools::tools(false, false).into_iter().map(entry).collect::<Vec<_>>()))
        }
        "look-up" => {
            let options: LookUpOptions = read_options(options)?;
            let parts = parts(options.engine)?;
            look_up(&parts, &options, data, archive)
        }
        "brief" => {
            let options: BriefOptions = read_options(options)?;
            let runtime = &parts(options.engine)?.runtime;
            let (loaded, index) = options.load(data)?;
            let Brief { text, messages, .. } =
                brief(&loaded.sessions[index].session, runtime, options.tokens(runtime)?)?;
            Ok(Reply::json(&BriefReply { text, messages }))
        }
        "convert" => {
            let options: ConvertOptions = read_options(options)?;
            let to = format_of(options.to.as_deref().ok_or_else(|| Failure::config("`to` is missing"))?)?;
            let (loaded, index) = options.load(data)?;
            let (bytes, warnings) = write_session(&loaded, index, &loaded.sessions[index].session, to)?;
            Ok(Reply::json(&warnings).with_bytes(bytes))
        }
        "validate" => broken_rules(&read_options::<ValidateOptions>(options)?, data),
        "strategies" => {
            let parts = parts(read_options::<EngineHandle>(options)?.engine)?;
            let metas: Vec<_> = parts.registry.iter().map(|registration| &registration.meta).collect();
            Ok(Reply::json(&metas))
        }
        "formats" => {
            let entries = Format::ALL.iter().map(|(format, name, about)| {
                let writable = format.is_writable();
                FormatEntry { name, about, writable }
            });
            Ok(Reply::json(&entries.collect::<Vec<_>>()))
        }
        // What only a package takes, beside the options of a call.
        "check-options" => match read_options::<OptionNames>(options)?.problem() {
            None => Ok(Reply::json(&())),
            Some(problem) => Err(Failure::config(problem)),
        },
        "context-overflow" => {
            let ErrorResponse { status } = read_options(options)?;
            let found = epitome::providers::chat::is_context_overflow(
                status.0.unwrap_or_default(),
                &String::from_utf8_lossy(&data),
            );
            Ok(Reply::json(&found.map(|it| ContextOverflow { limit: it.limit, actual: it.actual })))
        }
        other => Err(Failure::other(format!(
            "there is no call `{other}`: the parts of this program or package are of two versions"
        ))),
    }
}

/// Answers a model's call of a tool. Wrong arguments are no failure: the model is told what is right.
fn look_up(
    parts: &Parts,
    options: &LookUpOptions,
    data: Vec<u8>,
    archive: impl Fn(&str) -> Option<ArchivedContent>,
) -> Result<Reply, Failure> {
    let reply = |text: String, is_error| Ok(Reply::json(&LookUpReply { text, is_error }));
    let call = match Call::read(&options.tool, &options.arguments) {
        Ok(call) => call,
        Err(problem) => return reply(problem, true),
    };
    let (loaded, index) = options.load(data)?;
    let session = &loaded.sessions[index].session;
    let status = || {
        let fullness = |_: &Ledger| measure_fullness(parts, &loaded, index);
        ContextStatus::measure(session, &parts.engine(), &parts.runtime.budget, fullness)
    };
    let archive = |handle: &str| Ok(archive(handle));
    let mut past = SessionPast { session, index: &mut LogIndex::default(), archive: &archive, status: &status };
    let answer = past.answer(&call);
    reply(answer.text, answer.is_refusal)
}

/// The rules of its provider that a request breaks: where, which rule, what is wrong.
fn broken_rules(options: &ValidateOptions, data: Vec<u8>) -> Result<Reply, Failure> {
    let format = match &options.format {
        Some(name) => format_of(name)?,
        None => load(data.clone(), None)?.format,
    };
    let profile = provider_of(format)?;
    let text = String::from_utf8(data).map_err(|error| Failure::Format(format!("not UTF-8: {error}")))?;
    let rule = |Violation { path, rule, message }| BrokenRule { path, rule, message };
    Ok(Reply::json(&validate(&text, profile).into_iter().map(rule).collect::<Vec<_>>()))
}
