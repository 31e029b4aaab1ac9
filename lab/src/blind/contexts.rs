//! The contexts of a blind reading: every method at every budget, shuffled.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use epitome_eval::probes::{Probe, ProbeKind, ProbedCase, context_text, folders, messages_of, recall};
use epitome_eval::{CaseId, EvalError, HANDOFF, Plan};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question about a context, with the parts that only graders may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlindQuestion {
    /// The probe's name.
    pub id: String,
    /// Its kind.
    pub kind: ProbeKind,
    /// The question.
    pub question: String,
    /// The right answer.
    pub answer: String,
    /// Whether its facts are in the context.
    pub shown: bool,
}

/// A method's result for a session at a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlindContext {
    /// Its number, from 1: the only thing about its method that readers see.
    pub number: u32,
    /// The session.
    pub case: CaseId,
    /// The repository that it worked in.
    pub repository: Option<String>,
    /// The method.
    pub method: String,
    /// The budget.
    pub budget: String,
    /// The text, as an agent reads it; empty where there is no result within the budget. Not in the key.
    #[serde(skip)]
    pub text: String,
    /// Whether there is no text.
    pub is_empty: bool,
    /// The questions.
    pub questions: Vec<BlindQuestion>,
}

/// Returns the contexts of every probed session of `plan`, its hand-off summary alone among them, in an order by the
/// plan's seed. Linear in the sessions for each method and budget.
pub fn contexts(plan: &Plan) -> Result<Vec<BlindContext>, EvalError> {
    let files = folders(&plan.paths)?;
    let of_files: Vec<Result<Vec<BlindContext>, EvalError>> =
        files.par_iter().map(|file| of_case(&ProbedCase::read(file)?, plan)).collect();
    let mut all = Vec::new();
    for found in of_files {
        all.extend(found?);
    }
    let key = |it: &BlindContext| format!("{}\0{}\0{}\0{}", it.case.file, it.case.session, it.method, it.budget);
    all.sort_by_cached_key(|context| (shuffled(plan.seed, &key(context)), key(context)));
    for (number, context) in (1..).zip(&mut all) {
        context.number = number;
    }
    Ok(all)
}

fn of_case(probed: &ProbedCase, plan: &Plan) -> Result<Vec<BlindContext>, EvalError> {
    let (case, probes) = (&probed.case, &probed.folder.set.probes);
    let tools = case.prefix.tools.as_deref();
    let context = |method: &str, budget: &str, texts: Option<(String, String)>| {
        let is_empty = texts.is_none();
        let (text, sought) = texts.unwrap_or_default();
        let shown = recall(probes, &sought);
        let question = |(probe, shown): (&Probe, bool)| BlindQuestion {
            id: probe.id.clone(),
            kind: probe.kind,
            question: probe.question.clone(),
            answer: probe.answer.clone(),
            shown,
        };
        BlindContext {
            number: 0,
            case: case.id.clone(),
            repository: case.repository.clone(),
            method: method.to_owned(),
            budget: budget.to_owned(),
            text,
            is_empty,
            questions: probes.iter().zip(shown).map(question).collect(),
        }
    };
    let mut found = Vec::new();
    for budget in &plan.budgets {
        let (name, tokens) = (budget.to_string(), probed.budget(*budget));
        if let Some(handoff) = &probed.folder.handoff {
            found.push(context(HANDOFF, &name, Some((handoff.clone(), handoff.clone()))));
        }
        for method in &plan.methods {
            let outcome = method.compact(case, tokens);
            let shows = |entries: &[epitome::session::Entry]| {
                let scores = case.score(entries, tokens);
                (!scores.over_budget && scores.violation.is_none()).then(|| messages_of(entries, tools).ok()).flatten()
            };
            let messages = outcome.entries.as_deref().and_then(shows);
            let texts = messages.map(|messages| (read_text(&messages), context_text(&messages)));
            found.push(context(method.name(), &name, texts));
        }
    }
    Ok(found)
}

/// The place of a context in an order by `seed`.
fn shuffled(seed: u64, key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, key).hash(&mut hasher);
    hasher.finish()
}

/// Returns messages in the form of OpenAI chat as an agent reads them: role, text, and calls with their arguments
/// unchanged. Linear.
fn read_text(messages: &[Value]) -> String {
    let text = |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or("").to_owned();
    let mut lines: Vec<String> = Vec::new();
    for message in messages {
        lines.push(format!("=== {}", text(message, "/role")));
        match message.get("content") {
            Some(Value::Array(parts)) => lines.extend(parts.iter().map(|part| text(part, "/text"))),
            _ => lines.extend(Some(text(message, "/content")).filter(|text| !text.is_empty())),
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            lines.push(format!("--> {} {}", text(call, "/function/name"), text(call, "/function/arguments")));
        }
    }
    lines.join("\n")
}
