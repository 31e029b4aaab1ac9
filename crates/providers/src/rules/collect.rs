//! Walks the messages and collects lines.

use std::collections::HashSet;

use epitome_strategy::cut::Focus;
use epitome_strategy::{Content, Message, Origin, Role, SummaryTask, UnitKind, View};

use super::collector::Collector;
use super::earlier;
use super::languages;
use super::lines::{Line, Lines, SummarySection, clip, columns};
use super::speech::{conversational, exactness, is_finding, is_introduction, is_standing, sentences, typed_sentences};
use super::{tasks, work};

/// The most columns of a quoted sentence.
const QUOTE: usize = 300;
/// Sentences of one typed message that are looked at; a pasted document has more.
const MOST_TYPED: usize = 40;

/// Every line that a summary of `task` could have.
pub(crate) fn lines(task: &SummaryTask<'_>) -> Vec<Line> {
    View::read_messages(task.messages, task.counter, task.language, |view| {
        let earlier = earlier::read(task.messages);
        let mut collector = Collector {
            lines: Lines::new(Focus::new(task.request.focus.as_deref()), earlier.lines.len()),
            language: task.language,
            count: view.len().max(1) as f32,
            is_conversation: view.facts().calls().is_empty(),
            earlier,
        };
        // Lines of files and commands first: of two equal texts the first one stays.
        work::collect(view, &mut collector);
        let has_tasks = tasks::collect(view, &mut collector);
        collector.speech(view);
        collector.carry_over(has_tasks);
        collector.context(view);
        collector.lines.into_vec()
    })
}

impl Collector {
    fn speech(&mut self, view: &View<'_>) {
        let mut first = true;
        let last_step = view.units().iter().rposition(|unit| unit.kind == UnitKind::Step);
        for (index, unit) in view.units().iter().enumerate() {
            let position = unit.entries.start;
            let message = view.message(position);
            match unit.kind {
                UnitKind::User => {
                    let has_answer = last_step.is_some_and(|last| last > index);
                    self.collect_typed(message, position as u32, first, has_answer);
                    first = false;
                }
                UnitKind::Step => {
                    // A text before a person's message, or at the end, closes a turn; one with calls is on its way.
                    let next = view.units().get(index + 1).map(|next| next.kind);
                    let closes = unit.entries.len() == 1 && message.calls().next().is_none();
                    let is_last = next.is_none();
                    self.collect_said(message, position as u32, closes && next != Some(UnitKind::Step), is_last);
                }
                UnitKind::System | UnitKind::Injected | UnitKind::Summary | UnitKind::Orphan => {}
            }
        }
    }

    /// Collects from a person's typed message: requests, and rules that hold from then on.
    fn collect_typed(&mut self, message: &Message, at: u32, is_first: bool, has_answer: bool) {
        // `yes`, `go on`: an answer to a removed question says nothing; a text that ends in a colon introduces.
        let says_nothing =
            |sentence: &&str| (columns(sentence) < 12 && exactness(sentence) == 0.0) || sentence.ends_with([':', '：']);
        let sentences: Vec<&str> =
            typed_sentences(message).into_iter().filter(|it| !says_nothing(it)).take(MOST_TYPED).collect();
        let last = sentences.len().saturating_sub(1);
        for (index, sentence) in sentences.iter().enumerate() {
            let Some(quote) = clip(sentence, QUOTE) else { continue };
            let quote = named(message, quote);
            if is_standing(sentence) {
                self.lines.add(SummarySection::Instructions, quote, 7.5 + self.recency(at), at);
                continue;
            }
            let place = match index {
                _ if self.is_conversation => conversational(sentence),
                0 => 3.5 + if is_first { 2.0 } else { 0.0 },
                _ if index == last => 3.0,
                1 | 2 => 1.5,
                _ => 0.0,
            };
            let value = 1.0 + place + 0.6 * exactness(sentence) + self.recency(at);
            let is_open = !has_answer && (index == last || index == 0);
            let section = if is_open { SummarySection::Open } else { SummarySection::Requests };
            self.lines.add(section, quote, value + if is_open { 2.0 } else { 0.0 }, at);
        }
    }

    /// Collects from the model's text: findings, decisions, actions.
    fn collect_said(&mut self, message: &Message, at: u32, closes: bool, is_last: bool) {
        let mut text = String::new();
        let with_calls: HashSet<u32> = message.text_calls.iter().map(|call| call.block).collect();
        for (block, index) in message.blocks.iter().zip(0..) {
            let holds_call = with_calls.contains(&index);
            if let Content::Text { text: said } = &block.content {
                // Around a call in plain text are the model's thoughts about it; the call itself is fenced.
                text.push_str(if holds_call { said.split("```").next().unwrap_or("") } else { said });
                text.push('\n');
            }
        }
        let sentences = sentences(&text);
        let last = sentences.len().saturating_sub(1);
        // The model's next action at the end of the summarised part is where the work continues.
        let about_to = is_last && !closes;
        for (index, sentence) in sentences.iter().enumerate() {
            if about_to
                && index == last
                && let Some(next) = clip(sentence, QUOTE)
            {
                self.lines.add(
                    SummarySection::Open,
                    format!("{}{next}", self.language.pick("in progress: ", "进行中：")),
                    4.5,
                    at,
                );
                break;
            }
            let hits = self.lines.hits(sentence);
            let asks = closes && index == last && sentence.ends_with(['?', '？']);
            // A question of the model that is not the last word was answered, or did not matter.
            let says_nothing = is_introduction(sentence) || sentence.ends_with(['?', '？']);
            if says_nothing && hits == 0 && !(asks && is_last) {
                continue;
            }
            let (finding, exact) = (is_finding(sentence), exactness(sentence));
            if !closes && !finding && hits == 0 && exact < 1.5 {
                continue;
            }
            let Some(quote) = clip(sentence, QUOTE) else { continue };
            let place = if index == 0 || index == last { 0.7 } else { 0.0 };
            let value = 1.5 + if closes { 1.2 + place } else { 0.0 } + if finding { 1.2 } else { 0.0 }
                // An item of a list that lost what stood around it.
                - if columns(sentence) < 40 { if exact == 0.0 { 1.5 } else { 0.8 } } else { 0.0 }
                + 0.5 * exact
                + self.recency(at);
            let (section, value) =
                if asks && is_last { (SummarySection::Open, value + 2.0) } else { (SummarySection::Findings, value) };
            self.lines.add(section, named(message, quote), value, at);
        }
    }

    /// The lines of earlier summaries, less what newer messages replace.
    fn carry_over(&mut self, has_tasks: bool) {
        let carried = std::mem::take(&mut self.earlier.lines);
        let count = carried.len().max(1) as f32;
        for (index, line) in carried.into_iter().enumerate() {
            if line.section == SummarySection::Open && has_tasks {
                continue;
            }
            // A summary has its lines in order of the conversation: newer ones count more, as they did.
            let value = line.value + index as f32 / count;
            self.lines.carry(line.section, line.text, value, index as u32);
        }
    }

    fn context(&mut self, view: &View<'_>) {
        let mut counts = self.earlier.counts;
        for message in view.messages() {
            match (message.role, message.origin) {
                (Role::Tool, _) | (_, Origin::ToolOutput) => counts.tool += 1,
                (Role::User, Origin::Typed) => counts.user += 1,
                (Role::Assistant, _) => counts.assistant += 1,
                (Role::User | Role::System, _) => {}
            }
        }
        let last = view.len() as u32;
        self.lines.add(SummarySection::Context, counts.line(self.language), 4.0, last);
        let mut paths: Vec<&str> = view.facts().file_events().iter().map(|event| event.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let languages = languages::languages(view, paths.into_iter(), &self.earlier.languages);
        if !languages.is_empty() {
            let [english, chinese] = languages::PREFIXES;
            let line = format!("{}{}", self.language.pick(english, chinese), languages.join(", "));
            self.lines.add(SummarySection::Context, line, 1.0, last);
        }
    }
}

/// A quote with the speaker's name in front, where there are several of one role.
fn named(message: &Message, quote: String) -> String {
    match &message.name {
        Some(name) => format!("{name}: {quote}"),
        None => quote,
    }
}
