#![doc = include_str!("../README.md")]

mod event;

use std::cmp::Reverse;

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, RemovalOrder, Role, Summaries, SummaryRoom, Tokens, View, settings, strategy, text,
};

use crate::event::Event;

settings! {
    /// Settings of `key-events`.
    pub struct Settings {
        /// The strategy runs when there are more than this many messages beside the system prompt.
        run_above: u32 = 10, in 0..=1_000_000, unit "messages";
        /// Newest units without an event that stay, or leave last.
        keep_newest: u32 = 5, in 0..=1000, unit "units";
        /// Whether exactly the units without an event leave; without it only as many as the goal needs, and units with
        /// events too, the least kind first, when it needs more.
        strict: bool = false;
        /// A text that decides something is longer than this.
        min_decision_chars: u32 = 100, in 0..=100_000, unit "characters";
    }
    constants {
        /// Share of the target that the newest units take that leave last; not for `strict`.
        tail_share: f64 = 0.2;
        /// Runs of neighbours of fewer tokens get no summary of their own, where there are several runs: they stay, or leave
        /// without one where the goal needs it.
        min_run_tokens: u32 = 500;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

/// The most units in one reason whose events are named.
const MOST_EVIDENCE: usize = 5;

strategy! {
    /// Events stay whole, the units between them are summarised: see the crate's page.
    pub struct KeyEvents(Settings) {
        id: "key-events",
        summary: "Inputs, decisions, errors, fixes and changes stay whole; what lies between is summarised.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl KeyEvents {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let messages = view.messages().filter(|message| message.role != Role::System).count();
        if messages <= self.settings.run_above as usize {
            return Ok(Plan::decline(format!(
                "{}: runs above {}",
                text::counted(messages, "message"),
                self.settings.run_above
            )));
        }
        let events = event::events(view, &self.settings);
        let leaving = self.choose(view, goal, &events);
        if leaving.is_empty() {
            return Ok(Plan::decline("every unit that may leave holds a key event, or is one of the newest"));
        }
        let edits = self.summaries().edits(view, goal, &leaving, |units| reason(view, units, &events));
        Ok(Plan::from_edits(edits, "what may leave is no longer than its summary would be"))
    }

    fn summaries(&self) -> Summaries {
        Summaries {
            room: SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens },
            run_tokens: self.settings.min_run_tokens,
        }
    }

    /// Returns the units that leave, sorted by position.
    fn choose(&self, view: &View<'_>, goal: &Goal, events: &[Option<Event>]) -> Vec<u32> {
        let kind = |unit: u32| events[unit as usize].as_ref().map(|event| event.kind);
        // Units without an event go before all kinds.
        let order = |left: u32, right: u32| kind(left).cmp(&kind(right));
        let Settings { keep_newest, strict, tail_share, .. } = self.settings;
        self.summaries().choose(
            view,
            goal,
            RemovalOrder { keep_newest, strict, tail_share },
            |unit| kind(unit).is_none(),
            order,
        )
    }
}

fn reason(view: &View<'_>, units: &[u32], events: &[Option<Event>]) -> Reason {
    let tokens: Tokens = units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum();
    let mut held: Vec<(u32, &Event)> =
        units.iter().filter_map(|unit| Some((*unit, events[*unit as usize].as_ref()?))).collect();
    // The greatest loss first: it matters most to a reader of the reason.
    held.sort_by_key(|(_, event)| Reverse(event.kind));
    let counted: Vec<String> = held
        .chunk_by(|(_, left), (_, right)| left.kind == right.kind)
        .map(|same| format!("{} × {}", same.len(), same[0].1.kind.as_str()))
        .collect();
    let (code, events) = match counted.is_empty() {
        true => ("no-key-event", "none with a key event".to_owned()),
        false => ("least-key-event", format!("with {}", counted.join(", "))),
    };
    let reason = Reason::new(code, format!("{} units ({tokens} tokens), {events}", units.len()));
    held.iter().take(MOST_EVIDENCE).fold(reason, |reason, (unit, event)| {
        let message = view.message(view.units()[*unit as usize].entries.start);
        reason.with_evidence(format!("{}: {}", message.id, event.what))
    })
}

#[cfg(test)]
mod tests;
