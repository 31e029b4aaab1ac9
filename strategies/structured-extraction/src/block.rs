//! The block's text.

use std::fmt::Write as _;

use epitome_strategy::{Language, Tokens, View};

use crate::choose::Choice;
use crate::section::{Section, worded};
use crate::snippets::{Kind, Snippet};

/// Returns the text of a choice, of at most `budget` tokens; empty when there is nothing to say.
pub(crate) fn write(view: &View<'_>, choice: &Choice<'_>, language: Language, budget: Tokens) -> String {
    let mut by_rank: Vec<Tokens> = vec![0; choice.chosen.len()];
    for (snippet, rank) in &choice.chosen {
        by_rank[*rank] = snippet.tokens;
    }
    let mut lines = choice.chosen.len();
    // Lines are counted one by one and chosen for a little more than the budget: those of least worth leave again.
    loop {
        let text = text(view, choice, language, lines);
        let tokens = view.count(&text);
        if tokens <= budget {
            return text;
        }
        if lines == 0 {
            return String::new();
        }
        let mut over = tokens - budget;
        while lines > 0 && over > 0 {
            lines -= 1;
            over = over.saturating_sub(by_rank[lines]);
        }
    }
}

/// Returns the text with the `lines` snippets that rank highest.
fn text(view: &View<'_>, choice: &Choice<'_>, language: Language, lines: usize) -> String {
    let chosen: Vec<&Snippet<'_>> =
        choice.chosen.iter().filter(|(_, rank)| *rank < lines).map(|(snippet, _)| snippet).collect();
    let of_section = |section: Section| match section {
        Section::Requests | Section::Decisions | Section::Questions => {
            chosen.iter().filter(|it| it.section() == section).map(|it| format!("- {}\n", it.text)).collect()
        }
        Section::Tasks => choice.tasks.join("\n"),
        Section::Files => choice.files.write(language),
        Section::Details => details(view, &chosen, language),
    };
    let mut text = String::new();
    for section in Section::ALL {
        let lines: String = of_section(section);
        if !lines.is_empty() {
            let _ = write!(text, "{}\n{}\n", section.heading(language), lines.trim_end());
        }
    }
    text
}

/// Returns the exact lines, each group behind its speaker or the tool that printed it.
fn details(view: &View<'_>, chosen: &[&Snippet<'_>], language: Language) -> String {
    let mut details = String::new();
    let mut group: Option<(usize, Option<u32>)> = None;
    for snippet in chosen.iter().filter(|it| it.section() == Section::Details) {
        let same = group.is_some_and(|(message, call)| match call {
            Some(_) => call == snippet.from.call,
            None => message == snippet.from.message && snippet.from.call.is_none(),
        });
        if !same {
            let call = snippet.from.call.map(|call| view.facts().calls()[call as usize].name);
            let who = call.unwrap_or(match snippet.from.kind {
                Kind::Typed => worded(language, "user", "用户"),
                Kind::Model => worded(language, "assistant", "助手"),
                Kind::Call | Kind::Written | Kind::Output => worded(language, "seen", "所见"),
            });
            // Arguments are beside the tool's name, outputs below it.
            let _ = write!(details, "[{who}]{}", if snippet.from.kind == Kind::Call { ' ' } else { '\n' });
        }
        group = Some((snippet.from.message, snippet.from.call));
        details.push_str(&snippet.text);
        details.push('\n');
    }
    details
}
