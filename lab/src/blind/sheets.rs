//! The files of a blind reading: contexts and questions for readers, a sheet for graders, and the key.

use std::fmt::Write as _;

use epitome_eval::EvalError;

use super::contexts::BlindContext;

/// The files of a blind reading: names relative to the readers' folder, and their texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlindSheets {
    /// Files for the readers.
    pub readers: Vec<(String, String)>,
    /// The graders' sheet, with the right answers.
    pub grading: String,
    /// The method of each context. Neither readers nor graders may see it.
    pub key: String,
}

/// The instructions for readers.
const README: &str = "\
Each file in `contexts` is what an agent would have in front of it when it goes on with its work. Read one, then answer
its questions in `answers.tsv` from that file alone: in a few words, and `unknown` where it does not tell. Do not guess.
Do not look at other files of the same work for an answer: two readers should share them.
";

/// Returns the files of a blind reading of `contexts`. Linear.
pub fn sheets(contexts: &[BlindContext]) -> Result<BlindSheets, EvalError> {
    let mut readers = vec![("README.md".to_owned(), README.to_owned())];
    let mut answers = "context\tquestion\tasked\tanswer\n".to_owned();
    let mut grading = "context\tquestion\tasked\tright\tgrade\tgrader\n".to_owned();
    for context in contexts.iter().filter(|context| !context.is_empty) {
        readers.push((format!("contexts/{}.txt", named(context.number)), context.text.clone()));
        for it in &context.questions {
            let (number, asked) = (named(context.number), one_cell(&it.question));
            let _ = writeln!(answers, "{number}\t{}\t{asked}\t", it.id);
            let _ = writeln!(grading, "{number}\t{}\t{asked}\t{}\t\t", it.id, one_cell(&it.answer));
        }
    }
    readers.push(("answers.tsv".to_owned(), answers));
    let key = serde_json::to_string_pretty(contexts)
        .map_err(|error| EvalError::Probes { file: "the key".to_owned(), problem: error.to_string() })?;
    Ok(BlindSheets { readers, grading, key: key + "\n" })
}

/// Reads a key that [`sheets`] wrote; the error names `file`. Linear.
pub fn read_key(text: &str, file: &str) -> Result<Vec<BlindContext>, EvalError> {
    serde_json::from_str(text).map_err(|error| {
        let problem = format!("is not the key of a blind reading ({error}): name the file that `blind export` wrote");
        EvalError::Probes { file: file.to_owned(), problem }
    })
}

/// Returns a context's number as text.
pub(super) fn named(number: u32) -> String {
    format!("{number:03}")
}

/// Returns a text that ends neither its cell nor its row.
pub(super) fn one_cell(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}
