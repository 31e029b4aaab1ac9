//! The budget of a configuration, with the known limits of its model.

use epitome_engine::Budget;
use epitome_strategy::SettingsTable;

use crate::config::Config;
use crate::models::{ModelLimits, Models, UnknownModel};
use crate::source::Source;
use crate::tables::BudgetTable;
use crate::thresholds::NEVER;
use crate::values::Limit;

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
        let BudgetTable { model: _, window: _, reserve_output: _, soft, hard, target } = self.tables.budget.clone();
        let threshold = |limit: Limit| if self.never_compacts { NEVER } else { limit.0 };
        Budget {
            window: self.window(),
            reserve_output: self.reserve_output(),
            tool_definitions: 0,
            soft: threshold(soft),
            hard: threshold(hard),
            target: target.0,
        }
    }

    pub(crate) fn window(&self) -> u32 {
        self.window_of_model().map_or(self.tables.budget.window, |limits| limits.window)
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
            None => ModelLimits { window: self.tables.budget.window, ..ModelLimits::default() },
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
        let default = BudgetTable::default();
        for (key, value) in [("window", default.window), ("reserve_output", default.reserve_output)] {
            if matches!(self.sources.get(&format!("budget.{key}")), Source::File(_) | Source::Given) {
                self.sources.forget(&format!("budget.{key}"));
                let reset = self.tables.budget.set(key, &value.into());
                debug_assert_eq!(reset, Ok(()), "{key}");
            }
        }
    }
}
