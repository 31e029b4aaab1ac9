//! The messages to render, in order, with every rule kept that does not depend on a provider's spelling.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::heading::missing_result;
use epitome_session::{
    Arguments, Block, CallId, Content, Dialect, Entry, EntryKey, Language, Media, Message, OpenCalls, Origin, Role,
    ToolCall, ToolResult,
};

use super::changed;
use super::ids::Ids;
use super::reasoning::WithoutReasoning;
use super::recorded;
use super::source::Source;
use super::steps::Steps;
use super::{Wire, dialect_of};
use crate::Format;
use crate::blocks::{CALLER, caller_of};
use crate::media;

/// The text of a user's message that is put in front where the first one is not a user's.
const OPENING: &str = "[The conversation continues from here.]";

/// The name of a call that names no tool.
const NO_NAME: &str = "unknown";
/// Kinds of block that are read into types of their own: one that was not is damaged, and no provider takes it.
const DAMAGED: &[&str] = &["", "text", "thinking", "redacted_thinking", "tool_use", "tool_result"];

/// The messages to render.
pub(crate) struct Plan<'a> {
    pub turns: Vec<MessageToRender<'a>>,
    pub warnings: Vec<String>,
    /// Whether the newest step waits for results: only results may follow it.
    pub is_open: bool,
}

/// One message to render.
pub(crate) struct MessageToRender<'a> {
    /// The message, with what the provider does not take already gone.
    pub message: Cow<'a, Message>,
    /// The entry that it is, where it is one.
    pub entry: Option<&'a Entry>,
    /// For a result: the tool that its call names.
    pub tool: Option<Arc<str>>,
    /// For a result: whether its call takes free text (a custom tool's).
    pub of_custom_call: bool,
    /// For a result: whether it stands in the model's own message, beside its call: the provider ran the tool.
    pub is_beside_call: bool,
    /// For a message of the system: whether it is the system prompt, and not an instruction among the messages.
    pub is_prompt: bool,
    /// Whether the bytes that it was read from have the same content.
    pub is_as_read: bool,
}

impl<'a> MessageToRender<'a> {
    fn new(message: Cow<'a, Message>) -> Self {
        Self {
            message,
            entry: None,
            tool: None,
            of_custom_call: false,
            is_beside_call: false,
            is_prompt: false,
            is_as_read: false,
        }
    }

    /// A user's message in front of what cannot stand first.
    pub(crate) fn opening() -> Self {
        Self::new(Cow::Owned(Message::text("", Role::User, Origin::Injected, OPENING)))
    }
}

/// Positions of the entries that answer each call, by the call's entry and block.
pub(super) struct Pairs {
    pub(super) answers: HashMap<(usize, usize), usize>,
    /// The call that each result answers.
    calls: HashMap<usize, (usize, usize)>,
}

pub(super) fn pairs(entries: &[Entry]) -> Pairs {
    let mut pairs = Pairs { answers: HashMap::new(), calls: HashMap::new() };
    let mut open = OpenCalls::default();
    for (index, entry) in entries.iter().enumerate() {
        calls_of(&entry.message).for_each(|(block, call)| open.open(index, call, block));
        if entry.message.role != Role::Tool {
            continue;
        }
        let result = entry.message.blocks.iter().find_map(Block::as_result);
        if let Some(call) = result.and_then(|result| open.answer(result)) {
            pairs.answers.insert(call, index);
            pairs.calls.insert(index, call);
        }
    }
    pairs
}

/// The calls of a message: the model's alone can call.
pub(super) fn calls_of(message: &Message) -> impl Iterator<Item = (usize, &ToolCall)> {
    message.calls().filter(|_| message.role == Role::Assistant)
}

/// See [`super::is_paired`].
pub(crate) fn is_paired(entries: &[Entry], profile: Wire) -> bool {
    let came_otherwise = |entry: &Entry| entry.message.recorded_call_id.is_some();
    if !takes_results_without_ids(profile) && entries.iter().any(came_otherwise) {
        return false;
    }
    let (pairs, steps) = (pairs(entries), Steps::read(entries));
    entries.iter().enumerate().all(|(index, entry)| {
        if entry.message.role == Role::Tool {
            return pairs.calls.get(&index).is_some_and(|(call, _)| steps.are_one(*call, index));
        }
        let mut unanswered =
            calls_of(&entry.message).filter(|(block, _)| !pairs.answers.contains_key(&(index, *block)));
        unanswered.all(|(block, _)| steps.may_wait(index, &entry.message.blocks[block]))
    })
}

/// Plans the rendering of a view. Linear in it.
pub(crate) fn plan<'a>(entries: &'a [Entry], profile: Wire, source: Option<&Source<'_>>) -> Plan<'a> {
    let pairs = pairs(entries);
    let mut planner = Planner {
        entries,
        profile,
        source,
        changed_from: first_changed(entries),
        steps: Steps::read(entries),
        programs: HashSet::new(),
        later: HashMap::new(),
        without_reasoning: WithoutReasoning::default(),
        prompt: prompt_len(entries),
        turns: Vec::with_capacity(entries.len()),
        warnings: Vec::new(),
        is_open: false,
        ids: Ids::new(profile, source, entries),
    };
    planner.without_reasoning = planner.without_reasoning(&pairs);
    for (index, entry) in entries.iter().enumerate() {
        match entry.message.role {
            Role::Tool if pairs.calls.contains_key(&index) => {
                if let Some(answer) = planner.later.remove(&index) {
                    planner.answer(answer);
                }
            }
            Role::Tool => planner.warn(format!("the result {} was left out: its call is not there", entry.message.id)),
            Role::Assistant => planner.step(index, &pairs),
            Role::System | Role::User => {
                planner.add(index, None, None);
                if index < planner.prompt
                    && entry.message.origin != Origin::Configuration
                    && let Some(turn) = planner.turns.last_mut()
                {
                    turn.is_prompt = true;
                }
            }
        }
    }
    planner.open();
    Plan { turns: planner.turns, warnings: planner.warnings, is_open: planner.is_open }
}

/// The position from which on the view is not what was recorded: an edited or added entry, or one behind a gap.
fn first_changed(entries: &[Entry]) -> usize {
    let present: HashSet<u32> = entries
        .iter()
        .filter_map(|entry| match entry.key {
            EntryKey::Log(index) => Some(index),
            EntryKey::Synthetic { .. } => None,
        })
        .collect();
    let gap = (0..).find(|index| !present.contains(index)).unwrap_or(0);
    let changed = |entry: &Entry| match entry.key {
        EntryKey::Log(index) => index > gap || entry.is_edited(),
        EntryKey::Synthetic { .. } => true,
    };
    entries.iter().position(changed).unwrap_or(entries.len())
}

/// The number of entries that are the system prompt: messages of the system with which the log begins. What is said later
/// holds from there on.
fn prompt_len(entries: &[Entry]) -> usize {
    let begins = |(at, entry): &(usize, &Entry)| {
        entry.message.is_system_prompt() && matches!(entry.key, EntryKey::Log(index) if index as usize == *at)
    };
    entries.iter().enumerate().take_while(begins).count()
}

/// A result to render, and the call that it answers.
struct Answer {
    /// The entry of the result.
    entry: usize,
    /// The entry and the block of the call.
    call: (usize, usize),
    /// The id under which the call is written, where it is written.
    id: Option<CallId>,
    /// Whether the call is written as one of the client's, and was another.
    is_foreign: bool,
}

struct Planner<'a, 's> {
    entries: &'a [Entry],
    profile: Wire,
    source: Option<&'s Source<'s>>,
    changed_from: usize,
    steps: Steps,
    /// The calls of the provider's own tools that are written as they were recorded: programs among them call others.
    programs: HashSet<CallId>,
    /// By entry, the answers that stand behind later messages of their step: those of programs.
    later: HashMap<usize, Answer>,
    /// What cannot be written as it was recorded for its reasoning, or what came with that, is not there.
    without_reasoning: WithoutReasoning,
    /// The number of entries that are the system prompt.
    prompt: usize,
    turns: Vec<MessageToRender<'a>>,
    warnings: Vec<String>,
    is_open: bool,
    ids: Ids,
}

impl<'a> Planner<'a, '_> {
    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// An assistant's message with its results.
    fn step(&mut self, index: usize, pairs: &Pairs) {
        let message = &self.entries[index].message;
        self.ids.begin_step();
        let blocks: Vec<usize> = message.calls().map(|(block, _)| block).collect();
        let mut answers: Vec<(usize, usize)> =
            blocks.iter().filter_map(|block| Some((*pairs.answers.get(&(index, *block))?, *block))).collect();
        answers.sort_unstable();
        let before = self.turns.len();
        let mut foreign = self.foreign(index, pairs);
        let calls = message.blocks.iter().enumerate();
        foreign.extend(
            calls
                .filter(|(block, call)| self.without_reasoning.is_foreign(index, *block, call))
                .map(|(block, _)| block),
        );
        for (block, call) in message.calls().filter(|(block, _)| !foreign.contains(block)) {
            let block = &message.blocks[block];
            if recorded::is_of_provider(block) && self.is_own_block(block) {
                self.programs.insert(Arc::clone(&call.id));
            }
        }
        // New ids are given in the order of the calls, before anything is rendered that repeats them.
        let ids: Vec<(usize, CallId)> = message
            .calls()
            .map(|(block, call)| (block, self.written_id(&message.blocks[block], call, foreign.contains(&block))))
            .collect();
        self.add_step(index, &ids, &foreign);
        if self.turns.len() == before {
            return;
        }
        let id_of = |wanted: usize| {
            let at = ids.binary_search_by_key(&wanted, |(block, _)| *block).ok()?; // in the order of the blocks
            Some(Arc::clone(&ids[at].1))
        };
        let next = self.entries[index + 1..].iter().position(|entry| entry.message.role != Role::Tool);
        let next = next.map_or(self.entries.len(), |next| index + 1 + next);
        for (entry, block) in answers {
            let is_foreign = foreign.contains(&block);
            let answer = Answer { entry, call: (index, block), id: id_of(block), is_foreign };
            // What a program gives at last stands where it did, behind what it called; all other results follow their calls.
            let is_later = entry > next && self.steps.are_one(index, entry) && !is_foreign;
            if is_later && recorded::is_of_provider(&message.blocks[block]) {
                self.later.insert(entry, answer);
            } else {
                self.answer(answer);
            }
        }
        let unanswered = ids.iter().filter(|(block, _)| !pairs.answers.contains_key(&(index, *block)));
        let (waiting, unanswered): (Vec<_>, Vec<_>) =
            unanswered.partition(|(block, _)| self.steps.may_wait(index, &message.blocks[*block]));
        self.is_open |= !waiting.is_empty();
        for (block, id) in unanswered {
            let text = Arc::from(missing_result(Language::English));
            let result =
                ToolResult { call_id: Arc::clone(id), name: None, text, attachments: Vec::new(), is_error: true };
            let answer = Message { origin: Origin::Answer, ..Message::result("", result) };
            let of_custom_call = is_custom(&message.blocks[*block]);
            let tool = message.blocks[*block].as_call().map(|call| Arc::clone(&call.name));
            self.turns.push(MessageToRender { tool, of_custom_call, ..MessageToRender::new(Cow::Owned(answer)) });
            self.changed_from = self.changed_from.min(index + 1);
        }
    }

    /// The calls of an entry that are recorded as ones of the provider's, and cannot be written so: their answer is not there as
    /// it was recorded. What is answered here is answered as a call of the client's.
    fn foreign(&self, index: usize, pairs: &Pairs) -> HashSet<usize> {
        let blocks = &self.entries[index].message.blocks;
        let is_foreign = |block: usize, call: &Block| match pairs.answers.get(&(index, block)) {
            Some(answer) => !recorded::is_pair(call, &self.entries[*answer].message),
            None => !self.steps.may_wait(index, call) && recorded::is_of_provider(call),
        };
        let calls = blocks.iter().enumerate().filter(|(_, block)| block.as_call().is_some());
        calls.filter(|(block, call)| is_foreign(*block, call)).map(|(block, _)| block).collect()
    }

    /// What is there without its reasoning, or as reasoning alone, where the service asks for both.
    fn without_reasoning(&self, pairs: &Pairs) -> WithoutReasoning {
        let is_recorded = self.changed_from == self.entries.len();
        // Codex keeps the ids of items in its files, and does not send them.
        if self.profile != Wire::OpenaiResponses || is_recorded || self.source.is_some_and(|source| source.for_own_file)
        {
            return WithoutReasoning::default();
        }
        let log = self.source.map_or(&[][..], |source| source.log);
        let is_own = self.source.is_some_and(|source| source.is_own(self.profile));
        let foreign: HashSet<(usize, usize)> = (0..self.entries.len())
            .filter(|index| self.entries[*index].message.role == Role::Assistant)
            .flat_map(|index| self.foreign(index, pairs).into_iter().map(move |block| (index, block)))
            .collect();
        WithoutReasoning::find(self.entries, log, |index, block| {
            let Entry { message, original, .. } = &self.entries[index];
            let (before, after) = (&original.blocks[block], &message.blocks[block]);
            match &after.content {
                Content::Thinking(_) => self.is_own_block(after) && self.keeps_thinking(index, after),
                _ if foreign.contains(&(index, block)) => false,
                _ if after.raw.is_some() => true,
                _ => is_own && changed::carried_over(before, after, Dialect::OpenaiResponses).is_some(),
            }
        })
    }

    /// A result, as its call is written.
    fn answer(&mut self, Answer { entry, call: (index, block), id, is_foreign }: Answer) {
        let called = &self.entries[index].message.blocks[block];
        let custom = is_custom(called);
        let tool = called.as_call().map(|call| Arc::clone(&call.name));
        let at = self.turns.len();
        // What a provider's own tool gave goes with its call as both were recorded, whatever ids they have.
        let id = id.filter(|id| {
            let is_own = !is_foreign && recorded::is_of_provider(called);
            !is_own || called.as_call().is_some_and(|call| call.id != *id)
        });
        self.add(entry, id, tool.as_deref());
        let may_be_beside = !is_foreign && self.is_own_block(called);
        if let Some(turn) = self.turns.get_mut(at) {
            (turn.of_custom_call, turn.tool) = (custom, tool);
            turn.is_beside_call = may_be_beside && recorded::is_beside_call(called, &turn.message);
            if custom != is_custom_output(&turn.message) || is_foreign {
                turn.message.to_mut().blocks.iter_mut().for_each(|block| block.raw = None);
                turn.is_as_read = false;
            }
        }
    }

    fn add_step(&mut self, index: usize, ids: &[(usize, CallId)], foreign: &HashSet<usize>) {
        let entry = &self.entries[index];
        let mut message = self.acceptable_message(index);
        let differs = ids.iter().any(|(block, id)| {
            entry.message.blocks[*block].as_call().is_some_and(|call| call.id != *id || call.name.is_empty())
        });
        if differs || !foreign.is_empty() {
            // Calls are never left out, so their order identifies them.
            let mut calls = ids.iter();
            for block in &mut message.to_mut().blocks {
                let Content::ToolCall(call) = &mut block.content else { continue };
                let Some((number, id)) = calls.next() else { break };
                if call.id != *id || call.name.is_empty() || foreign.contains(number) {
                    block.raw = None;
                }
                if call.name.is_empty() {
                    call.name = Arc::from(NO_NAME);
                }
                call.id = Arc::clone(id);
            }
        }
        self.push(entry, message);
    }

    /// A message of its own; a result under the id of its call, `tool` being that call's. One that came without its call's id
    /// stays so where its own format takes it.
    fn add(&mut self, index: usize, call_id: Option<CallId>, tool: Option<&str>) {
        let entry = &self.entries[index];
        let mut message = self.acceptable_message(index);
        let is_own = self.source.is_some_and(|source| source.is_own(self.profile));
        let takes_own_id = takes_results_without_ids(self.profile) && is_own;
        let differs = |result: &ToolResult| {
            let of_tool = tool.is_none_or(|tool| result.name.as_deref().is_none_or(|name| name == tool));
            call_id.as_ref().is_some_and(|id| result.call_id != *id)
                || (message.recorded_call_id.is_some() && !takes_own_id)
                // Gemini pairs by the name too.
                || (self.profile == Wire::Gemini && is_own && !of_tool)
        };
        if let Some(id) = &call_id
            && message.blocks.iter().filter_map(Block::as_result).any(differs)
        {
            let message = message.to_mut();
            for block in &mut message.blocks {
                if let Content::ToolResult(result) = &mut block.content {
                    if result.call_id != *id || !takes_own_id {
                        message.recorded_call_id = None;
                    }
                    result.call_id = Arc::clone(id);
                    block.raw = None;
                }
            }
        }
        self.push(entry, message);
    }

    fn push(&mut self, entry: &'a Entry, message: Cow<'a, Message>) {
        if message.blocks.is_empty() {
            return;
        }
        let is_as_read = matches!(message, Cow::Borrowed(_))
            && self.source.is_some_and(|source| {
                source.is_own(self.profile)
                    && source.unchanged_records(entry).is_some()
                    && is_valid(&message, takes_results_without_ids(self.profile))
            });
        self.turns.push(MessageToRender { entry: Some(entry), is_as_read, ..MessageToRender::new(message) });
    }

    /// The id under which a call is written. What the provider answers itself needs none of its own.
    fn written_id(&mut self, block: &Block, call: &ToolCall, is_foreign: bool) -> CallId {
        let stays = !is_foreign && self.is_own_block(block) && recorded::is_of_provider(block);
        if stays && call.id.is_empty() {
            return Arc::clone(&call.id);
        }
        self.ids.written_id(call)
    }

    /// The message without the blocks that the provider does not take.
    fn acceptable_message(&mut self, index: usize) -> Cow<'a, Message> {
        let entry = &self.entries[index];
        let first_result = entry.message.blocks.iter().position(|block| block.as_result().is_some());
        let fits_role = |at: usize, block: &Block| match (&block.content, entry.message.role) {
            (Content::ToolCall(_) | Content::Thinking(_), role) => role == Role::Assistant,
            (Content::ToolResult(_), role) => role == Role::Tool && first_result == Some(at),
            (_, role) => role != Role::Tool,
        };
        let blocks = entry.message.blocks.iter().enumerate();
        let keeps: Vec<bool> = blocks
            .map(|(at, block)| {
                fits_role(at, block)
                    && !self.without_reasoning.reasoning.contains(&(index, at))
                    && self.keeps(index, block)
            })
            .collect();
        let mut message = Cow::Borrowed(&*entry.message);
        let is_own = self.source.is_some_and(|source| source.is_own(self.profile));
        if is_own && entry.is_edited() {
            changed::carry_over(entry, message.to_mut(), dialect_of(self.profile));
        }
        for at in 0..keeps.len() {
            if self.without_reasoning.items.contains(&(index, at)) {
                let block = &mut message.to_mut().blocks[at];
                block.raw = block.raw.as_ref().and_then(|raw| recorded::without(raw, "id"));
            }
        }
        if !keeps.iter().all(|keep| *keep) {
            let mut keeps = keeps.into_iter();
            message.to_mut().blocks.retain(|_| keeps.next().unwrap_or(true));
        }
        self.leave_out_attachments(index, &mut message);
        self.leave_out_callers(&mut message);
        message
    }

    /// Takes what calls it out of a call, and out of its result, where that program is not there as one.
    fn leave_out_callers(&self, message: &mut Cow<'a, Message>) {
        let is_lost = |block: &Block| {
            self.is_own_block(block) && caller_of(block).is_some_and(|caller| !self.programs.contains(&caller))
        };
        if !message.blocks.iter().any(is_lost) {
            return;
        }
        for block in message.to_mut().blocks.iter_mut().filter(|block| is_lost(block)) {
            block.raw = block.raw.as_ref().and_then(|raw| recorded::without(raw, CALLER));
        }
    }

    fn keeps(&mut self, index: usize, block: &Block) -> bool {
        match &block.content {
            Content::Gone => false,
            Content::Text { text } if self.profile == Wire::Anthropic => !text.trim().is_empty(),
            // Gemini itself says nothing in a part that holds the signature of its thoughts.
            Content::Text { text } if self.profile == Wire::Gemini => {
                !text.trim().is_empty() || block.raw.as_ref().is_some_and(|raw| raw.dialect == Dialect::Gemini)
            }
            Content::Text { text } => !text.is_empty(),
            Content::Thinking(_) => self.keeps_thinking(index, block),
            Content::Opaque(opaque) => {
                let keeps = dialect_of(self.profile) == opaque.dialect && !DAMAGED.contains(&&*opaque.kind);
                if !keeps {
                    self.warn_without_form(index, if opaque.kind.is_empty() { "block" } else { &opaque.kind });
                }
                keeps
            }
            Content::Media(media) => {
                let keeps = self.is_own_block(block) || self.takes(index, media, block);
                if !keeps {
                    self.warn_without_form(index, media::name(media));
                }
                keeps
            }
            Content::ToolCall(_) | Content::ToolResult(_) => true,
        }
    }

    fn warn_without_form(&mut self, index: usize, kind: &str) {
        let id = &self.entries[index].message.id;
        self.warnings.push(format!("a `{kind}` in message {id} was left out: it has no form in this format"));
    }

    /// Whether the recorded bytes of a block are written as they are.
    fn is_own_block(&self, block: &Block) -> bool {
        block.raw.as_ref().is_some_and(|raw| raw.dialect == dialect_of(self.profile))
    }

    /// Whether the format takes media of a block.
    fn takes(&self, index: usize, media: &Media, block: &Block) -> bool {
        let recorded = block.raw.as_ref().map(|raw| raw.dialect);
        let home = recorded.or_else(|| self.source.and_then(|source| media::dialect_of_format(source.format)));
        media::has_place(media, self.entries[index].message.role, self.profile, home)
    }

    /// Takes the media out of a result that the format does not take.
    fn leave_out_attachments(&mut self, index: usize, message: &mut Cow<'a, Message>) {
        let Some((at, block)) = message.blocks.iter().enumerate().find(|(_, block)| block.as_result().is_some()) else {
            return;
        };
        let attachments = block.as_result().map(|result| &*result.attachments).unwrap_or_default();
        if self.is_own_block(block) || attachments.iter().all(|media| self.takes(index, media, block)) {
            return;
        }
        let (kept, left): (Vec<Media>, Vec<Media>) =
            attachments.iter().cloned().partition(|media| self.takes(index, media, block));
        for media in left {
            self.warn_without_form(index, media::name(&media));
        }
        if let Content::ToolResult(result) = &mut message.to_mut().blocks[at].content {
            result.attachments = kept;
        }
    }

    fn keeps_thinking(&self, index: usize, block: &Block) -> bool {
        let read_from = self.source.map(|source| source.format);
        let in_place = self.profile != Wire::Anthropic || index < self.changed_from || self.is_open_step(index);
        let own_file = self.source.is_some_and(|source| source.is_own(self.profile)).then_some(read_from).flatten();
        in_place && carries_reasoning(read_from, own_file.unwrap_or(Format::from(self.profile)), block)
    }

    /// Whether an entry is of the newest step and the model is still at it: its calls are open, or just answered.
    fn is_open_step(&self, index: usize) -> bool {
        self.steps.is_newest(index) && self.entries[index].message.calls().next().is_some()
    }

    /// Puts a user's message in front where the first one is not a user's.
    fn open(&mut self) {
        let first = self.turns.iter().position(|turn| turn.message.role != Role::System);
        let starts = first.is_some_and(|first| self.turns[first].message.role == Role::User);
        if starts || (first.is_none() && !matches!(self.profile, Wire::Anthropic | Wire::Gemini)) {
            return;
        }
        self.turns.insert(first.unwrap_or(self.turns.len()), MessageToRender::opening());
    }
}

/// Whether services of a format take calls and results that have no ids, or results with other ids than their calls.
/// Gemini's does: google-genai's own responses have none. OpenAI's chat messages do not need one to many of the servers that
/// take them. Anthropic and Responses have one service each, which refuses a result without the id of its call.
fn takes_results_without_ids(profile: Wire) -> bool {
    match profile {
        Wire::OpenaiChat | Wire::Gemini => true,
        Wire::OpenaiResponses | Wire::Anthropic => false,
    }
}

/// Whether the recorded bytes of a message are a valid message of their own format.
fn is_valid(message: &Message, without_ids: bool) -> bool {
    message.blocks.iter().all(|block| match &block.content {
        Content::ToolCall(call) => {
            (without_ids || !call.id.is_empty())
                && (block.raw.is_some() || matches!(call.arguments, Arguments::Json(_)))
        }
        Content::ToolResult(result) => without_ids || !result.call_id.is_empty(),
        Content::Text { .. } | Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => true,
    })
}

/// Whether a call takes free text.
fn is_custom(block: &Block) -> bool {
    match recorded::kind_of(block) {
        Some(kind) if block.raw.as_ref().is_some_and(|raw| raw.dialect == Dialect::OpenaiResponses) => {
            kind == "custom_tool_call"
        }
        _ => block.as_call().is_some_and(|call| matches!(call.arguments, Arguments::Text(_))),
    }
}

fn is_custom_output(message: &Message) -> bool {
    message.blocks.first().and_then(recorded::kind_of).is_some_and(|kind| kind == "custom_tool_call_output")
}

/// Whether reasoning in `block`, read from a session in format `from`, has a place in format `to`. Reasoning without a
/// place costs nothing there. Blocks that hold no reasoning always have one.
///
/// Anthropic takes signed reasoning that it signed itself, OpenAI Responses its own items, OpenAI chat what it was
/// given as `reasoning_content`, Gemini its own thoughts; an agent's own file takes everything.
pub fn carries_reasoning(from: Option<Format>, to: Format, block: &Block) -> bool {
    let Content::Thinking(thinking) = &block.content else { return true };
    let recorded_in = block.raw.as_ref().map(|raw| raw.dialect);
    let is_signed = thinking.signature.is_some();
    match to {
        Format::OpenaiChat => from == Some(Format::OpenaiChat),
        Format::OpenaiResponses => {
            let own = from == Some(Format::OpenaiResponses);
            recorded_in == Some(Dialect::OpenaiResponses) && (is_signed || own)
        }
        Format::Anthropic => {
            let own_format = matches!(from, None | Some(Format::Anthropic | Format::ClaudeCode | Format::Pi));
            is_signed && recorded_in.map_or(own_format, |dialect| dialect == Dialect::Anthropic)
        }
        Format::Gemini => from == Some(Format::Gemini),
        Format::Codex => recorded_in == Some(Dialect::OpenaiResponses),
        _ => true,
    }
}
