#![doc = include_str!("../README.md")]

use std::ops::Range;

use epitome_strategy::{
    BlockRef, Configurable, Edit, Goal, Lossiness, Meta, RequiredServices, Plan, PlanError, Reason, Strategy, Tokens, View, cut,
    settings, text,
};

settings! {
    /// Settings of `error-lines`.
    pub struct Settings {
        /// Newest tool outputs that stay as they are.
        keep_outputs: u32 = 6, in 0..=1000, unit "outputs";
        /// Outputs of fewer tokens are left alone.
        min_tokens: u32 = 200, in 1..=1_000_000, unit "tokens";
        /// Lines around an error that stay with it.
        context_lines: u32 = 1, in 0..=100, unit "lines";
    }
}

/// Of old tool outputs the lines that speak of errors stay: see the crate's page.
#[derive(Debug)]
pub struct ErrorLines {
    settings: Settings,
}

impl Configurable for ErrorLines {
    type Settings = Settings;
    const META: Meta = Meta {
        id: "error-lines",
        summary: "Of old tool outputs only the lines that speak of errors stay.",
        docs: include_str!("../README.md"),
        lossiness: Lossiness::Partial,
        needs: RequiredServices::NONE,
        since: "0.1.0",
    };

    fn with_settings(settings: Settings) -> Self {
        Self { settings }
    }
}

impl Strategy for ErrorLines {
    fn meta(&self) -> &Meta {
        &Self::META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let outputs = outputs(view);
        let old = outputs.len().saturating_sub(self.settings.keep_outputs as usize);
        let mut edits = Vec::new();
        let mut saved = 0;
        for at in &outputs[..old] {
            // As light as the goal allows: a strategy gets what is left of the budget, never a share of its own.
            if saved >= goal.excess() {
                break;
            }
            let unit = view.unit_of(at.message as usize);
            let before = view.block_tokens(*at);
            if !view.protection(unit).may_edit() || before < self.settings.min_tokens {
                continue;
            }
            let Some(text) = view.block(*at).and_then(|block| block.excerptable()) else { continue };
            let keep = self.error_lines(text);
            let after = tokens_of(view, text, &keep);
            // A cut that saves little is not worth what it loses.
            if after * 4 > before * 3 {
                continue;
            }
            saved += before - after;
            let detail = format!("{} places with errors, {after} of {before} tokens stay", keep.len());
            let reason = Reason::new("old-output", detail);
            edits.push(Edit::Excerpt { message: at.message, block: at.block, keep, reason });
        }
        Ok(Plan::from_edits(edits, "no old tool output gets shorter by it"))
    }
}

impl ErrorLines {
    /// The lines of `text` that speak of errors, each with the lines around it. Linear in the text.
    fn error_lines(&self, text: &str) -> Vec<Range<u32>> {
        let lines: Vec<Range<usize>> = text::lines(text).collect();
        let around = self.settings.context_lines as usize;
        let mut keep: Vec<Range<u32>> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            if !cut::is_error_line(&text[line.clone()]) {
                continue;
            }
            let first = lines[index.saturating_sub(around)].start as u32;
            let end = lines[(index + around).min(lines.len() - 1)].end as u32;
            match keep.last_mut() {
                Some(last) if first <= last.end => last.end = end,
                _ => keep.push(first..end),
            }
        }
        keep
    }
}

/// What an excerpt costs: the kept ranges, and a mark for every gap.
fn tokens_of(view: &View<'_>, text: &str, keep: &[Range<u32>]) -> Tokens {
    let kept: Tokens = keep.iter().map(|range| view.count(&text[range.start as usize..range.end as usize])).sum();
    kept + view.mark_tokens() + keep.len() as Tokens * view.further_mark_tokens()
}

/// Every tool output of the view, oldest first.
fn outputs(view: &View<'_>) -> Vec<BlockRef> {
    let mut outputs = Vec::new();
    for (message, shown) in view.messages().enumerate() {
        for (block, _) in shown.blocks.iter().enumerate().filter(|(_, block)| block.as_result().is_some()) {
            outputs.push(BlockRef { message: message as u32, block: block as u32 });
        }
    }
    outputs
}

#[cfg(test)]
mod tests;
