//! The kinds of entries in Pi's sessions: `SessionEntry` of 1.6.0 (@earendil-works/pi-coding-agent,
//! dist/core/session-manager.d.ts).

use crate::kinds::Kinds;

pub(crate) const KINDS: Kinds = Kinds {
    read: "session message custom_message compaction branch_summary context_edit",
    left_out: "thinking_level_change model_change usage custom label session_info",
};
