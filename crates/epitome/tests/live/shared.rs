//! Sessions in a store that others change too.

use epitome::Session;
use epitome::engine::block_on;
use epitome::live::{LiveError, LiveSession, MaintainOutcome, SharedSession};
use epitome::store::{SessionMetadata, Store, StoreError, Tenant, successor_id};

use super::support::{SMALL, live, model, runtime, talk, user};

fn store_at(path: &std::path::Path) -> Store {
    block_on(Store::open(&format!("sqlite:{}", path.display()))).unwrap()
}

fn create(store: &Store, live: LiveSession) -> SharedSession {
    block_on(SharedSession::create(live, store, &Tenant::default(), "a", &SessionMetadata::default())).unwrap()
}

fn open(store: &Store) -> SharedSession {
    block_on(SharedSession::open(live(SMALL), store, &Tenant::default(), "a")).unwrap()
}

fn push(shared: &mut SharedSession, text: &str) -> Result<(), LiveError> {
    block_on(shared.change(async |live| live.push(user(text)).map(|_| ())))
}

fn stored(store: &Store) -> Session {
    block_on(store.session(&Tenant::default(), "a")).unwrap().session
}

fn log(session: &Session) -> Vec<String> {
    session.log().iter().map(|message| message.plain_text()).collect()
}

fn is_conflict(error: &LiveError) -> bool {
    matches!(error, LiveError::Store(StoreError::Conflict { .. }))
}

#[test]
fn what_is_changed_is_in_the_store_when_the_call_returns() {
    let folder = tempfile::tempdir().unwrap();
    let (here, elsewhere) = (store_at(&folder.path().join("s")), store_at(&folder.path().join("s")));
    let mut shared = create(&here, live(SMALL));
    let check = |shared: &mut SharedSession, after: &str| {
        let state = block_on(shared.look()).unwrap().session().state_hash();
        assert_eq!(stored(&elsewhere).state_hash(), state, "after {after}");
        assert_eq!(block_on(shared.info()).unwrap().version, shared.version(), "after {after}");
    };
    push(&mut shared, "the task").unwrap();
    block_on(shared.change(async |live| live.set_tools(Some("[{\"name\":\"bash\"}]")))).unwrap();
    check(&mut shared, "a message and tools");
    block_on(shared.change::<_, LiveError>(async |live| {
        talk(live, 1_700);
        live.compact(&Default::default()).await
    }))
    .unwrap();
    check(&mut shared, "messages with a compaction");
    let handle = block_on(shared.look()).unwrap().history()[0].recall[0].clone();
    let mut again = open(&elsewhere);
    assert!(block_on(again.look()).unwrap().recall(&handle).unwrap().is_some(), "with its archive");
    block_on(shared.change(async |live| live.undo(0))).unwrap();
    check(&mut shared, "an undo");
    let draft = block_on(block_on(shared.look()).unwrap().preview(&Default::default())).unwrap();
    check(&mut shared, "a preview");
    block_on(shared.change(async |live| live.apply(draft).await)).unwrap();
    check(&mut shared, "a preview that was made");
    let error = block_on(SharedSession::create(live(SMALL), &here, &Tenant::default(), "a", &Default::default()));
    assert!(matches!(error, Err(LiveError::Store(StoreError::Taken { .. }))));
}

#[test]
fn the_second_of_two_changes_is_refused_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut first = create(&store_at(&path), live(SMALL));
    let mut second = open(&store_at(&path));
    push(&mut first, "one").unwrap();
    let refused = push(&mut second, "two").unwrap_err();
    assert!(is_conflict(&refused), "{refused}");
    assert_eq!(log(&stored(&store_at(&path))), ["one"]);
    assert_eq!(log(block_on(second.look()).unwrap().session()), ["one"], "it is read again");
    push(&mut second, "two").unwrap();
    assert!(block_on(first.reload()).unwrap());
    assert!(!block_on(first.reload()).unwrap(), "it is the same");
    push(&mut first, "three").unwrap();
    assert_eq!(log(&stored(&store_at(&path))), ["one", "two", "three"]);
}

#[test]
fn a_change_by_half_is_not_stored() {
    let store = block_on(Store::open("sqlite::memory:")).unwrap();
    let mut shared = create(&store, live(SMALL));
    push(&mut shared, "one").unwrap();
    let failed = block_on(shared.change(async |live| {
        live.push(user("half"))?;
        live.undo(7)
    }));
    assert!(matches!(failed, Err(LiveError::Undo(_))));
    assert_eq!(log(block_on(shared.look()).unwrap().session()), ["one"]);
    // One that is given up while it works.
    let is_pushed = std::cell::Cell::new(false);
    let given_up = shared.change(async |live| {
        live.push(user("half"))?;
        is_pushed.set(true);
        std::future::pending::<Result<(), LiveError>>().await
    });
    let mut given_up = Box::pin(given_up);
    // The store answers from threads of its own: it is polled until the message is there.
    let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
    while !is_pushed.get() {
        assert!(given_up.as_mut().poll(context).is_pending());
        std::thread::yield_now();
    }
    drop(given_up);
    assert_eq!(log(block_on(shared.look()).unwrap().session()), ["one"]);
    push(&mut shared, "two").unwrap();
    assert_eq!(log(&stored(&store)), ["one", "two"]);
}

fn milliseconds() -> u128 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()
}

#[test]
fn a_session_that_was_deleted_is_not_written_to() {
    let store = block_on(Store::open("sqlite::memory:")).unwrap();
    let tenant = Tenant::default();
    let mut shared = create(&store, live(SMALL));
    assert!(block_on(store.delete_session(&tenant, "a")).unwrap());
    let gone = push(&mut shared, "one").unwrap_err();
    assert!(matches!(gone, LiveError::Store(StoreError::NotFound { .. })), "{gone}");
    // A session of the same id is known to be another one by the millisecond that it was made in.
    let gone_at = milliseconds();
    while milliseconds() <= gone_at {
        std::thread::yield_now();
    }
    create(&store, live(SMALL));
    let other = push(&mut shared, "one").unwrap_err();
    assert!(is_conflict(&other), "another one of that id: {other}");
    assert!(log(&stored(&store)).is_empty());
}

/// What the session has beside its messages counts on after it was read again.
#[test]
fn a_session_that_is_read_again_goes_on_as_it_is_stored() {
    let store = block_on(Store::open("sqlite::memory:")).unwrap();
    let rounds = format!("{SMALL}[triggers]\nrounds = 4\n");
    let mut first = create(&store, live(&rounds));
    let mut second = block_on(SharedSession::open(live(&rounds), &store, &Tenant::default(), "a")).unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&heard);
    let listener = move |event: &epitome::live::Event| told.lock().unwrap().push(event.clone());
    block_on(second.look()).unwrap().subscribe(std::sync::Arc::new(listener));
    for turn in 0..3 {
        push(&mut first, &format!("question {turn}")).unwrap();
    }
    assert!(block_on(second.reload()).unwrap());
    let (here, there) = (block_on(first.look()).unwrap().tokens(), block_on(second.look()).unwrap().tokens());
    assert_eq!(here, there);
    assert_eq!(block_on(second.look()).unwrap().check().trigger, None);
    push(&mut second, "the fourth").unwrap();
    assert_eq!(block_on(second.look()).unwrap().check().trigger, Some(epitome::session::Trigger::Rounds));
    assert!(!heard.lock().unwrap().is_empty(), "its listeners stay");
}

#[test]
fn memories_go_to_the_store_in_the_scope_of_the_session() {
    let store = block_on(Store::open("sqlite::memory:")).unwrap();
    let mut shared = create(&store, live(&format!("{SMALL}[live]\nmemory_flush = true\n")));
    push(&mut shared, "Please remember: the staging database is db-7.").unwrap();
    block_on(shared.change::<_, LiveError>(async |live| {
        live.push(model("I will."))?;
        talk(live, 1_700);
        live.compact(&Default::default()).await
    }))
    .unwrap();
    let scope = epitome::store::Scope::Session("a".into());
    let memories = block_on(store.recent_memories(&Tenant::default(), &scope, 10)).unwrap();
    assert!(memories.iter().any(|memory| memory.text.contains("db-7")), "{memories:?}");
}

#[test]
fn the_session_that_follows_is_kept_too_and_made_once() {
    let store = block_on(Store::open("sqlite::memory:")).unwrap();
    let toml = format!("{SMALL}[live]\nrequire_confirmation = true\non_refusal = \"new-session\"\n");
    let about = SessionMetadata { title: Some("The ledger".to_owned()), ..SessionMetadata::default() };
    let tenant = Tenant::default();
    let mut shared = block_on(SharedSession::create(live(&toml), &store, &tenant, "a", &about)).unwrap();
    let outcome = block_on(shared.change::<_, LiveError>(async |live| {
        talk(live, 1_950);
        live.maintain().await
    }));
    let Ok(MaintainOutcome::NewSession(session)) = outcome else { panic!("{outcome:?}") };
    let empty = || LiveSession::new(&runtime(&toml));
    let begun = block_on(shared.begin_successor(empty(), Session::clone(&session))).unwrap();
    assert_eq!(**begun.id(), *successor_id(&tenant, "a", &stored(&store)));
    assert_eq!(block_on(begun.info()).unwrap().about, about);
    let again = block_on(shared.begin_successor(empty(), *session)).unwrap();
    assert_eq!((again.id(), again.version()), (begun.id(), begun.version()));
}
