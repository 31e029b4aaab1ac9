//! Compactions that were previewed and may be made.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use epitome::Draft;
use epitome::session::Trigger;
use epitome::store::Tenant;
use epitome::strategy::ArchivedContent;
use parking_lot::{Mutex, MutexGuard};

use super::key::SessionKey;
use epitome_fit::{epoch_bytes, message_bytes};

/// The time for which a preview may be applied.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Previews of all sessions that are kept.
const MOST: usize = 256;

/// Bytes that they may take.
const MOST_BYTES: usize = 128 << 20;

/// One tenant may have this part of both.
const SHARE: usize = 4;

/// Previews of one session that are kept.
const MOST_OF_ONE: usize = 8;

/// A compaction that was previewed.
#[derive(Debug, Clone)]
pub(super) struct StoredPreview {
    pub(super) id: Arc<str>,
    pub(super) draft: Arc<Draft>,
    /// The items that it takes out of the context, for the session's archive when it is applied.
    pub(super) items: Arc<[ArchivedContent]>,
    /// Until when it may be made, in milliseconds since 1970.
    pub(super) expires_at: i64,
}

/// The result of looking for a preview.
#[derive(Debug)]
pub(super) enum DraftLookup {
    /// It.
    Draft(StoredPreview),
    /// It was of the session as it was before: it cannot be made any more.
    Passed,
    /// There is no preview of that id, or it has expired.
    Nothing,
}

#[derive(Debug)]
struct StoredDraft {
    key: SessionKey,
    id: Arc<str>,
    expires_at: i64,
    /// It; `None` where the session has changed since.
    previewed: Option<StoredPreview>,
    bytes: usize,
}

/// The previews of a while. The oldest are forgotten first, and those of the tenant that has the most.
#[derive(Debug, Default)]
pub(super) struct Drafts(Mutex<VecDeque<StoredDraft>>);

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl Drafts {
    /// Keeps a preview.
    pub(super) fn keep(
        &self,
        key: &SessionKey,
        id: Arc<str>,
        draft: Draft,
        items: Vec<ArchivedContent>,
    ) -> StoredPreview {
        let expires_at = now() + LIFETIME.as_millis() as i64;
        let bytes = items.iter().map(archived_bytes).sum::<usize>() + draft.epoch().map_or(0, epoch_bytes);
        let previewed = StoredPreview { id: Arc::clone(&id), draft: Arc::new(draft), items: items.into(), expires_at };
        let mut known = self.lock();
        known.push_back(StoredDraft { key: key.clone(), id, expires_at, previewed: Some(previewed.clone()), bytes });
        make_room(&mut known, MOST_BYTES);
        previewed
    }

    /// The preview of that id, where it is one of the session.
    pub(super) fn find(&self, key: &SessionKey, id: &str) -> DraftLookup {
        match self.lock().iter().find(|it| it.key == *key && &*it.id == id) {
            Some(StoredDraft { previewed: Some(previewed), .. }) => DraftLookup::Draft(previewed.clone()),
            Some(_) => DraftLookup::Passed,
            None => DraftLookup::Nothing,
        }
    }

    /// The newest preview of a session as it is now that the trigger asked for.
    pub(super) fn draft_of_state(&self, key: &SessionKey, state: [u8; 32], trigger: Trigger) -> Option<StoredPreview> {
        let fits = |it: &StoredPreview| it.draft.made_from() == state && it.draft.report.trigger == trigger;
        let known = self.lock();
        let of_this = known.iter().rev().filter(|it| it.key == *key).filter_map(|it| it.previewed.as_ref());
        of_this.into_iter().find(|it| fits(it)).cloned()
    }

    /// A session is in another state now: of previews that were made from others nothing is kept but that there were any.
    pub(super) fn pass(&self, key: &SessionKey, state: [u8; 32]) {
        let mut known = self.lock();
        for it in known.iter_mut().filter(|it| it.key == *key) {
            if it.previewed.as_ref().is_some_and(|previewed| previewed.draft.made_from() != state) {
                (it.previewed, it.bytes) = (None, 0);
            }
        }
    }

    /// Forgets those of a session.
    pub(super) fn forget(&self, key: &SessionKey) {
        self.lock().retain(|it| it.key != *key);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<StoredDraft>> {
        // The list is whole between any two statements that can panic.
        let mut known = self.0.lock();
        let now = now();
        while known.front().is_some_and(|oldest| oldest.expires_at < now) {
            known.pop_front();
        }
        known
    }
}

/// Bytes of what left a context, near enough.
fn archived_bytes(item: &ArchivedContent) -> usize {
    match item {
        ArchivedContent::Text(text) => text.len(),
        ArchivedContent::Messages(messages) => messages.iter().map(|message| message_bytes(message)).sum(),
    }
}

/// Forgets previews until there is room for the newest, which stays. One session's number comes first, then the tenant's
/// share, then what all take together: of that the tenant gives that has the most.
fn make_room(known: &mut VecDeque<StoredDraft>, most_bytes: usize) {
    let Some(newest) = known.back().map(|newest| newest.key.clone()) else { return };
    let of = |known: &VecDeque<StoredDraft>, tenant: &Tenant| {
        let of_tenant = known.iter().filter(|it| it.key.0 == *tenant);
        of_tenant.fold((0, 0), |(count, bytes), it| (count + 1, bytes + it.bytes))
    };
    let forget = |known: &mut VecDeque<StoredDraft>, which: &dyn Fn(&SessionKey) -> bool| {
        let last = known.len().saturating_sub(1);
        let oldest = known.iter().take(last).position(|it| which(&it.key));
        oldest.and_then(|oldest| known.remove(oldest)).is_some()
    };
    while known.iter().filter(|it| it.key == newest).count() > MOST_OF_ONE && forget(known, &|key| *key == newest) {}
    loop {
        let (count, bytes) = of(known, &newest.0);
        if (count <= MOST / SHARE && bytes <= most_bytes / SHARE) || !forget(known, &|key| key.0 == newest.0) {
            break;
        }
    }
    while known.len() > MOST || known.iter().map(|it| it.bytes).sum::<usize>() > most_bytes {
        let tenants = known.iter().map(|it| &it.key.0);
        let Some(largest) = tenants.max_by_key(|tenant| (of(known, tenant).1, of(known, tenant).0)).cloned() else {
            break;
        };
        if !forget(known, &|key| key.0 == largest) && !forget(known, &|_| true) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Keeps previews of `(tenant, session, bytes)`, and checks which are left.
    fn check(given: &[(&str, usize)], most_bytes: usize, expect: &[usize]) {
        let mut known = VecDeque::new();
        for (number, (name, bytes)) in given.iter().enumerate() {
            let (tenant, session) = name.split_once('/').unwrap();
            let key = (Tenant::new(tenant).unwrap(), Arc::from(session));
            let id = Arc::from(number.to_string());
            known.push_back(StoredDraft { key, id, expires_at: i64::MAX, previewed: None, bytes: *bytes });
            make_room(&mut known, most_bytes);
        }
        let left: Vec<usize> = known.iter().map(|it| it.id.parse().unwrap()).collect();
        assert_eq!(left, expect, "{given:?}");
    }

    #[test]
    fn previews_are_bounded_by_session_tenant_and_bytes() {
        check(&[("a/s", 1); MOST_OF_ONE + 1], 1_000, &(1..=MOST_OF_ONE).collect::<Vec<_>>());
        // A quarter each.
        check(&[("a/1", 20), ("a/2", 20), ("b/1", 20)], 100, &[1, 2]);
        check(&[("a/1", 10), ("a/2", 10), ("b/1", 20)], 100, &[0, 1, 2]);
        // A preview that is too large alone stays until there is no room for it.
        check(&[("b/1", 20), ("a/1", 70)], 100, &[0, 1]);
        check(&[("b/1", 20), ("a/1", 70), ("c/1", 20)], 100, &[0, 2]);
        check(&[("b/1", 20), ("a/1", 170)], 100, &[1]);
        let many: Vec<String> = (0..=MOST / SHARE).map(|session| format!("a/{session}")).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 0)).collect();
        check(
            &[&[("b/1", 1)], many.as_slice()].concat(),
            100,
            &[&[0], (2..MOST / SHARE + 2).collect::<Vec<_>>().as_slice()].concat(),
        );
    }
}
