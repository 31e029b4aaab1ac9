#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use epitome_session::{Origin, Role};

use super::*;
use crate::lexicon::{Cue, Lexicon};

/// Cases, one a line: the message, and in it between angle brackets what has to be kept.
fn cases(file: &str) -> impl Iterator<Item = (String, Vec<String>)> {
    file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).map(|line| {
        let kept = line.split('«').skip(1).map(|part| part.split('»').next().unwrap().to_owned()).collect();
        (line.replace(['«', '»'], ""), kept)
    })
}

/// The share of the cases that are told apart: what has to be kept is covered, and nothing is taken of what has nothing.
fn told_apart(file: &str) -> (f64, f64, Vec<String>) {
    let lexicon = Lexicon::standard();
    let (mut held, mut kept, mut idle, mut quiet) = (0, 0, 0, 0);
    let mut missed = Vec::new();
    for (text, wanted) in cases(file) {
        let found: Vec<&str> = demands(&lexicon, &text).into_iter().map(|demand| &text[demand.range]).collect();
        let is_right = match wanted.is_empty() {
            true => found.is_empty(),
            false => wanted.iter().all(|wanted| found.iter().any(|found| found.contains(wanted.as_str()))),
        };
        let (all, right) = if wanted.is_empty() { (&mut idle, &mut quiet) } else { (&mut held, &mut kept) };
        *all += 1;
        *right += usize::from(is_right);
        if !is_right {
            missed.push(format!("{text} → {found:?}"));
        }
    }
    let share = |part: usize, of: i32| if of == 0 { 1.0 } else { part as f64 / f64::from(of) };
    (share(kept, held), share(quiet, idle), missed)
}

#[test]
fn what_was_typed_in_a_message() {
    let check = |origin: Origin, text: &str, expect: &[&str]| {
        let message = Message::text("", Role::User, origin, text);
        let typed: Vec<&str> = typed_ranges(&message, 0).into_iter().map(|range| &text[range]).collect();
        assert_eq!(typed, expect, "{text}");
        let texts: Vec<&str> =
            typed_texts(&message).flat_map(|(_, text, ranges)| ranges.into_iter().map(|range| &text[range])).collect();
        assert_eq!(texts, expect, "{text}");
        assert!(typed_ranges(&message, 1).is_empty());
    };
    check(Origin::Typed, "go on\n<system-reminder>be brief</system-reminder>", &["go on"]);
    check(Origin::Injected, "go on", &[]);
    check(Origin::Typed, "", &[]);
}

#[test]
fn what_is_said_through_a_tool() {
    let check = |tool: &str, text: &str, expect: &str| {
        let found = spoken_through_tool(tool, text).map(|range| &text[range]);
        assert_eq!(found.unwrap_or_default(), expect, "{tool}: {text}");
    };
    // refusals and their reasons
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file \
                   edit, the new_string was NOT written to the file).";
    check("Edit", refused, "");
    check("Edit", &format!("{refused} STOP what you are doing and wait for the user to tell you how to proceed."), "");
    check(
        "Edit",
        &format!("{refused} To tell you how to proceed, the user said:\nuse the old name"),
        "use the old name",
    );
    let noted = "use the old name\n\nNote: The user's next message may contain a correction or preference.";
    check("Bash", &format!("{refused} To tell you how to proceed, the user said:\n{noted}"), "use the old name");
    let asked = "The user wants to clarify these questions.\n  Start by asking them";
    check("AskUserQuestion", &format!("{refused} To tell you how to proceed, the user said:\n{asked}"), "");
    let denied =
        "The user denied this operation and provided the following feedback:\n<feedback>\nnot there\n</feedback>";
    check("write_to_file", denied, "not there");
    check("run_shell_command", "[Operation Cancelled] Reason: User denied execution.", "");
    check("exit_plan_mode", "Plan rejected. User feedback: smaller steps", "smaller steps");
    check("bash", "The user rejected permission to use this specific tool call with the following feedback: no", "no");
    check("bash", "The user rejected permission to use this specific tool call.", "");
    // answers, with their questions
    let answers = "\"Which port?\"=\"8443\", \"TLS?\"=\"yes\"";
    let told =
        format!("User has answered your questions: {answers}. You can now continue with the user's answers in mind.");
    check("AskUserQuestion", &told, answers);
    check("question", &told, answers);
    check("AskUserQuestion", &format!("The user answered: {answers}. Read the answers carefully — they may"), answers);
    check("ask_user", "User selected: the second", "the second");
    check("ask_followup_question", "<answer>\nthe second\n</answer>", "the second");
    check("ask_user", "User responded: 用第二种", "用第二种");
    check("request_user_input", r#"{"answers":{"port":{"answers":["8443"]}}}"#, r#"{"port":{"answers":["8443"]}}"#);
    check("mcp__desk__ask_human", "the second", "the second");
    check("AskUserQuestion", "<tool_use_error>InputValidationError</tool_use_error>", "");
    // people do not speak in a tool's own output
    check("Bash", "src/a.rs: // the user said: no", "");
    check("Read", "1 <feedback>\n2 x\n3 </feedback>", "");
    check("ask_question", "The repository has three parts.", "");
    check("ask_clarification", "Which one do you mean?", "");
    check("Bash", "", "");
}

#[test]
fn demands_in_many_words() {
    let check = |file: &str, least: f64, least_quiet: f64| {
        let (kept, quiet, missed) = told_apart(file);
        assert!(kept >= least && quiet >= least_quiet, "kept {kept:.3}, quiet {quiet:.3}\n{}", missed.join("\n"));
    };
    check(include_str!("fixtures/heldout.txt"), 0.9, 0.9);
    check(include_str!("fixtures/unseen.txt"), 0.9, 0.9);
}

#[test]
fn demands_and_what_they_refer_to() {
    let check = |text: &str, expect: &[&str]| {
        let found: Vec<&str> =
            demands(&Lexicon::standard(), text).into_iter().map(|demand| &text[demand.range]).collect();
        assert_eq!(found, expect, "{text}");
    };
    check("Hello. My budget is $740. Never go over it. Bye now then.", &["My budget is $740. Never go over it."]);
    check("The port is 8443. Do not change that. What else?", &["The port is 8443. Do not change that."]);
    check("The launch is on 12 October. Plan around it.", &["The launch is on 12 October. Plan around it."]);
    check("Look here. Never push to the main branch of ours.", &["Never push to the main branch of ours."]);
    check("总价是八百元。该数字不能超过。好的", &["总价是八百元。该数字不能超过。"]);
    check("Before you push,\nrun the linter. Then we look on.", &["Before you push,\nrun the linter."]);
    check(
        "- never rename a column\n- look around here\n- always ask first",
        &["never rename a column", "always ask first"],
    );
    // what tells, asks or shows demands nothing
    check("It never returns. Why must it fail? I looked at that.", &[]);
    check("```\nyou must not\n```", &[]);
    check(&format!("must {}", "data ".repeat(400)), &[]);
    check("", &[]);
}

#[test]
fn what_asks() {
    let check = |text: &str, expect: bool| assert_eq!(asks(text), expect, "{text}");
    check("Where did I leave it?", true);
    check("what was the name of my dentist", true);
    check("I see. Tell me the address again.", true);
    check("我上次说的是哪家？", true);
    check("你还记得吗", true);
    check("Thanks, that was all.", false);
    check("We went home and slept.", false);
    check("好的，继续。", false);
}

#[test]
fn added_words_demand_too() {
    let more = BTreeMap::from([(Cue::Instruction, vec!["bitte".to_owned(), "^nur".to_owned()])]);
    let lexicon = Lexicon::extended(&more).unwrap();
    let check = |text: &str, expect: usize| assert_eq!(demands(&lexicon, text).len(), expect, "{text}");
    check("Und jetzt bitte alles auf Deutsch.", 1);
    check("Nur Deutsch reden wir jetzt.", 1);
    check("Wir reden nur Deutsch.", 0);
}
