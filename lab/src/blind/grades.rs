//! Reads grades back: the grades by grader, the agreement of graders, and rows for the tables.

use std::collections::{BTreeMap, BTreeSet};

use epitome_eval::probes::ProbeScores;
use epitome_eval::{EvalError, KeptCount, Row, Scores};
use serde::Serialize;

use super::contexts::BlindContext;
use super::sheets::named;

/// A grader's mark for an answer, in halves of a point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grade {
    /// The context's number.
    pub context: u32,
    /// The question's name.
    pub question: String,
    /// 0 for wrong or unknown, 1 for half of it, 2 for right.
    pub halves: u32,
    /// The grader's name.
    pub grader: String,
}

/// The agreement of graders of the same answers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Agreement {
    /// How many answers were graded.
    pub answers: u32,
    /// How many pairs of grades different graders gave the same answer.
    pub pairs: u32,
    /// How many of these pairs are equal.
    pub same: u32,
    /// Answers with a mean grade of a half or more whose facts are in the context, and others whose facts are not.
    pub as_facts: u32,
}

/// Reads a sheet of grades: separated by tabs, its first line names the columns `context`, `question`, `grade` and
/// `grader`; other columns are ignored, and so are lines without a grade. The error names `file`, the line and what to
/// do. Linear.
pub fn read_grades(text: &str, file: &str, key: &[BlindContext]) -> Result<Vec<Grade>, EvalError> {
    let wrong = |problem: String| EvalError::Probes { file: file.to_owned(), problem };
    let mut lines = text.lines().enumerate();
    let headings: Vec<&str> =
        lines.next().map(|(_, line)| line.split('\t').map(str::trim).collect()).unwrap_or_default();
    let place = |name: &str| {
        headings.iter().position(|heading| *heading == name).ok_or_else(|| {
            wrong(format!(
                "its first line names no column `{name}`: use the sheet that `blind export` wrote, parted by tabs"
            ))
        })
    };
    let places = [place("context")?, place("question")?, place("grade")?, place("grader")?];
    let mut grades: Vec<Grade> = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [context, question, grade, grader] = places.map(|place| cells.get(place).copied().unwrap_or_default());
        if grade.is_empty() {
            continue;
        }
        let wrong = |problem: &str| wrong(format!("line {}: {problem}", number + 1));
        let halves = match grade {
            "0" => 0,
            "0.5" | ".5" => 1,
            "1" => 2,
            other => return Err(wrong(&format!("the grade is `{other}`: give 0, 0.5 or 1"))),
        };
        let known = key.iter().find(|it| context.parse() == Ok(it.number));
        let known =
            known.ok_or_else(|| wrong(&format!("the key has no context `{context}`: take that of the same export")))?;
        if !known.questions.iter().any(|it| it.id == question) {
            return Err(wrong(&format!("context {context} has no question `{question}`: copy it from the sheet")));
        }
        if grader.is_empty() {
            return Err(wrong("nobody is named under `grader`: write who gave the grade"));
        }
        if !seen.insert((known.number, question.to_owned(), grader.to_owned())) {
            return Err(wrong(&format!("`{grader}` graded this answer before: keep one of the lines")));
        }
        grades.push(Grade { context: known.number, question: question.to_owned(), halves, grader: grader.to_owned() });
    }
    if grades.is_empty() {
        return Err(wrong("holds no grade: fill in the columns `grade` and `grader`".to_owned()));
    }
    Ok(grades)
}

/// What the method of a row is called whose figure is what the facts of the graded questions say.
pub const BY_FACTS: &str = " by facts";

/// Returns two rows for each context with grades, whose probes are the points of the graders, in thousandths, and what the
/// facts of the same questions say; contexts without text count as wrong. Contexts without grades have no row. Linear.
pub fn grade_rows(key: &[BlindContext], grades: &[Grade]) -> (Vec<Row>, Agreement) {
    let mut by_answer: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
    for grade in grades {
        by_answer.entry((grade.context, &grade.question)).or_default().push(grade.halves);
    }
    let (mut rows, mut agreement) = (Vec::new(), Agreement::default());
    let mut order: Vec<&BlindContext> = key.iter().collect();
    order.sort_by(|a, b| (&a.case, &a.budget, &a.method).cmp(&(&b.case, &b.budget, &b.method)));
    for context in order {
        let (mut points, mut facts) = (KeptCount::default(), Vec::new());
        for it in &context.questions {
            let given = by_answer.get(&(context.number, it.id.as_str()));
            let Some(mean) = given.map(|halves| mean(halves)).or(context.is_empty.then_some(0.0)) else { continue };
            // In thousandths of a point, so that the mean of several graders is exact.
            points.kept += (mean * 1000.0).round() as u32;
            points.of += 1000;
            facts.push(it.shown);
            let Some(halves) = given else { continue };
            agreement.answers += 1;
            agreement.as_facts += u32::from((mean >= 0.5) == it.shown);
            for (number, one) in halves.iter().enumerate() {
                for other in &halves[number + 1..] {
                    agreement.pairs += 1;
                    agreement.same += u32::from(one == other);
                }
            }
        }
        if points.of > 0 {
            let shown = facts.iter().filter(|shown| **shown).count() as u32;
            rows.push(row(context, "", points));
            rows.push(row(context, BY_FACTS, KeptCount { kept: shown, of: facts.len() as u32 }));
        }
    }
    (rows, agreement)
}

/// Returns the mean of grades in points.
fn mean(halves: &[u32]) -> f64 {
    f64::from(halves.iter().sum::<u32>()) / 2.0 / halves.len().max(1) as f64
}

fn row(context: &BlindContext, by: &str, all: KeptCount) -> Row {
    Row {
        case: context.case.clone(),
        format: "openai-chat".to_owned(),
        task: "unlabelled".to_owned(),
        repository: context.repository.clone(),
        prefix_tokens: 0,
        future_calls: 0,
        method: format!("{}{by}", context.method),
        budget: context.budget.clone(),
        budget_tokens: 0,
        scores: Scores {
            probes: ProbeScores { all, ..ProbeScores::default() },
            system_intact: true,
            ..Scores::default()
        },
        summaries: epitome::session::SummaryUsage::default(),
        problem: context.is_empty.then(|| "no result within the budget".to_owned()),
        micros: 0,
    }
}

/// Returns grades as a sheet that [`read_grades`] reads. Linear.
pub(super) fn grade_sheet(grades: &[Grade]) -> String {
    let mut out = "context\tquestion\tgrade\tgrader\n".to_owned();
    for grade in grades {
        let points = ["0", "0.5", "1"][grade.halves.min(2) as usize];
        out.push_str(&format!("{}\t{}\t{points}\t{}\n", named(grade.context), grade.question, grade.grader));
    }
    out
}
