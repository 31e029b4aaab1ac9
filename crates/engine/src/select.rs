//! The selector: which kind of task a chain is chosen by, and which of that kind's chains.
//!
//! Verdicts waver where a session is of several kinds, and each change of the chain changes the look of the context. So
//! the kind of the last compaction stays until several verdicts in a row agree on another.

use std::sync::Arc;

use epitome_session::{Choice, Epoch, Message};
use epitome_strategy::text::counted;
use epitome_strategy::{TaskKind, Verdict};

use crate::request::{Chain, Chains};

/// How the chain is chosen from verdicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelectSettings {
    /// How many verdicts in a row, the newest included, must agree on another kind before it is chosen; with 1 each
    /// verdict decides.
    pub agreeing_verdicts: u32,
    /// A verdict of less confidence counts as `unknown`.
    pub min_confidence: f64,
    /// The number of the compaction of a session, from 1, from which on the chains of [`Chains::later`] are used.
    pub later_from: u32,
}

impl Default for SelectSettings {
    fn default() -> Self {
        Self { agreeing_verdicts: 2, min_confidence: 0.5, later_from: 3 }
    }
}

/// The fewest calls that make a conversation one with tools, where at least every third typed message has one.
const LEAST_CALLS: usize = 3;
const TYPED_PER_CALL: usize = 3;

/// Returns the verdict that decides the chain. A user who talks to an agent that looks up and books things has a
/// conversation; but later calls need ids, dates and amounts of earlier ones word for word, which the chains of plain
/// chats do not keep, so it counts as mixed work. The log is read and not the view, so that a compaction of the calls
/// does not change the answer. Linear in the log, without its texts.
pub(crate) fn route_verdict(verdict: Verdict, log: &[Arc<Message>]) -> Verdict {
    if verdict.kind != TaskKind::Conversation {
        return verdict;
    }
    let calls: usize = log.iter().map(|message| message.calls().count() + message.text_calls.len()).sum();
    let typed = log.iter().filter(|message| message.is_typed()).count();
    if calls < LEAST_CALLS || calls * TYPED_PER_CALL < typed {
        return verdict;
    }
    let mut evidence = verdict.evidence;
    let calls = counted(calls, "tool call");
    evidence.insert(0, format!("a conversation with {calls} in {}", counted(typed, "typed message")));
    Verdict { kind: TaskKind::Mixed, evidence, ..verdict }
}

/// The kind that decides the chain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SelectedKind {
    /// The kind.
    pub(crate) kind: TaskKind,
    /// The detected and the chosen kind, for the journal.
    pub(crate) choice: Choice,
    /// The chosen kind with its evidence, for the report.
    pub(crate) verdict: Verdict,
}

/// A verdict of the journal.
#[derive(Debug, Clone, Copy)]
struct PriorVerdict {
    detected: TaskKind,
    confidence: f64,
    chosen: TaskKind,
}

impl SelectSettings {
    /// Chooses by the verdict and by the kinds that the journal's compactions in force detected and chose.
    pub(crate) fn choose(&self, journal: &[Epoch], mut verdict: Verdict) -> SelectedKind {
        verdict.confidence = in_hundredths(verdict.confidence);
        let earlier: Vec<PriorVerdict> =
            journal.iter().rev().filter(|epoch| !epoch.undone).filter_map(earlier).collect();
        let detected = self.counted(verdict.kind, verdict.confidence);
        let (kind, why) = match earlier.first() {
            // A detector that does not know is not a reason to keep a kind.
            None | Some(PriorVerdict { chosen: TaskKind::Unknown, .. }) => (detected, None),
            Some(last) if last.chosen == detected => (detected, None),
            Some(last) if detected == TaskKind::Unknown => (last.chosen, Some("too little can be told now".to_owned())),
            Some(last) => {
                let agree = |earlier: &&PriorVerdict| self.counted(earlier.detected, earlier.confidence) == detected;
                let agreeing = 1 + earlier.iter().take_while(agree).count() as u32;
                if agreeing >= self.agreeing_verdicts {
                    (detected, None)
                } else {
                    let missing = self.agreeing_verdicts - agreeing;
                    let verdicts = if missing == 1 { "verdict" } else { "verdicts" };
                    let now = format!("{detected} is detected now ({:.2})", verdict.confidence);
                    (last.chosen, Some(format!("{now} and changes the chain after {missing} more such {verdicts}")))
                }
            }
        };
        let choice = Choice {
            detected: verdict.kind.as_str().into(),
            confidence: verdict.confidence,
            chosen: kind.as_str().into(),
        };
        SelectedKind { kind, choice, verdict: self.explain(verdict, kind, why, earlier.first()) }
    }

    /// Returns the kind that a verdict counts as.
    fn counted(&self, kind: TaskKind, confidence: f64) -> TaskKind {
        if confidence >= self.min_confidence { kind } else { TaskKind::Unknown }
    }

    /// Returns the verdict with the chosen kind in place of the detected one, and the reason as the first line of
    /// evidence. The confidence stays that of the detection that the kind comes from.
    fn explain(&self, verdict: Verdict, kind: TaskKind, why: Option<String>, last: Option<&PriorVerdict>) -> Verdict {
        if verdict.kind == kind {
            return verdict;
        }
        let Verdict { kind: detected, confidence, mut evidence } = verdict;
        let (line, confidence) = match (why, last) {
            (Some(why), Some(last)) => {
                let known = if last.detected == kind { last.confidence } else { confidence };
                (format!("kept {kind} from the last compaction: {why}"), known)
            }
            (Some(_) | None, _) => {
                (format!("rather {detected}, but {confidence:.2} is too uncertain to choose by"), confidence)
            }
        };
        evidence.insert(0, line);
        Verdict { kind, confidence, evidence }
    }
}

/// Returns a confidence that can be stored and read again: 0 for one that is not a number.
fn in_hundredths(confidence: f64) -> f64 {
    if confidence.is_nan() { 0.0 } else { (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0 }
}

/// Returns what an epoch detected and chose, where it names known kinds.
fn earlier(epoch: &Epoch) -> Option<PriorVerdict> {
    let choice = epoch.choice.as_ref()?;
    Some(PriorVerdict {
        detected: choice.detected.parse().ok()?,
        confidence: choice.confidence,
        chosen: choice.chosen.parse().ok()?,
    })
}

impl Chains {
    /// Returns the chain of a kind for the compaction `cycle`, counted from 1, and whether it is the later one.
    pub(crate) fn at(&self, kind: TaskKind, cycle: u32, select: &SelectSettings) -> (&Chain, bool) {
        match self.later.get(&kind).filter(|_| cycle >= select.later_from) {
            Some(chain) => (chain, true),
            None => (self.chain(kind), false),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use epitome_session::Trigger;

    use super::*;

    /// One compaction a word: `code.9` is what was detected, with its confidence; `~` in front is an undone one.
    fn choices(verdicts: &str, select: SelectSettings) -> String {
        let mut journal: Vec<Epoch> = Vec::new();
        let mut chosen = Vec::new();
        for word in verdicts.split_whitespace() {
            let (word, undone) = word.strip_prefix('~').map_or((word, false), |word| (word, true));
            let (kind, confidence) = word.split_once('.').unwrap();
            let kind: TaskKind = kind.parse().unwrap();
            let confidence: f64 = format!("0.{confidence}").parse().unwrap();
            let selected = select.choose(&journal, Verdict { kind, confidence, evidence: Vec::new() });
            let mut epoch = Epoch::recorded(Trigger::Manual, [], Vec::new());
            (epoch.choice, epoch.undone) = (Some(selected.choice), undone);
            journal.push(epoch);
            chosen.push(selected.kind.to_string());
            assert_eq!(selected.verdict.kind, selected.kind);
        }
        chosen.join(" ")
    }

    #[test]
    fn the_kind_is_sticky() {
        let check = |verdicts: &str, expect: &str| {
            assert_eq!(choices(verdicts, SelectSettings::default()), expect, "{verdicts}")
        };
        check("code.9", "code");
        check("code.4", "unknown");
        check("code.9 analysis.9", "code code");
        check("code.9 analysis.9 analysis.9", "code code analysis");
        // Verdicts that are not in a row, or not certain enough, do not agree.
        check("code.9 analysis.9 code.9 analysis.9", "code code code code");
        check("code.9 analysis.9 analysis.4 analysis.9", "code code code code");
        check("code.9 analysis.9 mixed.9 mixed.9", "code code code mixed");
        check("code.9 analysis.4", "code code");
        // An unknown kind is given up at once.
        check("code.4 analysis.9", "unknown analysis");
        // What was undone does not count.
        check("code.9 ~analysis.9 analysis.9", "code code code");
        check("~code.9 analysis.9", "code analysis");
    }

    #[test]
    fn conversations_through_tools_count_as_mixed_work() {
        let check = |kind: TaskKind, fixture: &str, expect: TaskKind| {
            let session = epitome_testkit::session(fixture);
            let verdict = Verdict { kind, confidence: 0.9, evidence: vec!["talk".to_owned()] };
            let routed = route_verdict(verdict.clone(), session.log());
            assert_eq!(routed.kind, expect, "{fixture}");
            assert_eq!(routed == verdict, kind == expect, "{routed:?}");
        };
        let times = |part: &str, count: usize| -> String {
            (0..count).map(|number| part.replace("{n}", &number.to_string())).collect()
        };
        let chat = times("user: and then?\nassistant: Then we went.\n", 12);
        let booked = times("user: on Friday\ncall book c{n} {}\nresult c{n}: ok\nassistant: Done.\n", 4);
        check(TaskKind::Conversation, &chat, TaskKind::Conversation);
        check(TaskKind::Conversation, &booked, TaskKind::Mixed);
        check(TaskKind::Conversation, &format!("{booked}{}", times(&chat, 2)), TaskKind::Conversation);
        check(TaskKind::Code, &booked, TaskKind::Code);
        // A picture or two in a long chat make no work of it.
        check(TaskKind::Conversation, &format!("{chat}call draw c {{}}\nresult c: ok\n"), TaskKind::Conversation);
    }

    #[test]
    fn the_stickiness_is_a_setting() {
        let check = |agreeing_verdicts: u32, min_confidence: f64, expect: &str| {
            let select = SelectSettings { agreeing_verdicts, min_confidence, ..SelectSettings::default() };
            assert_eq!(choices("code.9 analysis.6 analysis.6 analysis.6", select), expect);
        };
        check(1, 0.5, "code analysis analysis analysis");
        check(3, 0.5, "code code code analysis");
        check(1, 0.7, "code code code code");
    }

    #[test]
    fn what_was_kept_is_told() {
        let check = |confidence: f64, expect: &str| {
            let mut epoch = Epoch::recorded(Trigger::Manual, [], Vec::new());
            epoch.choice = Some(Choice { detected: "code".into(), confidence: 0.9, chosen: "code".into() });
            let verdict = Verdict { kind: TaskKind::Analysis, confidence, evidence: vec!["all reads".to_owned()] };
            let verdict = SelectSettings::default().choose(&[epoch], verdict).verdict;
            assert_eq!(
                (verdict.kind, verdict.confidence, verdict.evidence[1].as_str()),
                (TaskKind::Code, 0.9, "all reads")
            );
            assert_eq!(verdict.evidence[0], expect);
        };
        check(
            0.8,
            "kept code from the last compaction: analysis is detected now (0.80) and changes the chain after 1 more such \
             verdict",
        );
        check(0.3, "kept code from the last compaction: too little can be told now");
    }

    #[test]
    fn later_chains_start_at_their_cycle() {
        let mut chains = Chains::default();
        chains.later.insert(TaskKind::Code, Chain::default());
        let check = |kind: TaskKind, cycle: u32, expect: bool| {
            assert_eq!(chains.at(kind, cycle, &SelectSettings::default()).1, expect, "{kind} {cycle}");
        };
        check(TaskKind::Code, 2, false);
        check(TaskKind::Code, 3, true);
        check(TaskKind::Analysis, 3, false);
    }
}
