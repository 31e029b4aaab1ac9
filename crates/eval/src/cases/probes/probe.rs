//! Probes, and reading `probes.json` with errors that say what to do.

use epitome::strategy::{UnknownName, named};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EvalError;

/// The kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProbeKind {
    /// A name, a number, an id: exact to the letter.
    Exact,
    /// The state of something: a build, a branch, a plan.
    State,
    /// A reason or a conclusion.
    Why,
    /// A demand of a person, or a fact from one.
    User,
    /// The content of a document or of code that was read.
    Content,
}

named! { ProbeKind { Exact = "exact", State = "state", Why = "why", User = "user", Content = "content" } }

/// A question that the continuation needed answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Its name in its file.
    pub id: String,
    /// Its kind.
    pub kind: ProbeKind,
    /// The question.
    pub question: String,
    /// The right answer.
    pub answer: String,
    /// Groups of wordings: a context can answer where it has one of each group, all near each other.
    pub facts: Vec<Vec<String>>,
}

/// The probes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeSet {
    /// The repository that the session worked in, where the file says it.
    pub repository: Option<String>,
    /// The probes in their order.
    pub probes: Vec<Probe>,
}

impl ProbeSet {
    /// Reads `text`: a list of probes, or an object with the list under `probes` and the repository under `repo`. The
    /// error names `file`, the probe, and what to do. Linear.
    pub fn parse(text: &str, file: &str) -> Result<Self, EvalError> {
        let wrong = |problem: String| EvalError::Probes { file: file.to_owned(), problem };
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(format!("is no JSON: {error}")))?;
        let (repository, list) = match &value {
            Value::Array(list) => (None, list),
            Value::Object(fields) => {
                let repository = match fields.get("repo") {
                    None => None,
                    Some(Value::String(name)) if !name.trim().is_empty() => Some(name.clone()),
                    Some(_) => return Err(wrong("`repo` is not a name: write the repository as a text".to_owned())),
                };
                match fields.get("probes") {
                    Some(Value::Array(list)) => (repository, list),
                    _ => return Err(wrong("has no list `probes`: put the probes into one".to_owned())),
                }
            }
            _ => return Err(wrong("is neither a list of probes nor an object with `probes`".to_owned())),
        };
        if list.is_empty() {
            return Err(wrong("has no probe: write at least one".to_owned()));
        }
        let mut probes: Vec<Probe> = Vec::new();
        for (number, value) in list.iter().enumerate() {
            let probe = parse_probe(value).map_err(|problem| wrong(format!("{}: {problem}", named(number, value))))?;
            if probes.iter().any(|other| other.id == probe.id) {
                return Err(wrong(format!(
                    "{}: `id` is another probe's: give it one of its own",
                    named(number, value)
                )));
            }
            probes.push(probe);
        }
        Ok(Self { repository, probes })
    }
}

/// Returns the name of a probe in errors: its place, counted from 1, and its id where it has one.
fn named(number: usize, value: &Value) -> String {
    let id = value.get("id").and_then(Value::as_str).map_or_else(String::new, |id| format!(" (`{id}`)"));
    format!("probe {}{id}", number + 1)
}

fn parse_probe(value: &Value) -> Result<Probe, String> {
    let text = |key: &str| match value.get(key) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(_) => Err(format!("`{key}` is not text: write it as one")),
        None => Err(format!("`{key}` is missing: add it")),
    };
    let kind = text("kind")?;
    let kind = kind.parse::<ProbeKind>().map_err(|error: UnknownName| format!("`kind`: {error}"))?;
    let shape = "`facts` is not a list of groups: write [[\"a wording\", \"another\"], [\"a second fact\"]]";
    let groups = match value.get("facts") {
        Some(Value::Array(groups)) if !groups.is_empty() => groups,
        Some(_) => return Err(shape.to_owned()),
        None => return Err("`facts` is missing: add the strings that an answer holds".to_owned()),
    };
    let group = |(number, group): (usize, &Value)| -> Result<Vec<String>, String> {
        let wordings = group.as_array().filter(|wordings| !wordings.is_empty()).ok_or(shape)?;
        let wording = |wording: &Value| match wording.as_str() {
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => Err(format!("group {} of `facts` holds a wording that is not text: write it as one", number + 1)),
        };
        wordings.iter().map(wording).collect()
    };
    Ok(Probe {
        id: text("id")?,
        kind,
        question: text("question")?,
        answer: text("answer")?,
        facts: groups.iter().enumerate().map(group).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const GOOD: &str =
        r#"{"id":"q1","kind":"why","question":"Why two?","answer":"One fails.","facts":[["two","2"],["fails"]]}"#;

    #[test]
    fn lists_and_objects() {
        let list = ProbeSet::parse(&format!("[{GOOD}]"), "f").unwrap();
        assert_eq!((list.repository, list.probes.len()), (None, 1));
        assert_eq!(list.probes[0].facts, [vec!["two", "2"], vec!["fails"]]);
        let object = ProbeSet::parse(&format!(r#"{{"repo":"ledger","probes":[{GOOD}]}}"#), "f").unwrap();
        assert_eq!((object.repository.as_deref(), object.probes), (Some("ledger"), list.probes));
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        fn check(text: &str, expect: &str) {
            let error = ProbeSet::parse(text, "a/probes.json").unwrap_err().to_string();
            assert_eq!(error, format!("a/probes.json: {expect}"));
        }
        let without = |from: &str, to: &str| format!("[{}]", GOOD.replace(from, to));
        check("{}", "has no list `probes`: put the probes into one");
        check("7", "is neither a list of probes nor an object with `probes`");
        check("[]", "has no probe: write at least one");
        check(
            &without("\"why\"", "\"reason\""),
            "probe 1 (`q1`): `kind`: `reason` is not one of exact, state, why, user, content",
        );
        check(&without("\"question\":\"Why two?\",", ""), "probe 1 (`q1`): `question` is missing: add it");
        check(&without("\"One fails.\"", "3"), "probe 1 (`q1`): `answer` is not text: write it as one");
        check(
            &without("[\"fails\"]", "\"fails\""),
            "probe 1 (`q1`): `facts` is not a list of groups: write [[\"a wording\", \"another\"], [\"a second fact\"]]",
        );
        check(
            &without("\"fails\"", "\" \""),
            "probe 1 (`q1`): group 2 of `facts` holds a wording that is not text: write it as one",
        );
        check(&without("\"id\":\"q1\",", ""), "probe 1: `id` is missing: add it");
        check(&format!("[{GOOD},{GOOD}]"), "probe 2 (`q1`): `id` is another probe's: give it one of its own");
        let broken = ProbeSet::parse("[", "f").unwrap_err().to_string();
        assert!(broken.starts_with("f: is no JSON: "), "{broken}");
    }
}
