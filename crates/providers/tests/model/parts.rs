//! Sessions that do not fit into one request; the cache; progress.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use epitome_providers::chat::{ChatErrorKind, Stop};
use epitome_providers::model::{ModelProgress, ModelSettings, ModelStep};

use super::scripted::{Case, GOOD, Scripted, error, fenced, good, said, summarizer, with};

/// A session of `turns` turns of about 110 tokens each. All summaries are the same, and so are merges of as many.
fn long(turns: usize) -> String {
    (0..turns)
        .map(|number| format!("user: question {number} word … x10\nassistant: answer {number} word … x10\n"))
        .collect()
}

fn is_merge(prompt: &str) -> bool {
    prompt.contains("Make one summary of all parts")
}

#[test]
fn parts_are_summarised_and_merged() {
    let check = |turns: usize, part_tokens: u32, parts: usize, merges: usize| {
        // Every summary is another one: merges of as many parts are not the same.
        let model = Scripted::new(200_000, |_, number| said(&format!("{GOOD}\n- error {number}"), Stop::End));
        let summarizer = with(&model, ModelSettings { part_tokens, ..ModelSettings::default() });
        Case::new(&long(turns)).write(&summarizer).unwrap();
        let asked = model.requests();
        let found = asked.iter().filter(|request| is_merge(&request.user)).count();
        assert_eq!((asked.len() - found, found), (parts, merges), "{turns} turns, {part_tokens} tokens");
        // Every message is asked about once, in one part.
        let texts: Vec<&str> = asked.iter().flat_map(|request| fenced(&request.user, "messages")).collect();
        for number in 0..turns {
            let holds = texts.iter().filter(|text| text.contains(&format!("question {number} "))).count();
            assert_eq!(holds, 1, "turn {number}");
        }
        assert!(texts.iter().all(|text| text.len() / 4 <= part_tokens as usize));
    };
    check(10, 100_000, 1, 0);
    check(40, 2_000, 3, 1);
    check(200, 2_000, 12, 2);
    check(200, 700, 31, 11);
}

#[test]
fn earlier_summaries_join_the_parts() {
    let model = Scripted::new(200_000, |_, _| good());
    let summarizer = with(&model, ModelSettings { part_tokens: 2_000, ..ModelSettings::default() });
    Case::new(&format!("user(summary): the old one … x30\n{}", long(40))).write(&summarizer).unwrap();
    let asked = model.requests();
    let (merge, parts) = asked.split_last().unwrap();
    assert!(is_merge(&merge.user) && parts.iter().all(|part| !part.user.contains("the old one")));
    let merged = fenced(&merge.user, "summary");
    assert!(merged.len() == parts.len() + 1 && merged[0].starts_with("the old one"), "{}", merge.user);
}

#[test]
fn the_same_is_not_asked_twice() {
    let model = Scripted::new(200_000, |_, _| good());
    let settings = ModelSettings { part_tokens: 2_000, ..ModelSettings::default() };
    let summarizer = with(&model, settings);
    let case = Case::new(&long(40));
    let first = case.write(&summarizer).unwrap();
    let asked = model.requests().len();
    let again = case.write(&summarizer.clone()).unwrap();
    assert_eq!((model.requests().len(), &again.text), (asked, &first.text), "clones share what was answered");
    assert_eq!((again.usage.input_tokens(), again.usage.output_tokens()), (0, 0));
    // More messages: the full parts in front are known.
    Case::new(&long(44)).write(&summarizer).unwrap();
    let new = &model.requests()[asked..];
    assert_eq!(new.iter().map(|request| is_merge(&request.user)).collect::<Vec<_>>(), [false], "the last part");
    // A part that stands there twice is asked about once.
    let model = Scripted::new(200_000, |_, _| good());
    let twice = "user: the same word … x700\nassistant: and the answer word … x690\n".repeat(3);
    let summarizer =
        with(&model, ModelSettings { part_tokens: 1_500, result_tokens: 1_000, ..ModelSettings::default() });
    Case::new(&twice).write(&summarizer).unwrap();
    let parts = model.requests().iter().filter(|request| !is_merge(&request.user)).count();
    assert_eq!(parts, 1, "{:?}", model.requests().iter().map(|it| it.user.len()).collect::<Vec<_>>());
}

#[test]
fn a_folder_keeps_answers() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ModelSettings { cache_folder: Some(folder.path().to_owned()), ..ModelSettings::default() };
    let case = Case::new(&long(10));
    let (one, two) = (Scripted::new(100_000, |_, _| good()), Scripted::new(100_000, |_, _| good()));
    let first = case.write(&with(&one, settings.clone())).unwrap();
    assert_eq!(case.write(&with(&two, settings)).unwrap().text, first.text);
    assert_eq!((one.requests().len(), two.requests().len()), (1, 0));
}

#[test]
fn no_more_than_so_many_at_once() {
    for (parallel, expect) in [(1, 1), (3, 3), (100, 12)] {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let model = Scripted::new(200_000, |_, _| good());
        let settings = ModelSettings { part_tokens: 2_000, parallel, ..ModelSettings::default() };
        let (count, highest) = (Arc::clone(&now), Arc::clone(&most));
        let summarizer = with(&model, settings).with_progress(Arc::new(move |progress| match progress.step {
            ModelStep::Started { .. } => {
                highest.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            }
            ModelStep::Done { from_cache: false, .. } => {
                count.fetch_sub(1, Ordering::SeqCst);
            }
            ModelStep::Done { .. } | ModelStep::Retry { .. } | ModelStep::Smaller { .. } => {}
        }));
        Case::new(&long(200)).write(&summarizer).unwrap();
        assert_eq!((now.load(Ordering::SeqCst), most.load(Ordering::SeqCst)), (0, expect));
    }
}

#[test]
fn progress_is_told() {
    let told: Arc<Mutex<Vec<ModelProgress>>> = Arc::default();
    let model = Scripted::new(200_000, |_, number| if number == 1 { said("", Stop::End) } else { good() });
    let log = Arc::clone(&told);
    let settings = ModelSettings { part_tokens: 2_000, parallel: 1, ..ModelSettings::default() };
    let summarizer = with(&model, settings).with_progress(Arc::new(move |progress| log.lock().unwrap().push(progress)));
    Case::new(&long(40)).write(&summarizer).unwrap();
    let lines: Vec<String> = told
        .lock()
        .unwrap()
        .iter()
        .map(|progress| {
            let what = match &progress.step {
                ModelStep::Started { part, of } => format!("start {part}/{of}"),
                ModelStep::Done { part, of, from_cache } => format!("done {part}/{of} {from_cache}"),
                ModelStep::Retry { part, reason } => format!("retry {part}: {reason}"),
                ModelStep::Smaller { part_tokens } => format!("smaller {part_tokens}"),
            };
            format!("{what} [{} {}]", progress.input_tokens, progress.output_tokens)
        })
        .collect();
    assert_eq!(
        lines,
        [
            "start 1/4 [0 0]",
            "retry 1: it is empty [100 10]",
            "done 1/4 false [200 20]",
            "start 2/4 [200 20]",
            "done 2/4 false [300 30]",
            "start 3/4 [300 30]",
            "done 3/4 false [400 40]",
            "start 4/4 [400 40]",
            "done 4/4 false [500 50]",
        ]
    );
}

#[test]
fn one_part_fails_and_the_others_are_not_asked_for() {
    let model = Scripted::new(200_000, |_, number| if number == 2 { error(ChatErrorKind::Rejected) } else { good() });
    let settings = ModelSettings { part_tokens: 2_000, parallel: 1, ..ModelSettings::default() };
    let summarizer = with(&model, settings);
    let failure = Case::new(&long(200)).write(&summarizer).unwrap_err();
    assert_eq!((failure.message.as_str(), model.requests().len()), ("Rejected", 2));
    // What was answered is known when it is tried again.
    Case::new(&long(200)).write(&summarizer).unwrap();
    assert_eq!(model.requests().len(), 2 + 11 + 1);
}

#[test]
fn giant_messages_are_cut() {
    let fixture = format!(
        "user: go\nassistant: reading\ncall Read c1 {{}}\nresult c1: word {{n}} … x200000\nuser: {} … x30000\n",
        "and then"
    );
    let model = Scripted::new(8_000, |request, _| {
        assert!(request.user.len() / 4 < 8_000, "{}", request.user.len());
        good()
    });
    Case::new(&fixture).write(&summarizer(&model)).unwrap();
    assert_eq!(model.requests().len(), 1);
}
