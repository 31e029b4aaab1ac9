//! Reads a model's answer: removes what stands around the summary.

use epitome_strategy::Language;
use epitome_wire::without_thoughts;
use serde_json::Value;

use super::fence::is_mark;
use super::wording::JSON_HEADINGS;

/// Tags in which models wrap their answer.
const TAGS: [&str; 2] = ["summary", "answer"];

/// An answer without what the model thought aloud, without a fence or a tag around it, and without marks of the prompt
/// that it repeats. Linear.
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
            text = inside.to_owned();
        }
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !is_mark(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// The text of an answer in the JSON form: a section for each of its keys. `None` where the text does not have this form.
pub(super) fn text_of_json(text: &str, language: Language) -> Option<String> {
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    let json: Value = serde_json::from_str(text.get(start..=end)?).ok()?;
    let mut sections = Vec::new();
    for ([english, chinese], key) in JSON_HEADINGS.into_iter().zip(["topic", "entities", "actions", "open"]) {
        let lines: Vec<String> = match json.get(key) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => items.iter().map(item).collect(),
            _ => continue,
        };
        let single = |line: String| format!("- {}", line.split_whitespace().collect::<Vec<_>>().join(" "));
        let lines: Vec<String> = lines.into_iter().map(single).collect();
        if !lines.is_empty() {
            sections.push(format!("## {}\n{}", language.pick(english, chinese), lines.join("\n")));
        }
    }
    (!sections.is_empty()).then(|| sections.join("\n\n"))
}

/// An item of a list as one line: a string as it is, an object as its values.
fn item(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields.values().map(item).collect::<Vec<_>>().join(": "),
        other => other.to_string(),
    }
}

/// The name of the section that a line begins; `None` for a line that is no heading of Markdown.
pub(super) fn heading_name(line: &str) -> Option<&str> {
    let name = line.trim_start_matches('#');
    (name.len() < line.len() && name.starts_with(' ')).then(|| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_an_answer() {
        let plain = "## Goal\n- a\n\n## Open\n- b";
        let check = |text: &str, expect: &str| assert_eq!(unwrap_fence(text), expect, "{text}");
        check(plain, plain);
        check(&format!("```markdown\n{plain}\n```"), plain);
        check(&format!("<think>## Goal\nhm</think>\n{plain}"), plain);
        check(&format!("so what…\n</think>\n{plain}"), plain);
        check(&format!("<analysis>hm</analysis><summary>\n{plain}\n</summary>"), plain);
        check(&format!("<summary>\n{plain}\n</summary>"), plain);
        check(&format!("{plain}\n</messages-0a1b2c3d>"), plain);
        check("<think>never ends", "");
        // An answer that speaks of such marks.
        for mark in ["</analysis>", "</think>", "</reasoning>"] {
            let text = format!("## Goal\n- the parser ends at `{mark}`\n\n## Open\n- b");
            check(&text, &text);
        }
    }

    #[test]
    fn names_of_sections() {
        let check = |line: &str, expect: Option<&str>| assert_eq!(heading_name(line), expect, "{line}");
        check("## Goal\n", Some("Goal"));
        check("#### Where it stands", Some("Where it stands"));
        check("#hash and #5", None);
        check(" # a comment", None);
        check("- Goal", None);
    }

    #[test]
    fn json_answers() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(text_of_json(&unwrap_fence(text), Language::English).as_deref(), expect, "{text}");
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
