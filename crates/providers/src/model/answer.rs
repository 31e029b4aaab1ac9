//! Reads a model's answer: removes text around the summary, and splits the rest into sections.

use epitome_strategy::Language;
use epitome_wire::without_thoughts;
use serde_json::Value;

use super::fence::is_mark;
use super::wording::{JSON_HEADINGS, says_nothing};

/// A summary as sections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Body {
    pub sections: Vec<AnswerSection>,
    /// The expected sections that the answer had, those with nothing in them included.
    pub present: Vec<String>,
}

/// A section, or the text in front of the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerSection {
    /// The heading, without marks; `None` for text without one.
    pub heading: Option<String>,
    /// The lines.
    pub lines: Vec<String>,
}

/// Tags in which models wrap their answer.
const TAGS: [&str; 2] = ["summary", "answer"];

/// An answer without what the model thought aloud, without a fence or a tag around it. Linear.
pub(super) fn unwrap_fence(text: &str) -> String {
    let mut text = without_thoughts(text).to_owned();
    for tag in TAGS {
        if let Some(inside) = text.strip_prefix(&format!("<{tag}>")) {
            text = inside.split(&format!("</{tag}>")).next().unwrap_or_default().trim().to_owned();
        }
    }
    if let Some(inside) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
        // Only a fence around the whole: its first line names a language or nothing.
        let (language, inside) = inside.split_once('\n').unwrap_or(("", inside));
        if language.trim().len() <= 10 && !inside.contains("\n```") {
            text = inside.trim().to_owned();
        }
    }
    text
}

impl Body {
    /// The sections of a text, where `headings` are expected; headings are recognised however they are marked. Text in
    /// front of the first expected heading is left out when there is one. Linear.
    pub(super) fn read(text: &str, headings: &[String]) -> Self {
        let mut body = Self::default();
        let mut lines: Vec<String> = Vec::new();
        let mut heading: Option<String> = None;
        for line in text.lines() {
            if is_mark(line) {
                continue;
            }
            match heading_of(line, headings) {
                Some(found) => {
                    if heading.is_some() || body.present.is_empty() && !headings.contains(&found) {
                        body.add(heading.take(), std::mem::take(&mut lines));
                    }
                    lines.clear();
                    if headings.contains(&found) && !body.present.contains(&found) {
                        body.present.push(found.clone());
                    }
                    heading = Some(found);
                }
                None => lines.push(line.trim_end().to_owned()),
            }
        }
        body.add(heading, lines);
        body
    }

    /// The sections of an answer in the JSON form; `None` where the text does not have this form.
    pub(super) fn read_json(text: &str, language: Language) -> Option<Self> {
        let (start, end) = (text.find('{')?, text.rfind('}')?);
        let json: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
        let mut body = Self::default();
        for ([english, chinese], key) in JSON_HEADINGS.into_iter().zip(["topic", "entities", "actions", "open"]) {
            let lines: Vec<String> = match json.get(key) {
                Some(Value::String(text)) => vec![text.clone()],
                Some(Value::Array(items)) => items.iter().map(item).collect(),
                _ => continue,
            };
            let heading = language.pick(english, chinese).to_owned();
            body.present.push(heading.clone());
            let single = |line: String| line.split_whitespace().collect::<Vec<_>>().join(" ");
            body.add(Some(heading), lines.into_iter().map(|line| format!("- {}", single(line))).collect());
        }
        (!body.present.is_empty()).then_some(body)
    }

    fn add(&mut self, heading: Option<String>, mut lines: Vec<String>) {
        lines.retain(|line| !says_nothing(line));
        if lines.is_empty() {
            return;
        }
        match self.sections.iter_mut().find(|section| section.heading == heading) {
            Some(section) => section.lines.extend(lines),
            None => self.sections.push(AnswerSection { heading, lines }),
        }
    }

    /// The text: headings with two marks, an empty line between sections.
    pub(super) fn write(&self) -> String {
        let texts: Vec<String> = self.sections.iter().map(AnswerSection::write).collect();
        texts.join("\n\n")
    }
}

impl AnswerSection {
    /// The section's heading and lines as text.
    pub(super) fn write(&self) -> String {
        let lines = self.lines.join("\n");
        match &self.heading {
            Some(heading) => format!("## {heading}\n{lines}"),
            None => lines,
        }
    }
}

/// An item of a list as one line: a string as it is, an object as its values.
fn item(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields.values().map(item).collect::<Vec<_>>().join(": "),
        other => other.to_string(),
    }
}

/// The heading that a line is: one of `headings` however it is marked, or any other behind `##`.
fn heading_of(line: &str, headings: &[String]) -> Option<String> {
    let trimmed = line.trim();
    if trimmed.is_empty() || trimmed.len() > 120 || trimmed.starts_with("- ") {
        return None;
    }
    let bare = trimmed
        .trim_start_matches(|char: char| matches!(char, '#' | '*' | ' ' | '.' | ')') || char.is_ascii_digit())
        .trim_end_matches([':', '：', '*', '#', ' ']);
    let is_marked = bare.len() < trimmed.len();
    let same = |heading: &&String| heading.to_lowercase() == bare.to_lowercase();
    match headings.iter().find(same) {
        Some(heading) if is_marked || trimmed == bare => Some(heading.clone()),
        _ => trimmed.strip_prefix("## ").map(|heading| heading.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn headings() -> Vec<String> {
        ["Goal", "Open", "Done"].map(str::to_owned).to_vec()
    }

    #[test]
    fn sections_however_they_are_marked() {
        let check = |text: &str, expect: &str, present: &[&str]| {
            let body = Body::read(&unwrap_fence(text), &headings());
            assert_eq!(
                (body.write().as_str(), body.present.iter().map(String::as_str).collect::<Vec<_>>()),
                (expect, present.to_vec())
            );
        };
        let plain = "## Goal\n- a\n\n## Open\n- b";
        check(plain, plain, &["Goal", "Open"]);
        check("# goal:\n- a\n\n**Open**\n- b", plain, &["Goal", "Open"]);
        check("1. Goal\n- a\n### Open:\n- b\n## Done\n- none", plain, &["Goal", "Open", "Done"]);
        check("Here is the summary:\n\n## Goal\n- a\n## Open\n- b", plain, &["Goal", "Open"]);
        check("```markdown\n## Goal\n- a\n## Open\n- b\n```", plain, &["Goal", "Open"]);
        check("<think>## Goal\nhm</think>\n## Goal\n- a\n## Open\n- b", plain, &["Goal", "Open"]);
        check("so what…\n</think>\n## Goal\n- a\n## Open\n- b", plain, &["Goal", "Open"]);
        check("<analysis>hm</analysis><summary>\n## Goal\n- a\n## Open\n- b\n</summary>", plain, &["Goal", "Open"]);
        // An answer that speaks of such marks.
        for mark in ["</analysis>", "</think>", "</reasoning>"] {
            let text = format!("## Goal\n- the parser ends at `{mark}`\n\n## Open\n- b");
            check(&text, &text, &["Goal", "Open"]);
        }
        check("<summary>\n## Goal\n- a\n## Open\n- b\n</summary>", plain, &["Goal", "Open"]);
        check("## Goal\n- a\n## Open\n- b\n</messages-0a1b2c3d>", plain, &["Goal", "Open"]);
        check("## Goal\n- a\n## Mood\n- fine\n## Goal\n- c", "## Goal\n- a\n- c\n\n## Mood\n- fine", &["Goal"]);
        check("just words", "just words", &[]);
        check("<think>never ends", "", &[]);
    }

    #[test]
    fn json_answers() {
        let check = |text: &str, expect: Option<&str>| {
            let body = Body::read_json(&unwrap_fence(text), Language::English).map(|body| body.write());
            assert_eq!(body.as_deref(), expect, "{text}");
        };
        let expect = Some("## Topic\n- t\n\n## Entities\n- a.rs: the lexer\n\n## Actions\n- did");
        check(r#"{"topic":"t","entities":[{"name":"a.rs","what":"the lexer"}],"actions":["did"],"open":[]}"#, expect);
        check(
            "Sure!\n```json\n{\"topic\":\"t\",\"entities\":[\"a.rs: the lexer\"],\"actions\":[\"did\"]}\n```",
            expect,
        );
        check("{\"tool\":1}", None);
        check("no", None);
    }
}
