#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

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
    // a label is no part of what it stands in front of
    let labelled = "What has bothered me the most up to now is this: check the calendar before you offer a date.";
    check(labelled, &[labelled]);
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
