//! Fits the lines into the room: chooses, writes, counts, and chooses again with the counts.

use std::ops::Range;

use epitome_reading::{Bounds, Choice, Line, Passage, PassageKind, Source, Worth, answered_lines, records};
use epitome_strategy::session::{Heading, HeadingKind};
use epitome_strategy::transcript;
use epitome_strategy::{BlockRef, Goal, HostChanges, Tokens, View};

use crate::excerpts::{cut_texts, is_cut_in_newest};
use crate::layout::{Layout, UnitTreatment};

/// The share of the room, as a divisor, for the beginnings of answers, which are chosen first.
const ANSWERS: Tokens = 5;
/// The share of the room, as a divisor, for the lines that short replies answer.
const ANSWERED: Tokens = 5;
/// Tokens of a message beside its text, and those that the line feed behind a heading may add.
const MESSAGE_TOKENS: Tokens = 6;
/// How often lines are chosen again after the text is counted: the last time uses all but a hundredth of the room.
const ROUNDS: usize = 4;

/// The kept lines, in the forms that edits take.
#[derive(Debug, Default)]
pub(crate) struct FittedEdits {
    /// Runs of units with the transcript that replaces each, and its number of lines; no text where nothing is kept.
    pub(crate) runs: Vec<(Range<u32>, Option<String>, usize)>,
    /// Texts that are cut in place, with the ranges that stay.
    pub(crate) excerpts: Vec<(BlockRef, Vec<Range<u32>>)>,
    /// Tokens of the transcript of each run of the layout; 0 where none is written.
    run_tokens: Vec<Tokens>,
    /// Tokens of all transcripts, cut texts and notices.
    tokens: Tokens,
    /// Those of the notices.
    notices: Tokens,
    /// Demands of people that are shown, as lines.
    pub(crate) demands: usize,
}

impl FittedEdits {
    /// Whether the texts take no more tokens than a layout leaves for them; notices are written where there is room.
    pub(crate) fn is_within(&self, layout: &Layout) -> bool {
        self.tokens - self.notices <= layout.room
    }
}

/// Chooses the lines so that their text takes no more tokens than the layout leaves. Marks, headings and joined lines
/// make the written text longer or shorter than the sum of its lines, so the room of the choice is corrected by each
/// count. Example with a layout's room of 1,000: lines of 1,000 are chosen, the text has 1,080 tokens, so the next room
/// is 1,000 - 80 = 920; that text has 985, so lines of 920 + 15 = 935 are chosen; 995 is within a hundredth of 1,000
/// and ends the search. The best text within the room is returned. Linear in the lines, a few times.
pub(crate) fn fit(view: &View<'_>, source: &Source, worth: &Worth, layout: &Layout, goal: &Goal) -> FittedEdits {
    let is_open = |passage: usize| {
        let passage = &source.passages[passage];
        match layout.treatment(passage.unit as usize) {
            UnitTreatment::Folds => true,
            UnitTreatment::Message => true,
            UnitTreatment::Newest => is_cut_in_newest(view, passage),
            UnitTreatment::Stays | UnitTreatment::Summary => false,
        }
    };
    let stays = |passage: usize| !is_open(passage);
    let mut choice = Choice::new(source, worth, is_open, stays).with_bounds(bounds(source, layout));
    take_beginnings(source, layout, &mut choice);
    let least = choice.order.len();
    take_newest_words(source, worth, layout, &mut choice);
    take_answers(source, worth, layout, &mut choice, layout.room / ANSWERS);
    take_typed(source, layout, &mut choice);
    let is_shortened = |passage: &Passage| {
        matches!(layout.treatment(passage.unit as usize), UnitTreatment::Folds | UnitTreatment::Message)
    };
    choice.take_in_order(layout.room, source.demands_in_turn(is_shortened));
    take_answered(source, worth, layout, &mut choice, layout.room / ANSWERED);
    let mut room = layout.room;
    let mut best: Option<FittedEdits> = None;
    for _ in 0..ROUNDS {
        if view.is_cancelled() {
            break;
        }
        choice.take_until(room);
        while choice.used > room && choice.order.len() > least && choice.take_back().is_some() {}
        let mut fitted = write(view, source, layout, goal, &choice.kept);
        // Headings and marks of a bounded run are known only once it is written.
        for _ in 0..ROUNDS {
            let over = |tokens: &Tokens| tokens.checked_sub(layout.max_lines).filter(|over| *over > 0);
            let too_long = fitted.run_tokens.iter().enumerate();
            let too_long: Vec<(usize, Tokens)> = too_long.filter_map(|(run, it)| Some((run, over(it)?))).collect();
            if layout.max_lines == 0 || too_long.is_empty() {
                break;
            }
            too_long.into_iter().for_each(|(run, over)| choice.shrink(run, over));
            fitted = write(view, source, layout, goal, &choice.kept);
        }
        let left = layout.room.checked_sub(fitted.tokens);
        room = match left {
            Some(left) => (choice.used + left).max(room),
            None => room.min(choice.used).saturating_sub(fitted.tokens - layout.room),
        };
        let is_full = left.is_some_and(|left| left <= layout.room / 100);
        let is_better = best.as_ref().is_none_or(|best| {
            if best.tokens > layout.room {
                fitted.tokens < best.tokens
            } else {
                left.is_some() && fitted.tokens > best.tokens
            }
        });
        if is_better {
            fitted.demands = shown_demands(source, layout, &choice.kept);
            best = Some(fitted);
        }
        if is_full {
            break;
        }
    }
    best.unwrap_or_default()
}

/// Returns how many lines with demands of people are kept, or stand in a message that stays. Linear in the lines.
fn shown_demands(source: &Source, layout: &Layout, kept: &[bool]) -> usize {
    let stays =
        |line: &Line| layout.treatment(source.passages[line.passage as usize].unit as usize) == UnitTreatment::Stays;
    let lines = source.lines.iter().zip(kept).filter(|(line, _)| line.demand > 0.0);
    lines.filter(|(line, kept)| **kept || stays(line)).count()
}

/// Returns the layout's bounds for the lines of each run of units.
fn bounds(source: &Source, layout: &Layout) -> Bounds {
    if layout.max_lines == 0 {
        return Bounds::default();
    }
    let runs = layout.runs();
    let run = |unit: u32| runs.partition_point(|run| run.end <= unit);
    let of_passage = source.passages.iter().map(|passage| {
        let run = run(passage.unit);
        runs.get(run).is_some_and(|it| it.contains(&passage.unit)).then_some(run as u32)
    });
    Bounds::new(of_passage.collect(), vec![layout.max_lines; runs.len()])
}

fn is_newest_words(layout: &Layout, passage: &Passage) -> bool {
    layout.treatment(passage.unit as usize) == UnitTreatment::Newest
        && matches!(passage.kind, PassageKind::Commentary | PassageKind::Answer)
}

/// Takes the first line of a typed message that is cut, and of the model's last text, whatever the room: a mark in its
/// place would say nothing.
fn take_beginnings(source: &Source, layout: &Layout, choice: &mut Choice<'_>) {
    let mut newest = u32::MAX;
    for passage in &source.passages {
        let is_typed = passage.kind == PassageKind::Typed
            && passage.at.is_some()
            && layout.treatment(passage.unit as usize) == UnitTreatment::Message;
        if (is_typed || is_newest_words(layout, passage)) && newest != passage.unit {
            newest = passage.unit;
            choice.take(passage.lines.start);
        }
    }
}

/// Keeps the model's last text whole where it takes no more than half of the room. Of a longer text, a report that the next
/// message will be about, half of the room goes to its end, which names the next step or asks for it, and to the lines worth
/// most.
fn take_newest_words(source: &Source, worth: &Worth, layout: &Layout, choice: &mut Choice<'_>) {
    let words = || source.passages.iter().filter(|passage| is_newest_words(layout, passage));
    let lines = || words().flat_map(|passage| passage.lines.clone());
    let tokens = |lines: &mut dyn Iterator<Item = u32>| lines.map(|line| worth.tokens[line as usize]).sum::<Tokens>();
    let half = layout.room / 2;
    if tokens(&mut lines()) <= half {
        lines().for_each(|line| choice.take(line));
        return;
    }
    let most = choice.used + half;
    if let Some(last) = lines().last().filter(|last| tokens(&mut std::iter::once(*last)) <= half / 2) {
        choice.take(last);
    }
    let is_of_words =
        |line: u32| is_newest_words(layout, &source.passages[source.lines[line as usize].passage as usize]);
    choice.take_among(most, is_of_words);
}

/// Keeps the beginning of each run's newest answer, as far as `room` allows, the newest runs first: two typed messages
/// with nothing between them read as if the first had not been answered, and its work would be done again. In a chat
/// without tools no work would be repeated, and the words of people come first.
fn take_answers(source: &Source, worth: &Worth, layout: &Layout, choice: &mut Choice<'_>, room: Tokens) {
    if source.actions.is_empty() {
        return;
    }
    let mut passages = source.passages.iter().rev().peekable();
    let before = choice.used;
    for run in layout.runs().into_iter().rev() {
        while passages.next_if(|passage| passage.unit >= run.end).is_some() {}
        let mut answer = None;
        while let Some(passage) = passages.next_if(|passage| passage.unit >= run.start) {
            if answer.is_none() && matches!(passage.kind, PassageKind::Answer) {
                answer = Some(passage.lines.start);
            }
        }
        if let Some(line) = answer.filter(|line| choice.used - before + worth.tokens[*line as usize] <= room) {
            choice.take(line);
        }
    }
}

/// Keeps what short replies answer, as far as `room` allows, the newest first. The lines that they stand under come with
/// them.
fn take_answered(source: &Source, worth: &Worth, layout: &Layout, choice: &mut Choice<'_>, room: Tokens) {
    let is_shown = |passage: &Passage| {
        let unit = passage.unit as usize;
        passage.at.is_some() && (layout.treatment(unit) != UnitTreatment::Folds || layout.keeps_words(unit))
    };
    let before = choice.used;
    for lines in answered_lines(source, worth, is_shown) {
        for line in lines {
            if choice.used - before + worth.tokens[line as usize] <= room && choice.is_open(line) {
                choice.take_with_heads(line);
            }
        }
    }
}

/// Keeps typed text before anything is chosen: short messages whole, of long ones the first line.
fn take_typed(source: &Source, layout: &Layout, choice: &mut Choice<'_>) {
    for (index, passage) in source.passages.iter().enumerate() {
        if passage.kind != PassageKind::Typed || !layout.keeps_words(passage.unit as usize) {
            continue;
        }
        let whole = layout.whole[index];
        for line in passage.lines.clone() {
            if whole || line == passage.lines.start {
                choice.take(line);
            }
        }
    }
}

/// Writes the kept lines and counts the text.
fn write(view: &View<'_>, source: &Source, layout: &Layout, goal: &Goal, kept: &[bool]) -> FittedEdits {
    let mut fitted = FittedEdits::default();
    let mut passages = source.passages.iter().enumerate().peekable();
    let mut is_first = true;
    let summary_heading = heading_tokens(view, HeadingKind::Summary);
    // A run of which nothing is kept leaves a notice, where the host can add one.
    let notice = if goal.host == HostChanges::Any { heading_tokens(view, HeadingKind::Notice) } else { 0 };
    for run in layout.runs() {
        while passages.next_if(|(_, passage)| passage.unit < run.start).is_some() {}
        let mut of_run = Vec::new();
        while let Some((index, _)) = passages.next_if(|(_, passage)| passage.unit < run.end) {
            of_run.push(index);
        }
        let (run, natives) = with_whole_answers_apart(source, run, &mut of_run, kept);
        fitted.tokens += natives.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<Tokens>();
        fitted.run_tokens.push(0);
        if run.is_empty() {
            continue;
        }
        let lines = of_run.iter().flat_map(|passage| source.passages[*passage].lines.clone());
        let lines = lines.filter(|line| kept[*line as usize]).count();
        let records = records(source, of_run.iter().copied(), kept);
        let before: Tokens = run.clone().map(|unit| view.unit_tokens(unit as usize)).sum();
        let mut text = transcript::write(&records);
        if is_first && !text.is_empty() {
            text = format!("{}\n{text}", transcript::legend(goal.language));
        }
        let tokens = match text.is_empty() {
            true if notice < before => notice,
            true => 0,
            false => view.count(&text) + summary_heading,
        };
        if tokens >= before {
            // A text that would be no shorter stays as it is.
            fitted.tokens += before;
            continue;
        }
        is_first &= text.is_empty();
        fitted.tokens += tokens;
        fitted.notices += if text.is_empty() { tokens } else { 0 };
        fitted.run_tokens.pop();
        fitted.run_tokens.push(if text.is_empty() { 0 } else { tokens });
        fitted.runs.push((run, (!text.is_empty()).then_some(text), lines));
    }
    let cut = cut_texts(view, source, layout, kept);
    fitted.tokens += cut.tokens;
    fitted.excerpts = cut.excerpts;
    fitted
}

/// Returns the tokens of a transcript beside its text, or of a notice.
pub(crate) fn heading_tokens(view: &View<'_>, kind: HeadingKind) -> Tokens {
    let language = view.language();
    let handle = view.names_handles().then_some("0a1b2c3d4e5f");
    view.count(&Heading { kind, language, messages: 100, handle }.to_string()) + MESSAGE_TOKENS
}

/// Returns the rest of a run, and its units, without the answers at its end that are kept whole: these stay as they
/// are.
fn with_whole_answers_apart(
    source: &Source,
    mut run: Range<u32>,
    passages: &mut Vec<usize>,
    kept: &[bool],
) -> (Range<u32>, Vec<u32>) {
    let mut natives = Vec::new();
    while !run.is_empty() {
        let last = run.end - 1;
        let of_last: Vec<usize> =
            passages.iter().rev().copied().take_while(|passage| source.passages[*passage].unit == last).collect();
        let is_whole = !of_last.is_empty()
            && of_last.iter().all(|passage| {
                let passage = &source.passages[*passage];
                passage.kind == PassageKind::Answer
                    && passage.at.is_some()
                    && passage.lines.clone().all(|line| kept[line as usize])
            });
        if !is_whole {
            break;
        }
        passages.truncate(passages.len() - of_last.len());
        natives.push(last);
        run.end = last;
    }
    (run, natives)
}
