//! Reads a session as passages of lines: the messages of the view, and those behind an earlier transcript.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use epitome_strategy::commands::{LastingResults, script_in};
use epitome_strategy::session::heading::is_missing_result;
use epitome_strategy::session::{CallId, Content, Media};
use epitome_strategy::state::plan_items;
use epitome_strategy::transcript::{LeftOutCalls, Record, Rows, Sign, Speaker};
use epitome_strategy::{BlockRef, Message, Origin, Protection, Role, UnitKind, Value, View, speech, tools};

use crate::arguments;
use crate::fences::{closing_fence, opening_fence, outside_fences};
use crate::outcome::{self, Flags};
use crate::passage::{Action, Line, Passage, PassageKind};
use crate::pieces::{Cut, pieces};
use crate::summaries::{SummaryContent, SummaryForm, behind_summaries};

/// Everything that may be kept, in order.
#[derive(Debug, Default)]
pub struct Source {
    /// The passages.
    pub passages: Vec<Passage>,
    /// Their lines.
    pub lines: Vec<Line>,
    /// The calls.
    pub actions: Vec<Action>,
    /// How many messages were read.
    pub(crate) messages: u32,
    /// Calls of the present unit that wait for their results.
    waiting: HashMap<CallId, u32>,
    /// The scripts of the present unit's calls.
    scripts: HashMap<u32, String>,
    /// The newest call in plain text.
    text_call: Option<u32>,
    /// The folder of the newest call.
    folder: String,
    /// Whether the tools mark their failures.
    flags: Flags,
    /// Whether the present unit is the newest step.
    is_newest: bool,
    /// The name of the present message's speaker.
    speaker: Option<Arc<str>>,
    /// Calls that an earlier compaction left out in front of the next passage.
    left_out: LeftOutCalls,
    /// Whether an earlier compaction left out what the model said in front of the next passage.
    is_unsaid: bool,
}

/// The place of the text that is being read.
#[derive(Clone, Copy)]
struct SourcePosition {
    unit: u32,
    at: Option<BlockRef>,
}

/// What stands in the lines for a picture or a file: its kind, and the name, address or id by which it can be had again.
fn media_name(media: &Media) -> Arc<str> {
    let kind = media.mime.split('/').next().filter(|kind| matches!(*kind, "image" | "audio" | "video"));
    let kind = kind.unwrap_or("file");
    let reference = media.reference().map(|reference| format!(" {reference}")).unwrap_or_default();
    Arc::from(format!("[{kind}{reference}]"))
}

impl Source {
    /// Reads a view; `other` reads the text of a summary that is no transcript. Where a summary was made of lines of its messages,
    /// and these are known, they are read in its place. Linear in the view, and in the messages behind its newest summaries.
    pub fn read(view: &View<'_>, other: impl Fn(&str) -> SummaryForm) -> Self {
        let mut source = Self::default();
        let mut behind = behind_summaries(view, other);
        source.flags = flags(view, &behind);
        for (index, unit) in view.units().iter().enumerate() {
            if view.is_cancelled() {
                break;
            }
            let place = SourcePosition { unit: index as u32, at: None };
            source.is_newest = view.protection(index) == Protection::NewestStep;
            source.waiting.clear();
            source.scripts.clear();
            match behind.remove(&index) {
                Some(SummaryContent::Messages(messages)) => {
                    messages.iter().for_each(|it| source.read_message(it, place, None))
                }
                Some(SummaryContent::Records(records)) => source.read_records(records, place),
                None if unit.kind == UnitKind::System => {}
                None => {
                    for position in unit.entries.clone() {
                        source.read_message(view.message(position), place, Some(position as u32));
                    }
                }
            }
        }
        source.find_demands(view);
        source
    }

    /// Marks the demands of people. Linear in their text.
    fn find_demands(&mut self, view: &View<'_>) {
        for passage in self
            .passages
            .iter()
            .filter(|passage| matches!(passage.kind, PassageKind::Typed | PassageKind::SpokenThroughTool))
        {
            let lines = &mut self.lines[passage.lines.start as usize..passage.lines.end as usize];
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            let (start, text) = (first.range.start, Arc::clone(&first.source));
            let demands = speech::demands(view.lexicon(), &text[start..last.range.end]);
            // Lines and demands come in order, so what ended in front of a line is behind it for good.
            let mut left = &demands[..];
            for line in lines {
                while left.first().is_some_and(|demand| demand.range.end + start <= line.range.start) {
                    left = &left[1..];
                }
                let overlapping = left.iter().take_while(|demand| demand.range.start + start < line.range.end);
                line.demand = overlapping.map(|demand| demand.binding).fold(0.0, f32::max);
            }
        }
    }

    /// Reads a message; `position` is its place in the view, where it has one.
    fn read_message(&mut self, message: &Message, place: SourcePosition, position: Option<u32>) {
        if message.is_system_prompt() {
            return;
        }
        self.speaker = message.name.as_ref().map(one_line);
        for (index, block) in message.blocks.iter().enumerate() {
            let place =
                SourcePosition { at: position.map(|message| BlockRef { message, block: index as u32 }), ..place };
            match &block.content {
                Content::Text { text } => self.read_text(message, index, text, place),
                Content::ToolCall(call) => {
                    let action = self.read_call(&call.name, call.arguments.text(), place);
                    self.waiting.insert(Arc::clone(&call.id), action);
                }
                Content::ToolResult(result) => {
                    let action = self.waiting.get(&result.call_id).copied();
                    let spoken = speech::typed_ranges(message, index);
                    self.read_output(&result.text, &spoken, result.is_error, action, place);
                    for media in result.attachments.iter().filter(|media| media.reference().is_some()) {
                        self.add_name(PassageKind::Output, &media_name(media), action, place);
                    }
                }
                Content::Media(media) if message.is_typed() => {
                    self.add_name(PassageKind::Typed, &media_name(media), None, place)
                }
                Content::Media(media) => self.add_name(PassageKind::Injected, &media_name(media), None, place),
                Content::Opaque(opaque) if !opaque.kind.is_empty() => {
                    self.add_name(
                        PassageKind::Injected,
                        &Arc::from(format!("[{}]", one_line(&opaque.kind))),
                        None,
                        place,
                    );
                }
                Content::Thinking(_) | Content::Opaque(_) | Content::Gone => {}
            }
        }
        self.speaker = None;
        self.messages += 1;
    }

    fn read_text(&mut self, message: &Message, block: usize, text: &Arc<str>, place: SourcePosition) {
        match (message.role, message.origin) {
            (Role::Assistant, _) => self.read_model(message, block, text, place),
            (_, Origin::ToolOutput) => {
                let spoken = speech::typed_ranges(message, block);
                self.read_output(text, &spoken, false, self.text_call, place);
            }
            (_, Origin::Typed) => {
                let typed = speech::typed_ranges(message, block);
                self.add_parts(text, &typed, PassageKind::Typed, PassageKind::Injected, None, place);
            }
            _ => self.add(PassageKind::Injected, text, 0..text.len(), None, place),
        }
    }

    /// Reads the model's text, and its calls in plain text.
    fn read_model(&mut self, message: &Message, block: usize, text: &Arc<str>, place: SourcePosition) {
        let calls = message.text_calls.iter().filter(|call| call.block as usize == block);
        let calls: Vec<_> = calls.filter(|call| text.get(call.start as usize..call.end as usize).is_some()).collect();
        let is_answer = message.text_calls.is_empty() && message.calls().next().is_none();
        let kind = if is_answer { PassageKind::Answer } else { PassageKind::Commentary };
        if is_answer && self.text_call.is_some() {
            // The harness took no call from it, so the code in it was never run; it would read as if it had been.
            return outside_fences(text).into_iter().for_each(|range| self.add(kind, text, range, None, place));
        }
        let mut at = 0;
        for call in calls {
            let start = (call.start as usize).max(at);
            let said = &text[at..start];
            self.add(kind, text, at..at + said.len() - opening_fence(said), None, place);
            at = call.end as usize;
            let arguments = &text[call.start as usize..at];
            self.text_call = Some(self.read_call(&call.name, arguments, place));
            at += closing_fence(&text[at..]);
        }
        self.add(kind, text, at..text.len(), None, place);
    }

    fn read_call(&mut self, name: &Arc<str>, arguments: &str, place: SourcePosition) -> u32 {
        let json: Option<Value> = arguments.trim_start().starts_with('{').then(|| arguments.parse().ok()).flatten();
        let lists_tasks = match tools::kind(name) {
            tools::ToolKind::Plan => true,
            tools::ToolKind::Other => json.as_ref().is_some_and(|json| !plan_items(json).is_empty()),
            _ => false,
        };
        let call_text = arguments::call_text(json.as_ref(), arguments, lists_tasks, &mut self.folder);
        let name = &one_line(name);
        let head: Arc<str> = if call_text.head.is_empty() {
            Arc::clone(name)
        } else {
            Arc::from(format!("{name}: {}", call_text.head.replace(['\n', '\r'], " ")))
        };
        let action = self.add_action(name, head, place);
        let recorded = &mut self.actions[action as usize];
        (recorded.lists_tasks, recorded.writes_task) =
            (call_text.lists_tasks, call_text.writes_task && recorded.kind == tools::ToolKind::Plan);
        if recorded.kind == tools::ToolKind::Shell {
            let script = json.as_ref().map_or(Some(Cow::Borrowed(arguments)), |json| script_in(json).map(Cow::Owned));
            let script = script.unwrap_or_default();
            recorded.lasting = LastingResults::of(&script);
            recorded.read_script(&script);
            self.scripts.insert(action, script.into_owned());
        }
        for (sign, lines) in call_text.lines.chunk_by(|one, other| one.0 == other.0).map(|lines| (lines[0].0, lines)) {
            let joined: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
            let text: Arc<str> = Arc::from(joined.join("\n"));
            self.add_signed(PassageKind::Argument, &text, 0..text.len(), Some(action), sign, place);
        }
        action
    }

    fn add_action(&mut self, name: &Arc<str>, head: Arc<str>, place: SourcePosition) -> u32 {
        let action = self.actions.len() as u32;
        let line = self.lines.len() as u32;
        self.actions.push(Action {
            name: Arc::clone(name),
            kind: tools::kind(name),
            head: line,
            message: self.messages,
            lists_tasks: false,
            writes_task: false,
            looks: false,
            reports_state: false,
            lasting: LastingResults::default(),
            ending: None,
            outcome: None,
        });
        let passage = self.passages.len() as u32;
        let range = 0..head.len();
        self.lines.push(Line {
            source: head,
            range,
            number: None,
            continues: false,
            sign: Sign::Plain,
            starts_line: true,
            gap_before: false,
            demand: 0.0,
            passage,
        });
        self.passages.push(Passage {
            kind: PassageKind::Call,
            speaker: None,
            unit: place.unit,
            message: self.messages,
            at: place.at,
            lines: line..line + 1,
            action: Some(action),
            gap_behind: false,
            calls_before: std::mem::take(&mut self.left_out),
            is_behind_unsaid: std::mem::take(&mut self.is_unsaid),
        });
        action
    }

    /// Returns what a call asked for: its line without the tool's name.
    pub(crate) fn request(&self, action: &Action) -> &str {
        let head = self.lines[action.head as usize].text();
        head.strip_prefix(&*action.name).map_or(head, |rest| rest.strip_prefix(": ").unwrap_or(rest))
    }

    fn read_output(
        &mut self,
        text: &Arc<str>,
        told: &[Range<usize>],
        is_error: bool,
        action: Option<u32>,
        place: SourcePosition,
    ) {
        let first = self.lines.len();
        self.add_parts(text, told, PassageKind::SpokenThroughTool, PassageKind::Output, action, place);
        let Some(action) = action.map(|action| action as usize) else { return };
        let known = &self.actions[action];
        let asked = self.scripts.get(&(action as u32)).map_or_else(|| self.request(known), String::as_str);
        let (ending, line) = outcome::ending(known.kind, asked, text, is_error, self.flags);
        let tells = |it: &Line| line.is_some_and(|line| it.text().trim() == line);
        let outcome = self.lines[first..].iter().rposition(tells).map(|at| (first + at) as u32);
        (self.actions[action].ending, self.actions[action].outcome) = (ending, outcome);
    }

    /// Reads the `inner` ranges of a text as passages of one kind, the rest as passages of another.
    fn add_parts(
        &mut self,
        text: &Arc<str>,
        inner: &[Range<usize>],
        kind: PassageKind,
        rest: PassageKind,
        action: Option<u32>,
        place: SourcePosition,
    ) {
        let mut at = 0;
        for range in inner {
            self.add(rest, text, at..range.start, action, place);
            self.add(kind, text, range.clone(), action, place);
            at = range.end;
        }
        self.add(rest, text, at..text.len(), action, place);
    }

    /// Adds a line that stands for something without text.
    fn add_name(&mut self, kind: PassageKind, name: &Arc<str>, action: Option<u32>, place: SourcePosition) {
        self.add(kind, name, 0..name.len(), action, SourcePosition { at: None, ..place });
    }

    fn add(
        &mut self,
        kind: PassageKind,
        text: &Arc<str>,
        range: Range<usize>,
        action: Option<u32>,
        place: SourcePosition,
    ) {
        self.add_signed(kind, text, range, action, Sign::Plain, place);
    }

    fn add_signed(
        &mut self,
        kind: PassageKind,
        text: &Arc<str>,
        range: Range<usize>,
        action: Option<u32>,
        sign: Sign,
        place: SourcePosition,
    ) {
        let Some(part) = text.get(range.clone()) else { return };
        let passage = self.passages.len() as u32;
        let first = self.lines.len() as u32;
        let shift = |inner: Range<usize>| inner.start + range.start..inner.end + range.start;
        let cut = match kind {
            PassageKind::Output => Cut::NumberedLines,
            PassageKind::Typed | PassageKind::SpokenThroughTool => Cut::Sentences,
            // It is read unchanged, and may have to be cut to very little.
            PassageKind::Commentary | PassageKind::Answer if self.is_newest => Cut::Sentences,
            _ => Cut::Lines,
        };
        for piece in pieces(part, cut) {
            self.lines.push(Line {
                source: Arc::clone(text),
                range: shift(piece.range),
                number: piece.number.map(shift),
                continues: piece.continues,
                sign,
                starts_line: piece.starts_line,
                gap_before: false,
                demand: 0.0,
                passage,
            });
        }
        let lines = first..self.lines.len() as u32;
        if !lines.is_empty() {
            let SourcePosition { unit, at } = place;
            let is_speech = matches!(kind, PassageKind::Typed | PassageKind::Commentary | PassageKind::Answer);
            self.passages.push(Passage {
                kind,
                speaker: self.speaker.clone().filter(|_| is_speech),
                unit,
                message: self.messages,
                at,
                lines,
                action,
                gap_behind: false,
                calls_before: std::mem::take(&mut self.left_out),
                is_behind_unsaid: std::mem::take(&mut self.is_unsaid),
            });
        }
    }

    /// Reads the rest of an earlier transcript. The model's text and the calls behind it are one message; text without
    /// a call behind it is an answer.
    fn read_records(&mut self, records: Vec<Record>, place: SourcePosition) {
        let mut records = records.into_iter().peekable();
        while let Some(record) = records.next() {
            let calls_next = matches!(records.peek(), Some(Record::Call { .. }));
            match record {
                Record::LeftOut(calls) => self.left_out += calls,
                Record::Unsaid => self.is_unsaid = true,
                Record::Speech { speaker, rows } => {
                    let kind = match speaker {
                        Speaker::Assistant if calls_next => PassageKind::Commentary,
                        Speaker::Assistant => PassageKind::Answer,
                        Speaker::User => PassageKind::SpokenThroughTool,
                        Speaker::Harness => PassageKind::Injected,
                        Speaker::Tool => PassageKind::Output,
                    };
                    self.messages += 1;
                    self.add_rows(kind, &rows, None, Sign::Plain, place);
                    self.messages += u32::from(speaker != Speaker::Assistant);
                }
                Record::Call { name, head, ending, arguments, output } => {
                    let name: Arc<str> = Arc::from(name);
                    let head = if head.is_empty() { Arc::clone(&name) } else { Arc::from(format!("{name}: {head}")) };
                    let action = self.add_action(&name, head, place);
                    let known = &mut self.actions[action as usize];
                    known.lists_tasks = known.kind == tools::ToolKind::Plan && !arguments.is_empty();
                    known.ending = ending;
                    if known.kind == tools::ToolKind::Shell {
                        let head = self.request(&self.actions[action as usize]).to_owned();
                        self.actions[action as usize].read_script(&head);
                    }
                    let action = Some(action);
                    for (sign, rows) in arguments {
                        self.add_rows(PassageKind::Argument, &rows, action, sign, place);
                    }
                    self.add_rows(PassageKind::Output, &output, action, Sign::Plain, place);
                    // Several calls of one message cannot be distinguished from calls of several messages.
                    self.messages += 1;
                }
            }
        }
        self.messages += 1;
        (self.left_out, self.is_unsaid) = (LeftOutCalls::default(), false);
    }

    fn add_rows(&mut self, kind: PassageKind, rows: &Rows, action: Option<u32>, sign: Sign, place: SourcePosition) {
        let mut text = String::new();
        let mut gaps = Vec::new();
        for (row, gap) in rows.iter() {
            if gap {
                gaps.push(text.len());
            }
            text.push_str(row);
            text.push('\n');
        }
        let first = self.lines.len();
        let text: Arc<str> = Arc::from(text);
        self.add_signed(kind, &text, 0..text.len(), action, sign, place);
        let mut gaps = gaps.into_iter().peekable();
        for line in &mut self.lines[first..] {
            while gaps.next_if(|gap| *gap <= line.range.start).is_some() {
                line.gap_before = true;
            }
        }
        if self.lines.len() > first
            && let Some(passage) = self.passages.last_mut()
        {
            passage.gap_behind = rows.has_gap_behind();
        }
    }
}

/// A tool's name on one line: it stands at the beginning of one, where a mark would be read.
fn one_line(name: &Arc<str>) -> Arc<str> {
    match name.contains(char::is_control) {
        true => Arc::from(name.replace(char::is_control, " ")),
        false => Arc::clone(name),
    }
}

/// Returns whether a result of the view, or of the messages behind its transcripts, is marked as a failure.
fn flags(view: &View<'_>, behind: &HashMap<usize, SummaryContent>) -> Flags {
    let is_marked = |message: &Message| {
        message.blocks.iter().any(|block| matches!(&block.content, Content::ToolResult(result) if result.is_error && !is_missing_result(&result.text)))
    };
    let is_set = view.messages().any(is_marked)
        || behind.values().any(|content| match content {
            SummaryContent::Messages(messages) => messages.iter().any(|message| is_marked(message)),
            SummaryContent::Records(_) => false,
        });
    if is_set { Flags::Set } else { Flags::Unknown }
}
