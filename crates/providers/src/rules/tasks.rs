//! The state of the task list, where the agent keeps one.

use epitome_strategy::View;
use epitome_strategy::state::{PlanItem, Progress, plan_items};
use epitome_strategy::tools::ToolKind;

use super::collector::Collector;
use super::lines::{SummarySection, clip};

/// Collects the items of the newest task list that a call wrote: open ones as open, finished ones as done. Returns whether
/// there is a list. Linear in the calls.
pub(crate) fn collect(view: &View<'_>, collector: &mut Collector) -> bool {
    let calls = view.facts().calls().iter().rev().filter(|call| call.kind == ToolKind::Plan);
    let lists = calls.filter_map(|call| Some((call.at.message, plan_items(&call.json()?))));
    let Some((at, items)) = { lists }.find(|(_, items)| !items.is_empty()) else { return false };
    for PlanItem { text, progress } in items {
        let Some(text) = clip(&text, 200) else { continue };
        let (section, value, mark) = match progress {
            Progress::Done => (SummarySection::Actions, 3.0, collector.language.pick("finished: ", "已完成：")),
            Progress::Begun => (SummarySection::Open, 7.5, collector.language.pick("in progress: ", "进行中：")),
            Progress::Open => (SummarySection::Open, 6.5, ""),
        };
        collector.lines.add(section, format!("{mark}{text}"), value, at);
    }
    true
}
