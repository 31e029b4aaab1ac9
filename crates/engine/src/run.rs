//! One run of a chain: plans are asked for, edits applied, until the target is met.

use std::sync::Arc;
use std::time::Instant;

use epitome_session::{Origin, Position, Unit};
use epitome_strategy::{
    Archive, Edit, Embeddings, Goal, Plan, Protection, Strategy, Summarizer, SummaryText, Tokens, Vectors,
};

use crate::archive::MemoryArchive;
use crate::context::Context;
use crate::engine::Engine;
use crate::floor::{FLOOR, Room};
use crate::guard::{self, Guard, Refusal};
use crate::least::easily_reached;
use crate::observe::{Observer, Progress};
use crate::report::{Step, SummarizerReport};
use crate::request::{Chain, Request};
use crate::stages::{REPAIR, THINKING, entail, repair};
use crate::wording;
use crate::working::{BlockEdit, Layout, Replacement, Working};

/// How often one strategy is asked in one compaction: several passes make tiers possible, a bound makes an end certain.
const MOST_PASSES: usize = 8;

/// Messages that yield where what must stay is over the limit, each with the sixths of the room that it keeps.
type Yields = &'static [(Protection, Tokens)];

/// The task yields first; the newest message is what the model is to answer, and gets most where both have to.
const YIELDS: [Yields; 2] =
    [&[(Protection::OriginalTask, 4)], &[(Protection::OriginalTask, 1), (Protection::NewestUser, 3)]];

/// One run of a chain over a working view.
pub(crate) struct Run {
    pub working: Working,
    pub steps: Vec<Step>,
    pub summaries: Vec<Written>,
    pub summarizer: SummarizerReport,
    /// What summaries are to remember.
    pub memories: Vec<String>,
    observer: Option<Arc<dyn Observer>>,
    /// The place of the first message that was never sent.
    first_unsent: Option<Position>,
}

/// A summary that was written.
pub(crate) struct Written {
    /// Its number among what the compaction added.
    pub number: u32,
    pub text: String,
    /// The strategy, where it brought the text itself and nobody was asked for one.
    pub by_strategy: Option<String>,
}

impl Run {
    pub(crate) fn new(working: Working, summarizer: Option<&dyn Summarizer>) -> Self {
        let kind = summarizer.map_or("off", |summarizer| summarizer.kind()).to_owned();
        let summarizer = SummarizerReport { kind, ..SummarizerReport::default() };
        Self {
            working,
            steps: Vec::new(),
            summaries: Vec::new(),
            summarizer,
            memories: Vec::new(),
            observer: None,
            first_unsent: None,
        }
    }

    /// Tells the observer, if there is one.
    pub(crate) fn tell(&self, progress: Progress<'_>) {
        if let Some(observer) = &self.observer {
            observer.on(progress);
        }
    }

    /// Runs a stage of the engine and reports it where it did something.
    fn stage(&mut self, name: &str, stage: impl FnOnce(&mut Working) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let started = Instant::now();
        let mut step = new_step(name, self.working.total);
        let (first_edit, synthetics) = (self.working.edits.len(), self.working.synthetics.len());
        stage(&mut self.working)?;
        step.edits = (self.working.edits.len() - first_edit) as u32;
        step.duration_us = started.elapsed().as_micros() as u64;
        if step.edits > 0 || self.working.synthetics.len() > synthetics || name == FLOOR {
            self.push_step(step, first_edit);
        }
        Ok(())
    }

    /// Goes back to `before`: what the steps behind the first `stages` did is undone, and they say so.
    fn take_back(&mut self, before: Working, stages: usize) {
        self.working = before;
        self.summaries.clear();
        for step in self.steps.iter_mut().skip(stages).filter(|step| step.edits > 0) {
            step.declined = Some(format!("taken back: after its {} edits the limit was out of reach", step.edits));
            step.edits = 0;
        }
        for step in self.steps.iter_mut().skip(stages) {
            (step.tokens_before, step.tokens_after) = (self.working.total, self.working.total);
        }
    }

    /// Reports a step whose edits start at `first_edit`; thinking that left because of them gets a step of its own.
    fn push_step(&mut self, mut step: Step, first_edit: usize) {
        let total = self.working.total;
        let edits = &self.working.edits[first_edit..];
        let entailed = edits.iter().filter(|edit| &*edit.strategy == THINKING && &*step.strategy != THINKING);
        let (count, saved) = entailed.fold((0, 0), |(count, saved), edit| (count + 1, saved + edit.tokens_saved));
        step.edits = step.edits.min(edits.len() as u32 - count);
        step.tokens_after = total + saved;
        let after = step.tokens_after;
        let entailed = (count > 0).then(|| Step { tokens_after: total, edits: count, ..new_step(THINKING, after) });
        for step in std::iter::once(step).chain(entailed) {
            self.tell(Progress::Step(&step));
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

impl Engine {
    /// Repair, the chain, the floor.
    pub(crate) async fn run(
        &self,
        context: &Context<'_>,
        start: Working,
        archive: &mut dyn Archive,
        chain: &Chain,
        mut goal: Goal,
        request: &Request,
    ) -> Result<Run, Refusal> {
        let sent = start.entries.len().saturating_sub(request.unsent_messages as usize);
        let first_unsent = start.entries.get(sent).map(|entry| entry.position);
        let mut run = Run::new(start, self.summarizer.as_deref());
        run.first_unsent = first_unsent;
        run.memories.clone_from(&request.memories);
        run.observer.clone_from(&request.observer);
        run.stage(REPAIR, |working| repair(working, context, archive))?;
        run.stage(THINKING, |working| entail(working, context, archive))?;
        if !self.aim(context, &mut run, archive, &mut goal)? {
            return Ok(run);
        }
        let repaired = run.working.clone();
        let stages = run.steps.len();
        for strategy in &chain.0 {
            goal.current = run.working.total;
            if goal.is_met() {
                break;
            }
            self.ask(context, &mut run, archive, &**strategy, &mut goal).await?;
        }
        if run.working.total > goal.target {
            run.stage(FLOOR, |working| Room { working, context, archive }.make(goal.target))?;
        }
        if run.working.total > goal.limit {
            // The least is known to fit: whatever the chain left in its way goes.
            run.take_back(repaired, stages);
            run.stage(FLOOR, |working| Room { working, context, archive }.make_all(goal.limit))?;
        }
        Ok(run)
    }

    /// Sets a target that can be reached. Returns whether even the limit can: if not, no strategy needs to be asked.
    ///
    /// A target below the least that must stay is approached: what is aimed at is the least and room for a summary beside
    /// it, a quarter of the target, or half of what is above the least where that is less. Going down to the least would cost
    /// everything and still not meet the target.
    fn aim(
        &self,
        context: &Context<'_>,
        run: &mut Run,
        archive: &mut dyn Archive,
        goal: &mut Goal,
    ) -> Result<bool, Refusal> {
        let layout = run.working.layout(context.pins);
        if easily_reached(&run.working, &layout) <= goal.target {
            return Ok(true);
        }
        let least_of = |mut working: Working| -> Result<Working, Refusal> {
            let scratch = &mut MemoryArchive::new();
            Room { working: &mut working, context, archive: scratch }.make_all(goal.limit)?;
            Ok(working)
        };
        let mut least = least_of(run.working.clone())?;
        if least.total > goal.target && run.working.give_up_recent() {
            // The newest messages are a wish, and the budget is none.
            least = least_of(run.working.clone())?;
        }
        if least.total > goal.limit {
            least = self.make_room_in_messages(context, run, archive, goal.limit, least_of)?;
        }
        if least.total > goal.limit {
            run.working = least;
            return Ok(!self.guards.on(Guard::Budget));
        }
        if least.total > goal.target {
            let above = goal.limit.min(run.working.total).saturating_sub(least.total);
            goal.target = least.total + (above / 2).min(goal.target / 4);
        }
        Ok(true)
    }

    /// Cuts the original task, and where that is not enough the newest user message too, to head and tail: what must stay
    /// is over the limit, and a session that goes on with half of its task is worth more than none. Returns the least that
    /// can be reached then; where that is over the limit too, nothing is cut.
    fn make_room_in_messages(
        &self,
        context: &Context<'_>,
        run: &mut Run,
        archive: &mut dyn Archive,
        limit: Tokens,
        least_of: impl Fn(Working) -> Result<Working, Refusal>,
    ) -> Result<Working, Refusal> {
        let cut = |working: &Working, archive: &mut dyn Archive, room: Tokens, yields: Yields| {
            let mut working = working.clone();
            for (protection, sixths) in yields {
                let keep = room / 6 * sixths;
                Room { working: &mut working, context, archive }.cut_protected(*protection, keep)?;
            }
            Ok::<Working, Refusal>(working)
        };
        let mut least = run.working.clone();
        for yields in YIELDS {
            least = least_of(cut(&run.working, &mut MemoryArchive::new(), 0, yields)?)?;
            let Some(room) = limit.checked_sub(least.total) else { continue };
            // What is kept is an estimate, so the count decides.
            for room in [room, room / 2, 0] {
                let least = least_of(cut(&run.working, &mut MemoryArchive::new(), room, yields)?)?;
                if least.total <= limit {
                    run.stage(FLOOR, |working| {
                        *working = cut(working, archive, room, yields)?;
                        Ok(())
                    })?;
                    return Ok(least);
                }
            }
        }
        Ok(least)
    }

    /// Asks one strategy until the goal is met or it makes no more progress.
    pub(crate) async fn ask(
        &self,
        context: &Context<'_>,
        run: &mut Run,
        archive: &mut dyn Archive,
        strategy: &dyn Strategy,
        goal: &mut Goal,
    ) -> Result<(), Refusal> {
        let started = Instant::now();
        let first_edit = run.working.edits.len();
        let mut step = new_step(strategy.meta().id, run.working.total);
        context.go_on()?;
        run.tell(Progress::Strategy { id: strategy.meta().id, tokens: run.working.total });
        for _ in 0..MOST_PASSES {
            goal.current = run.working.total;
            if goal.is_met() {
                break;
            }
            let layout = run.working.layout(context.pins);
            goal.first_unsent_unit = run.first_unsent.map(|unsent| {
                let entries = &run.working.entries;
                let sent = |unit: &Unit| entries[unit.entries.start].position < unsent;
                layout.units.partition_point(sent) as u32
            });
            let vectors = match strategy.needs_vectors(goal) {
                true => Some(self.vectors(context, run, &layout, goal).await),
                false => None,
            };
            context.go_on()?;
            let planned = {
                let mut view = run.working.view(&layout, context);
                if let Some(vectors) = vectors {
                    view = view.with_vectors(vectors);
                }
                if self.guards.on(Guard::Failure) {
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
            let applied = self.apply(context, run, archive, &layout, strategy, plan, goal, &mut step).await?;
            entail(&mut run.working, context, archive)?;
            if applied == 0 || run.working.total >= goal.current {
                break;
            }
        }
        if step.edits > 0 {
            step.declined = None;
        }
        step.duration_us = started.elapsed().as_micros() as u64;
        run.push_step(step, first_edit);
        Ok(())
    }

    /// The vectors of the view's units and of the current question, or why there are none. Linear in the view, but for
    /// what the embedder keeps from earlier calls.
    async fn vectors(
        &self,
        context: &Context<'_>,
        run: &Run,
        layout: &Layout,
        goal: &Goal,
    ) -> Result<Arc<Vectors>, Arc<str>> {
        let Some(embedder) = &self.embedder else { return Err(Arc::from("no embedder is configured")) };
        let mut texts: Vec<String> = {
            let view = run.working.view(layout, context);
            (0..layout.units.len()).map(|unit| view.facts().unit_text(unit)).collect()
        };
        texts.extend(goal.focus.clone());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = guard::embedding(&**embedder, &texts).await.map_err(Arc::<str>::from)?;
        let focus = goal.focus.is_some().then(|| embedded.row(layout.units.len()).map(<[f32]>::to_vec)).flatten();
        let dimensions = embedded.dimensions();
        let units = embedded.values()[..layout.units.len() * dimensions].to_vec();
        Ok(Arc::new(Vectors { units: Embeddings::new(dimensions, units), focus }))
    }

    /// Applies the edits of one plan until the goal is met; returns how many were accepted.
    #[expect(clippy::too_many_arguments, reason = "one call site; a struct would only rename them")]
    async fn apply(
        &self,
        context: &Context<'_>,
        run: &mut Run,
        archive: &mut dyn Archive,
        layout: &Layout,
        strategy: &dyn Strategy,
        plan: Plan,
        goal: &Goal,
        step: &mut Step,
    ) -> Result<u32, Refusal> {
        let mut written = self.write_summaries(context, run, layout, &plan).await?;
        let mut applied = 0;
        let mut first_refusal = None;
        for (number, edit) in plan.edits.into_iter().enumerate() {
            if run.working.total <= goal.target {
                break;
            }
            context.go_on()?;
            let text = written.remove(&number);
            match apply_edit(context, run, archive, layout, strategy.meta().id, edit, text) {
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
}

/// Applies one edit; `written` is the summary that it asked for, where it did.
fn apply_edit(
    context: &Context<'_>,
    run: &mut Run,
    archive: &mut dyn Archive,
    layout: &Layout,
    strategy: &str,
    edit: Edit,
    written: Option<Result<String, Refusal>>,
) -> Result<Tokens, Refusal> {
    match edit {
        Edit::Drop { units, reason } => {
            let positions = run.working.leaving(context, layout, &units)?;
            run.working.drop_messages(context, archive, strategy, &positions, reason)
        }
        Edit::Summarize { units, summary, reason } => {
            let positions = run.working.leaving(context, layout, &units)?;
            let (text, by_strategy) = match summary {
                SummaryText::Ready(text) => (text, Some(strategy.to_owned())),
                SummaryText::Request(_) => (written.unwrap_or(Err(Refusal::Overlaps))?, None),
            };
            if text.trim().is_empty() {
                return Err(Refusal::Summary("the text is empty".to_owned()));
            }
            let messages = run.working.covered(context, &positions);
            let write = |handle: &str| {
                format!("{}\n{text}", wording::summary_heading(context.language, messages, context.told(handle)))
            };
            let replacement = Replacement { origin: Origin::Summary, write: &write };
            let number = run.working.synthetics.len() as u32;
            let saved = run.working.replace_messages(context, archive, strategy, &positions, reason, replacement)?;
            run.summaries.push(Written { number, text, by_strategy });
            Ok(saved)
        }
        Edit::Excerpt { message, block, keep, reason } => {
            let edit = BlockEdit::new(strategy, message, block, reason);
            run.working.excerpt(context, archive, layout, edit, &keep)
        }
        Edit::Trim { message, block, max_chars, reason } => {
            let edit = BlockEdit::new(strategy, message, block, reason);
            run.working.trim(context, archive, layout, edit, max_chars)
        }
    }
}

#[expect(clippy::panic, reason = "only reached with the failure guard switched off, in tests of the tests")]
fn panic_for_mutant(problem: &str) -> Plan {
    panic!("{problem}")
}
