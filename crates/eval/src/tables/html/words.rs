//! The names and definitions of figures.

use crate::figures::metric::Metric;

/// A figure that the page explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// Its id in the page.
    pub(super) id: &'static str,
    /// Its name in headings of tables.
    pub(super) short: &'static str,
    /// Its name in a text.
    pub(super) name: &'static str,
    /// Its definition.
    pub(super) definition: &'static str,
}

pub(super) const KEPT: Term = Term {
    id: "kept",
    short: "kept",
    name: "Tokens kept",
    definition: "Tokens of the result as a share of those before the cut, by the exact counter, whatever the method itself \
                 counts with; the mean over cases with a result. It lies above the budget's share where system prompt, \
                 newest typed message and last step are more than that: no budget is less than these and 500 tokens.",
};
pub(super) const USABLE: Term = Term {
    id: "usable",
    short: "usable",
    name: "Usable",
    definition: "Cases whose result is within the budget to the token, valid for the provider, and has the system prompt as \
                 it was.",
};
pub(super) const OVER: Term = Term {
    id: "over",
    short: "over",
    name: "Over the budget",
    definition: "Cases whose result has more tokens than the budget. They are scored as they are.",
};
pub(super) const INVALID: Term = Term {
    id: "invalid",
    short: "invalid",
    name: "Invalid",
    definition: "Cases whose result a provider would refuse: a call without its results directly behind it, a result \
                 without its call, a conversation that does not start with the user, empty messages. Checked as the result \
                 stands and as Anthropic is sent it. They are scored as they are.",
};
pub(super) const SYSTEM: Term = Term {
    id: "system",
    short: "system",
    name: "System prompt changed",
    definition: "Cases whose result has another system prompt, by the byte.",
};
pub(super) const FAILED: Term = Term {
    id: "failed",
    short: "failed",
    name: "Failed",
    definition: "Cases without a result: the method failed, took too long, or found no way into the budget. It keeps \
                 nothing there: its figures count as 0.",
};
pub(super) const UNCHANGED: Term = Term {
    id: "unchanged",
    short: "unchanged",
    name: "Unchanged",
    definition: "Tokens in front of the first message that reads differently, as a share of those before the cut: what a \
                 provider's prompt cache still serves.",
};
pub(super) const CACHE_LOSS: Term = Term {
    id: "cache-loss",
    short: "cache loss",
    name: "Cache loss",
    definition: "Tokens already sent, from the first message on that reads differently; the mean over cases with a result.",
};
pub(super) const TIME: Term = Term {
    id: "ms",
    short: "ms",
    name: "Time",
    definition: "The mean time of one compaction in milliseconds, from nothing: counting, planning, applying. Cases run in \
                 parallel, so it is an upper bound; compare methods within one run only.",
};
pub(super) const AVERAGES: Term = Term {
    id: "averages",
    short: "averages",
    name: "Macro and micro averages, intervals",
    definition: "A macro average is the mean of the cases' shares; cases with nothing to keep are left out of a figure. The \
                 micro average, in round brackets, is all that was kept of all that there was. Square brackets hold the \
                 95 % interval of the macro average, from 2,000 resamples of the sessions: what another draw of sessions \
                 like these might give.",
};
pub(super) const DIFFERENCE: Term = Term {
    id: "difference",
    short: "difference",
    name: "Paired difference",
    definition: "The mean over sessions of what a method keeps more than another at the same budget, with its 95 % interval \
                 from 2,000 resamples of the sessions. The number of sessions stands behind the figure's name. Coloured where five \
                 sessions or more have an interval that does not hold zero.",
};

/// The definitions beside those of the metrics.
pub(super) const OTHERS: [Term; 11] =
    [AVERAGES, DIFFERENCE, KEPT, USABLE, OVER, INVALID, SYSTEM, FAILED, UNCHANGED, CACHE_LOSS, TIME];

/// Returns the words for a metric.
pub(super) fn term(metric: Metric) -> Term {
    let (name, definition) = match metric {
        Metric::BoundFrr => (
            "Bound future-reference recall",
            "As future-reference recall (FRR), but the string must survive with its binding: of the up to three words on \
             each side of one of its original occurrences, at least two stand within 120 characters of it in the result. A \
             naked list of strings scores nothing.",
        ),
        Metric::Frr => (
            "Future-reference recall",
            "Needed are the exact strings (paths, file names, identifiers, ids and numbers, URLs, quoted strings) in the \
             arguments of later tool calls that occur before the cut, are not in the system prompt, and that nothing shows \
             again between the cut and their first use. FRR is the share of them still present in the result, without its \
             system prompt.",
        ),
        Metric::Quotes => (
            "Exact quotes",
            "Lines of 12 or more characters that later edits must match, verbatim before the cut: the share that still is.",
        ),
        Metric::Files => ("Files", "Files written or edited before the cut: the share that the result still names."),
        Metric::Rules => (
            "Standing instructions",
            "Sentences of what the user typed with must, never, always, do not, only, make sure, or their Chinese \
             counterparts: the share still verbatim.",
        ),
        Metric::Probes => (
            "Probe recall",
            "Questions that the continuation needed answered: the share whose facts the result shows, near each other. A \
             result that is over its budget or invalid shows nothing. Methods marked +question were told the question.",
        ),
        Metric::Fill => {
            ("Fill", "Tokens of the result over those of its budget, where there was more than the budget.")
        }
        Metric::Exact => ("Exact probes", "Of the probes those about names, numbers and ids, to the letter."),
        Metric::State => ("State probes", "Of the probes those about how something stands: a build, a branch, a plan."),
        Metric::Why => ("Why probes", "Of the probes those about reasons and conclusions."),
        Metric::User => ("User probes", "Of the probes those about what a person demanded or told."),
        Metric::Content => ("Content probes", "Of the probes those about what a document or code that was read says."),
    };
    Term { id: metric.as_str(), short: metric.as_str(), name, definition }
}
