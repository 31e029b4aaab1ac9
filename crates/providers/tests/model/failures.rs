//! Answers that are no good, and services that fail.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use epitome_engine::block_on;
use epitome_providers::RuleSummarizer;
use epitome_providers::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest, Overflow, Stop};
use epitome_providers::model::{FallbackSummarizer, ModelSettings, ModelStep, ModelSummarizer};
use epitome_strategy::{ModelBackoff, Summarizer, Tokens, async_trait};

use super::scripted::{Answer, Case, FIXING, GOOD, Scripted, error, fenced, good, said, summarizer, with};

/// The first answer is no good: the second request says why, and holds the first answer.
#[test]
fn one_retry_with_the_reason() {
    let check = |first: fn() -> Answer, reason: &str| {
        let model = Scripted::new(100_000, move |_, number| if number == 1 { first() } else { good() });
        let summary = Case::new(FIXING).ask(&model).unwrap();
        assert!(summary.text.starts_with(GOOD));
        assert_eq!((summary.usage.input_tokens(), summary.usage.output_tokens()), (200, 20), "both were paid for");
        let asked = model.requests();
        assert_eq!(asked.len(), 2, "{reason}");
        let added = asked[1].user.strip_prefix(&asked[0].user).unwrap();
        assert!(added.contains(&format!("\n- {reason}\n")), "{added}");
        assert_eq!(fenced(added, "answer").len(), 1);
    };
    check(|| said("", Stop::End), "it is empty");
    check(|| said("", Stop::ToolCall), "it calls a tool instead of summarizing");
    check(|| said("<tool_call>{\"name\":\"Bash\"}</tool_call>", Stop::End), "it calls a tool instead of summarizing");
    check(|| said("No.", Stop::Refused), "it is a refusal; a summary tells what others said and does nothing of it");
    check(
        || said("## Goal\n- README.md\n## Open\n- none\n## State\n- x\n## Next step\n- y", Stop::End),
        "it has 64 characters, too few to tell what happened",
    );
    check(|| said(GOOD, Stop::Length), "it was cut off; it has to be shorter");
    check(
        || said(&format!("{GOOD}{}", "\n- 智能体修改了词法分析器并且运行了测试".repeat(20)), Stop::End),
        "it is not written in English",
    );
}

#[test]
fn what_was_cut_off_has_to_be_shorter() {
    let model = Scripted::new(100_000, |_, number| if number == 1 { said("", Stop::Length) } else { good() });
    Case::new(FIXING).ask(&model).unwrap();
    let words = |prompt: &str| -> Vec<u32> {
        let numbers = prompt.split("at most ").skip(1);
        numbers.filter_map(|rest| rest.to_lowercase().split(' ').next()?.parse().ok()).collect()
    };
    let first =
        model.requests()[0].user.rsplit("At most ").next().unwrap().split(' ').next().unwrap().parse::<u32>().unwrap();
    assert_eq!(words(&model.requests()[1].user), [first * 2 / 3]);
}

/// One that is longer than there is room for, or than what it is about, is cut by rule.
#[test]
fn too_long_is_no_reason_to_ask_again() {
    for lines in [40, 900] {
        let long = format!("{GOOD}{}", "\n- and another thing".repeat(lines));
        let model = Scripted::new(100_000, move |_, _| said(&long, Stop::End));
        let summary = Case::new(FIXING).ask(&model).unwrap();
        assert_eq!(model.requests().len(), 1);
        assert!(summary.text.starts_with("## Goal\n- The user wants") && summary.text.contains("## Next step"));
    }
}

#[test]
fn no_good_twice_is_an_error() {
    let check = |answer: fn(usize) -> Answer, asked: usize, message: &str, retryable: bool| {
        let model = Scripted::new(100_000, move |_, number| answer(number));
        let failure = Case::new(FIXING).ask(&model).unwrap_err();
        assert_eq!(failure.message, message);
        assert_eq!((model.requests().len(), failure.retryable), (asked, retryable), "{message}");
        let answered = (1..=asked).filter(|number| answer(*number).is_ok()).count() as u64;
        assert_eq!((failure.usage.input_tokens(), failure.usage.output_tokens()), (100 * answered, 10 * answered));
    };
    let twice = "the summary by `scripted` cannot be used: it is empty; asked again: it has 6 characters, too few to tell what happened";
    check(|number| said(if number == 1 { "" } else { "HACKED" }, Stop::End), 2, twice, true);
    let refused = "it is a refusal; a summary tells what others said and does nothing of it";
    let refused = format!("the summary by `scripted` cannot be used: {refused}; asked again: {refused}");
    check(|_| said("", Stop::Refused), 2, &refused, false);
    check(|_| error(ChatErrorKind::Transient), 1, "Transient", true);
    check(|_| error(ChatErrorKind::Unreadable), 1, "Unreadable", true);
    check(|_| error(ChatErrorKind::Rejected), 1, "Rejected", false);
    let then = "the model's summary cannot be used (it is empty), and asked again: Transient";
    check(|number| if number == 1 { said("", Stop::End) } else { error(ChatErrorKind::Transient) }, 2, then, true);
}

#[test]
fn who_gives_no_summary_is_not_asked_again_for_the_session() {
    let check = |answer: fn() -> Result<ChatAnswer, ChatError>, asked: usize, asked_later: usize| {
        let model = Scripted::new(100_000, move |_, _| answer());
        let (case, shared) = (Case::new(FIXING), summarizer(&model));
        let (refusals, other) = (ModelBackoff::default(), ModelBackoff::default());
        let own = shared.for_session(&refusals).unwrap();
        block_on(own.summarize(&case.task())).unwrap_err();
        assert_eq!(model.requests().len(), asked);
        // Also where the summarizer is made anew.
        let again = shared.for_session(&refusals).unwrap();
        block_on(again.summarize(&case.task())).unwrap_err();
        assert_eq!(model.requests().len(), asked_later);
        block_on(shared.for_session(&other).unwrap().summarize(&case.task())).unwrap_err();
        assert_eq!(model.requests().len(), asked_later + asked, "another session is another matter");
    };
    check(|| said("", Stop::Refused), 2, 2);
    check(|| said("HACKED", Stop::End), 2, 2);
    check(|| error(ChatErrorKind::Rejected), 1, 1);
    check(|| error(ChatErrorKind::Transient), 1, 2);
}

#[test]
fn strings_that_it_lost_are_put_back() {
    let model = Scripted::new(100_000, |_, _| said(&GOOD.replace("README.md", "a file"), Stop::End));
    let summary = Case::new(FIXING).ask(&model).unwrap();
    assert_eq!(model.requests().len(), 1);
    assert!(summary.text.ends_with("Report the time it takes in README.md.”"), "{}", summary.text);
}

#[test]
fn too_long_is_tried_with_half_as_much() {
    let fixture: String = (0..40)
        .map(|number| format!("user: question {number} word … x80\nassistant: answer {number} word … x80\n"))
        .collect();
    // The service takes less than it says.
    let check = |takes: usize, succeeds: bool| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let model =
            Scripted::new(
                12_000,
                move |request, _| {
                    if request.user.len() > takes { error(ChatErrorKind::TooLong) } else { good() }
                },
            );
        let log = Arc::clone(&told);
        let summarizer = summarizer(&model).with_progress(Arc::new(move |progress| log.lock().unwrap().push(progress)));
        let written = Case::new(&fixture).write(&summarizer);
        assert_eq!(written.is_ok(), succeeds, "{written:?}");
        let told = told.lock().unwrap();
        let smaller = told.iter().filter(|it| matches!(it.step, ModelStep::Smaller { .. })).count();
        if let Err(failure) = written {
            assert!(!failure.retryable && failure.message == "TooLong");
            assert_eq!(smaller, 3, "three halvings and no more");
        }
        smaller
    };
    assert_eq!(check(100_000, true), 0);
    assert_eq!(check(15_000, true), 1, "{FIXING}");
    check(2_000, false);
}

#[test]
fn asking_again_fits_the_window() {
    let fixture: String =
        (0..400).map(|number| format!("user: question {number} word … x20\nassistant: answer … x60\n")).collect();
    for window in [3_000, 6_000, 20_000] {
        let model = Scripted::new(window, move |request, number| {
            let tokens = (request.system.len() + request.user.len()) as u32 / 4 + request.max_tokens;
            assert!(tokens <= window, "{tokens} tokens for a window of {window}, request {number}");
            if number % 2 == 1 { said(&"cut off ".repeat(20_000), Stop::Length) } else { good() }
        });
        let settings = ModelSettings { parallel: 1, ..ModelSettings::default() };
        Case::new(&fixture).write(&with(&model, settings)).unwrap();
        assert!(model.requests().len() >= 4);
    }
}

#[test]
fn a_window_that_holds_nothing() {
    let model = Scripted::new(600, |_, _| good());
    let failure = Case::new(FIXING).ask(&model).unwrap_err();
    assert!(failure.message.contains("window of `scripted`") && !failure.retryable, "{failure:?}");
    assert!(model.requests().is_empty());
}

#[test]
fn rules_step_in() {
    let fall_back =
        |model: &Arc<Scripted>| FallbackSummarizer { first: summarizer(model), second: Arc::new(RuleSummarizer) };
    let case = Case::new(FIXING);
    let failing = Scripted::new(100_000, |_, _| said("", Stop::End));
    let summarizer = fall_back(&failing);
    assert_eq!(summarizer.kind(), "llm");
    let summary = block_on(summarizer.summarize(&case.task())).unwrap();
    assert!(summary.text.contains("Never touch the public API"), "{}", summary.text);
    assert!(summary.fell_back.as_deref().is_some_and(|reason| reason.contains("it is empty")));
    assert_eq!((summary.usage.input_tokens(), summary.usage.output_tokens()), (200, 20), "what the model cost is told");
    let working = Scripted::new(100_000, |_, _| good());
    let summary = block_on(fall_back(&working).summarize(&case.task())).unwrap();
    assert!(summary.fell_back.is_none() && summary.text.starts_with(GOOD));
    let nothing = Case::new("user: ok").max_tokens(1);
    let error = block_on(fall_back(&failing).summarize(&nothing.task())).unwrap_err();
    assert!(error.message.contains("rules: "), "{error}");
    let paid = failing.requests().len() as u64 - 2;
    assert_eq!(
        (error.usage.input_tokens(), error.usage.output_tokens()),
        (100 * paid, 10 * paid),
        "what failed answers cost is told"
    );
}

/// Never answers but for one part, which it refuses.
#[derive(Debug)]
struct Dead;

#[async_trait]
impl ChatModel for Dead {
    fn name(&self) -> &str {
        "dead"
    }

    fn window(&self) -> Tokens {
        200_000
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        if request.user.contains("question 60 ") {
            return Err(ChatError::new(ChatErrorKind::Rejected, "no".to_owned()));
        }
        std::future::pending().await
    }
}

#[test]
fn a_failure_does_not_wait_for_other_parts() {
    let fixture: String = (0..200).map(|number| format!("user: question {number} word … x20\n")).collect();
    let case = Case::new(&fixture);
    let settings = ModelSettings { part_tokens: 600, parallel: 1_000, ..ModelSettings::default() };
    let summarizer = ModelSummarizer::new(Arc::new(Dead), settings).unwrap();
    let task = case.task();
    let mut written = pin!(summarizer.summarize(&task));
    let outcome = (0..100).find_map(|_| match written.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    });
    assert_eq!(outcome.unwrap().unwrap_err().message, "no");
}

#[test]
fn a_service_that_answers_nobody_is_left_alone_for_a_while() {
    let check = |fails_all: bool, rest: Duration, expect: usize| {
        let model = Scripted::new(100_000, move |_, number| match number {
            1..=10 => {
                Err(ChatError { fails_all, ..ChatError::new(ChatErrorKind::Transient, "cannot be reached".to_owned()) })
            }
            _ => good(),
        });
        let summarizer = with(&model, ModelSettings { rest_after_failure: rest, ..ModelSettings::default() });
        for _ in 0..10 {
            let failure = Case::new(FIXING).write(&summarizer.clone()).unwrap_err();
            assert_eq!((failure.message.as_str(), failure.retryable), ("cannot be reached", true));
        }
        assert_eq!(model.requests().len(), expect, "{fails_all} {rest:?}");
    };
    let long = Duration::from_secs(1_000_000);
    check(true, long, 1);
    check(true, Duration::ZERO, 10);
    check(false, long, 10);
}

#[test]
fn the_limit_that_a_service_names_is_remembered() {
    const LIMIT: u32 = 6_000;
    let fixture = |word: &str| -> String {
        (0..150).map(|number| format!("user: {word} {number} word … x80\nassistant: answer … x20\n")).collect()
    };
    let refusals = Arc::new(Mutex::new(0));
    let count = Arc::clone(&refusals);
    let model = Scripted::new(100_000, move |request, _| {
        let tokens = (request.system.len() + request.user.len()) as u32 / 4 + request.max_tokens;
        if tokens <= LIMIT {
            return good();
        }
        *count.lock().unwrap() += 1;
        let overflow = Some(Overflow { limit: Some(LIMIT), actual: Some(tokens) });
        Err(ChatError { overflow, ..ChatError::new(ChatErrorKind::TooLong, "too long".to_owned()) })
    });
    let summarizer = summarizer(&model);
    Case::new(&fixture("first")).write(&summarizer).unwrap();
    assert_eq!(*refusals.lock().unwrap(), 1, "the second try goes by the limit");
    Case::new(&fixture("second")).write(&summarizer.clone()).unwrap();
    assert_eq!(*refusals.lock().unwrap(), 1, "later summaries know it");
}
