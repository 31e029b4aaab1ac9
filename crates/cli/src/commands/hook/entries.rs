//! The conversation that the agent's rows are of, in the order in which the provider gets it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::agent_message::{AgentMessage, AgentRole, ToolOutput, ToolUse};

/// A part of the conversation, which is written as the agent's own message: a text of the user's side, an answer of the
/// model, or the results of the calls of the answer in front of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConversationEntry {
    /// The numbers of the rows that an answer is of, thinking among them, or of the row that a text is. None for results, and
    /// for a text that is in no row, or in one that has results too.
    #[serde(skip)]
    pub(super) rows: Vec<usize>,
    pub(super) role: AgentRole,
    pub(super) text: String,
    pub(super) tool_uses: Vec<ToolUse>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_results: Vec<ToolOutput>,
}

impl ConversationEntry {
    /// A text of the user's side.
    pub(super) fn of_user(text: String, row: Option<usize>) -> Self {
        let rows = row.into_iter().collect();
        Self { rows, role: AgentRole::User, text, tool_uses: Vec::new(), tool_results: Vec::new() }
    }

    /// An answer of the model.
    pub(super) fn answer(text: String, tool_uses: Vec<ToolUse>, rows: Vec<usize>) -> Self {
        Self { rows, role: AgentRole::Assistant, text, tool_uses, tool_results: Vec::new() }
    }

    /// The results of calls.
    pub(super) fn results(tool_results: Vec<ToolOutput>) -> Self {
        Self { tool_results, ..Self::of_user(String::new(), None) }
    }

    /// Whether it is a text of the user's side.
    pub(super) fn is_said(&self) -> bool {
        self.role == AgentRole::User && self.tool_results.is_empty()
    }

    /// Whether it is an answer of the model.
    pub(super) fn is_answer(&self) -> bool {
        self.role == AgentRole::Assistant
    }

    /// The entry in Anthropic's form.
    pub(super) fn wire(&self) -> Value {
        let is_text = !self.text.is_empty() || self.tool_uses.is_empty() && self.tool_results.is_empty();
        let text = is_text.then(|| json!({"type": "text", "text": self.text}));
        let calls = self
            .tool_uses
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.tool_use_id, "name": call.tool, "input": call.input}));
        let content = text.into_iter().chain(calls).chain(self.tool_results.iter().map(result_block));
        json!({"role": self.role, "content": content.collect::<Vec<_>>()})
    }
}

fn result_block(result: &ToolOutput) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": result.tool_use_id, "content": result.text});
    if result.is_error {
        block["is_error"] = true.into();
    }
    block
}

/// The conversation of the rows. `newest` names the rows of the model's newest answer by their handles, where its records
/// are known: the agent lists results of tools between the calls of one answer. What the agent lists twice is read where it
/// stands last. Where the conversation could not be sent as it is, why.
pub(super) fn entries_of(rows: &[AgentMessage], newest: &BTreeSet<String>) -> Result<Vec<ConversationEntry>, String> {
    let rows = without_repeated(rows);
    let is_newest = |row: &AgentMessage| row.handle.as_ref().is_some_and(|handle| newest.contains(handle));
    let mut entries: Vec<ConversationEntry> = Vec::new();
    for (number, row) in &rows {
        match row.role {
            AgentRole::Assistant => add_to_answer(&mut entries, *number, row, &rows, is_newest(row).then_some(newest)),
            AgentRole::User => {
                if !row.tool_results.is_empty() {
                    add_results(&mut entries, &row.tool_results);
                }
                if !row.text.is_empty() || row.tool_results.is_empty() {
                    let number = row.tool_results.is_empty().then_some(*number);
                    entries.push(ConversationEntry::of_user(row.text.clone(), number));
                }
            }
        }
    }
    check_pairs(&entries)?;
    if rows.iter().all(|(_, row)| row.is_silent()) {
        return Err("there is no message that says anything".to_owned());
    }
    Ok(entries)
}

/// Adds a row of the model's to the answer that it is of: the one that is being listed, or, by its record, the newest.
fn add_to_answer(
    entries: &mut Vec<ConversationEntry>,
    number: usize,
    row: &AgentMessage,
    rows: &[(usize, AgentMessage)],
    newest: Option<&BTreeSet<String>>,
) {
    let of = |at: &usize| rows.iter().find(|(number, _)| number == at).and_then(|(_, row)| row.handle.as_ref());
    let at = entries.len();
    let is_same_answer = |entry: &ConversationEntry| {
        let is_newest = |at: &usize| of(at).zip(newest).is_some_and(|(handle, newest)| newest.contains(handle));
        entry.is_answer() && entry.rows.iter().any(is_newest)
    };
    let open = match entries.last() {
        Some(last) if last.is_answer() => Some(at - 1),
        Some(last) if !last.is_said() => at.checked_sub(2).filter(|at| is_same_answer(&entries[*at])),
        _ => None,
    };
    let Some(answer) = open.and_then(|at| entries.get_mut(at)) else {
        entries.push(ConversationEntry::answer(row.text.clone(), row.tool_uses.clone(), vec![number]));
        return;
    };
    answer.rows.push(number);
    if !answer.text.is_empty() && !row.text.is_empty() {
        answer.text.push('\n');
    }
    answer.text.push_str(&row.text);
    answer.tool_uses.extend(row.tool_uses.iter().cloned());
}

fn add_results(entries: &mut Vec<ConversationEntry>, results: &[ToolOutput]) {
    let outputs = results.iter().map(|result| {
        // A picture, a document: the agent has it in its own form alone, which does not go back.
        let is_lost = result.text.is_empty() && result.result.as_object().is_some_and(|fields| !fields.is_empty());
        let text = if is_lost { NO_TEXT.to_owned() } else { result.text.clone() };
        ToolOutput::new(result.tool_use_id.clone(), text, result.is_error)
    });
    match entries.last_mut() {
        Some(last) if !last.tool_results.is_empty() => last.tool_results.extend(outputs),
        _ => entries.push(ConversationEntry::results(outputs.collect())),
    }
}

/// What stands for a result that is not text.
const NO_TEXT: &str = "[not text, and not here any more behind the compaction: make the call again to see it]";

/// The rows with their numbers, without what stands again further on. A resumed session lists the records of an answer that
/// outlived a compaction twice: as they were and as they were kept. A call whose result does not stand again is left alone.
fn without_repeated(rows: &[AgentMessage]) -> Vec<(usize, AgentMessage)> {
    let mut last_calls: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last_results: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        last_calls.extend(row.tool_uses.iter().map(|call| (&*call.tool_use_id, at)));
        last_results.extend(row.tool_results.iter().map(|result| (&*result.tool_use_id, at)));
    }
    let stands_again = |id: &str, at: usize| {
        let call = last_calls.get(id);
        call.is_some_and(|call| at < *call && last_results.get(id).is_some_and(|result| call < result))
    };
    let is_doubled = |id: &str, at: usize| last_results.get(id).is_some_and(|last| at < *last);
    let mut kept: Vec<(usize, AgentMessage)> = Vec::new();
    // The model's rows that were listed since the user's side said something.
    let mut answer: Vec<usize> = Vec::new();
    let mut has_repeated = false;
    for (at, row) in rows.iter().enumerate() {
        let mut now = row.clone();
        now.tool_uses.retain(|call| !stands_again(&call.tool_use_id, at));
        let names_again = now.tool_uses.len() < row.tool_uses.len();
        now.tool_results.retain(|result| {
            let has_call = last_calls.get(&*result.tool_use_id).is_some_and(|call| *call < at);
            !(stands_again(&result.tool_use_id, at) || has_call && is_doubled(&result.tool_use_id, at))
        });
        if row.role == AgentRole::User {
            remove_doubles(&mut kept, &answer, has_repeated);
            (answer, has_repeated) = (Vec::new(), false);
        }
        has_repeated |= names_again;
        let is_gone = (names_again || now.tool_results.len() < row.tool_results.len()) && now.is_silent();
        if is_gone {
            continue;
        }
        if row.role == AgentRole::Assistant {
            answer.push(at);
        }
        kept.push((at, now));
    }
    remove_doubles(&mut kept, &answer, has_repeated);
    kept
}

/// Takes the first of two equal texts out of an answer that was listed twice, and the first half of its thinking.
fn remove_doubles(kept: &mut Vec<(usize, AgentMessage)>, answer: &[usize], has_repeated: bool) {
    if !has_repeated {
        return;
    }
    let of_answer: Vec<(usize, AgentMessage)> = kept.iter().filter(|(at, _)| answer.contains(at)).cloned().collect();
    let thinking = of_answer.iter().filter(|(_, row)| row.is_silent()).count();
    let doubled_thinking = of_answer.iter().filter(|(_, row)| row.is_silent()).take(thinking / 2);
    let doubled_text = of_answer.iter().enumerate().filter(|(place, (_, row))| {
        let is_text = !row.is_silent() && row.tool_uses.is_empty();
        is_text && of_answer[place + 1..].iter().any(|(_, later)| later.text == row.text)
    });
    let gone: BTreeSet<usize> =
        doubled_thinking.map(|(at, _)| *at).chain(doubled_text.map(|(_, (at, _))| *at)).collect();
    kept.retain(|(at, _)| !gone.contains(at));
}

/// Refuses calls that have one name together, results without a call, and calls without a result that something follows:
/// none of these can stay in a conversation.
fn check_pairs(entries: &[ConversationEntry]) -> Result<(), String> {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for entry in entries {
        for call in &entry.tool_uses {
            if !called.insert(&call.tool_use_id) {
                let number = entry.rows.first().copied().unwrap_or_default();
                return Err(format!("message {number} has a second call `{}`", call.tool_use_id));
            }
        }
        if let Some(result) = entry.tool_results.iter().find(|result| !called.contains(&*result.tool_use_id)) {
            return Err(format!("there is a result of no call, `{}`", result.tool_use_id));
        }
    }
    Ok(())
}
