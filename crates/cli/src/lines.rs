//! Several sessions in one output: a JSON object on each line.

use epitome::Session;
use epitome::formats::{Format, Loaded, write};
use serde_json::{Value, json};

use crate::failure::Failure;

/// The format of the sessions in lines: one that is a single JSON value.
pub(crate) fn format(asked: Option<Format>) -> Result<Format, Failure> {
    match asked {
        None => Ok(Format::OpenaiChat),
        Some(format @ (Format::OpenaiChat | Format::OpenaiResponses | Format::Anthropic)) => Ok(format),
        Some(format) => {
            let failure = Failure::usage_text(format!("{format} cannot hold several sessions in one file"));
            Err(failure.with_help("with --all use --to openai-chat, openai-responses or anthropic"))
        }
    }
}

/// Appends one session as a line: `{"id": …, "messages": […]}`, or the format's own request with an `id`.
pub(crate) fn push(
    out: &mut Vec<u8>,
    loaded: &Loaded,
    index: usize,
    session: &Session,
    format: Format,
) -> Result<(), Failure> {
    let bytes = write(loaded, index, session, format).map_err(Failure::other)?;
    let mut line = json!({ "id": loaded.sessions[index].name });
    match serde_json::from_slice(&bytes)? {
        Value::Object(request) => {
            for (key, value) in request {
                line[key] = value;
            }
        }
        list => line["messages"] = list,
    }
    serde_json::to_writer(&mut *out, &line)?;
    out.push(b'\n');
    Ok(())
}
