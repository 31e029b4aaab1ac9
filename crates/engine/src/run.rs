//! One run of a chain: plans are asked for, edits applied, until the target is met.

use std::sync::Arc;
use std::time::Instant;

use epitome_session::{Origin, Position, Unit};
use epitome_strategy::{Archive, Edit, Embeddings, Goal, Plan, Strategy, SummaryText, Tokens, Vectors};

use crate::context::Context;
use crate::editor::{BlockEdit, Editor, Replacement};
use crate::floor::FLOOR;
use crate::guard::{self, Guard, Refusal};
use crate::least::easily_reached;
use crate::observe::Progress;
use crate::report::{Step, SummarizerReport, microseconds};
use crate::request::Chain;
use crate::stages::{REPAIR, THINKING};
use crate::summaries::{wanted_summaries, write_summaries};
use crate::wording;
use crate::working::{Layout, WorkingView};

/// How often one strategy is asked in one compaction: several passes make tiers possible, a bound makes an end certain.
const MOST_PASSES: usize = 8;

/// What a run of a chain came to.
pub(crate) struct Run {
    pub working: WorkingView,
    pub steps: Vec<Step>,
    pub summaries: Vec<WrittenSummary>,
    pub summarizer: SummarizerReport,
}

/// A summary that was written.
pub(crate) struct WrittenSummary {
    /// Its number among what the compaction added.
    pub number: u32,
    pub text: String,
    /// The strategy, where it brought the text itself and nobody was asked for one.
    pub by_strategy: Option<String>,
}

/// Runs strategies and the engine's stages over a view, and reports each step.
pub(crate) struct Runner<'r> {
    editor: Editor<'r>,
    steps: Vec<Step>,
    summaries: Vec<WrittenSummary>,
    summarizer: SummarizerReport,
    /// The place of the first message that was never sent.
    first_unsent: Option<Position>,
}

impl<'r> Runner<'r> {
    pub(crate) fn new(start: WorkingView, context: &'r Context<'r>, archive: &'r mut dyn Archive) -> Self {
        let sent = start.entries().len().saturating_sub(context.unsent_messages as usize);
        let first_unsent = start.entries().get(sent).map(|entry| entry.position);
        let kind = context.summarizer.map_or("off", |summarizer| summarizer.kind()).to_owned();
        let summarizer = SummarizerReport { kind, ..SummarizerReport::default() };
        let editor = Editor::new(start, context, archive);
        Self { editor, steps: Vec::new(), summaries: Vec::new(), summarizer, first_unsent }
    }

    /// What it has come to.
    pub(crate) fn into_run(self) -> Run {
        let Self { editor, steps, summaries, summarizer, .. } = self;
        Run { working: editor.working, steps, summaries, summarizer }
    }

    /// Repair, the chain, the floor.
    pub(crate) async fn run(mut self, chain: &Chain, mut goal: Goal) -> Result<Run, Refusal> {
        self.stage(REPAIR, Editor::repair)?;
        // Without a result that answered no call, messages around it may be one step, which stays or leaves as one.
        let editor = &mut self.editor;
        editor.working.keep_recent(editor.context.pins, goal.target);
        self.stage(THINKING, Editor::entail)?;
        if !self.aim(&mut goal)? {
            return Ok(self.into_run());
        }
        let repaired = self.editor.working.clone();
        let stages = self.steps.len();
        for strategy in &chain.0 {
            goal.current = self.editor.working.total;
            if goal.is_met() {
                break;
            }
            self.ask(&**strategy, &mut goal).await?;
        }
        if self.editor.working.total > goal.target {
            self.stage(FLOOR, |editor| editor.make_room(goal.target))?;
        }
        if self.editor.working.total > goal.limit {
            // The least is known to fit: whatever the chain left in its way goes.
            self.take_back(repaired, stages);
            self.stage(FLOOR, |editor| editor.make_most_room(goal.limit))?;
        }
        Ok(self.into_run())
    }

    /// Sets a target that can be reached. Returns whether even the limit can: if not, no strategy needs to be asked.
    ///
    /// A target below the least that must stay is approached: what is aimed at is the least and room for a summary beside
    /// it, a quarter of the target, or half of what is above the least where that is less. Going down to the least would cost
    /// everything and still not meet the target.
    fn aim(&mut self, goal: &mut Goal) -> Result<bool, Refusal> {
        let editor = &mut self.editor;
        if easily_reached(&editor.working, &editor.layout()) <= goal.target {
            return Ok(true);
        }
        let mut least = editor.least(goal.limit)?;
        if least.total > goal.target && editor.working.give_up_recent() {
            // The newest messages are a wish, and the budget is none.
            least = editor.least(goal.limit)?;
        }
        if least.total > goal.limit {
            let cut;
            (least, cut) = editor.fitting_cut(goal.limit)?;
            if let Some(cut) = cut {
                self.stage(FLOOR, |editor| editor.cut_messages(cut))?;
            }
        }
        let editor = &mut self.editor;
        if least.total > goal.limit {
            editor.working = least;
            return Ok(!editor.context.guards.on(Guard::Budget));
        }
        if least.total > goal.target {
            let above = goal.limit.min(editor.working.total).saturating_sub(least.total);
            goal.target = least.total + (above / 2).min(goal.target / 4);
        }
        Ok(true)
    }

    /// Asks one strategy until the goal is met or it makes no more progress.
    pub(crate) async fn ask(&mut self, strategy: &dyn Strategy, goal: &mut Goal) -> Result<(), Refusal> {
        let context = self.editor.context;
        let started = Instant::now();
        let first_edit = self.editor.working.edits.len();
        let mut step = new_step(strategy.meta().id, self.editor.working.total);
        context.go_on()?;
        context.tell(Progress::Strategy { id: strategy.meta().id, tokens: self.editor.working.total });
        for _ in 0..MOST_PASSES {
            goal.current = self.editor.working.total;
            if goal.is_met() {
                break;
            }
            let layout = self.editor.layout();
            goal.first_unsent_unit = self.first_unsent.map(|unsent| {
                let entries = self.editor.working.entries();
                let sent = |unit: &Unit| entries[unit.entries.start].position < unsent;
                layout.units.partition_point(sent) as u32
            });
            let vectors = match strategy.needs_vectors(goal) {
                true => Some(self.vectors(&layout, goal).await),
                false => None,
            };
            context.go_on()?;
            let planned = {
                let mut view = self.editor.view(&layout);
                if let Some(vectors) = vectors {
                    view = view.with_vectors(vectors);
                }
                if context.guards.on(Guard::Failure) {
                    guard::failure(strategy, &view, goal)
                } else {
                    Ok(strategy.plan(&view, goal).unwrap_or_else(|error| panic_for_mutant(&error.0)))
                }
            };
            // What a strategy says that was interrupted means nothing.
            context.go_on()?;
            let plan = match planned {
                Ok(plan) => plan,
                Err(error) => {
                    step.declined = Some(format!("failed: {error}"));
                    break;
                }
            };
            let applied = self.apply(&layout, plan, goal, &mut step).await?;
            self.editor.entail()?;
            if applied == 0 || self.editor.working.total >= goal.current {
                break;
            }
        }
        if step.edits > 0 {
            step.declined = None;
        }
        step.duration_us = microseconds(started);
        self.push_step(step, first_edit);
        Ok(())
    }

    /// The vectors of the view's units and of the current question, or why there are none. Linear in the view, but for
    /// what the embedder keeps from earlier calls.
    ///
    /// Takes `&mut self` so that the future can be sent to another thread: an archive cannot be shared between two.
    async fn vectors(&mut self, layout: &Layout, goal: &Goal) -> Result<Arc<Vectors>, Arc<str>> {
        let Some(embedder) = self.editor.context.embedder else { return Err(Arc::from("no embedder is configured")) };
        let mut texts: Vec<String> = {
            let view = self.editor.view(layout);
            (0..layout.units.len()).map(|unit| view.facts().unit_text(unit)).collect()
        };
        texts.extend(goal.focus.clone());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = guard::embedding(embedder, &texts).await.map_err(Arc::<str>::from)?;
        let focus = goal.focus.is_some().then(|| embedded.row(layout.units.len()).map(<[f32]>::to_vec)).flatten();
        let dimensions = embedded.dimensions();
        let units = embedded.values()[..layout.units.len() * dimensions].to_vec();
        Ok(Arc::new(Vectors { units: Embeddings::new(dimensions, units), focus }))
    }

    /// Applies the edits of the plan of a `step` until the goal is met; returns how many were accepted.
    async fn apply(&mut self, layout: &Layout, plan: Plan, goal: &Goal, step: &mut Step) -> Result<u32, Refusal> {
        let context = self.editor.context;
        let wanted = wanted_summaries(&self.editor, layout, &plan);
        let mut written = write_summaries(context, wanted, &mut self.summarizer).await?;
        let mut applied = 0;
        let mut first_refusal = None;
        for (number, edit) in plan.edits.into_iter().enumerate() {
            if self.editor.working.total <= goal.target {
                break;
            }
            context.go_on()?;
            let text = written.remove(&number);
            match self.apply_edit(layout, &step.strategy, edit, text) {
                Ok(_) => applied += 1,
                Err(refusal) => {
                    step.refused += 1;
                    first_refusal.get_or_insert(refusal);
                }
            }
        }
        step.edits += applied;
        step.declined = plan.declined.or_else(|| first_refusal.map(|refusal| format!("an edit {refusal}")));
        Ok(applied)
    }

    /// Applies one edit; `written` is the summary that it asked for, where it did.
    fn apply_edit(
        &mut self,
        layout: &Layout,
        strategy: &str,
        edit: Edit,
        written: Option<Result<String, Refusal>>,
    ) -> Result<Tokens, Refusal> {
        let editor = &mut self.editor;
        match edit {
            Edit::Drop { units, reason } => {
                let positions = editor.leaving(layout, &units)?;
                editor.drop_messages(strategy, &positions, reason)
            }
            Edit::Summarize { units, summary, reason } => {
                let positions = editor.leaving(layout, &units)?;
                let (text, by_strategy) = match summary {
                    SummaryText::Ready(text) => (text, Some(strategy.to_owned())),
                    SummaryText::Request(_) => (written.unwrap_or(Err(Refusal::Overlaps))?, None),
                };
                if text.trim().is_empty() {
                    return Err(Refusal::Summary("the text is empty".to_owned()));
                }
                let (context, messages) = (editor.context, editor.covered_messages(&positions));
                let write = |handle: &str| {
                    format!("{}\n{text}", wording::summary_heading(context.language, messages, context.told(handle)))
                };
                let replacement = Replacement { origin: Origin::Summary, write: &write };
                let number = editor.working.synthetics.len() as u32;
                let saved = editor.replace_messages(strategy, &positions, reason, replacement)?;
                self.summaries.push(WrittenSummary { number, text, by_strategy });
                Ok(saved)
            }
            Edit::Excerpt { message, block, keep, reason } => {
                editor.excerpt(layout, BlockEdit::new(strategy, message, block, reason), &keep)
            }
            Edit::Trim { message, block, max_chars, reason } => {
                editor.trim(layout, BlockEdit::new(strategy, message, block, reason), max_chars)
            }
        }
    }

    /// Runs a stage of the engine and reports it where it did something.
    fn stage(&mut self, name: &str, stage: impl FnOnce(&mut Editor<'r>) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let started = Instant::now();
        let working = &self.editor.working;
        let mut step = new_step(name, working.total);
        let (first_edit, synthetics) = (working.edits.len(), working.synthetics.len());
        stage(&mut self.editor)?;
        let working = &self.editor.working;
        step.edits = (working.edits.len() - first_edit) as u32;
        step.duration_us = microseconds(started);
        if step.edits > 0 || working.synthetics.len() > synthetics || name == FLOOR {
            self.push_step(step, first_edit);
        }
        Ok(())
    }

    /// Goes back to `before`: what the steps behind the first `stages` did is undone, and they say so.
    fn take_back(&mut self, before: WorkingView, stages: usize) {
        self.editor.working = before;
        self.summaries.clear();
        for step in self.steps.iter_mut().skip(stages).filter(|step| step.edits > 0) {
            step.declined = Some(format!("taken back: after its {} edits the limit was out of reach", step.edits));
            step.edits = 0;
        }
        for step in self.steps.iter_mut().skip(stages) {
            (step.tokens_before, step.tokens_after) = (self.editor.working.total, self.editor.working.total);
        }
    }

    /// Reports a step whose edits start at `first_edit`; thinking that left because of them gets a step of its own.
    fn push_step(&mut self, mut step: Step, first_edit: usize) {
        let total = self.editor.working.total;
        let edits = &self.editor.working.edits[first_edit..];
        let entailed = edits.iter().filter(|edit| &*edit.strategy == THINKING && &*step.strategy != THINKING);
        let (count, saved) = entailed.fold((0, 0), |(count, saved), edit| (count + 1, saved + edit.tokens_saved));
        step.edits = step.edits.min(edits.len() as u32 - count);
        step.tokens_after = total + saved;
        let after = step.tokens_after;
        let entailed = (count > 0).then(|| Step { tokens_after: total, edits: count, ..new_step(THINKING, after) });
        for step in std::iter::once(step).chain(entailed) {
            self.editor.context.tell(Progress::Step(&step));
            self.steps.push(step);
        }
    }
}

fn new_step(name: &str, tokens_before: Tokens) -> Step {
    Step {
        strategy: Arc::from(name),
        tokens_before,
        tokens_after: tokens_before,
        edits: 0,
        refused: 0,
        declined: None,
        duration_us: 0,
    }
}

#[expect(clippy::panic, reason = "only reached with the failure guard switched off, in tests of the tests")]
fn panic_for_mutant(problem: &str) -> Plan {
    panic!("{problem}")
}
