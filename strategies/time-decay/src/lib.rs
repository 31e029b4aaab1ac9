#![doc = include_str!("../README.md")]

mod ages;
mod fade;

use epitome_strategy::cut::Focus;
use epitome_strategy::parts::{self, UnitRun};
use epitome_strategy::{
    Edit, Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, SummaryRoom, Tokens, View, settings, strategy, summarize,
    text,
};

use fade::{Fade, Fader};

settings! {
    /// Settings of `time-decay`.
    pub struct Settings {
        /// The age at which half of a message's weight is left, as a share of the session's span.
        half_life_share: f64 = 0.25, in 0.001..=100.0;
        /// The age at which half of a message's weight is left, in minutes of the recorded timestamps; 0 goes by
        /// `half_life_share`.
        half_life_minutes: f64 = 0.0, in 0.0..=10_000_000.0, unit "minutes";
    }
    constants {
        /// The age from which long tool outputs are cut.
        light_after: f64 = 0.25;
        /// The age from which all long texts are cut to a sentence or so.
        medium_after: f64 = 0.5;
        /// The age from which texts are stubs.
        heavy_after: f64 = 1.0;
        /// The age from which messages leave.
        drop_after: f64 = 2.0;
        /// How many times longer or shorter the half-life may become so that the goal is just met; 1 leaves it.
        hasten_up_to: f64 = 8.0;
        /// Tokens that a tool's output keeps when it is lightly cut.
        light_result_tokens: u32 = 200;
        /// Strings in the arguments of calls are cut to this length together with stubs; 0 leaves them alone.
        max_argument_chars: u32 = 200;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 80;
    }
}

/// The factor by which the half-life is shortened at a time, from its longest on, until the goal is met.
const HASTE: f64 = 1.25;
/// How often the last such step is then halved: fading more than the goal needs would be a useless loss.
const HALVINGS: u32 = 4;

strategy! {
    /// The older a text, the less of it stays: see the crate's page.
    pub struct TimeDecay(Settings) {
        id: "time-decay",
        summary: "The older a message, the less of it stays: whole, lightly cut, a sentence, a stub, a summary.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl TimeDecay {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let ages = ages::ages(view, &self.settings);
        let fader = Fader::new(view, &self.settings);
        let (haste, layers) = self.as_fast_as_needed(&fader, goal, &ages.of_units);
        let edits = self.edits(&fader, goal, layers, &ages.of_units, haste);
        let oldest = ages.of_units.first().copied().unwrap_or_default() * haste;
        Ok(Plan::from_edits(
            edits,
            format!(
                "nothing old enough is long enough: the oldest message is {oldest:.1} half-lives old by {}",
                ages.by
            ),
        ))
    }

    fn fade(&self, age: f64) -> Fade {
        let settings = &self.settings;
        // From the strongest on, so that a setting of 0 takes the place of all weaker ones.
        match age {
            age if age >= settings.drop_after => Fade::Dropped,
            age if age >= settings.heavy_after => Fade::Heavy,
            age if age >= settings.medium_after => Fade::Medium,
            age if age >= settings.light_after => Fade::Light,
            _ => Fade::Whole,
        }
    }

    /// Returns the longest half-life with which everything fades enough for the goal, as a share of the one that is
    /// set, and what fades then. So the oldest units do not leave while newer messages could lose a little. Linear in
    /// the view for each of a bounded number of tries.
    fn as_fast_as_needed(&self, fader: &Fader<'_, '_>, goal: &Goal, ages: &[f64]) -> (f64, Vec<Layer>) {
        let most = self.settings.hasten_up_to;
        let is_enough = |layers: &[Layer]| gain(layers) >= u64::from(goal.excess());
        let mut slower = 1.0 / most;
        let mut haste = slower;
        let mut layers = self.layers(fader, ages, haste);
        while !is_enough(&layers) && haste < most {
            slower = haste;
            haste = (haste * HASTE).min(most);
            layers = self.layers(fader, ages, haste);
        }
        for _ in 0..HALVINGS {
            let between = (slower * haste).sqrt();
            let tried = self.layers(fader, ages, between);
            if is_enough(&tried) {
                (haste, layers) = (between, tried);
            } else {
                slower = between;
            }
        }
        (haste, layers)
    }

    /// Returns what the ages mean for each unit, the oldest first.
    fn layers(&self, fader: &Fader<'_, '_>, ages: &[f64], haste: f64) -> Vec<Layer> {
        let view = fader.view;
        let fades: Vec<Fade> = ages.iter().map(|age| self.fade(age * haste)).collect();
        let dropped = (0..fades.len()).filter(|unit| fades[*unit] == Fade::Dropped).map(|unit| unit as u32);
        let mut leaving = parts::runs(view, dropped);
        leaving.retain(|run| run.is_worth_a_summary(view, self.settings.min_summary_tokens));
        let mut leaving = leaving.into_iter().peekable();
        let mut layers = Vec::new();
        let mut unit = 0;
        while unit < fades.len() {
            if let Some(run) = leaving.next_if(|run| run.units.first() == Some(&(unit as u32))) {
                unit = run.units.last().map_or(unit, |last| *last as usize) + 1;
                let saving = u64::from(run.tokens - self.cost());
                layers.push(Layer { what: LayerAction::Leave(run), saving });
                continue;
            }
            // A unit that may not leave, or is not worth a summary, becomes a stub at least.
            let fade = fades[unit].min(Fade::Heavy);
            let saving = fader.saving(unit, fade);
            if saving > 0 {
                layers.push(Layer { what: LayerAction::Fades(unit as u32, fade), saving });
            }
            unit += 1;
        }
        layers
    }

    /// Returns the least tokens that replace units which leave.
    fn cost(&self) -> Tokens {
        SUMMARY_OVERHEAD + self.settings.min_summary_tokens
    }

    /// Returns the edits of `layers`, the oldest first, as far as the goal needs.
    fn edits(&self, fader: &Fader<'_, '_>, goal: &Goal, layers: Vec<Layer>, ages: &[f64], haste: f64) -> Vec<Edit> {
        let excess = u64::from(goal.excess());
        let focus = Focus::new(goal.focus.as_deref());
        let mut saved = 0;
        let mut edits = Vec::new();
        let mut leaving = Vec::new();
        for layer in layers {
            if saved >= excess {
                break;
            }
            match layer.what {
                LayerAction::Fades(unit, fade) => {
                    let age = ages[unit as usize] * haste;
                    edits.extend(fader.edits(unit as usize, fade, age, &focus));
                    saved += layer.saving;
                }
                LayerAction::Leave(run) => {
                    let run = self.as_far_as_needed(fader.view, goal, run, excess - saved);
                    saved += u64::from(run.tokens - self.cost());
                    leaving.push(run);
                }
            }
        }
        let spare = saved.checked_sub(excess).map(|spare| spare.min(u64::from(u32::MAX)) as Tokens);
        let mut all = self.leave(fader.view, goal, leaving, spare, |unit| ages[unit as usize] * haste);
        all.extend(edits);
        all
    }

    /// Returns the oldest units of a run, as many as save `need` tokens with a summary of usual length.
    fn as_far_as_needed(&self, view: &View<'_>, goal: &Goal, run: UnitRun, need: u64) -> UnitRun {
        let mut taken = UnitRun { units: Vec::new(), tokens: 0 };
        for unit in run.units {
            taken.units.push(unit);
            taken.tokens += view.unit_tokens(unit as usize);
            // A tenth of what it replaces is a usual length.
            let usual = (taken.tokens / 10).min(goal.longest_summary()).max(self.cost());
            let is_enough = u64::from(taken.tokens) >= need + u64::from(usual + SUMMARY_OVERHEAD);
            if is_enough && taken.is_worth_a_summary(view, self.settings.min_summary_tokens) {
                break;
            }
        }
        taken
    }

    fn leave(
        &self,
        view: &View<'_>,
        goal: &Goal,
        runs: Vec<UnitRun>,
        spare: Option<Tokens>,
        age: impl Fn(u32) -> f64,
    ) -> Vec<Edit> {
        let limits = SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens };
        let sizes: Vec<Tokens> = runs.iter().map(|run| run.tokens).collect();
        let budgets = limits.allot(goal, &sizes, spare);
        let edit = |(run, max_tokens): (UnitRun, Tokens)| {
            let age = |unit: Option<&u32>| unit.map_or(0.0, |unit| age(*unit));
            let messages: usize = run.units.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum();
            let detail = format!(
                "{}, {} tokens, {:.1} to {:.1} half-lives old",
                text::counted(messages, "message"),
                run.tokens,
                age(run.units.last()),
                age(run.units.first())
            );
            let reason = Reason::new("aged-out", detail).with_score(weight(age(run.units.last())));
            summarize(goal, run.units, max_tokens, reason)
        };
        runs.into_iter().zip(budgets).map(edit).collect()
    }
}

/// What happens to units of one age, and what that saves.
struct Layer {
    what: LayerAction,
    saving: u64,
}

enum LayerAction {
    /// Parts of one unit's texts leave.
    Fades(u32, Fade),
    /// Units leave.
    Leave(UnitRun),
}

fn gain(layers: &[Layer]) -> u64 {
    layers.iter().map(|layer| layer.saving).sum()
}

/// Returns what is left of a message's weight at an age in half-lives: 1 for a new one.
fn weight(age: f64) -> f32 {
    0.5f64.powf(age) as f32
}

#[cfg(test)]
mod tests;
