//! Views by pages, and what stands behind summaries.

use std::collections::BTreeSet;
use std::sync::Arc;

use epitome_session::{Change, Entry, EntryKey, Origin, Session};
use epitome_store::{Slice, Store, StoreError, StoredMessage, ViewKind};

use crate::host::Host;

async fn pages(host: &Host, kind: ViewKind, most: u32) -> Vec<StoredMessage> {
    let mut all = Vec::new();
    loop {
        let slice = Slice { from: all.len() as u32, most };
        let page = host.store.view(&host.tenant, &host.id, kind, slice).await.unwrap();
        assert_eq!(page.version, host.version);
        assert!(page.messages.len() <= most as usize);
        all.extend(page.messages);
        if all.len() >= page.total as usize {
            assert_eq!(all.len(), page.total as usize);
            return all;
        }
    }
}

fn assert_view(entries: &[Entry], messages: &[StoredMessage], what: &str) {
    assert_eq!(entries.len(), messages.len(), "{what}");
    for (entry, message) in entries.iter().zip(messages) {
        assert!(entry.message == message.message, "{what}");
        assert_eq!(entry.is_edited(), message.is_edited, "{what}");
        assert_eq!(entry.message.origin == Origin::Summary, message.is_summary, "{what}");
        let number = matches!(entry.key, EntryKey::Log(_));
        assert_eq!(message.number.is_some(), number, "{what}");
    }
}

/// The times of the compactions are those at which messages left.
async fn assert_times(host: &Host, full: &[StoredMessage], what: &str) {
    let times = host.store.epoch_times(&host.tenant, &host.id).await.unwrap();
    let journal = host.session.journal();
    let undone: Vec<bool> = times.iter().map(|times| times.undone_at.is_some()).collect();
    assert_eq!(undone, journal.iter().map(|epoch| epoch.undone).collect::<Vec<_>>(), "{what}");
    for (epoch, times) in journal.iter().zip(times).filter(|(epoch, _)| !epoch.undone) {
        for change in epoch.changes().filter(|change| matches!(change, Change::Remove { .. })) {
            let EntryKey::Log(number) = change.entry() else { continue };
            let message = full.iter().find(|message| message.number == Some(number)).unwrap();
            assert_eq!(message.compacted_at, Some(times.committed_at), "{what}");
        }
    }
}

/// What left the view whole, as the journal tells it.
fn removed(session: &Session) -> BTreeSet<EntryKey> {
    let in_force = session.journal().iter().filter(|epoch| !epoch.undone);
    let removals = in_force.flat_map(|epoch| epoch.changes().filter(|it| matches!(it, Change::Remove { .. })));
    removals.map(Change::entry).collect()
}

pub(crate) async fn views_are_those_of_the_session(store: Store) {
    let (mut compacted, mut edited, mut restored) = (0, 0, 0);
    for seed in 0..25 {
        let mut host = Host::new(&store, &format!("s{seed}"), seed).await;
        for round in 0..3 {
            host.play(seed * 3 + round, 2, |_| {}).await;
            let what = format!("seed {seed}, round {round}");
            let shown = pages(&host, ViewKind::Compacted, 7).await;
            assert_view(host.session.view(), &shown, &what);
            assert!(shown.iter().all(|message| message.compacted_at.is_none()), "{what}");
            edited += shown.iter().filter(|message| message.is_edited).count();
            let full = pages(&host, ViewKind::Full, 11).await;
            assert_view(&host.session.full_view(), &full, &what);
            assert_times(&host, &full, &what).await;
            let marked: BTreeSet<EntryKey> = full
                .iter()
                .filter(|message| message.compacted_at.is_some())
                .map(|message| EntryKey::Log(message.number.unwrap()))
                .collect();
            let removed = removed(&host.session).into_iter().filter(|key| matches!(key, EntryKey::Log(_)));
            assert_eq!(marked, removed.collect(), "{what}: also after undos");
            compacted += marked.len();
            restored += host.session.journal().iter().filter(|epoch| epoch.undone).count();
        }
        let beyond = store.view(&host.tenant, &host.id, ViewKind::Full, Slice { from: 9_999, most: 5 }).await.unwrap();
        assert!(beyond.messages.is_empty() && beyond.total as usize == host.session.log().len());
    }
    assert!(compacted > 200 && edited > 40 && restored > 20, "{compacted} {edited} {restored}");
}

/// The messages of the log that an entry stands for.
fn covered(session: &Session, key: EntryKey, found: &mut BTreeSet<u32>) {
    match key {
        EntryKey::Log(index) => {
            found.insert(index);
        }
        EntryKey::Synthetic { epoch, index } => {
            let edits = session.journal()[epoch as usize].edits.iter().filter(|edit| edit.into == Some(index));
            let removals = edits.flat_map(|edit| &edit.changes).filter(|it| matches!(it, Change::Remove { .. }));
            removals.for_each(|change| covered(session, change.entry(), found));
        }
    }
}

pub(crate) async fn what_is_behind_a_summary_is_found(store: Store) {
    let (mut summaries, mut messages, mut nested) = (0, 0, 0);
    for seed in 0..30 {
        let mut host = Host::new(&store, &format!("s{seed}"), seed).await;
        for round in 0..4 {
            host.play(seed * 4 + round, 1, |_| {}).await;
            host.summarize(format!("summary {round}")).await;
        }
        let (session, tenant, id) = (&host.session, &host.tenant, host.id.as_str());
        let view = session.view().iter().filter(|entry| entry.message.origin == Origin::Summary);
        for entry in view.clone() {
            let mut expected = BTreeSet::new();
            covered(session, entry.key, &mut expected);
            let summary = entry.message.id.as_str();
            let behind = store.behind(tenant, id, summary, Slice::ALL).await.unwrap();
            let found: Vec<u32> = behind.messages.iter().map(|message| message.number.unwrap()).collect();
            assert_eq!(found, expected.iter().copied().collect::<Vec<u32>>(), "seed {seed}, {summary}");
            assert_eq!((behind.total as usize, behind.version), (found.len(), host.version));
            for message in &behind.messages {
                assert!(message.message == session.log()[message.number.unwrap() as usize]);
                assert!(message.compacted_at.is_some() && message.compacted_into.is_some());
            }
            let page = store.behind(tenant, id, summary, Slice { from: 1, most: 2 }).await.unwrap();
            assert_eq!(page.messages, behind.messages.iter().skip(1).take(2).cloned().collect::<Vec<_>>());
            assert_eq!(page.total, behind.total);
            summaries += 1;
            messages += found.len();
            nested += usize::from(session.summary_level(entry.key) > 1);
        }
        let newest = session.journal().iter().rev().find_map(|epoch| session.summary_of(epoch.id));
        let latest = store.latest_summary(tenant, id).await.unwrap();
        assert_eq!(latest.map(|it| it.message), newest.map(|it| Arc::clone(&it.original)), "seed {seed}");
        let unknown = store.behind(tenant, id, "nothing", Slice::ALL).await;
        assert!(matches!(unknown, Err(StoreError::NotFound { of: "summary", .. })), "{unknown:?}");
    }
    assert!(summaries > 30 && messages > 200 && nested > 10, "{summaries} {messages} {nested}");
}
