//! The worth of a line: its names and words, its speaker, its age, and whether the model's next words were about it.
//!
//! The factors and their order come from two studies on recorded sessions with questions that the continuation needed
//! answered; `docs/research/transcript.md` has what each is worth. They are round numbers: halving or doubling one changes
//! little.

use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::{Ending, Sign};
use epitome_strategy::{Cue, Cues, View};
use rayon::prelude::*;

use crate::actions::{newest_of_same, signature};
use crate::changes::replaced_lines;
use crate::counts::{Counts, ModelTerms};
use crate::matching;
use crate::passage::{Action, Line, Passage, PassageKind};
use crate::repeats::repeats;
use crate::source::Source;
use crate::terms::LineTerms;

/// The factor for the terms of a line, by who said or printed them.
const TYPED: f32 = 4.0;
const TOLD: f32 = 8.0;
const ANSWER: f32 = 3.0;
const SAID: f32 = 2.0;
const CALL: f32 = 1.5;
const OTHER: f32 = 1.0;
/// What the oldest line's worth loses; the newest line loses nothing, those between in proportion to their place.
const AGE: f32 = 0.9;
/// Tokens of an output at which the extra worth of short outputs has fallen to about a third.
const SHORT_OUTPUT: f32 = 150.0;
/// The extra worth of the newest text that was read, and after how many further reads a third of that is left: the next
/// edit has to match it.
const READ: f32 = 1.0;
const READS: f32 = 5.0;
/// The rest of the worth of an output that a later call asked for again.
const OUTDATED: f32 = 0.8;
/// The extra worth of the newest state of a repository, a build, a test.
const STATE: f32 = 1.4;
/// The rest of the worth of text that a change took out.
const OLD: f32 = 0.5;
/// The worth of a line that reports an outcome: by its terms, and beside them.
const OUTCOME: f32 = 1.6;
const OUTCOME_FLAT: f32 = 1.5;
/// The worth of the line of a call beside its terms; the extra worth of the newest change of a file; the same for the
/// first and last lines of an output, and for what a person said through a tool.
const CALL_FLAT: f32 = 1.0;
const CHANGE_FLAT: f32 = 3.0;
const EDGE_FLAT: f32 = 0.5;
/// The worth of the line of a commit or a pull request beside its terms: twice that of a change, for what is done once must not be done again.
const LASTING_FLAT: f32 = 2.0 * CHANGE_FLAT;
const TOLD_FLAT: f32 = 1_000.0;
/// The worth of text that a change put in: readers who saw only the path of a change could not tell its effect.
const CHANGED: f32 = 1.4;
/// The worth of each task of the newest list beside its terms, and the rest of the worth of a result that only confirms what the
/// tool was given: a list of tasks, or a change. That it worked is marked at the call.
const TASK_FLAT: f32 = 3.0;
const ECHO: f32 = 0.2;
/// The weight of a typed word in the nearness of an output's line, against 1.5 for the model's next words.
const TYPED_TOPIC: f32 = 1.0;
/// The weight of nearness to the topic against the terms themselves.
pub(crate) const TOPIC: f32 = 3.0;
/// What the lines that the next edits may have to match are worth beside all else, as a share of the worth of the lines that are
/// printed by tools and given to them. It does not fade as their words are shown elsewhere: an edit needs the line itself.
/// `docs/research/matching.md` has the figures of an eighth to a half.
const MATCHED: f32 = 0.25;

/// The possible contribution of every line to a transcript.
#[derive(Debug)]
pub struct Worth {
    /// Tokens of each line, its line feed included.
    pub tokens: Vec<u32>,
    /// Whether each line shows what a later change replaced.
    pub(crate) replaced: Vec<bool>,
    /// The terms of all lines, and the range of each line's terms.
    pub(crate) terms: Vec<u32>,
    pub(crate) spans: Vec<(u32, u32)>,
    /// The nearness of each of these terms to the subject of the line's passage: 0 for none.
    pub(crate) topic: Vec<f32>,
    /// The worth of each term.
    pub(crate) of_term: Vec<f32>,
    /// For each line, the factor for its terms, and its worth beside them.
    pub(crate) factor: Vec<f32>,
    pub(crate) flat: Vec<f32>,
}

impl Worth {
    /// Returns the terms of a line.
    pub(crate) fn terms_of(&self, line: u32) -> &[u32] {
        let (start, end) = self.spans[line as usize];
        &self.terms[start as usize..end as usize]
    }

    /// Values the lines. Linear in the lines and their terms.
    pub fn new(view: &View<'_>, source: &Source) -> Self {
        let count = |line: &Line| if view.is_cancelled() { 1 } else { view.count(line.text()) + 1 };
        // Neither half needs the other, and each is linear in the text.
        let ((words, outcomes), (tokens, repeats, (replaced, chances))) = rayon::join(
            || (LineTerms::read(source.lines.iter().map(Line::text), || view.is_cancelled()), outcomes(view, source)),
            || (source.lines.par_iter().map(count).collect(), repeats(source), matched(source)),
        );
        let LineTerms { known, terms, spans } = words;
        let lines = source.lines.len();
        let mut worth = Self {
            tokens,
            replaced,
            topic: vec![0.0; terms.len()],
            terms,
            spans,
            of_term: Vec::new(),
            factor: vec![1.0; lines],
            flat: vec![0.0; lines],
        };
        let counts = Counts::new(source, &worth, &known);
        worth.of_term = (0..known.len()).map(|term| counts.worth_of(term, &known)).collect();
        worth.weigh_passages(source);
        for line in outcomes {
            let passage = &source.passages[source.lines[line as usize].passage as usize];
            worth.factor[line as usize] *= OUTCOME;
            worth.flat[line as usize] += OUTCOME_FLAT * age(passage, source.messages);
        }
        for (line, rest) in repeats {
            worth.factor[line as usize] *= rest;
            worth.flat[line as usize] *= rest;
        }
        worth.relate(source, &counts);
        worth.weigh_matched(chances);
        worth
    }

    /// Returns the worth of a line where no other line shows its terms.
    fn alone(&self, line: u32) -> f32 {
        let (start, end) = self.spans[line as usize];
        let (start, end) = (start as usize, end as usize);
        let named: f32 = self.terms[start..end].iter().map(|term| self.of_term[*term as usize]).sum();
        let near: f32 = self.topic[start..end].iter().sum();
        self.factor[line as usize] * named + self.flat[line as usize] + TOPIC * near
    }

    /// Raises the worth of what the next edits may have to match.
    fn weigh_matched(&mut self, chances: Vec<(u32, f32)>) {
        let all: f32 = chances.iter().map(|(line, _)| self.alone(*line)).sum();
        for (line, chance) in chances {
            self.flat[line as usize] += MATCHED * all * chance;
        }
    }

    fn weigh_passages(&mut self, source: &Source) {
        let newest = newest_of_same(source);
        let mut newer_reads = 0.0_f32;
        for passage in source.passages.iter().rev() {
            let age = age(passage, source.messages);
            let action = passage.action.map(|action| &source.actions[action as usize]);
            let is_newest = action.is_none_or(|action| newest.get(&signature(source, action)) == Some(&action.head));
            let of_kind = match passage.kind {
                PassageKind::Typed => TYPED,
                PassageKind::SpokenThroughTool => TOLD,
                PassageKind::Answer => ANSWER * age,
                PassageKind::Commentary => SAID * age,
                PassageKind::Call => CALL * age,
                PassageKind::Argument | PassageKind::Injected => OTHER * age,
                PassageKind::Output => {
                    let tokens: u32 = passage.lines.clone().map(|line| self.tokens[line as usize]).sum();
                    OTHER * age * (1.0 + (-(tokens as f32) / SHORT_OUTPUT).exp())
                }
            };
            self.set(passage, of_kind, 0.0);
            match (passage.kind, action) {
                (PassageKind::SpokenThroughTool, _) => self.set(passage, of_kind, TOLD_FLAT),
                (PassageKind::Call, Some(action)) => {
                    let edits = matches!(action.kind, ToolKind::Edit | ToolKind::Write);
                    let changes = is_newest && edits && !action.has_failed();
                    self.set(passage, of_kind, CALL_FLAT + if changes { CHANGE_FLAT } else { 0.0 });
                }
                (PassageKind::Argument, action)
                    if source.lines[passage.lines.start as usize].sign == Sign::New
                        && action.is_none_or(|action| !action.has_failed()) =>
                {
                    self.set(passage, of_kind * CHANGED, 0.0);
                }
                (PassageKind::Argument, Some(action)) if action.lists_tasks => self.set(passage, of_kind, TASK_FLAT),
                (PassageKind::Output, Some(action)) if only_confirms(action) => self.set(passage, of_kind * ECHO, 0.0),
                (PassageKind::Output, action) => {
                    let reads = action.is_some_and(|action| action.is_reading());
                    let mut factor = of_kind;
                    factor *= match action {
                        Some(_) if !is_newest => OUTDATED,
                        Some(action) if action.kind == ToolKind::Shell && action.reports_state => STATE,
                        _ => 1.0,
                    };
                    if reads {
                        factor *= 1.0 + READ * (-newer_reads / READS).exp();
                        newer_reads += 1.0;
                    }
                    self.set(passage, factor, 0.0);
                    // What became of a command stands at the ends of what it printed; the ends of a file say nothing.
                    let ends = passage.lines.clone().take(2).chain(passage.lines.clone().rev().take(2));
                    for line in ends.filter(|_| !reads) {
                        self.flat[line as usize] += EDGE_FLAT * age;
                    }
                    let lasting = action.map(|action| action.lasting).unwrap_or_default();
                    for line in
                        passage.lines.clone().filter(|line| lasting.is_reported_by(source.lines[*line as usize].text()))
                    {
                        self.flat[line as usize] += LASTING_FLAT;
                    }
                }
                _ => {}
            }
        }
        for (line, known) in source.lines.iter().enumerate() {
            if known.sign == Sign::Old {
                self.factor[line] *= OLD;
            }
        }
    }

    fn set(&mut self, passage: &Passage, factor: f32, flat: f32) {
        let lines = passage.lines.start as usize..passage.lines.end as usize;
        self.factor[lines.clone()].fill(factor);
        self.flat[lines].fill(flat);
    }

    /// Sets for each term of a tool's output how near it is to the model's words around it, and to what people typed.
    fn relate(&mut self, source: &Source, counts: &Counts) {
        let spoken = ModelTerms::new(source, self);
        let mut near: Vec<(u32, f32)> = vec![(u32::MAX, 0.0); self.of_term.len()];
        for (number, passage) in (0..).zip(&source.passages).filter(|(_, passage)| passage.kind == PassageKind::Output)
        {
            let asked = passage.action.map_or(passage.message, |action| source.actions[action as usize].message);
            for (message, weight) in spoken.terms_around(asked) {
                for term in message {
                    let slot = &mut near[*term as usize];
                    *slot = if slot.0 == number { (number, slot.1.max(weight)) } else { (number, weight) };
                }
            }
            for line in passage.lines.clone() {
                let (start, end) = self.spans[line as usize];
                for at in start as usize..end as usize {
                    let term = self.terms[at] as usize;
                    let said = if near[term].0 == number { near[term].1 } else { 0.0 };
                    let typed = if counts.is_typed(term) { TYPED_TOPIC } else { 0.0 };
                    self.topic[at] = said.max(typed) * counts.rarity(term) * self.factor[line as usize];
                }
            }
        }
    }
}

/// Returns the rest of a worth of 1 at a passage's place in the session.
fn age(passage: &Passage, messages: u32) -> f32 {
    let place = passage.message as f32 / messages.saturating_sub(1).max(1) as f32;
    1.0 - AGE * (1.0 - place)
}

/// Returns for each line whether a later change replaced it, and the chances of those of which none did.
fn matched(source: &Source) -> (Vec<bool>, Vec<(u32, f32)>) {
    let replaced = replaced_lines(source);
    let chances = matching::chances(source, |line| !replaced[line as usize]);
    (replaced, chances)
}

/// Whether the result of a call only says that it was done: a list of tasks, or a change that was made.
fn only_confirms(action: &Action) -> bool {
    let changes = matches!(action.kind, ToolKind::Edit | ToolKind::Write);
    action.lists_tasks || changes && action.ending == Some(Ending::Fine)
}

/// Returns the lines in which tools say how something ended: what they read from files says nothing of it, nor does what only
/// confirms a call.
fn outcomes(view: &View<'_>, source: &Source) -> Vec<u32> {
    let cues = view.lexicon().search(Cues::new([Cue::Error, Cue::Fix, Cue::Completion]));
    let tells = |passage: &&Passage| {
        let action = passage.action.map(|action| &source.actions[action as usize]);
        passage.kind == PassageKind::Output
            && action.is_none_or(|action| !only_confirms(action) && !action.is_reading())
    };
    let lines = source.passages.iter().filter(tells).flat_map(|passage| passage.lines.clone());
    lines.filter(|line| cues.has(source.lines[*line as usize].text())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use epitome_strategy::Language;
    use epitome_testkit::{FakeCounter, session};

    use super::*;
    use crate::summaries::SummaryForm;

    #[test]
    fn what_may_be_matched_has_a_worth_beside_its_words() {
        let edit = "assistant: I edit.\ncall Edit e {\"file_path\":\"src/new.rs\",\"old_string\":\"old\",\"new_string\":\"let further = 4;\"}\nresult e: ok\n";
        let messages: Vec<_> = session(&format!("user: go\n{edit}")).log().to_vec();
        View::read_messages(&messages, &FakeCounter, Language::English, |view| {
            let source = Source::read(view, |_| SummaryForm::default());
            let worth = Worth::new(view, &source);
            let line = source.lines.iter().position(|line| line.text().contains("further")).unwrap();
            assert!(worth.flat[line] > 0.0, "{:?}", worth.flat);
        });
    }

    #[test]
    fn what_only_confirms_and_the_ends_of_files_have_no_worth_of_their_own() {
        let fixture = "user: go\nassistant: I look.\ncall Read r {\"file_path\":\"a.rs\"}\nresult r: use std::fs;\n\
             assistant: I edit.\ncall Edit e {\"file_path\":\"b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"}\nresult e: File updated successfully.\n\
             assistant: I run.\ncall Bash s {\"command\":\"make\"}\nresult s: It was built successfully.\n";
        let messages: Vec<_> = session(fixture).log().to_vec();
        View::read_messages(&messages, &FakeCounter, Language::English, |view| {
            let source = Source::read(view, |_| SummaryForm::default());
            let mut worth = Worth::new(view, &source);
            // Without what edits to come may match.
            worth.flat.fill(0.0);
            worth.weigh_passages(&source);
            let flat = |text: &str| {
                let holds = |line: &Line| line.text().contains(text);
                worth.flat[source.lines.iter().position(holds).unwrap()]
            };
            assert_eq!((flat("use std::fs;"), flat("File updated")), (0.0, 0.0));
            assert!(flat("It was built") > 0.0);
            let told: Vec<&str> =
                outcomes(view, &source).into_iter().map(|it| source.lines[it as usize].text()).collect();
            assert_eq!(told, ["It was built successfully."]);
        });
    }
}
