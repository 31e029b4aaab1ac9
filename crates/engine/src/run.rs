//! One run of a chain: asks for plans and applies their edits until the target is met.

use std::borrow::Cow;
use std::sync::Arc;

use epitome_session::{Origin, Position, Unit};
use epitome_strategy::text::counted;
use epitome_strategy::{
    Archive, Edit, Embeddings, Goal, HostChanges, Lossiness, Plan, Strategy, SummaryText, Tokens, Vectors,
};

use crate::by_hand::BY_HAND;
use crate::context::Context;
use crate::editor::{BlockEdit, Editor, Replacement};
use crate::floor::{FLOOR, MARK};
use crate::gaps::NOTICES;
use crate::guard::{self, EditRefusal, Guard, HostChange};
use crate::instructions::INSTRUCTIONS;
use crate::media_limits::PICTURES;
use crate::memories::MEMORIES;
use crate::minimum::quick_minimum;
use crate::observe::Progress;
use crate::oversize::OVERSIZE;
use crate::refill::{BeforeChain, REFILL};
use crate::report::{Step, SummarizerReport};
use crate::request::Chain;
use crate::stages::{REPAIR, THINKING};
use crate::state::{STATE, StateLines};
use crate::summaries::{wanted_summaries, write_summaries};
use crate::wording;
use crate::working::{Layout, WorkingView};
use epitome_strategy::cut::beginnings;

/// The most passes of one strategy in one compaction: several make tiers possible, and a bound guarantees an end.
const MOST_PASSES: usize = 8;

/// The result of a chain's run.
pub(crate) struct ChainRun {
    pub working: WorkingView,
    pub steps: Vec<Step>,
    pub summaries: Vec<WrittenSummary>,
    pub summarizer: SummarizerReport,
    /// Why each strategy of the chain declined, where all did that were asked.
    pub declined: Option<String>,
}

/// A summary that was written.
pub(crate) struct WrittenSummary {
    /// Its number among the additions of the compaction.
    pub number: u32,
    pub text: String,
    /// The strategy, where it supplied the text itself and no summarizer was asked.
    pub by_strategy: Option<String>,
}

/// Runs strategies and the engine's stages over a view, and reports each step.
pub(crate) struct ChainRunner<'r> {
    editor: Editor<'r>,
    steps: Vec<Step>,
    summaries: Vec<WrittenSummary>,
    summarizer: SummarizerReport,
    declined: Option<String>,
    /// The place of the first message that was never sent.
    first_unsent: Option<Position>,
}

impl<'r> ChainRunner<'r> {
    pub(crate) fn new(start: WorkingView, context: &'r Context<'r>, archive: &'r mut dyn Archive) -> Self {
        let sent = start.entries().len().saturating_sub(context.unsent_messages as usize);
        let first_unsent = start.entries().get(sent).map(|entry| entry.position);
        let kind = context.summarizer.map_or("off", |summarizer| summarizer.kind()).to_owned();
        let summarizer = SummarizerReport { kind, ..SummarizerReport::default() };
        let editor = Editor::new(start, context, archive);
        Self { editor, steps: Vec::new(), summaries: Vec::new(), summarizer, declined: None, first_unsent }
    }

    /// The result so far.
    pub(crate) fn into_run(self) -> ChainRun {
        let Self { editor, steps, summaries, summarizer, declined, .. } = self;
        ChainRun { working: editor.working, steps, summaries, summarizer, declined }
    }

    /// Runs the repair, the chain, the floor and the notices.
    pub(crate) async fn run(mut self, chain: &Chain, mut goal: Goal) -> Result<ChainRun, EditRefusal> {
        self.stage(REPAIR, Editor::repair)?;
        // Removing an orphaned result can merge its neighbours into one step, which stays or leaves as one.
        let editor = &mut self.editor;
        editor.working.keep_recent(editor.context.pins, goal.target);
        self.stage(BY_HAND, Editor::drop_by_hand)?;
        self.stage(PICTURES, Editor::evict_excess_media)?;
        self.stage(THINKING, Editor::restore_validity)?;
        // The strategies leave room for the memories and the state.
        let (before, target) = (self.editor.working.total, goal.target);
        let state = match self.editor.context.tells_state {
            true => StateLines::read(self.editor.context, target),
            false => StateLines::default(),
        };
        goal.target = goal.target.saturating_sub(self.editor.memory_tokens(target) + state.tokens).max(1);
        self.stage(INSTRUCTIONS, |editor| editor.fit_instructions(goal.target))?;
        if !self.set_reachable_target(&mut goal)? {
            return Ok(self.into_run());
        }
        self.stage(OVERSIZE, |editor| editor.evict_oversize(goal.target))?;
        let repaired = self.editor.working.clone();
        let stages = self.steps.len();
        for strategy in &chain.0 {
            goal.current = self.editor.working.total;
            if goal.is_met() {
                break;
            }
            self.ask(&**strategy, &mut goal).await?;
        }
        self.declined = all_declined(&self.steps[stages..]);
        if self.editor.working.total > goal.target {
            self.stage(FLOOR, |editor| editor.make_room(goal.target))?;
        }
        if self.editor.working.total > goal.limit {
            // The least is known to fit: everything that may leave goes.
            self.roll_back_to(repaired.clone(), stages);
            self.stage(FLOOR, |editor| editor.make_most_room(goal.limit))?;
        }
        let refills = self.editor.context.refill && self.editor.context.guards.on(Guard::Refill);
        if refills && self.editor.working.total <= goal.target {
            self.refill(&BeforeChain::new(&repaired, chain), goal.target)?;
        }
        let most = if self.editor.working.total > goal.target { goal.limit } else { goal.target };
        if self.editor.context.guards.on(Guard::Notices) {
            self.stage(NOTICES, |editor| {
                editor.mark_gaps(most)?;
                // Without a text the state has no place: its room is that of the notices.
                if editor.own_texts().is_empty() {
                    editor.mark_gaps((most + state.tokens).min(goal.limit))
                } else {
                    Ok(())
                }
            })?;
        }
        let most = most.max(target.min(goal.limit)).min(before.saturating_sub(1));
        if !self.editor.context.memories.is_empty() {
            self.stage(MEMORIES, |editor| editor.append_memories(most))?;
        }
        if state.tokens > 0 {
            self.stage(STATE, |editor| {
                editor.append_state(&state, most);
                Ok(())
            })?;
        }
        if state.tokens > 0 || !self.editor.context.memories.is_empty() {
            if self.editor.context.guards.on(Guard::Notices) {
                // What they took less than was left for them is room for notices that had none.
                self.stage(NOTICES, |editor| editor.mark_gaps(most))?;
            }
            self.read_texts_again();
        }
        Ok(self.into_run())
    }

    /// Drops what a person drops, makes the result valid and says what left: for a session that fits, where nothing else is
    /// to be done. Nothing is changed where nothing could be dropped.
    pub(crate) fn run_by_hand(mut self, goal: &Goal) -> Result<ChainRun, EditRefusal> {
        let before = self.editor.working.clone();
        self.stage(REPAIR, Editor::repair)?;
        self.stage(BY_HAND, Editor::drop_by_hand)?;
        if self.editor.working.edits.iter().all(|edit| &*edit.strategy != BY_HAND) {
            self.editor.working = before;
            self.steps.clear();
            return Ok(self.into_run());
        }
        if self.editor.context.guards.on(Guard::Notices) {
            self.stage(NOTICES, |editor| editor.mark_gaps(goal.limit))?;
        }
        Ok(self.into_run())
    }

    /// Gives back what the room up to `most` tokens holds, and reports how many units and texts that are.
    fn refill(&mut self, before: &BeforeChain<'_>, most: Tokens) -> Result<(), EditRefusal> {
        let clock = self.editor.context.clock;
        let started = clock.now();
        let mut step = new_step(REFILL, self.editor.working.total);
        step.edits = self.editor.refill(before, most)?;
        step.tokens_after = self.editor.working.total;
        step.duration_us = clock.microseconds_since(started);
        if step.edits > 0 {
            self.editor.context.tell(Progress::Step(&step));
            self.steps.push(step);
        }
        Ok(())
    }

    /// Reads what was written behind the texts of the compaction.
    fn read_texts_again(&mut self) {
        for written in &mut self.summaries {
            let text = self.editor.working.synthetics.get(written.number as usize).map(|own| own.message.plain_text());
            if let Some((_, body)) = text.as_deref().and_then(|text| text.split_once('\n')) {
                written.text = body.to_owned();
            }
        }
    }

    /// Sets a target that can be reached. Returns whether the limit can be: if not, no strategy is asked.
    ///
    /// A target below the least that must stay is raised to the least and room for a summary beside it: a quarter of
    /// the target, or half of the room above the least where that is less. Going down to the least would lose
    /// everything and still miss the target. Example: with a limit of 1,000 tokens, a target of 400 and a least of 600,
    /// the new target is 600 + min(400 / 4, (1,000 - 600) / 2) = 700.
    fn set_reachable_target(&mut self, goal: &mut Goal) -> Result<bool, EditRefusal> {
        let editor = &mut self.editor;
        // The bound supposes that everything which may leave does: not every host can let it.
        let is_any = editor.working.host == HostChanges::Any;
        if is_any && quick_minimum(&editor.working, &editor.layout()) <= goal.target {
            return Ok(true);
        }
        let mut least = editor.minimum_view(goal.limit)?;
        if least.total > goal.target && editor.working.unprotect_recent() {
            // The newest messages yield to the budget.
            least = editor.minimum_view(goal.limit)?;
        }
        if least.total > goal.limit {
            least = self.yield_protected(least, goal.limit)?;
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

    /// Makes room where what must stay, `least`, is over the limit: instructions yield, and where that is not enough, messages
    /// are cut; with these instructions stay after all, if the cut makes room for them too. Returns the least that can be reached then.
    fn yield_protected(&mut self, mut least: WorkingView, limit: Tokens) -> Result<WorkingView, EditRefusal> {
        let editor = &mut self.editor;
        let with_instructions = editor.working.clone();
        if editor.working.unprotect_instructions() {
            least = editor.minimum_view(limit)?;
        }
        if least.total <= limit || editor.check_host(HostChange::Text).is_err() {
            return Ok(least);
        }
        let without = std::mem::replace(&mut editor.working, with_instructions);
        let mut cut;
        (least, cut) = editor.fitting_cut(limit)?;
        if cut.is_none() {
            editor.working = without;
            (least, cut) = editor.fitting_cut(limit)?;
        }
        if let Some(cut) = cut {
            self.stage(FLOOR, |editor| editor.cut_messages(cut))?;
        }
        Ok(least)
    }

    /// Asks one strategy until the goal is met or it makes no more progress.
    pub(crate) async fn ask(&mut self, strategy: &dyn Strategy, goal: &mut Goal) -> Result<(), EditRefusal> {
        let context = self.editor.context;
        let started = context.clock.now();
        let first_edit = self.editor.working.edits.len();
        let mut step = new_step(strategy.meta().id, self.editor.working.total);
        context.check_cancelled()?;
        context.tell(Progress::Strategy { id: strategy.meta().id, tokens: self.editor.working.total });
        let passes = if let Some(reason) = self.reason_to_skip(strategy, goal) {
            step.declined = Some(reason);
            0
        } else {
            MOST_PASSES
        };
        for _ in 0..passes {
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
            context.check_cancelled()?;
            let planned = {
                let mut view = self.editor.view(&layout);
                if let Some(vectors) = vectors {
                    view = view.with_vectors(vectors);
                }
                guard::failure(context.guards, strategy, &view, goal)
            };
            // The answer of an interrupted strategy is not used.
            context.check_cancelled()?;
            let plan = match planned {
                Ok(plan) => plan,
                Err(error) => {
                    step.declined = Some(format!("failed: {error}"));
                    break;
                }
            };
            let applied = self.apply(&layout, plan, goal, &mut step).await?;
            self.editor.restore_validity()?;
            if applied == 0 || self.editor.working.total >= goal.current {
                break;
            }
        }
        if step.edits > 0 {
            step.declined = None;
        }
        step.duration_us = context.clock.microseconds_since(started);
        self.push_step(step, first_edit);
        Ok(())
    }

    /// Returns why a strategy is not asked: it shortens texts, and the host takes no edited message.
    fn reason_to_skip(&self, strategy: &dyn Strategy, goal: &Goal) -> Option<String> {
        let cuts = strategy.meta().lossiness == Lossiness::Partial && !goal.host.takes_texts();
        cuts.then(|| format!("it shortens texts, and the host {}", goal.host.describe()))
    }

    /// Returns the vectors of the view's units and of the current question, or why there are none. Linear in the view,
    /// but for vectors that the embedder keeps from earlier calls.
    ///
    /// Takes `&mut self` so that the future can be sent to another thread: an archive cannot be shared between two.
    async fn vectors(&mut self, layout: &Layout, goal: &Goal) -> Result<Arc<Vectors>, Arc<str>> {
        let Some(embedder) = self.editor.context.embedder else { return Err(Arc::from("no embedder is configured")) };
        let mut texts: Vec<String> = {
            let view = self.editor.view(layout);
            (0..layout.units.len()).map(|unit| view.facts().unit_text(unit)).collect()
        };
        texts.extend(goal.focus.clone());
        let context = self.editor.context;
        let texts: Vec<Cow<'_, str>> = texts.iter().map(|text| context.redacted(text)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let embedded = guard::embedding(embedder, &texts).await.map_err(Arc::<str>::from)?;
        let focus = goal.focus.is_some().then(|| embedded.row(layout.units.len()).map(<[f32]>::to_vec)).flatten();
        let dimensions = embedded.dimensions();
        let units = embedded.values()[..layout.units.len() * dimensions].to_vec();
        Ok(Arc::new(Vectors { units: Embeddings::new(dimensions, units), focus }))
    }

    /// Applies the edits of the plan of a `step` until the goal is met; returns how many were accepted.
    async fn apply(&mut self, layout: &Layout, plan: Plan, goal: &Goal, step: &mut Step) -> Result<u32, EditRefusal> {
        let context = self.editor.context;
        let wanted = wanted_summaries(&self.editor, layout, &plan);
        let mut written = write_summaries(context, wanted, &mut self.summarizer).await?;
        let mut applied = 0;
        let mut first_refusal = None;
        for (number, edit) in plan.edits.into_iter().enumerate() {
            if self.editor.working.total <= goal.target {
                break;
            }
            context.check_cancelled()?;
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

    /// Applies one edit; `written` is the summary that it requested, if any.
    fn apply_edit(
        &mut self,
        layout: &Layout,
        strategy: &str,
        edit: Edit,
        written: Option<Result<String, EditRefusal>>,
    ) -> Result<Tokens, EditRefusal> {
        let editor = &mut self.editor;
        match edit {
            Edit::Drop { units, reason } => {
                let positions = editor.leaving(layout, &units)?;
                editor.drop_for_gain(strategy, &positions, reason)
            }
            Edit::Summarize { units, summary, reason } => {
                let positions = editor.leaving(layout, &units)?;
                let (text, by_strategy) = match summary {
                    SummaryText::Ready(text) => (text, Some(strategy.to_owned())),
                    SummaryText::Request(request) => {
                        let text = written.unwrap_or(Err(EditRefusal::Overlaps))?;
                        (bounded(editor.context, text, request.max_tokens), None)
                    }
                };
                if text.trim().is_empty() {
                    return Err(EditRefusal::Summary("the text is empty".to_owned()));
                }
                let (context, messages) = (editor.context, editor.covered_messages(&positions));
                let write = |handle: &str| {
                    format!(
                        "{}\n{text}",
                        wording::summary_heading(context.language, messages, context.usable_handle(handle))
                    )
                };
                let replacement = Replacement { origin: Origin::Summary, write: &write };
                let number = editor.working.synthetics.len() as u32;
                let saved = editor.replace_messages(strategy, &positions, reason, replacement)?;
                let text = context.redacted(&text).into_owned();
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

    /// Runs a stage of the engine, and reports it where it changed something.
    fn stage(
        &mut self,
        name: &str,
        stage: impl FnOnce(&mut Editor<'r>) -> Result<(), EditRefusal>,
    ) -> Result<(), EditRefusal> {
        let clock = self.editor.context.clock;
        let started = clock.now();
        let working = &self.editor.working;
        let mut step = new_step(name, working.total);
        let (first_edit, synthetics) = (working.edits.len(), working.synthetics.len());
        stage(&mut self.editor)?;
        let working = &self.editor.working;
        step.edits = (working.edits.len() - first_edit) as u32;
        step.duration_us = clock.microseconds_since(started);
        let is_rewritten = name == MEMORIES && working.total != step.tokens_before;
        if step.edits > 0 || working.synthetics.len() > synthetics || name == FLOOR || is_rewritten {
            self.push_step(step, first_edit);
        }
        Ok(())
    }

    /// Restores `before`: the work of the steps behind the first `stages` is undone, and their reports state it.
    fn roll_back_to(&mut self, before: WorkingView, stages: usize) {
        self.editor.working = before;
        self.summaries.clear();
        for step in self.steps.iter_mut().skip(stages).filter(|step| step.edits > 0) {
            step.declined = Some(format!(
                "taken back: after its {} the limit was out of reach",
                counted(step.edits as usize, "edit")
            ));
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

/// Returns a summary, cut to the beginnings of its sections where a summarizer wrote more tokens than it was to.
fn bounded(context: &Context<'_>, text: String, most: Tokens) -> String {
    let tokens = context.counter.count(&text);
    let mut keep = most;
    while tokens > most && keep > 0 {
        let mut shorter = String::new();
        let mut end = 0;
        for range in beginnings(&text, keep, tokens, MARK).into_iter().chain([text.len() as u32..text.len() as u32]) {
            if range.start > end {
                let left_out = context.counter.count(&text[end as usize..range.start as usize]);
                shorter += &wording::gap_mark(context.language, &text, end..range.start, left_out, None);
            }
            shorter += &text[range.start as usize..range.end as usize];
            end = range.end;
        }
        if context.counter.count(&shorter) <= most {
            return shorter;
        }
        keep = keep * 3 / 4;
    }
    text
}

/// Returns why the strategies of `steps` changed nothing; `None` where one did, or none was asked.
fn all_declined(steps: &[Step]) -> Option<String> {
    if steps.is_empty() || steps.iter().any(|step| step.edits + step.refused > 0) {
        return None;
    }
    let why = |step: &Step| format!("{}: {}", step.strategy, step.declined.as_deref().unwrap_or("nothing to do"));
    Some(steps.iter().map(why).collect::<Vec<_>>().join("; "))
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
