//! A model as reader and grader.

use std::collections::HashMap;
use std::fmt::Write as _;

use epitome::engine::block_on;
use epitome::providers::chat::{ChatError, ChatModel, ChatRequest};
use rayon::prelude::*;

use super::contexts::BlindContext;
use super::grades::{Grade, grade_sheet};
use super::sheets::{named, one_cell};

/// The most tokens of the answers to a dozen questions, reasoning included.
const ANSWER_TOKENS: u32 = 8_000;
/// The instructions for a reader.
const READER: &str = "You are given the context that an agent has in front of it, and questions about its work. Answer each \
question from the context alone, in a few words. Where the context does not tell, answer `unknown`. Do not guess. Write \
one line for each question, nothing else: its name, a colon, the answer.";
/// The instructions for a grader.
const GRADER: &str = "You grade answers against the right ones. Give 1 for an answer that says what the right one says, in \
whatever words; 0.5 for one that has an essential part of it right and nothing wrong; 0 for `unknown`, for a wrong answer \
and for one that does not answer the question. Write one line for each question, nothing else: its name, a colon, the \
grade.";

/// The answers and grades of a model.
#[derive(Debug, Default)]
pub struct BlindJudgement {
    /// The grades.
    pub grades: Vec<Grade>,
    /// The answers as a sheet: context, question, answer, separated by tabs.
    pub answers: String,
    /// The grades as a sheet.
    pub sheet: String,
    /// Contexts without grades, by number, and why.
    pub problems: Vec<(u32, String)>,
    /// Tokens that the model read and wrote.
    pub tokens: (u64, u64),
}

/// Lets `model` answer the questions of each context and then grade the answers, several contexts at a time, with two
/// requests for each context. A context whose request fails, or whose answers cannot be read, has no grades.
pub fn judge(
    contexts: &[BlindContext],
    model: &dyn ChatModel,
    grader: &str,
    progress: &(dyn Fn() + Sync),
) -> BlindJudgement {
    let asked: Vec<&BlindContext> = contexts.iter().filter(|context| !context.is_empty).collect();
    let found: Vec<Result<JudgedContext, String>> = asked
        .par_iter()
        .map(|context| {
            let found = read_and_graded(context, model);
            progress();
            found
        })
        .collect();
    let mut judged = BlindJudgement { answers: "context\tquestion\tanswer\n".to_owned(), ..BlindJudgement::default() };
    for (context, result) in asked.into_iter().zip(found) {
        match result {
            Err(problem) => judged.problems.push((context.number, problem)),
            Ok(read) => {
                for (question, answer, halves) in read.graded {
                    let (number, answer) = (named(context.number), one_cell(&answer));
                    let _ = writeln!(judged.answers, "{number}\t{question}\t{answer}");
                    judged.grades.push(Grade { context: context.number, question, halves, grader: grader.to_owned() });
                }
                judged.tokens.0 += read.tokens.0;
                judged.tokens.1 += read.tokens.1;
            }
        }
    }
    judged.sheet = grade_sheet(&judged.grades);
    judged
}

/// The outcome for one context.
struct JudgedContext {
    /// Question, answer, halves of a point.
    graded: Vec<(String, String, u32)>,
    tokens: (u64, u64),
}

fn read_and_graded(context: &BlindContext, model: &dyn ChatModel) -> Result<JudgedContext, String> {
    let mut asked = format!("<context>\n{}\n</context>\n\nQuestions:\n", context.text);
    for it in &context.questions {
        let _ = writeln!(asked, "{}: {}", it.id, one_cell(&it.question));
    }
    let mut tokens = (0, 0);
    let answers = lines_of(&ask(model, READER, asked, &mut tokens)?);
    let mut to_grade = String::new();
    for it in &context.questions {
        // A missing answer counts as not known.
        let answer = answers.get(&it.id).map_or("unknown", String::as_str);
        let (question, right) = (one_cell(&it.question), one_cell(&it.answer));
        let _ = writeln!(to_grade, "{}\nquestion: {question}\nright answer: {right}\nanswer: {answer}\n", it.id);
    }
    let grades = lines_of(&ask(model, GRADER, to_grade, &mut tokens)?);
    let mut graded = Vec::new();
    for it in &context.questions {
        let halves = match grades.get(&it.id).map(String::as_str) {
            Some("0" | "0.0") => 0,
            Some("0.5" | ".5") => 1,
            Some("1" | "1.0") => 2,
            Some(other) => return Err(format!("the grade of {} is `{other}`, none of 0, 0.5, 1", it.id)),
            None => return Err(format!("it gave {} no grade", it.id)),
        };
        graded.push((it.id.clone(), answers.get(&it.id).cloned().unwrap_or_else(|| "unknown".to_owned()), halves));
    }
    Ok(JudgedContext { graded, tokens })
}

fn ask(model: &dyn ChatModel, system: &str, user: String, tokens: &mut (u64, u64)) -> Result<String, String> {
    let request = ChatRequest { system: system.to_owned(), user, max_tokens: ANSWER_TOKENS.min(model.window() / 2) };
    let answer = block_on(model.complete(&request)).map_err(|error: ChatError| error.to_string())?;
    tokens.0 += answer.input_tokens;
    tokens.1 += answer.output_tokens;
    Ok(answer.text)
}

/// Returns the lines `name: text` of an answer, by name; marks of lists and emphasis around the name are taken off.
fn lines_of(text: &str) -> HashMap<String, String> {
    let named = text.lines().filter_map(|line| line.split_once(':'));
    let plain = |text: &str| text.trim_matches(|char: char| char.is_whitespace() || "*-`•".contains(char)).to_owned();
    named.map(|(name, said)| (plain(name), plain(said))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_lines() {
        let lines = lines_of("Here they are:\nq1: port 8080: the second\n- **q2**: unknown\nno line");
        assert_eq!(lines.get("q1").map(String::as_str), Some("port 8080: the second"));
        assert_eq!(lines.get("q2").map(String::as_str), Some("unknown"));
        assert_eq!(lines.get("no line"), None);
    }
}
