//! Whether an agent that resumes from its file comes by the compaction in it.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::agent_file::mark::FIELD;
use crate::agent_file::records::objects;
use crate::json::Object;
use crate::{Format, LoadedFile};

/// Whether a running agent went on from in front of the newest compaction that was appended to its file. Claude Code
/// and Pi hang every record on the one before it, as they know it, and resume along that chain: from such a file they
/// would resume without the compaction, and [`write_again`](super::write_again) gives one from which they resume with
/// it. `false` for all other formats, and where the newest compaction is the agent's own. Linear in the file.
pub fn is_bypassed(loaded: &LoadedFile) -> bool {
    let (id, parent) = match loaded.format {
        Format::ClaudeCode => ("uuid", "parentUuid"),
        Format::Pi => ("id", "parentId"),
        _ => return false,
    };
    let mut parents: HashMap<Cow<'_, str>, Option<Cow<'_, str>>> = HashMap::new();
    let (mut newest, mut last) = (None, None);
    for record in objects(&loaded.bytes) {
        let Some(own) = record.text(id).filter(|_| !record.is_true("isSidechain")) else { continue };
        if is_compaction(&record) {
            newest = record.has(FIELD).then(|| own.clone());
        }
        last = Some(own.clone());
        parents.insert(own, record.text(parent));
    }
    let Some(newest) = newest else { return false };
    let mut at = last;
    while let Some(id) = at {
        if id == newest {
            return false;
        }
        at = parents.remove(&id).flatten(); // a circle ends where it was entered
    }
    true
}

fn is_compaction(record: &Object<'_>) -> bool {
    let kind = record.text("type").unwrap_or_default();
    kind == "compaction" || kind == "system" && record.text("subtype").as_deref() == Some("compact_boundary")
}
