//! The trait that strategies implement.

use std::fmt::Debug;

use serde::Serialize;

use crate::goal::Goal;
use crate::plan::{Plan, PlanError};
use crate::view::View;

/// How a session's context is made smaller: one idea.
///
/// An implementation is pure, synchronous and deterministic: the same view and goal give the same plan. It keeps no
/// state between calls; what several strategies need is in [`View::facts`].
pub trait Strategy: Send + Sync + Debug {
    /// What it is.
    fn meta(&self) -> &Meta;

    /// Whether a plan for `goal` takes the vectors of the view's units: what is embedded for a strategy that will decline
    /// anyway is time for nothing. By default what [`Meta::needs`] says. Constant time.
    fn needs_vectors(&self, goal: &Goal) -> bool {
        let _ = goal;
        self.meta().needs.embeddings
    }

    /// What to do to `view` to get nearer to `goal`.
    ///
    /// Return edits in order of preference; the engine stops applying them when the goal is met, refuses those that break
    /// a guarantee, and asks again while a pass makes progress and the goal is not met. [`Plan::decline`] is a normal
    /// answer. An error is recorded in the report and the chain goes on. Cost: linear in the view.
    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError>;
}

/// What a strategy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Meta {
    /// Its id: kebab-case, the name in chains, configuration and reports, and of its folder.
    pub id: &'static str,
    /// One line for a list.
    pub summary: &'static str,
    /// Its page: Markdown with the headings *What it does, When it helps, What is lost, Example, Settings, Source*.
    #[serde(skip)]
    pub docs: &'static str,
    /// What its edits lose.
    pub lossiness: Lossiness,
    /// Services that it cannot work without.
    pub needs: RequiredServices,
    /// The version that it first shipped with.
    pub since: &'static str,
}

/// What a strategy's edits lose from the context (nothing is ever lost from the archive).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lossiness {
    /// What leaves stands elsewhere in the context.
    Redundant,
    /// Parts of texts leave.
    Partial,
    /// Whole messages leave, or are replaced by a summary.
    Whole,
}

/// Services that a strategy cannot work without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RequiredServices {
    /// An embedder.
    pub embeddings: bool,
    /// A model that writes text; without one the rule summary serves.
    pub model: bool,
}

impl RequiredServices {
    /// None of them.
    pub const NONE: Self = Self { embeddings: false, model: false };
}
