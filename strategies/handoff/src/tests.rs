use super::*;
use epitome_testkit::PlanCase;

/// A task and `steps` calls with results of about 150 tokens each.
fn agent(steps: usize) -> String {
    let mut text = String::from("system: S\nuser: fix it\n");
    for step in 1..=steps {
        text.push_str(&format!("call Bash c{step} {{}}\nresult c{step}: line {step} … x140\n"));
    }
    text
}

#[track_caller]
fn check(fixture: &str, settings: &str, target: Tokens, expect: &str) {
    PlanCase::new::<Handoff>(fixture, settings).target(target).expect(expect);
}

/// The first and the last unit that the hand-off covers.
fn told(fixture: &str) -> (u32, u32) {
    let planned = PlanCase::new::<Handoff>(fixture, "").target(4000).run();
    let about = planned.plan.edits.iter().find_map(|edit| match edit {
        Edit::Summarize { summary: SummaryText::Request(request), .. } => Some(&request.about),
        _ => None,
    });
    about.map_or((0, 0), |about| (about[0], about[about.len() - 1]))
}

#[test]
fn it_replaces_the_steps_in_front_of_the_newest() {
    check(&agent(60), "", 4000, "summarize u51..u59 in 1848 tokens (handoff)");
    let short = PlanCase::new::<Handoff>(&agent(60), "").max_summary_tokens(400).target(4000);
    short.expect("summarize u58..u59 in 400 tokens (handoff)");
    check(&agent(60), "tail_share=0.5", 4000, "summarize u46..u54 in 1848 tokens (handoff)");
    assert_eq!(told(&agent(60)), (1, 59), "of all but the system prompt");
}

#[test]
fn what_is_too_little() {
    let little = "declined: what may leave is 62 tokens, too little for a hand-off to be shorter";
    check("system: S\nuser: fix it\ncall Bash a {}\nresult a: x … x100\nassistant: done\n", "", 20, little);
    check("system: S\nuser: fix it\n", "", 1, "declined: nothing in front of the newest messages may leave");
}

#[test]
fn an_earlier_one_is_brought_up_to_date() {
    let handoff = "user(summary):\n  ## Goal\n  - fix it\n  ## Next step\n  - go on\n";
    let digest = "user(summary):\n  Earlier steps, shortened. » assistant.\n  » I looked.\n";
    let between = agent(20);
    let more = &agent(40)["system: S\nuser: fix it\n".len()..];
    let later = format!("{between}{handoff}{more}");
    check(&later, "", 4000, "summarize u52..u60 in 1848 tokens (handoff)");
    assert_eq!(told(&later), (22, 60), "what stands in front of the earlier one is known to it");
    // A transcript is not a written summary.
    let later = format!("{between}{digest}{more}");
    check(&later, "", 4000, "summarize u52..u60 in 1848 tokens (handoff)");
    assert_eq!(told(&later), (1, 60));
    check(&format!("{between}{handoff}{more}{handoff}assistant: done\n"), "", 4000, "drop u22 (updated)");
    check(&format!("{between}{handoff}assistant: done\n"), "", 4000, "declined: the newest hand-off is up to date");
    // Rules write theirs as lines under headings.
    let block = "user(summary):\n  ## Exact lines, oldest first\n  « fix it\n  ▸ Bash\n";
    check(&format!("{between}{block}assistant: done\n"), "", 4000, "declined: the newest hand-off is up to date");
}
