//! The trait that strategies implement.

use std::fmt::Debug;

use serde::Serialize;

use crate::goal::Goal;
use crate::plan::{Plan, PlanError};
use crate::view::View;

/// One idea of how to make a session's context smaller.
///
/// An implementation is pure, synchronous and deterministic: the same view and goal give the same plan. It keeps no
/// state between calls; [`View::facts`] has what several strategies need.
pub trait Strategy: Send + Sync + Debug {
    /// Returns its description.
    fn meta(&self) -> &Meta;

    /// Whether a plan for `goal` uses the vectors of the view's units: embedding them for a strategy that will decline
    /// is a waste of time. The default is what [`Meta::needs`] says. Constant time.
    fn needs_vectors(&self, goal: &Goal) -> bool {
        let _ = goal;
        self.meta().needs.embeddings
    }

    /// Returns the edits that bring `view` nearer to `goal`. The goal is not met: the driver asks no strategy
    /// otherwise.
    ///
    /// Return edits in order of preference. The engine stops applying them when the goal is met, refuses those that
    /// break a guarantee, and asks again while a pass makes progress and the goal is not met. [`Plan::decline`] is a
    /// normal answer. An error is recorded in the report, and the chain continues. Cost: linear in the view.
    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError>;
}

/// The description of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StrategyEntry))]
pub struct Meta {
    /// Its id: kebab-case, the name in chains, configuration and reports, and of its folder.
    pub id: &'static str,
    /// One line for a list.
    pub summary: &'static str,
    /// Its page: Markdown with the headings *What it does, When it helps, What is lost, Example, Settings, Source*.
    #[serde(skip)]
    pub docs: &'static str,
    /// What leaves the context by its edits.
    pub lossiness: Lossiness,
    /// Services that it cannot work without.
    pub needs: RequiredServices,
    /// The version that it first shipped with.
    pub since: &'static str,
}

/// What leaves the context by a strategy's edits (the archive keeps everything).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Lossiness {
    /// Text that the context still has elsewhere.
    Redundant,
    /// Parts of texts.
    Partial,
    /// Whole messages, which may be replaced by a summary.
    Whole,
}

crate::named! { Lossiness { Redundant = "redundant", Partial = "partial", Whole = "whole" } }

/// Services that a strategy cannot work without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RequiredServices {
    /// An embedder.
    pub embeddings: bool,
    /// A model that writes text; without one the rule-based summarizer is used.
    pub model: bool,
}

impl RequiredServices {
    /// No service.
    pub const NONE: Self = Self { embeddings: false, model: false };
}
