//! A list that grows: the request that is sent for it stays the same until there is a reason to change it.

use std::io::Write as _;

use epitome::formats::{Wire, validate};
use epitome_fit::{FitOptions, FitPiece, FitRequest, FitStatus, Fitter, RequestPart};
use proptest::prelude::*;

use crate::lists::{List, chat, fitter, made_up, recorded, said, turn};

/// The outcomes over the turns of a list.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Turns {
    unchanged: usize,
    replayed: usize,
    compacted: usize,
    infeasible: usize,
}

/// Fits a list as it grows, turn by turn, and holds each result against the guarantees.
fn check(name: &str, list: &List, turns: &[usize], budget: u32) -> Turns {
    let fitter = fitter(list.profile, FitOptions::within(budget));
    let mut seen = Turns::default();
    let mut last: Option<(Vec<String>, u32)> = None;
    for length in turns.iter().copied() {
        let place = format!("{name}, {:?}, {length} messages to {budget} tokens", list.profile);
        let fitted = fitter.fit(&list.request(length)).unwrap_or_else(|error| panic!("{place}: {error}"));
        let came = &list.messages[..length];
        let sent: Vec<String> = fitted.to_messages(came).unwrap().into_iter().map(String::from).collect();
        match fitted.status {
            FitStatus::Unchanged => {
                seen.unchanged += 1;
                assert!(fitted.is_unchanged() && sent == came, "{place}");
            }
            FitStatus::Replayed => seen.replayed += 1,
            FitStatus::Compacted => {
                seen.compacted += 1;
                assert!(!fitted.is_unchanged() && fitted.report.is_some() && !fitted.strategies.is_empty(), "{place}");
            }
            FitStatus::Infeasible => {
                seen.infeasible += 1;
                assert!(fitted.tokens_after > fitted.budget && fitted.detail.is_some(), "{place}: {fitted:?}");
            }
        }
        assert!(fitted.status == FitStatus::Infeasible || fitted.tokens_after <= fitted.budget, "{place}");
        let broken = |request: String| validate(&request, list.profile);
        let (before, after) = (broken(list_of(list, came)), broken(list.sent(&fitted, length)));
        assert!(after.len() <= before.len(), "{place}: {after:?}");
        if let Some((last, compactions)) = &last
            && fitted.compactions == *compactions
        {
            assert!(sent.starts_with(last), "{place}: what was sent is another beginning now");
        }
        last = Some((sent, fitted.compactions));
    }
    seen
}

fn list_of(list: &List, came: &[String]) -> String {
    format!(r#"{{"{}":[{}]}}"#, list.name(), came.join(","))
}

/// The numbers of the messages that pieces keep or change.
fn numbers(pieces: &[FitPiece]) -> Vec<usize> {
    let of = |piece: &FitPiece| match piece {
        FitPiece::Keep { start, end } => (*start..*end).collect(),
        FitPiece::Edit { index, .. } => vec![*index],
        FitPiece::Insert { .. } => Vec::new(),
    };
    pieces.iter().flat_map(of).collect()
}

/// A user who says the same in every turn: each message keeps its own number.
#[test]
fn repeated_texts() {
    for profile in Wire::ALL {
        for n_answers in [1, 3, 100] {
            let mut messages = vec![said(profile, "user", "Read the files, one after the other.")];
            for turn in 0..40 {
                let answer = format!("Part {} is in order. ", turn % n_answers).repeat(20);
                messages.push(said(profile, "assistant", &answer));
                messages.push(said(profile, "user", "Go on."));
            }
            let fitter = fitter(profile, FitOptions::within(1_500));
            let (mut decided, mut replayed) = (0, 0);
            for length in (1..=messages.len()).step_by(2) {
                let fitted = fitter.fit(&FitRequest::new(&messages[..length])).unwrap();
                let place = format!("{profile:?}, {n_answers} answers, {length}: {:?}", fitted.pieces);
                let found = numbers(&fitted.pieces);
                assert!(found.is_sorted_by(|one, other| one < other), "{place}");
                for piece in &fitted.pieces {
                    let FitPiece::Insert { replaces, .. } = piece else { continue };
                    assert!(!replaces.iter().any(|number| found.contains(number)), "{place}");
                }
                match fitted.status {
                    FitStatus::Compacted => decided = length,
                    FitStatus::Replayed => {
                        assert!(found.ends_with(&(decided..length).collect::<Vec<_>>()), "{place}");
                        replayed += 1;
                    }
                    FitStatus::Unchanged | FitStatus::Infeasible => {}
                }
            }
            assert!(decided > 0 && replayed > 10, "{profile:?}, {n_answers} answers: {replayed} replayed");
        }
    }
}

#[test]
fn the_example() {
    for profile in Wire::ALL {
        let list = List::example(profile);
        let turns = list.turns(40);
        // The messages that must stay take nearly all of the smaller one.
        for (budget, most) in [(8_000, 20), (30_000, 5)] {
            let seen = check("the example", &list, &turns, budget);
            let is_kept = seen.compacted > 0 && seen.compacted <= most && seen.replayed > 0;
            assert!(is_kept, "{profile:?}, {budget}: {seen:?}");
        }
        let seen = check("the example", &list, &turns, 1_000_000);
        assert_eq!(seen, Turns { unchanged: turns.len(), ..Turns::default() }, "{profile:?}");
    }
}

#[test]
fn the_tokens_are_those_of_what_is_sent() {
    let check = |profile: Wire, empty: &str| {
        let within = |budget: u32| fitter(profile, FitOptions::within(budget));
        let (small, large) = (within(1_500), within(1_000_000));
        let mut messages = vec![said(profile, "user", "Task.")];
        let mut statuses = Vec::new();
        for number in 0..60 {
            let text = format!("a{number} ").repeat(40);
            let is_empty = number % 7 == 3;
            messages.push(if is_empty { empty.to_owned() } else { said(profile, "assistant", &text) });
            messages.push(said(profile, "user", &format!("go {number}")));
            let fitted = small.fit(&FitRequest::new(&messages)).unwrap();
            let sent = fitted.to_messages(&messages).unwrap();
            let counted = large.fit(&FitRequest::new(&sent)).unwrap().tokens_after;
            assert_eq!(fitted.tokens_after, counted, "{profile:?}, turn {number}: {:?}", fitted.status);
            statuses.push(fitted.status);
        }
        assert!([FitStatus::Replayed, FitStatus::Compacted].iter().all(|status| statuses.contains(status)));
    };
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":""}"#);
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":null}"#);
    check(Wire::OpenaiChat, r#"{"role":"assistant","content":null,"refusal":"I cannot do that."}"#);
    check(Wire::OpenaiResponses, r#"{"role":"assistant","content":[]}"#);
    check(Wire::OpenaiResponses, r#"{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}"#);
}

#[test]
fn what_cannot_fit_is_told() {
    let system = format!("\"{}\"", "Do not lose a word of this. ".repeat(40));
    for profile in Wire::ALL {
        let task = said(profile, "user", "Fix the build");
        let fitter = fitter(profile, FitOptions::within(60));
        for attempt in 0..2 {
            let request = FitRequest { system: RequestPart::Json(&system), ..FitRequest::new([&task]) };
            let fitted = fitter.fit(&request).unwrap();
            assert_eq!((fitted.status, fitted.budget), (FitStatus::Infeasible, 60), "{profile:?} {attempt}");
            let floor = fitted.floor.as_ref().unwrap_or_else(|| panic!("{profile:?} {attempt}: {:?}", fitted.detail));
            assert!(floor.tokens > 60 && floor.parts[0].part == "system", "{floor:?}");
            assert!(fitted.is_unchanged());
        }
    }
}

#[test]
fn nothing_is_read_twice() {
    let messages = chat(40);
    let fitter = fitter(Wire::OpenaiChat, FitOptions::within(1_000_000));
    for (turn, length) in (1..=messages.len()).step_by(2).enumerate() {
        let fitted = fitter.fit(&FitRequest::new(&messages[..length])).unwrap();
        assert_eq!(fitted.read, if turn == 0 { 1 } else { 2 }, "turn {turn}");
    }
    let fitted = fitter.fit(&FitRequest::new(&messages)).unwrap();
    assert_eq!(fitted.read, 0);
}

#[test]
fn recorded_sessions() {
    let tell = |line: String| std::io::stderr().write_all(line.as_bytes()).unwrap();
    let files = recorded();
    if files.is_empty() {
        return tell("NOT RUN on recorded sessions: there are none\n".to_owned());
    }
    let mut all = Turns::default();
    // Every fourth: each is fitted ten times, and all of them take minutes and find the same.
    for (number, file) in files.iter().step_by(4).enumerate() {
        let Some(list) = List::recorded(file, Wire::ALL[number % Wire::ALL.len()]) else { continue };
        let bytes: usize = list.messages.iter().map(String::len).sum();
        let seen = check(&file.display().to_string(), &list, &list.turns(10), (bytes as u32 / 12).max(1_500));
        all.unchanged += seen.unchanged;
        all.replayed += seen.replayed;
        all.compacted += seen.compacted;
        all.infeasible += seen.infeasible;
    }
    tell(format!("recorded sessions, as lists that grow: {all:?}\n"));
    assert!(all.compacted > 0 && all.replayed > 0, "{all:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn made_up_lists(turns in prop::collection::vec(turn(), 4..24), budget in 400_u32..4_000) {
        let (list, ends) = made_up(&turns);
        check("a made-up list", &list, &ends, budget);
    }
}

#[test]
fn threads_share_it() {
    let fitter = std::sync::Arc::new(fitter(Wire::OpenaiChat, FitOptions::within(4_000)));
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared::<Fitter>(&fitter);
    let messages = std::sync::Arc::new(chat(20));
    let results: Vec<Vec<String>> = std::thread::scope(|scope| {
        let run = |_| {
            let (fitter, messages) = (&fitter, &messages);
            scope.spawn(move || {
                let fitted = fitter.fit(&FitRequest::new(messages.iter())).unwrap();
                fitted.to_messages(messages).unwrap().into_iter().map(String::from).collect::<Vec<String>>()
            })
        };
        let threads: Vec<_> = (0..4).map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|result| *result == results[0]));
}
