//! By themselves: what starts a compaction, what keeps it from looping, who is asked, and what the provider says.

use std::sync::{Arc, Mutex};

use epitome::engine::{Budget, Check, Draft, Status, Urgency, block_on};
use epitome::live::{Confirm, Confirmation, LiveError, LiveSession, MaintainOutcome, Overflow};
use epitome::session::{Message, Origin, Role, Trigger};
use epitome::strategy::{SummarizeError, async_trait};

use super::support::{SMALL, Scripted, live, model, shown, talk, user, with_summarizer, words};

/// The outcome of `maintain`, in a word.
fn maintained(live: &mut LiveSession) -> String {
    match block_on(live.maintain()) {
        Ok(MaintainOutcome::Nothing(_)) => "nothing".to_owned(),
        Ok(MaintainOutcome::Compacted(report)) => format!("{:?} by {:?}", report.status, report.trigger),
        Ok(MaintainOutcome::Preparing(_)) => "preparing".to_owned(),
        Ok(MaintainOutcome::NotWorthwhile(_, report)) => format!("not min_saving: {:?}", report.status),
        Ok(MaintainOutcome::Refused(_)) => "refused".to_owned(),
        Ok(MaintainOutcome::NewSession(_)) => "new session".to_owned(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn each_trigger_starts_a_compaction() {
    let check = |extra: &str, fill: &dyn Fn(&mut LiveSession), expect: &str| {
        let mut live = live(&format!("{SMALL}{extra}"));
        fill(&mut live);
        assert_eq!(maintained(&mut live), expect, "{extra}");
        assert_eq!(maintained(&mut live), "nothing", "once: {extra}");
    };
    check("", &|live| talk(live, 1_400), "nothing");
    check("", &|live| talk(live, 1_600), "Compacted by Soft");
    check("", &|live| talk(live, 1_950), "Compacted by Hard");
    check("[triggers]\nremaining_share = 0.35", &|live| talk(live, 1_300), "Compacted by RemainingShare");
    check("[triggers]\ntokens = 1100", &|live| talk(live, 1_100), "Compacted by Soft");
    check("[triggers]\nrounds = 6", &|live| talk(live, 1_250), "Compacted by Rounds");
    let marked = |live: &mut LiveSession| {
        talk(live, 1_200);
        live.push(model("That is done. !!!SUMMARY!!!")).unwrap();
    };
    check("", &marked, "Compacted by Marker");
    check("[triggers]\nmarker = \"\"", &marked, "nothing");
}

#[test]
fn a_system_prompt_near_the_threshold_does_not_loop() {
    let mut live = live(SMALL);
    live.push(Message::text("", Role::System, Origin::Instructions, "rule of the house ".repeat(400))).unwrap();
    talk(&mut live, 1_850);
    let mut compactions = 0;
    for turn in 0..30 {
        compactions += u32::from(maintained(&mut live).starts_with("Compacted"));
        live.push(if turn % 2 == 0 { user("go on") } else { model("I go on") }).unwrap();
    }
    assert!((1..=6).contains(&compactions), "{compactions} compactions in 30 turns");
    assert!(live.tokens() <= 1_950);
}

#[test]
fn what_saves_too_little_is_said_once_and_no_model_is_paid() {
    // 3,000 usable tokens, of which the system prompt takes nine tenths; 30 turns bring 1,300 more.
    let settings = SMALL.replace("window = 2000\nreserve_output = 0", "window = 4000\nreserve_output = 1000");
    let scripted = Arc::new(Scripted::default());
    let mut live = with_summarizer(&settings, &scripted);
    live.push(Message::text("", Role::System, Origin::Instructions, "rule of the house ".repeat(675))).unwrap();
    live.push(user("hello")).unwrap();
    let mut did = Vec::new();
    for turn in 0..30 {
        live.push(user(&format!("turn {turn}, please explain it"))).unwrap();
        live.push(model(&format!("answer number {turn} is this, ").repeat(4))).unwrap();
        did.push(maintained(&mut live));
    }
    let count = |what: &str| did.iter().filter(|did| did.starts_with(what)).count();
    assert_eq!(count("not min_saving"), 1, "{did:?}");
    assert!((1..=2).contains(&count("Compacted")), "{did:?}");
    assert_eq!(
        scripted.asked.load(std::sync::atomic::Ordering::Relaxed),
        count("Compacted"),
        "each summary that was paid for was used"
    );
    assert!(live.tokens() < 4_000, "the window holds");
}

#[test]
fn a_trigger_below_the_target_compacts_below_it() {
    let mut live = live(&format!("{SMALL}[triggers]\ntokens = 600\n"));
    talk(&mut live, 620);
    assert_eq!(maintained(&mut live), "Compacted by Soft");
    assert!(live.tokens() <= 400, "{}", live.tokens());
}

#[test]
fn old_results_are_cleared_below_the_thresholds_where_that_is_asked_for() {
    let rounds: String = (0..9)
        .map(|round| format!("call Read c{round} {{\"file_path\":\"f{round}.rs\"}}\nresult c{round}: line {{n}} of file {round} … x40 lines\n"))
        .collect();
    let recorded = epitome_testkit::session(&format!("user: read the files\n{rounds}assistant: done\nuser: well?\n"));
    let work = |clear: &str| {
        let mut live = live(&format!("[budget]\nwindow = 60_000\n[live]\nclear_tokens = {clear}\n"));
        for message in recorded.log() {
            live.push(Message::clone(message)).unwrap();
            assert_eq!(maintained(&mut live), "nothing");
        }
        live
    };
    let whole = |live: &LiveSession| {
        let results = live.session().view().iter().flat_map(|entry| &entry.message.blocks);
        results.filter_map(|block| block.as_result()).filter(|result| result.text.contains("line 20 of file")).count()
    };
    let mut every_turn = work("2");
    assert_eq!(whole(&every_turn), 4, "the newest four rounds are whole");
    assert!(every_turn.history().iter().all(|entry| entry.trigger == Trigger::Clearing));
    assert_eq!(every_turn.history().len(), 5);
    assert_eq!(every_turn.session().cycle(), 0, "it is no compaction");
    let in_batches = work("800");
    assert!((1..=2).contains(&in_batches.history().len()), "{}", in_batches.history().len());
    let left_alone = work("0");
    assert_eq!((whole(&left_alone), left_alone.history().len()), (9, 0));
    // The prompt cache is lost as often as something was cleared; each time can be undone.
    let newest = every_turn.history().len() as u32 - 1;
    every_turn.undo(newest).unwrap();
    assert_eq!(whole(&every_turn), 5);
}

#[test]
fn a_switch_to_a_smaller_model_just_shows_a_larger_share() {
    let mut live = live(SMALL);
    live.set_tools(Some(r#"[{"name":"bash"}]"#)).unwrap();
    talk(&mut live, 800);
    let before = live.context();
    assert!(!live.check().should_compact);
    live.set_budget(Budget { window: 1_000, reserve_output: 0, ..live.budget().clone() });
    let after = live.context();
    assert_eq!(before.used_tokens, after.used_tokens);
    assert!((after.percent / before.percent - 2.0).abs() < 0.1, "{before:?} {after:?}");
    assert!(live.budget().tool_definitions > 0, "tool definitions stay counted in");
    assert_eq!(live.check().urgency, Urgency::Soft);
}

/// Answers as the test says, and records the checks that it was shown.
#[derive(Debug)]
struct Asked {
    answer: Confirmation,
    drafts: Mutex<Vec<Draft>>,
}

#[async_trait]
impl Confirm for Asked {
    async fn confirm(&self, draft: &Draft, check: &Check) -> Confirmation {
        assert!(check.should_compact);
        self.drafts.lock().unwrap().push(draft.clone());
        self.answer.clone()
    }
}

#[test]
fn a_compaction_is_made_after_confirmation_or_not_at_all() {
    let check = |on_refusal: &str, answer: Confirmation, tokens: u32, expect: &str| {
        let settings = format!("[live]\nrequire_confirmation = true\non_refusal = \"{on_refusal}\"\n");
        let mut live = live(&format!("{SMALL}{settings}"));
        let asked = Arc::new(Asked { answer, drafts: Mutex::default() });
        live.confirm_with(asked.clone());
        talk(&mut live, tokens);
        let before = shown(live.session());
        assert_eq!(maintained(&mut live), expect, "{on_refusal}");
        assert_eq!(asked.drafts.lock().unwrap().len(), 1, "asked once");
        (live, before)
    };
    check("error", Confirmation::Make, 1_700, "Compacted by Soft");
    // Suggested only: there is room to go on.
    let (mut live, before) = check("error", Confirmation::Refuse, 1_700, "refused");
    assert_eq!(shown(live.session()), before);
    assert_eq!(maintained(&mut live), "nothing", "nobody is asked again at once");
    // Due: the settings say what follows.
    let error = "error: a compaction is due (1962 of 2000 tokens) and was refused: allow it, or start a new session";
    let (mut live, before) = check("error", Confirmation::Refuse, 1_900, error);
    assert_eq!(shown(live.session()), before);
    assert_eq!(maintained(&mut live), error, "and again, until somebody agrees");
    let (live, _) = check("drop-oldest", Confirmation::Refuse, 1_900, "Compacted by Hard");
    assert!(live.history()[0].summaries.is_empty(), "no summary is written");
    let told = live.metrics().counters();
    assert_eq!((told.compactions, told.failures), (1, 0), "what was refused ended well");
    let (live, before) = check("new-session", Confirmation::Refuse, 1_900, "new session");
    assert_eq!(shown(live.session()), before, "the old one is as it was");
}

#[test]
fn a_new_session_starts_with_what_must_stay() {
    let settings = "[live]\nrequire_confirmation = true\non_refusal = \"new-session\"\n";
    let mut live = live(&format!("{SMALL}{settings}"));
    live.confirm_with(Arc::new(Asked { answer: Confirmation::Refuse, drafts: Mutex::default() }));
    live.push(Message::text("", Role::System, Origin::Instructions, "the rules")).unwrap();
    live.push(user("the task")).unwrap();
    live.push(model("well")).unwrap();
    live.push(user("remember <Pin> this")).unwrap();
    talk(&mut live, 1_950);
    live.push(user("the newest")).unwrap();
    let Ok(MaintainOutcome::NewSession(successor)) = block_on(live.maintain()) else { panic!("a new session") };
    assert_eq!(shown(&successor), ["the rules", "the task", "remember <Pin> this", "the newest"]);
}

#[test]
fn the_provider_has_the_last_word() {
    let check = |overflow: Overflow, most: u32| {
        let mut live = live(SMALL);
        talk(&mut live, 1_500);
        let before = live.tokens();
        let retry = block_on(live.handle_overflow(overflow)).unwrap();
        assert_eq!((retry.report.status, retry.report.trigger), (Status::Compacted, Trigger::Overflow));
        assert!(live.tokens() <= most && live.tokens() <= retry.limit, "{} of {before}", live.tokens());
        assert_eq!(retry.attempts_left, 2);
        live
    };
    // The limit is known, and so is how far our count is off: 1,500 of ours are 3,000 of theirs.
    let live = check(Overflow { limit: Some(1_600), actual: Some(3_000) }, 800);
    assert!(live.budget().window < 850, "what was learnt stays: {:?}", live.budget());
    check(Overflow { limit: Some(1_200), actual: None }, 1_200);
    let mut live = check(Overflow::default(), 1_050);

    // Refused again and again: each attempt goes further, then it says so.
    let mut tokens = live.tokens();
    for left in [1, 0] {
        talk(&mut live, 0);
        let retry = block_on(live.handle_overflow(Overflow::default())).unwrap();
        assert!(live.tokens() < tokens * 95 / 100, "at least a twentieth less");
        assert_eq!(retry.attempts_left, left);
        tokens = live.tokens();
    }
    let error = block_on(live.handle_overflow(Overflow::default())).unwrap_err();
    assert!(matches!(error, LiveError::StillTooLong { attempts: 4, .. }), "{error}");
    // An answer ends it.
    live.push(model("now it fits")).unwrap();
    live.push(user(&words(1))).unwrap();
    talk(&mut live, 700);
    assert_eq!(block_on(live.handle_overflow(Overflow::default())).unwrap().attempts_left, 2);
}

#[test]
fn without_a_summary_the_session_is_as_it_was() {
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[summary]\non_failure = \"stop\"\n"), &summarizer);
    talk(&mut live, 1_700);
    let before = shown(live.session());
    *summarizer.fails.lock().unwrap() = Some(SummarizeError::new("busy", true));
    let error = super::support::compact(&mut live).unwrap_err();
    assert!(error.is_retryable() && error.to_string().contains("busy"), "{error}");
    assert_eq!(shown(live.session()), before);
    assert_eq!(maintained(&mut live), "nothing", "a suggested one is not tried again at once");
    talk(&mut live, 1_900);
    let failed = "error: nothing was changed: there is no summary: busy";
    assert_eq!(maintained(&mut live), failed, "what is due is an error, and the host may try again");
    assert_eq!(maintained(&mut live), failed);
    *summarizer.fails.lock().unwrap() = None;
    assert_eq!(maintained(&mut live), "Compacted by Hard");
}

#[test]
fn a_huge_result_is_cut_before_it_is_sent() {
    let mut live = live(&SMALL.replace("2000", "20000"));
    live.push(user("look")).unwrap();
    let call = epitome_testkit::session("\nuser: x\ncall Bash c1 {}\nresult c1: line {n} of a log … x3000 lines\n");
    for message in &call.log()[1..] {
        live.push(Message::clone(message)).unwrap();
    }
    assert!(live.tokens() < 2_300, "a tenth of the window: {}", live.tokens());
    assert_eq!(live.history()[0].trigger, Trigger::Arrival);
    let whole = live.tokens();
    live.undo(0).unwrap();
    assert!(live.tokens() > 5 * whole);
}

#[test]
fn without_anybody_to_ask_nothing_is_made() {
    let mut live = live(&format!("{SMALL}[live]\nrequire_confirmation = true\n"));
    talk(&mut live, 1_700);
    assert_eq!(maintained(&mut live), "refused");
    assert!(live.history().is_empty());
}

#[test]
fn a_stale_draft_does_not_silence_what_is_due() {
    let mut live = live(SMALL);
    talk(&mut live, 1_900);
    let draft = block_on(live.preview(&Default::default())).unwrap();
    live.push(user("one more")).unwrap();
    block_on(live.apply(draft)).unwrap_err();
    assert_eq!(maintained(&mut live), "Compacted by Hard");
}

#[test]
fn what_was_undone_is_not_made_again_at_once() {
    let mut live = live(SMALL);
    talk(&mut live, 1_700);
    assert_eq!(maintained(&mut live), "Compacted by Soft");
    live.undo(0).unwrap();
    assert_eq!(maintained(&mut live), "nothing");
    talk(&mut live, 1_900);
    assert_eq!(maintained(&mut live), "Compacted by Hard", "what must be is made");
}

#[test]
fn a_failure_does_not_use_up_what_asked_for_a_compaction() {
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[summary]\non_failure = \"stop\"\n"), &summarizer);
    talk(&mut live, 1_200);
    live.push(model("!!!SUMMARY!!!")).unwrap();
    *summarizer.fails.lock().unwrap() = Some(SummarizeError::new("busy", true));
    assert_eq!(maintained(&mut live), "nothing");
    *summarizer.fails.lock().unwrap() = None;
    live.push(user(&words(99))).unwrap();
    assert_eq!(maintained(&mut live), "Compacted by Marker");
}

#[test]
fn an_overflow_without_figures_leaves_the_budget_and_counts_refusals_only() {
    let summarizer = Arc::new(Scripted::default());
    let toml = SMALL.replace("2000", "9000") + "[summary]\non_failure = \"stop\"\n";
    let mut live = with_summarizer(&toml, &summarizer);
    talk(&mut live, 6_000);
    let (budget, before) = (live.budget().clone(), live.tokens());
    *summarizer.fails.lock().unwrap() = Some(SummarizeError::new("busy", true));
    for _ in 0..5 {
        let error = block_on(live.handle_overflow(Overflow { limit: Some(3_000), actual: None })).unwrap_err();
        assert!(error.is_retryable(), "the summarizer failed, not the provider: {error}");
        assert_eq!(*live.budget(), budget);
    }
    *summarizer.fails.lock().unwrap() = None;
    let retry = block_on(live.handle_overflow(Overflow::default())).unwrap();
    assert_eq!((live.budget(), retry.attempts_left), (&budget, 2));
    let share = f64::from(live.tokens()) / f64::from(before);
    assert!((0.5..=0.7).contains(&share), "{share}");
}
