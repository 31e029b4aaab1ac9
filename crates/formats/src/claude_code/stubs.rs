//! What the model sees in place of what was said, while no compaction is made: results that are cleared, or replaced by a stub,
//! and spans of messages that are collapsed into a summary.
//!
//! Source: 2.1.332 for results (`microcompact_boundary`, `content-replacement`, `tool_results_cut`); 2.1.88 to 2.1.258 for spans
//! (`marble-origami-commit` and `-reset`, the records of what the agent names context collapse), which 2.1.332 no longer makes.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{
    Block, Change, EditKind, Entry, Epoch, Excerpt, KeptRanges, Message, Origin, Position, Role, Session,
    SyntheticMessage, Trigger,
};

use crate::json::{self, Object};

/// The text that Claude Code shows the model in place of a cleared result.
const CLEARED: &str = "[Old tool result content cleared]";

/// The texts that the model sees in place of results, by the ids of their calls.
pub(super) type Stubs = HashMap<Arc<str>, Arc<str>>;

/// The results that a micro-compaction clears.
pub(super) fn cleared(metadata: &Object<'_>) -> Stubs {
    with_text(metadata, "compactedToolIds", CLEARED)
}

/// The results that an attachment says are cut.
pub(super) fn cut(attachment: &Object<'_>) -> Stubs {
    with_text(attachment, "callIds", &attachment.text("standIn").unwrap_or_default())
}

fn with_text(record: &Object<'_>, field: &str, text: &str) -> Stubs {
    let text: Arc<str> = Arc::from(text);
    let ids = record.list(field).unwrap_or_default().into_iter().filter_map(json::string);
    ids.map(|id| (Arc::from(&*id), Arc::clone(&text))).collect()
}

/// The results that a `content-replacement` record replaces.
pub(super) fn replaced(record: &Object<'_>) -> Stubs {
    let replacements = record.list("replacements").unwrap_or_default().into_iter().filter_map(Object::parse);
    let of_results = replacements.filter(|it| it.text("kind").as_deref() == Some("tool-result"));
    let stub = |it: Object<'_>| Some((it.id("toolUseId"), Arc::from(&*it.text("replacement")?)));
    of_results.filter_map(stub).collect()
}

/// Puts the stubs in place of the results of the view, and takes out those that have found theirs. Linear in the view.
pub(super) fn put(stubs: &mut Stubs, session: &mut Session, tokens_before: Option<u32>) {
    let mut changes = Vec::new();
    let mut found = Vec::new();
    for entry in session.view() {
        for (block, content) in entry.original.blocks.iter().enumerate() {
            let block = block as u32;
            let Some(result) = content.as_result() else { continue };
            let Some(stub) = stubs.get(&result.call_id) else { continue };
            found.push(Arc::clone(&result.call_id));
            let (has_text, has_media) = (!result.text.is_empty(), !result.attachments.is_empty());
            if (has_text || has_media) && result.text != *stub && entry.excerpt(block).is_none() {
                let marks = if has_text { vec![Arc::clone(stub)] } else { Vec::new() };
                let attachments = has_media.then(|| Arc::clone(stub));
                let excerpt = Excerpt { kept: KeptRanges::default(), marks, attachments };
                changes.push(Change::Excerpt { entry: entry.key, block, excerpt });
            }
        }
    }
    found.iter().for_each(|id| drop(stubs.remove(id)));
    if !changes.is_empty() {
        let epoch = Epoch::recorded_edits(Trigger::Recorded, EditKind::Excerpt, changes, Vec::new());
        session.commit(Epoch { tokens_before, ..epoch });
    }
}

/// Puts a summary in place of a span of messages, and returns the number of the epoch; `None` where the view does not have the
/// span. `is_of` says whether an entry has a uuid. Linear in the view.
pub(super) fn collapse(
    session: &mut Session,
    record: &Object<'_>,
    is_of: impl Fn(&Entry, &str) -> bool,
) -> Option<u32> {
    let (first, last) = (record.text("firstArchivedUuid")?, record.text("lastArchivedUuid")?);
    let text = record.text("summaryContent")?;
    let view = session.view();
    let start = view.iter().position(|entry| is_of(entry, &first))?;
    let end = view.iter().rposition(|entry| is_of(entry, &last)).filter(|end| *end >= start)?;
    let removed: Vec<_> = view[start..=end].iter().map(|entry| entry.key).collect();
    let position = Position::before(view[start].position, session.next_epoch(), 0);
    let id = record.text("summaryUuid").unwrap_or_default();
    let message = Arc::new(Message::new(&*id, Role::User, Origin::Summary, vec![Block::text(&*text)]));
    Some(session.commit(Epoch::recorded(Trigger::Recorded, removed, vec![SyntheticMessage { position, message }])))
}
