//! Hostile sessions and hostile answers: no panic, no result beyond its budget, the same text twice.

use std::sync::Arc;

use epitome_harness::hostile::{self, Dice};
use epitome_providers::chat::{ChatErrorKind, Stop};
use epitome_providers::model::{ModelSettings, SummaryForm};
use epitome_strategy::Language;

use super::scripted::{Answer, Case, GOOD, Scripted, error, good, said, with};

#[test]
fn hostile_answers_are_cut_to_size() {
    let answers: [fn() -> String; 6] = [
        || "word ".repeat(400_000),
        || "x".repeat(2_000_000),
        || format!("{GOOD}\n{}", "- a line\n".repeat(200_000)),
        || format!("## Goal\n{}\n## Next step\n{}", "字".repeat(300_000), "y".repeat(600_000)),
        || "## Goal\n## Next step\n".repeat(100_000),
        || {
            format!(
                "{GOOD}\n{}",
                (0..20_000).map(|number| format!("## Section {number}\n- {number}\n")).collect::<String>()
            )
        },
    ];
    for answer in answers {
        let answer: &'static str = Box::leak(answer().into_boxed_str());
        for max_tokens in [1, 40, 200, 2_000] {
            let model = Scripted::new(100_000, move |_, _| said(answer, Stop::End));
            // Good or not, it fits: `ask` checks it.
            let _ = Case::new(&"user: word … x4000\n".repeat(3)).max_tokens(max_tokens).ask(&model);
            assert!(model.requests().len() <= 2);
        }
    }
}

#[test]
fn hostile_sessions() {
    for seed in 0..150 {
        let mut dice = Dice::new(seed);
        let session = hostile::session(seed, 40);
        let mut messages: Vec<_> = session.view().iter().map(|entry| Arc::clone(&entry.message)).collect();
        if dice.once_in(3) {
            let summary = hostile::text(&mut dice, 60);
            let message = epitome_strategy::Message::text(
                "s",
                epitome_strategy::Role::User,
                epitome_strategy::Origin::Summary,
                summary,
            );
            messages.insert(dice.below(messages.len() + 1), Arc::new(message));
        }
        let mut case = Case::with_messages(messages).max_tokens(dice.pick(&[1, 50, 170, 400, 2_000]));
        case.language = dice.pick(&[Language::English, Language::Chinese]);
        case.request.focus = dice.once_in(2).then(|| hostile::text(&mut dice, 10));
        let window = dice.pick(&[0, 100, 2_500, 6_000, 100_000]);
        let form = dice.pick(&[SummaryForm::Sections, SummaryForm::Json]);
        let run = || {
            let model = Scripted::new(window, move |request, number| {
                whatever(&mut Dice::new(seed ^ request.user.len() as u64), number)
            });
            let written =
                case.write(&with(&model, ModelSettings { form, part_tokens: 3_000, ..ModelSettings::default() }));
            (written, model.requests())
        };
        assert_eq!(run(), run(), "seed {seed}: the same answers give the same summary");
    }
}

fn whatever(dice: &mut Dice, number: usize) -> Answer {
    let stop = dice.pick(&[Stop::End, Stop::End, Stop::End, Stop::Length, Stop::ToolCall, Stop::Refused]);
    match dice.below(8) {
        0 => error(dice.pick(&[ChatErrorKind::TooLong, ChatErrorKind::Transient, ChatErrorKind::Rejected])),
        1 | 2 => said(&hostile::text(dice, 200), stop),
        3 => said(&format!("{GOOD}\n{}", hostile::text(dice, 400)), stop),
        4 => said(&format!("{{\"topic\":\"t {number}\",\"entities\":[],\"actions\":[[1]]}}"), stop),
        _ => good(),
    }
}
