//! The budget of a configuration, with the known limits of its model.

use epitome_engine::{Budget, Threshold};
use epitome_strategy::SettingsTable;

use crate::config::Config;
use crate::models::{ModelLimits, Models, UnknownModel};
use crate::source::Source;
use crate::tables::BudgetTable;
use crate::thresholds::{SOFT_OF_HARD, SOFT_OF_TARGET, TARGET_OF_SOFT, scale};

impl Config {
    /// The known models: the table that ships, and `[models]` over it.
    pub fn models(&self) -> Models {
        Models::with(&self.tables.models)
    }

    /// The known limits of the model that `[budget] model` names, where it names one. Errors where the model is
    /// unknown, and the window is not set beside it either.
    pub(crate) fn model_limits(&self) -> Result<Option<ModelLimits>, UnknownModel> {
        if self.tables.budget.model.is_empty() {
            return Ok(None);
        }
        match self.models().limits(&self.tables.budget.model) {
            Err(_) if !self.model_decides("budget.window") => Ok(None),
            known => known.map(Some),
        }
    }

    /// The budget; tool definitions are the session's and not counted in yet.
    pub fn budget(&self) -> Budget {
        let [soft, hard, target] = self.thresholds();
        let threshold = |threshold: Threshold| if self.never_compacts { Threshold::NEVER } else { threshold };
        Budget {
            window: self.window(),
            reserve_output: self.reserve_output(),
            tool_definitions: 0,
            soft: threshold(soft),
            hard: threshold(hard),
            target,
        }
    }

    /// The soft threshold, the hard one and the target. Where two do not go together, the one of the earlier layer gives way: a
    /// default follows a setting, a preset follows the file. Two of one layer are left for the check to refuse.
    pub(crate) fn thresholds(&self) -> [Threshold; 3] {
        let BudgetTable { soft, hard, target, .. } = &self.tables.budget;
        let (mut soft, mut hard, mut target) = (soft.0, hard.0, target.0);
        let usable =
            Budget { window: self.window(), reserve_output: self.reserve_output(), ..Budget::default() }.usable();
        let layer = |key: &str| self.sources.get(key).layer();
        let [mut of_soft, mut of_hard, of_target] = ["budget.soft", "budget.hard", "budget.target"].map(layer);
        let is_reached = |low: Threshold, high: Threshold| low.tokens(usable) >= high.tokens(usable);
        if soft.tokens(usable) > hard.tokens(usable) && of_soft < of_hard {
            (soft, of_soft) = (scale(hard, SOFT_OF_HARD, usable), of_hard);
        } else if soft.tokens(usable) > hard.tokens(usable) && of_hard < of_soft {
            (hard, of_hard) = (soft, of_soft);
        }
        if is_reached(target, soft) && of_target < of_soft {
            target = scale(soft, TARGET_OF_SOFT, usable);
        } else if is_reached(target, hard) && of_hard < of_target {
            hard = Threshold::Share(1.0);
        }
        let least = scale(target, SOFT_OF_TARGET, usable);
        if of_soft < of_target && soft.tokens(usable) < least.tokens(usable) {
            soft = if is_reached(least, hard) { hard } else { least };
        }
        [soft, hard, target]
    }

    /// The window. The default grows with thresholds in tokens and with a reserve that it has no room for.
    pub(crate) fn window(&self) -> u32 {
        let BudgetTable { window, reserve_output, soft, hard, target, .. } = self.tables.budget;
        if let Some(limits) = self.window_of_model() {
            return limits.window;
        }
        if self.sources.get("budget.window") != Source::Default {
            return window;
        }
        let in_tokens = |threshold: Threshold| match threshold {
            Threshold::Tokens(tokens) => tokens,
            Threshold::Share(_) => 0,
        };
        let highest = [soft.0, hard.0, target.0].into_iter().map(in_tokens).max().unwrap_or(0);
        window.max(highest.saturating_add(reserve_output)).max(reserve_output.saturating_mul(2))
    }

    /// The reserve that file, preset or program set.
    pub(crate) fn configured_reserve(&self) -> Option<u32> {
        (self.sources.get("budget.reserve_output") != Source::Default).then_some(self.tables.budget.reserve_output)
    }

    /// The reserve for the answer. The default is made for large windows: in a small one it is a quarter.
    pub(crate) fn reserve_output(&self) -> u32 {
        let configured = self.configured_reserve();
        let limits = match self.window_of_model() {
            // A reserve that the file sets overrides the model's table.
            Some(limits) if self.model_decides("budget.reserve_output") => limits,
            Some(limits) => ModelLimits { reserve_output: None, ..limits },
            None => ModelLimits { window: self.window(), ..ModelLimits::default() },
        };
        limits.reserve(configured)
    }

    /// The known limits of the model, where these decide the window.
    pub(crate) fn window_of_model(&self) -> Option<ModelLimits> {
        let limits = self.model_limits().ok().flatten()?;
        self.model_decides("budget.window").then_some(limits)
    }

    /// Whether the known limits of the model override the value of a key: the later layer wins, and within one layer
    /// the key.
    fn model_decides(&self, key: &str) -> bool {
        self.sources.get(key).layer() < self.sources.get("budget.model").layer()
    }

    /// Takes back what the file, or a host's table, says of window and reserve.
    pub(crate) fn forget_window(&mut self) {
        for key in ["window", "reserve_output"] {
            if matches!(self.sources.get(&format!("budget.{key}")), Source::File(_) | Source::Given) {
                self.reset(key);
            }
        }
    }

    /// Gives a key of `[budget]` its default again.
    pub(crate) fn reset(&mut self, key: &str) {
        self.sources.forget(&format!("budget.{key}"));
        let reset = BudgetTable::default().get(key).map(|value| self.tables.budget.set(key, &value));
        debug_assert_eq!(reset, Some(Ok(())), "{key}");
    }
}
