//! `blind`: contexts and questions written for readers, grades read back, or a model as reader and grader.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use epitome::Config;
use epitome::providers::chat::ChatModel;
use epitome_eval::{BudgetSpec, Group, HANDOFF, Row};

use super::{
    Agreement, BY_FACTS, BlindContext, BlindSheets, Grade, contexts, grade_rows, judge, read_grades, read_key, sheets,
};
use crate::markdown::markdown;
use crate::plan::probe_plan;

/// A blind reading of folders of probes.
#[derive(Debug, Subcommand)]
pub enum BlindCommand {
    /// Write the contexts with their questions for readers, and beside them what only graders may see
    Export(ExportArgs),
    /// Print what graders gave
    Grade(GradeArgs),
    /// Let a model read and grade
    Judge(JudgeArgs),
}

/// What is read.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Folders of probes
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The methods, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "default")]
    methods: Vec<String>,
    /// The budgets, as in `epitome eval`
    #[arg(long, value_delimiter = ',', default_value = "0.15")]
    budgets: Vec<BudgetSpec>,
    /// The seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A folder that is not there yet
    #[arg(short, long)]
    output: PathBuf,
}

/// What was graded.
#[derive(Debug, Args)]
pub struct GradeArgs {
    /// Sheets of grades, with the columns context, question, grade, grader
    #[arg(required = true)]
    sheets: Vec<PathBuf>,
    /// The key that `blind export` wrote
    #[arg(long)]
    key: PathBuf,
}

/// What a model reads.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    #[command(flatten)]
    export: ExportArgs,
    /// The configuration file with the channel
    #[arg(long)]
    config: PathBuf,
    /// The channel of the model
    #[arg(long)]
    channel: String,
    /// The model, where the channel has several
    #[arg(long, default_value = "")]
    model: String,
}

/// Runs the command. The error says what is wrong.
pub fn run(command: &BlindCommand) -> Result<()> {
    match command {
        BlindCommand::Export(args) => export(args).map(drop),
        BlindCommand::Grade(args) => {
            let text =
                |path: &Path| fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
            let key = read_key(&text(&args.key)?, &args.key.display().to_string())?;
            let mut grades = Vec::new();
            for sheet in &args.sheets {
                grades.extend(read_grades(&text(sheet)?, &sheet.display().to_string(), &key)?);
            }
            print(&key, &grades);
            Ok(())
        }
        BlindCommand::Judge(args) => {
            let (model, grader) = model_of(args)?;
            let (contexts, places) = export(&args.export)?;
            let judged = judge(&contexts, &*model, &grader, &|| {});
            let (read, written) = judged.tokens;
            eprintln!("{grader}: {read} tokens read, {written} written");
            for (context, problem) in &judged.problems {
                eprintln!("context {context:03} has no grades: {problem}");
            }
            write(&places.beside("answers.tsv"), &judged.answers)?;
            write(&places.beside("grades.tsv"), &judged.sheet)?;
            if judged.grades.is_empty() {
                bail!("the model graded nothing");
            }
            print(&contexts, &judged.grades);
            Ok(())
        }
    }
}

fn export(args: &ExportArgs) -> Result<(Vec<BlindContext>, BlindFolders)> {
    let places = BlindFolders::new(&args.output)?;
    let contexts = contexts(&probe_plan(&args.paths, &args.methods, &args.budgets, args.seed)?)?;
    if contexts.is_empty() {
        bail!("there is nothing to read: name folders of probes");
    }
    places.write(&sheets(&contexts)?)?;
    Ok((contexts, places))
}

/// Where a blind reading goes: the readers' folder, and what readers must not see beside it.
struct BlindFolders {
    folder: PathBuf,
}

impl BlindFolders {
    /// Nothing that is there is written over.
    fn new(folder: &Path) -> Result<Self> {
        let places = Self { folder: folder.to_owned() };
        let others = ["grading.tsv", "key.json", "answers.tsv", "grades.tsv"].map(|name| places.beside(name));
        if let Some(there) = std::iter::once(&places.folder).chain(&others).find(|path| path.exists()) {
            bail!("{} is there already: name a folder that is not there yet", there.display());
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

    fn write(&self, sheets: &BlindSheets) -> Result<()> {
        let contexts = self.folder.join("contexts");
        fs::create_dir_all(&contexts).with_context(|| format!("cannot make {}", contexts.display()))?;
        for (name, text) in &sheets.readers {
            write(&self.folder.join(name), text)?;
        }
        write(&self.beside("grading.tsv"), &sheets.grading)?;
        write(&self.beside("key.json"), &sheets.key)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The model of a channel of the configuration, and what it is called as a grader.
fn model_of(args: &JudgeArgs) -> Result<(Arc<dyn ChatModel>, String)> {
    let file = args.config.display().to_string();
    let text = fs::read_to_string(&args.config).with_context(|| format!("cannot read {file}"))?;
    let mut config = Config::parse(&text, &file, &epitome::registry()).map_err(|errors| anyhow::anyhow!("{errors}"))?;
    for (key, value) in [("summary.channel", &args.channel), ("summary.model", &args.model)] {
        config.set(key, &value.as_str().into()).map_err(|problem| anyhow::anyhow!("`{key}` {problem}"))?;
    }
    let opened = config.chat_model().map_err(|errors| anyhow::anyhow!("{errors}"))?;
    Ok((opened.0, opened.1.model))
}

/// Prints the points by method and budget beside what the facts of the same questions say, and how far graders agree.
fn print(contexts: &[BlindContext], grades: &[Grade]) {
    let (rows, agreement) = grade_rows(contexts, grades);
    println!("{}\n{}", markdown(&[Group::new("all", &rows, &pairs(&rows), 1)]), describe_agreement(&agreement));
}

/// Each method against the hand-off and the baselines, all by the graders' points.
fn pairs(rows: &[Row]) -> Vec<(String, String)> {
    let mut graded: Vec<&str> = rows.iter().map(|row| row.method.as_str()).collect();
    graded.retain(|method| !method.ends_with(BY_FACTS));
    graded.sort_unstable();
    graded.dedup();
    let (free, ours): (Vec<&str>, Vec<&str>) =
        graded.into_iter().partition(|name| name.starts_with("baseline:") || *name == HANDOFF);
    ours.iter().flat_map(|ours| free.iter().map(|free| ((*ours).to_owned(), (*free).to_owned()))).collect()
}

/// The agreement of graders with each other and with the facts, in words.
fn describe_agreement(agreement: &Agreement) -> String {
    let share = |part: u32, of: u32| f64::from(part) * 100.0 / f64::from(of.max(1));
    let facts = share(agreement.as_facts, agreement.answers);
    let graders = match agreement.pairs {
        0 => "no answer has two graders".to_owned(),
        pairs => format!("graders agree in {:.0} % of {pairs} pairs", share(agreement.same, pairs)),
    };
    format!("{} graded answers; {graders}; the facts agree with the grades in {facts:.0} %", agreement.answers)
}
