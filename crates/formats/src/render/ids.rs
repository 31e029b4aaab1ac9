//! The ids of calls in a rendering.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{CallId, Entry};

use super::request::Profile;
use super::source::Source;

/// The ids of calls that the provider takes.
pub(super) struct Ids {
    profile: Profile,
    same_format: bool,
    used: HashSet<CallId>,
    /// Every id of the view: a new one must not be one of them.
    taken: HashSet<CallId>,
    /// The last number in use for each beginning of a new id.
    numbers: HashMap<String, u32>,
}

impl Ids {
    pub(super) fn new(profile: Profile, source: Option<&Source<'_>>, entries: &[Entry]) -> Self {
        let calls = entries.iter().flat_map(|entry| entry.message.calls());
        Self {
            profile,
            same_format: source.is_some_and(|source| source.is_own(profile)),
            used: HashSet::new(),
            taken: calls.map(|(_, call)| Arc::clone(&call.id)).collect(),
            numbers: HashMap::new(),
        }
    }

    /// The id under which a call is rendered: its own wherever the provider takes it.
    pub(super) fn written_id(&mut self, id: &CallId) -> CallId {
        let repeated = self.used.contains(id);
        let fits = match self.profile {
            // Longer ids are refused; those that came in this format were not.
            Profile::OpenaiChat => !id.is_empty() && (self.same_format || id.len() <= 40),
            Profile::OpenaiResponses => !id.is_empty() && (self.same_format || (!repeated && id.len() <= 64)),
            Profile::Gemini => !id.is_empty(),
            Profile::Anthropic => {
                !repeated
                    && !id.is_empty()
                    && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            }
        };
        let id = if fits { Arc::clone(id) } else { self.fresh(id) };
        self.used.insert(Arc::clone(&id));
        id
    }

    fn fresh(&mut self, id: &str) -> CallId {
        let valid = |char: char| if char.is_ascii_alphanumeric() || "_-".contains(char) { char } else { '_' };
        let mut base: String = id.chars().take(32).map(valid).collect();
        if base.is_empty() {
            base.push_str("call");
        }
        let is_free = |id: &str| !self.used.contains(id) && !self.taken.contains(id);
        if is_free(&base) {
            return Arc::from(base);
        }
        // Ids are not given back, so the search continues where it ended.
        let number = self.numbers.entry(base.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{base}_{number}");
            if is_free(&numbered) {
                return Arc::from(numbered);
            }
        }
    }
}
