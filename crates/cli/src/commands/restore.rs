//! `epitome restore`: a session without one of its compactions, or the text behind a handle.

use std::process::ExitCode;

use epitome::formats::{Format, render, write_messages};
use epitome::recall::{StretchSearch, message_number};
use epitome::session::{Message, UndoError};
use epitome::store::SessionFile;
use epitome::strategy::ArchivedContent;

use crate::args::RestoreArgs;
use crate::emit;
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Target};
use crate::paths::display_name;
use crate::render::text::plural;
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::session::recorded_session::RecordedSession;
use crate::session::retry::{record_again, until_taken};

pub(crate) fn run(args: &RestoreArgs, quiet: bool) -> CommandResult {
    let file = &args.kept.file;
    let target = Target::new(args.target.output.as_deref(), Some(file))?;
    let mut again = false;
    let (what, index, taken) = until_taken(file, || {
        // The warnings about the file were given when it was first read.
        let quiet = quiet || std::mem::replace(&mut again, true);
        let (bytes, original) = input::bytes_for(file, &target)?;
        let kept = RecordedSession::from_bytes(bytes, &args.kept, quiet)?;
        let (bytes, what) = match &args.handle {
            Some(handle) => recall_handle(&kept, handle, args)?,
            None => undo_epoch(&kept, args, quiet)?,
        };
        let input: &[u8] = match &kept {
            RecordedSession::Stored { bytes, .. } => bytes,
            RecordedSession::Recorded { loaded, .. } => &loaded.bytes,
        };
        let taken = target.take(&bytes, input, original.as_ref(), args.target.force)?;
        let index = match &kept {
            RecordedSession::Stored { .. } => None,
            RecordedSession::Recorded { index, .. } => Some(*index),
        };
        Ok((taken != InPlaceOutcome::Changed).then_some((what, index, taken)))
    })?;
    if let (InPlaceOutcome::Behind, Some(index)) = (taken, index) {
        record_again(&args.kept.input(), &target, index)?;
    }
    if !quiet {
        output::wrote(&target, &what);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the content of a handle: a text as it was, messages as a request.
fn recall_handle(kept: &RecordedSession, handle: &str, args: &RestoreArgs) -> Result<(Vec<u8>, String), Failure> {
    if args.at.is_some() && message_number(handle).is_some() {
        let failure = Failure::usage_text(format!("`{}` is one message already", handle.trim()));
        return Err(failure.with_help("leave --at out: it says where the messages under a handle begin"));
    }
    let item = match kept.recall(handle, args.at)? {
        StretchSearch::Found(item) => item,
        StretchSearch::Nowhere => return Err(unknown_handle(kept, handle, args)),
        StretchSearch::Unfinished => return Err(unfinished_search(handle, args)),
    };
    match item {
        ArchivedContent::Text(_) if args.to.is_some() => {
            let failure = Failure::usage_text(format!("`{handle}` is a part of a message, and no session"));
            Err(failure.with_help("leave --to out: it is written as it was"))
        }
        ArchivedContent::Text(text) => Ok((text.as_bytes().to_vec(), format!("the text under {handle}"))),
        ArchivedContent::Messages(messages) => {
            let to = args.to.unwrap_or(Format::OpenaiChat);
            let Some(profile) = to.wire() else {
                let failure = Failure::usage_text(format!("{to} cannot hold a part of a session"));
                return Err(failure.with_help("openai-chat, openai-responses, anthropic and gemini can"));
            };
            // As they are: a request of these alone would need an opening, and would leave out results without calls.
            let recalled: Vec<Message> = messages.iter().map(|message| Message::clone(message)).collect();
            let written = write_messages(profile, &recalled).map_err(|error| {
                let what = format!("cannot write what is under {handle} as {to}");
                Failure::usage(anyhow::Error::new(error).context(what)).with_help("--to names another form")
            })?;
            let json = format!("{{\"{}\": [\n{}\n]}}\n", profile.list_field(), written.join(",\n"));
            Ok((json.into_bytes(), format!("{} under {handle}", plural(messages.len(), "message"))))
        }
    }
}

/// Why there is nothing under a handle.
fn unknown_handle(kept: &RecordedSession, handle: &str, args: &RestoreArgs) -> Failure {
    let file = display_name(&args.kept.file);
    let count = kept.session().log().len();
    let numbers = match count {
        0 => "it holds no messages".to_owned(),
        1 => "#0 is its only message".to_owned(),
        _ => format!("#0 to #{} are its messages", count - 1),
    };
    let handle = handle.trim();
    if let Some(number) = message_number(handle) {
        return Failure::usage_text(format!("{file} has no message #{number}")).with_help(numbers);
    }
    let is_handle = handle.len() >= 8 && handle.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_handle {
        let failure = Failure::usage_text(format!("`{handle}` is neither a handle nor a message's number"));
        let help = "a handle has 12 or more of the digits 0 to f, as reports, marks and search results name it";
        return failure.with_help(format!("{help}; {numbers}"));
    }
    let place = args.at.map_or_else(String::new, |at| format!(" at message #{at}"));
    let failure = Failure::usage_text(format!("{file} has nothing under the handle `{handle}`{place}"));
    failure.with_help(match kept {
        RecordedSession::Stored { .. } => "`epitome history` lists the handles of each compaction".to_owned(),
        RecordedSession::Recorded { .. } => format!(
            "is it a handle of this session? What left without its neighbours has none here: --handle '#N' writes one \
             message ({numbers}), --epoch N the session from before a compaction that the file records"
        ),
    })
}

/// Why it is not known whether there is something under a handle.
fn unfinished_search(handle: &str, args: &RestoreArgs) -> Failure {
    let (file, handle) = (display_name(&args.kept.file), handle.trim());
    let failure = Failure::usage_text(format!(
        "{file} is too long to be searched to its end for the messages under the handle `{handle}`"
    ));
    failure.with_help(format!(
        "say where they begin: --handle {handle} --at '#N', with the N of the report's `messages from #N`; --handle '#N' \
         writes one message"
    ))
}

/// The session without one of its compactions.
fn undo_epoch(kept: &RecordedSession, args: &RestoreArgs, quiet: bool) -> Result<(Vec<u8>, String), Failure> {
    let file = display_name(&args.kept.file);
    let session = kept.session();
    let newest = || session.journal().iter().rfind(|epoch| epoch.is_compaction()).map(|epoch| epoch.id);
    let Some(epoch) = args.epoch.or_else(newest) else {
        let failure = Failure::usage_text(format!("no compaction of {file} is in force"));
        let help = "`epitome history` lists them; what a request lost is in the file that it was compacted from";
        return Err(failure.with_help(help));
    };
    let mut restored = session.clone();
    restored.undo(epoch).map_err(|error| {
        let help = match error {
            UndoError::Unknown { .. } | UndoError::AlreadyUndone(_) => "`epitome history` lists them".to_owned(),
            UndoError::Covered { later, .. } => format!("restore --epoch {later} first, and the result then"),
        };
        Failure::usage(error).with_help(help)
    })?;
    let what = format!("compaction {epoch} taken back: {}", plural(restored.view().len(), "message"));
    let bytes = match (kept, args.to) {
        (RecordedSession::Stored { bytes, .. }, None) => {
            SessionFile::undone(&args.kept.file, bytes, epoch).map_err(Failure::usage)?
        }
        (RecordedSession::Stored { .. }, Some(to)) => {
            let Some(profile) = to.wire() else {
                let failure = Failure::usage_text(format!("a session of epitome's own is not written as {to}"));
                return Err(
                    failure.with_help("openai-chat, openai-responses, anthropic and gemini are; its own without --to")
                );
            };
            let mut json = render(restored.view(), profile, restored.tools.as_deref(), None).json;
            json.push('\n');
            json.into_bytes()
        }
        (RecordedSession::Recorded { loaded, index }, to) => {
            let own = if loaded.format.is_writable() { loaded.format } else { Format::OpenaiChat };
            emit::write_session(loaded, *index, &restored, to.unwrap_or(own), quiet)?
        }
    };
    Ok((bytes, what))
}
