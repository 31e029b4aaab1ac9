//! A blind reading: contexts and questions written for readers, grades read back, or a model as reader and grader.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome_eval::probes::{
    Agreement, BlindContext, BlindSheets, Grade, contexts, grade_rows, judge, read_grades, read_key, sheets,
};
use epitome_eval::{Group, HANDOFF, Plan, Row, markdown};

use super::{EvalOutput, Pairs, failure, page, pair};
use crate::args::{EvalArgs, SubjectArg};
use crate::failure::{CommandResult, Failure};
use crate::render::text::{number, plural};
use crate::{configuration, terminal};

/// Whether a blind reading is asked for.
pub(super) fn is_asked(args: &EvalArgs) -> bool {
    args.export.is_some() || !args.grades.is_empty() || args.judge.is_some()
}

/// Writes a blind reading, lets a model do one, or prints what graders gave.
pub(super) fn run(args: &EvalArgs, plan: impl FnOnce() -> Result<Plan, Failure>, quiet: bool) -> CommandResult {
    if args.what != SubjectArg::Probes {
        let failure = Failure::usage_text("--export, --grades, --judge: only probes are read blind");
        return Err(failure.with_help("say --what probes"));
    }
    if let Some(key) = args.key.as_deref().filter(|_| !args.grades.is_empty()) {
        let contexts = read_key(&text_of(key)?, &key.display().to_string()).map_err(failure)?;
        let mut grades = Vec::new();
        for file in &args.grades {
            grades.extend(read_grades(&text_of(file)?, &file.display().to_string(), &contexts).map_err(failure)?);
        }
        return print(args, &contexts, &grades);
    }
    if !args.generations.is_empty() || !args.through.is_empty() {
        let failure = Failure::usage_text("--generations, --through: a blind reading is of one compaction");
        return Err(failure.with_help("leave it out"));
    }
    let places = args.export.as_deref().map(BlindFolders::new).transpose()?;
    let plan = plan()?;
    // Before contexts are made: a model that cannot be asked is better known now.
    let model = args.judge.as_deref().map(|channel| model_of(args, channel)).transpose()?;
    let contexts = contexts(&plan).map_err(failure)?;
    if contexts.is_empty() {
        let failure = Failure::usage_text("there is nothing to read");
        return Err(failure.with_help("leave out --only, or name other folders"));
    }
    if let Some(places) = &places {
        places.write(&sheets(&contexts).map_err(failure)?)?;
        if !quiet {
            places.tell(&contexts);
        }
    }
    let Some((model, grader)) = model else { return Ok(ExitCode::SUCCESS) };
    let done = AtomicUsize::new(0);
    let asked = contexts.iter().filter(|context| !context.is_empty).count();
    let progress = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if !quiet {
            terminal::progress(done, asked);
        }
    };
    let judged = judge(&contexts, &*model, &grader, &progress);
    if !quiet {
        let (read, written) = judged.tokens;
        terminal::tell(&format!("{grader}: {} tokens read, {} written\n", number(read), number(written)));
    }
    for (context, problem) in &judged.problems {
        terminal::note(&format!("context {context:03} has no grades: {problem}"));
    }
    if let Some(places) = &places {
        write(&places.beside("answers.tsv"), &judged.answers)?;
        write(&places.beside("grades.tsv"), &judged.sheet)?;
    }
    if judged.grades.is_empty() {
        return Err(Failure::other(anyhow::anyhow!("the model graded nothing")));
    }
    print(args, &contexts, &judged.grades)
}

/// Where a blind reading goes: the readers' folder, and what readers must not see beside it.
struct BlindFolders {
    folder: PathBuf,
}

impl BlindFolders {
    /// Nothing that is there is written over.
    fn new(folder: &Path) -> Result<Self, Failure> {
        let places = Self { folder: folder.to_owned() };
        let others = ["grading.tsv", "key.json", "answers.tsv", "grades.tsv"].map(|name| places.beside(name));
        if let Some(there) = std::iter::once(&places.folder).chain(&others).find(|path| path.exists()) {
            let failure = Failure::usage_text(format!("--export: {} is there already", there.display()));
            return Err(failure.with_help("name a folder that is not there yet"));
        }
        Ok(places)
    }

    /// A file beside the folder, called as it and `name`.
    fn beside(&self, name: &str) -> PathBuf {
        let mut path = self.folder.clone().into_os_string();
        path.push(".");
        path.push(name);
        PathBuf::from(path)
    }

    fn write(&self, sheets: &BlindSheets) -> Result<(), Failure> {
        let contexts = self.folder.join("contexts");
        fs::create_dir_all(&contexts).map_err(|error| unwritable(&contexts, error))?;
        for (name, text) in &sheets.readers {
            write(&self.folder.join(name), text)?;
        }
        write(&self.beside("grading.tsv"), &sheets.grading)?;
        write(&self.beside("key.json"), &sheets.key)
    }

    fn tell(&self, contexts: &[BlindContext]) {
        let readable = contexts.iter().filter(|context| !context.is_empty).count();
        terminal::tell(&format!(
            "{} for readers in {}; for graders {}; what made which is in {}, for neither\n",
            plural(readable, "context"),
            self.folder.display(),
            self.beside("grading.tsv").display(),
            self.beside("key.json").display(),
        ));
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| unwritable(path, error))
}

fn unwritable(path: &Path, error: std::io::Error) -> Failure {
    Failure::usage(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", path.display()))))
}

/// A model and what it is called as a grader.
type Model = (std::sync::Arc<dyn epitome::providers::chat::ChatModel>, String);

/// The model of a channel of the configuration.
fn model_of(args: &EvalArgs, channel: &str) -> Result<Model, Failure> {
    let mut config = configuration::read(args.config.as_deref(), &epitome::registry())?;
    let mut set = |key: &str, value: &str| {
        config.set(key, &value.into()).map_err(|problem| Failure::usage_text(format!("--judge: `{key}` {problem}")))
    };
    set("summary.channel", channel)?;
    set("summary.model", args.judge_model.as_deref().unwrap_or_default())?;
    let opened = config.chat_model().map_err(|errors| Failure::usage_text(format!("--judge: {errors}")))?;
    Ok((opened.0, opened.1.model))
}

/// The tables of grades: their means by method and budget, beside what the facts of the same questions say.
fn print(args: &EvalArgs, contexts: &[BlindContext], grades: &[Grade]) -> CommandResult {
    let (rows, agreement) = grade_rows(contexts, grades);
    let pairs = compared(args, &rows)?;
    let all = Group::new("all", &rows, &pairs, args.seed);
    if args.markdown {
        terminal::standard(format!("{}\n{}\n", markdown(&[all]), describe_agreement(&agreement)).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let sessions = all.sessions() as usize;
    let printed = EvalOutput {
        sessions_read: sessions,
        cases: sessions,
        summaries: all.summaries,
        differences: all.differences,
        generations: all.generations,
        groups: Vec::new(),
        agreement: Some(agreement),
        resumed: None,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&printed)?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        terminal::print(&format!("{}\n{}\n", page::page(&printed), describe_agreement(&agreement)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The agreement of graders with each other and with the facts, in words.
fn describe_agreement(agreement: &Agreement) -> String {
    let share = |part: u32, of: u32| f64::from(part) * 100.0 / f64::from(of.max(1));
    let facts = share(agreement.as_facts, agreement.answers);
    let answers = plural(agreement.answers as usize, "graded answer");
    let graders = match agreement.pairs {
        0 => "no answer has two graders".to_owned(),
        pairs => {
            let same = share(agreement.same, pairs);
            format!("graders agree in {same:.0} % of {}", plural(pairs as usize, "pair"))
        }
    };
    format!("{answers}; {graders}; the facts agree with the grades in {facts:.0} %")
}

/// The pairs that are held against each other: those of --compare, or each method against the hand-off and the baselines.
fn compared(args: &EvalArgs, rows: &[Row]) -> Result<Pairs, Failure> {
    let mut known: Vec<&str> = Vec::new();
    for row in rows {
        if !known.contains(&row.method.as_str()) {
            known.push(&row.method);
        }
    }
    if let Some(asked) = &args.compare {
        if known.contains(&asked.as_str()) {
            let others = known.iter().filter(|name| *name != asked);
            return Ok(others.map(|other| ((*other).to_owned(), asked.clone())).collect());
        }
        return Ok(vec![pair(asked, &known)?]);
    }
    let (free, ours): (Vec<&str>, Vec<&str>) =
        known.into_iter().partition(|name| name.starts_with("baseline:") || *name == HANDOFF);
    Ok(ours.iter().flat_map(|ours| free.iter().map(|free| ((*ours).to_owned(), (*free).to_owned()))).collect())
}
