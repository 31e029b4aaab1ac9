//! The quality guard: what was lost, in hand-worked figures, and what follows.

use std::fmt::Write as _;
use std::sync::Arc;

use epitome_engine::{
    Chain, Chains, Engine, KeptShare, MinQuality, Mode, OnLoss, Quality, QualityPart, Report, Request, Status,
};
use epitome_session::{Session, Trigger};
use epitome_strategy::{
    Edit, ModelUsage, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, SummaryText, TaskKind,
    async_trait,
};
use epitome_testkit::session;

use super::support::{Script, Spy, compact, engine, reason};

/// Ten messages in eight units. Asked for, each with the weight 1 + (newest message that asks) / 10: `parse_config` 1.1,
/// `src/conf.rs` and `conf.rs` 1.2, `main.rs` 1.1, `src/lib.rs` and `lib.rs` 1.4, `build_id_77` 1.6; 9.0 in all. What a
/// tool printed, and the names of arguments, nobody asked for. Three typed messages, two of them with an instruction. Two
/// files: one read, one edited. No sentence of the model is one that concludes.
const WORK: &str = "
system: Never mind file_path.
user: Fix parse_config in src/conf.rs. Never touch main.rs!
call Read c1 {\"file_path\":\"src/conf.rs\"}
result c1: a line of printed_text … x100
call Edit c2 {\"file_path\":\"src/lib.rs\"}
result c2: ok … x400
user: Always run the tests. Why is build_id_77 red?
assistant: many words … x150
user: newest
assistant: done
";

/// Loses `src/lib.rs`, `lib.rs`, `build_id_77`, an instruction and the edited file: strings 4.6 of 9.0, instructions 1 of
/// 2, typed 2 of 3, files 1 of 3; all (2 x .5111 + 2 x .5 + 3 x .6666 + .3333) / 8.
const WORST: &[u32] = &[2, 3, 4];
/// Loses `src/lib.rs`, `lib.rs` and the edited file: strings 6.2 of 9.0, files 1 of 3; all (2 x .6888 + 2 + 3 + .3333) / 8.
const BETTER: &[u32] = &[2, 3];
/// Loses nothing that was asked for.
const PRINTED: Keep = Keep::Names;

enum Keep {
    Units(&'static [u32]),
    Names,
}

fn drops(keep: &Keep) -> Vec<Edit> {
    match keep {
        Keep::Units(units) => vec![Edit::Drop { units: units.to_vec(), reason: reason() }],
        Keep::Names => {
            [3, 5].map(|message| Edit::Excerpt { message, block: 0, keep: Vec::new(), reason: reason() }).into()
        }
    }
}

fn scripted(id: &'static str, keep: &Keep) -> Chain {
    Chain(vec![Arc::new(Script(id, drops(keep)))])
}

/// An engine whose chains for code and for analysis do that; the others are those of code.
fn with(code: &Keep, analysis: &Keep, quality: MinQuality) -> Engine {
    let code = scripted("script", code);
    let chains = Chains {
        analysis: scripted("other", analysis),
        conversation: code.clone(),
        mixed: code.clone(),
        ..Chains::default()
    };
    Engine { chains: Chains { unknown: code.clone(), code, ..chains }, quality, ..engine() }
}

fn asked(trigger: Trigger, limit: u32) -> Request {
    Request { task: Some(TaskKind::Code), limit, trigger, ..Request::to_budget(900) }
}

fn figures(kept: &KeptShare) -> String {
    format!("{}/{} {}", kept.kept, kept.held, kept.share)
}

/// Status, chain and figures; then what is below and what was tried, a line each.
fn told(report: &Report) -> String {
    let mut text = format!("{:?} by {}", report.status, report.chain.join(" "));
    let Some(quality) = &report.quality else { return text };
    let Quality { share, typed, instructions, conclusions, summaries, strings, files, below, tried } = quality;
    let _ = write!(text, ": {share} of {}, {}, {}", figures(strings), figures(instructions), figures(files));
    for (name, kept) in [("typed", typed), ("conclusions", conclusions), ("summaries", summaries)] {
        if kept.held > 0 {
            let _ = write!(text, ", {name} {}", figures(kept));
        }
    }
    for below in below {
        let _ = write!(text, "\nbelow: {} {} < {}", below.part.as_str(), below.share, below.least);
    }
    for it in tried {
        let _ = write!(
            text,
            "\ntried: {} {}{}",
            it.chain.join(" "),
            it.share.unwrap(),
            if it.below.is_empty() { "" } else { " below" }
        );
    }
    text
}

#[track_caller]
fn check(engine: &Engine, request: &Request, expect: &str) -> (Report, Session) {
    let mut session = session(WORK);
    let (report, archive) = compact(engine, &mut session, request);
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(told(&report).lines().collect::<Vec<_>>(), expect);
    let untouched = session.view().len() == 10 && session.journal().is_empty();
    assert_eq!(untouched, report.status != Status::Compacted);
    assert_eq!(archive.is_empty(), untouched, "what was only tried is not archived");
    (report, session)
}

const OFF: MinQuality = MinQuality {
    typed: 0.0,
    instructions: 0.0,
    conclusions: 0.0,
    summaries: 0.0,
    strings: 0.0,
    files: 0.0,
    on_loss: OnLoss::Retry,
};

#[test]
fn the_figures_are_those_worked_out_by_hand() {
    let check = |code: &Keep, expect: &str| check(&with(code, &PRINTED, OFF), &asked(Trigger::Hard, 900), expect).0;
    let worst =
        check(&Keep::Units(WORST), "Compacted by script: 0.5444 of 4/7 0.5111, 1/2 0.5, 1/2 0.3333, typed 2/3 0.6666");
    let quality = worst.quality.unwrap();
    // The most valuable first; `lib.rs` goes without saying.
    assert_eq!(quality.strings.lost, ["build_id_77", "src/lib.rs"]);
    assert_eq!(quality.instructions.lost, ["Always run the tests."]);
    assert_eq!(quality.files.lost, ["src/lib.rs"]);
    check(&Keep::Units(BETTER), "Compacted by script: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1");
    check(&PRINTED, "Compacted by script: 1 of 7/7 1, 2/2 1, 2/2 1, typed 3/3 1");
}

#[test]
fn where_nothing_changes_there_is_no_figure() {
    let engine = with(&Keep::Units(WORST), &PRINTED, MinQuality { strings: 1.0, ..OFF });
    check(&engine, &Request { target: 9_000, ..asked(Trigger::Hard, 9_000) }, "NoChange by script");
    check(&engine, &Request { target: 10, ..asked(Trigger::Hard, 10) }, "Infeasible by script");
}

#[test]
fn a_result_that_keeps_enough_is_taken_at_once() {
    let spy = Arc::new(Spy::default());
    for quality in
        [OFF, MinQuality { strings: 0.5111, instructions: 0.5, files: 0.3333, on_loss: OnLoss::RollBack, ..OFF }]
    {
        let mut engine = with(&Keep::Units(WORST), &PRINTED, quality);
        engine.chains.analysis = Chain(vec![Arc::clone(&spy) as _]);
        let expect = "Compacted by script: 0.5444 of 4/7 0.5111, 1/2 0.5, 1/2 0.3333, typed 2/3 0.6666";
        check(&engine, &asked(Trigger::Hard, 900), expect);
    }
    assert!(spy.0.lock().unwrap().is_empty(), "no other chain was asked");
}

#[test]
fn a_retry_finds_a_better_chain() {
    for on_loss in [OnLoss::Retry, OnLoss::RollBack] {
        let quality = MinQuality { instructions: 0.6, on_loss, ..OFF };
        let expect = "
            Compacted by other: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1
            tried: script 0.5444 below
            tried: other 0.8388
        ";
        let engine = with(&Keep::Units(WORST), &Keep::Units(BETTER), quality);
        let (report, session) = check(&engine, &asked(Trigger::Hard, 900), expect);
        assert_eq!(report.steps[0].strategy.as_ref(), "other", "the steps are those of the chain that was taken");
        assert!(session.view().iter().any(|entry| entry.message.plain_text().contains("build_id_77")));
    }
    // The first that keeps enough is taken, not the best of all.
    let engine = with(&Keep::Units(BETTER), &PRINTED, MinQuality { strings: 0.6, ..OFF });
    check(
        &engine,
        &asked(Trigger::Hard, 900),
        "Compacted by script: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1",
    );
}

#[test]
fn a_named_chain_is_the_first_that_is_tried() {
    let engine = with(&Keep::Units(WORST), &PRINTED, MinQuality { files: 0.5, ..OFF });
    let request = Request {
        chain: Some(scripted("other", &Keep::Units(BETTER))),
        mode: Mode::Fixed,
        ..asked(Trigger::Hard, 900)
    };
    let expect = "
        Compacted by other: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1
        below: files 0.3333 < 0.5
        tried: other 0.8388 below
        tried: script 0.5444 below
    ";
    check(&engine, &request, expect);
}

/// Every part below, or only one: none passes, and the best is taken.
const NONE_PASSES: MinQuality = MinQuality { strings: 0.9, instructions: 1.0, ..OFF };

#[test]
fn where_none_keeps_enough_the_best_is_taken_and_it_is_said() {
    let expect = "
        Compacted by other: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1
        below: strings 0.6888 < 0.9
        tried: script 0.5444 below
        tried: other 0.8388 below
    ";
    let engine = with(&Keep::Units(WORST), &Keep::Units(BETTER), NONE_PASSES);
    let (report, _) = check(&engine, &asked(Trigger::Hard, 900), expect);
    assert!(!report.quality.unwrap().passes());
    // With `report` nothing else is tried.
    let engine = with(&Keep::Units(WORST), &PRINTED, MinQuality { on_loss: OnLoss::Report, ..NONE_PASSES });
    let expect = "
        Compacted by script: 0.5444 of 4/7 0.5111, 1/2 0.5, 1/2 0.3333, typed 2/3 0.6666
        below: instructions 0.5 < 1
        below: strings 0.5111 < 0.9
    ";
    check(&engine, &asked(Trigger::Hard, 900), expect);
}

#[test]
fn a_session_that_can_go_on_is_rolled_back() {
    let expect = |status: &str| {
        format!(
            "{status} by other: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1
             below: strings 0.6888 < 0.9
             tried: script 0.5444 below
             tried: other 0.8388 below"
        )
    };
    let quality = MinQuality { on_loss: OnLoss::RollBack, ..NONE_PASSES };
    let engine = with(&Keep::Units(WORST), &Keep::Units(BETTER), quality);
    let (report, _) = check(&engine, &asked(Trigger::Soft, 9_000), &expect("RolledBack"));
    assert_eq!((report.tokens_after, report.messages_after, report.cycle), (report.tokens_before, 10, 0));
    assert!(report.edits.is_empty() && report.summary.is_none() && report.first_changed_message.is_none());
    // Over the limit an automatic compaction has to end; a person can be asked again.
    check(&engine, &asked(Trigger::Hard, 900), &expect("Compacted"));
    check(&engine, &asked(Trigger::Overflow, 900), &expect("Compacted"));
    check(&engine, &asked(Trigger::Manual, 900), &expect("RolledBack"));
}

#[test]
fn a_tournament_takes_what_keeps_most() {
    let request = Request { mode: Mode::Tournament, ..asked(Trigger::Hard, 900) };
    let expect = "
        Compacted by other: 0.8388 of 5/7 0.6888, 2/2 1, 1/2 0.3333, typed 3/3 1
        tried: script 0.5444
        tried: other 0.8388
    ";
    check(&with(&Keep::Units(WORST), &Keep::Units(BETTER), OFF), &request, expect);
    // What keeps too little is named there too.
    let strings = MinQuality { strings: 0.9, ..OFF };
    check(
        &with(&Keep::Units(BETTER), &PRINTED, strings),
        &request,
        "Compacted by other: 1 of 7/7 1, 2/2 1, 2/2 1, typed 3/3 1
         tried: script 0.8388 below
         tried: other 1",
    );
}

#[derive(Debug)]
struct Paid;

#[async_trait]
impl Summarizer for Paid {
    fn kind(&self) -> &str {
        "paid"
    }

    async fn summarize(&self, _: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let text = "it went on with build_id_77".to_owned();
        Ok(Summary {
            text,
            usage: ModelUsage { answers: 1, input_tokens: 10, output_tokens: 2, ..ModelUsage::default() }.into(),
            ..Summary::default()
        })
    }
}

#[test]
fn failed_tries_are_on_the_bill_and_summaries_count() {
    let summary = |units: &[u32]| {
        let request = SummaryRequest::new(50, None);
        Edit::Summarize { units: units.to_vec(), summary: SummaryText::Request(request), reason: reason() }
    };
    let mut engine = with(&PRINTED, &PRINTED, MinQuality { instructions: 1.0, ..OFF });
    engine.summarizer = Some(Arc::new(Paid));
    let code = Chain(vec![Arc::new(Script("script", vec![summary(WORST)]))]);
    engine.chains = Chains { analysis: scripted("other", &PRINTED), code, ..Chains::default() };
    let expect = "
        Compacted by other: 1 of 7/7 1, 2/2 1, 2/2 1, typed 3/3 1
        tried: script 0.5888 below
        tried: other 1
    ";
    let (report, _) = check(&engine, &asked(Trigger::Hard, 900), expect);
    assert_eq!((report.summarizer.input_tokens, report.summarizer.output_tokens), (10, 2));
    assert_eq!(report.summary, None, "its summary is not shown");
    // The summary names one of the strings that the dropped messages asked for: 6.2 of 9.0.
    engine.quality = OFF;
    let expect = "Compacted by script: 0.5888 of 5/7 0.6888, 1/2 0.5, 1/2 0.3333, typed 2/3 0.6666";
    let (report, _) = check(&engine, &asked(Trigger::Hard, 900), expect);
    assert_eq!(report.quality.unwrap().part(QualityPart::Strings).lost, ["src/lib.rs"]);
}

#[test]
fn a_result_of_which_nothing_is_left_is_hollow() {
    let check = |reads: usize, expect: Status| {
        let mut fixture = String::from("user: go\n");
        for read in 1..=reads {
            let call = format!("call Read c{read} {{\"file_path\":\"src/part_{read}.rs\"}}");
            fixture.push_str(&format!("{call}\nresult c{read}: word … x100\n"));
        }
        fixture.push_str("user: ok\n");
        let mut session = session(&fixture);
        let (report, _) = compact(&engine(), &mut session, &super::support::request(40, None));
        assert_eq!(report.status, expect, "{:?}", report.quality);
        assert!(report.status.is_compaction() && report.tokens_after <= 40 && session.journal().len() == 1);
    };
    check(5, Status::NearEmpty);
    // One file that is left by chance, of a hundred and their strings, is next to nothing.
    let mut fixture = String::from("user: begin with the parts … x40\n");
    for read in 1..=100 {
        let call = format!("call Read c{read} {{\"file_path\":\"src/part_{read}.rs\"}}");
        fixture.push_str(&format!("{call}\nresult c{read}: word … x20\n"));
    }
    fixture.push_str(
        "user: go on with the parts … x40\ncall Read last {\"file_path\":\"src/part_7.rs\"}\nresult last: end\n",
    );
    let mut left = session(&fixture);
    let (report, _) = compact(&engine(), &mut left, &super::support::request(80, None));
    let quality = report.quality.unwrap();
    assert_eq!((quality.files.kept, report.status), (1, Status::NearEmpty), "{quality:?}");
    // Of a file and its string, the loss of both says little.
    check(1, Status::Compacted);
}

const SAID: &str = "
user: Please look at the parser first of all.
assistant: The parser reads each line twice because the cache is keyed by its length. Fixed.
user: Never touch the lexer, it is generated.
assistant: many words … x150
user: newest
assistant: done
";

/// The figures of a compaction after `first`, and those of the first.
fn after_two(first: &'static [u32], then: &'static [u32], quality: MinQuality) -> (Quality, Quality) {
    let mut session = session(SAID);
    let mut compacted = |units: &'static [u32]| {
        let engine = with(&Keep::Units(units), &PRINTED, quality);
        let tokens = engine.ledger(&session).total();
        let request = Request { limit: tokens - 1, target: tokens - 1, ..asked(Trigger::Hard, tokens) };
        compact(&engine, &mut session, &request).0.quality.unwrap()
    };
    (compacted(first), compacted(then))
}

#[test]
fn what_earlier_compactions_lost_is_missing_too() {
    let (first, second) = after_two(&[1], &[3], MinQuality { conclusions: 0.5, on_loss: OnLoss::Report, ..OFF });
    // The conclusion goes first: one sentence of 40 characters and more.
    assert_eq!((first.conclusions.held, first.conclusions.kept, first.conclusions.lost_now), (1, 0, 1));
    assert_eq!(first.below.iter().map(|below| below.part).collect::<Vec<_>>(), [QualityPart::Conclusions]);
    // It is missing after the second as well, which did not lose it and does not miss the threshold for it.
    assert_eq!((second.conclusions.held, second.conclusions.kept, second.conclusions.lost_now), (1, 0, 0));
    assert!(second.passes(), "{second:?}");
    // Examples of the losses of each are apart.
    let (one, two) = (&first.conclusions, &second.conclusions);
    assert_eq!((one.lost.len(), one.lost_earlier.len(), two.lost.len(), two.lost_earlier.len()), (1, 0, 0, 1));
    assert_eq!(one.lost, two.lost_earlier);
    assert_eq!((second.typed.held, second.typed.kept), (3, 3));
}

#[test]
fn every_typed_message_counts() {
    let check = |edits: Vec<Edit>, expect: &str, lost: &[&str]| {
        let long = "a word of the whole story … x60";
        let fixture = format!(
            "user: go\nassistant: many words … x150\nuser: {long}\nassistant: more words … x150\nuser: yes, do it\n\
             user: yes, do it\nuser: ???\nassistant: last words … x150\nuser: and the rest of it\n"
        );
        let mut session = session(&fixture);
        let tokens = engine().ledger(&session).total();
        let chain = Chain(vec![Arc::new(Script("script", edits))]);
        let request = Request { chain: Some(chain), ..Request::to_budget(tokens - 120) };
        let quality = compact(&engine(), &mut session, &request).0.quality.unwrap();
        assert_eq!(figures(&quality.typed), expect, "{:?}", quality.typed);
        let starts: Vec<&str> = quality.typed.lost.iter().map(|lost| &lost[..6]).collect();
        assert_eq!(starts, lost);
    };
    let drop = |units: &[u32]| Edit::Drop { units: units.to_vec(), reason: reason() };
    let cut = Edit::Excerpt { message: 2, block: 0, keep: vec![0..30], reason: reason() };
    // Short and long ones, and one that is said twice; what has no letter has no words.
    check(vec![drop(&[1])], "5/5 1", &[]);
    // A message that is cut is not there whole; of two that say the same one is there while one is.
    check(vec![drop(&[4]), cut], "3/5 0.6", &["yes, d", "a word"]);
}

#[test]
fn typed_messages_count_as_often_as_they_stand() {
    let check = |fixture: &str, edits: Vec<Edit>, expect: &str, lost: &[&str]| {
        let mut session = session(fixture);
        let tokens = engine().ledger(&session).total();
        let chain = Chain(vec![Arc::new(Script("script", edits))]);
        let request = Request { chain: Some(chain), ..Request::to_budget(tokens - 120) };
        let (report, _) = compact(&engine(), &mut session, &request);
        let quality = report.quality.unwrap();
        assert_eq!(figures(&quality.typed), expect, "{}", super::support::shown(&session));
        assert_eq!(quality.typed.lost, lost);
        assert_eq!(quality.typed.lost_now, quality.typed.held - quality.typed.kept);
    };
    let drop = |units: &[u32]| Edit::Drop { units: units.to_vec(), reason: reason() };
    let into = |units: &[u32], text: &str| Edit::Summarize {
        units: units.to_vec(),
        summary: SummaryText::Ready(text.to_owned()),
        reason: reason(),
    };
    let thrice = "
user: the task of the whole session
user: go on
assistant: many words … x150
user: go on
assistant: I go on. Yes, 1 of them.
user: go on
user: newest
";
    // What the model says is nobody's answer; a user's record of a transcript is.
    check(thrice, vec![drop(&[1, 2, 3])], "3/5 0.6", &["go on"]);
    check(thrice, vec![into(&[1, 2, 3], "« go on\n» many words")], "4/5 0.8", &["go on"]);
    check(thrice, vec![into(&[1, 2, 3], "« go on\n» many words\n« go on")], "5/5 1", &[]);
    let short = "
user: the task of the whole session
assistant: many words … x150
user: yes
assistant: yes, number 1 it is
user: 1
user: newest
";
    check(short, vec![drop(&[1, 2, 4])], "2/4 0.5", &["1", "yes"]);
    // Longer words are known wherever they stand, and count once there.
    let long = "
user: the task of the whole session
assistant: many words … x150
user: run all the tests
user: run all the tests
assistant: I run all the tests and run all the tests
user: newest
";
    check(long, vec![drop(&[1, 2, 3])], "3/4 0.75", &["run all the tests"]);
}
