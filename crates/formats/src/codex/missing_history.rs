//! Rollouts whose history lies in another file that was not read along.

use epitome_session::{Epoch, Session};

use crate::agent_file::records::objects;
use crate::codex::inherited_rollouts::named_rollout;
use crate::format::Format;
use crate::loaded::LoadedFile;

/// Whether the view of a session is whole without what was said in another file: a compaction stands in front of it.
pub(super) fn is_whole(session: &Session) -> bool {
    session.journal().iter().any(Epoch::is_compaction)
}

/// Why a rollout is not read of which only the name is known.
pub(super) fn not_looked_for(name: &str) -> String {
    format!("the rollout `{name}` was not looked for")
}

/// The words that tell a person what is not read and why, and what to do. `None` where the session's view is whole without it.
pub(super) fn missing_history(why: &str, session: &Session) -> Option<String> {
    (!is_whole(session)).then(|| {
        format!(
            "what was said in front of it stands in another file of Codex, and is not read: {why}. Put that file beside this one \
             or read that file, or let Codex compact the session (`/compact`), which brings its history into this one"
        )
    })
}

impl LoadedFile {
    /// What a session of the file continues in another one that was not read along, and why not; `None` where nothing of what
    /// the agent would send is missing. Linear in the file.
    pub fn missing_history(&self, session: &Session) -> Option<String> {
        (self.format == Format::Codex).then(|| missing_base(self, session)).flatten()
    }
}

/// Why no compaction can be written into a file: the agent would lose by it what stands in another that was not read along.
fn missing_base(loaded: &LoadedFile, session: &Session) -> Option<String> {
    let why = match &loaded.inherited {
        Ok(Some(_)) => return None,
        Ok(None) => not_looked_for(&objects(&loaded.bytes).find_map(|record| named_rollout(&record))?),
        Err(why) => why.clone(),
    };
    missing_history(&why, session)
}
