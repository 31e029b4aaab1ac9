//! Hostile sessions and hostile strategies, from seeds: errors of recordings and authors, and worse ones.

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Dialect, Media, Message, OpaqueBlock, Origin, RawBlock, Reason, Role, Session, TextCall,
    Thinking, ToolCall, ToolResult,
};
use epitome_strategy::{
    Edit, Goal, Lossiness, Meta, Plan, PlanError, RequiredServices, Strategy, SummaryRequest, SummaryText, View,
};

/// A random generator that is the same for the same seed (splitmix64; Steele, Lea and Flood 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Returns a generator for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `end`; 0 for an `end` of 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.bits() % end as u64) as usize }
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of `items`.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

const WORDS: &[&str] = &[
    "error",
    "src/main.rs",
    "的",
    "重要",
    "修复了",
    "👩‍👩‍👧‍👦",
    "e\u{301}",
    "ﬀ",
    "\u{200d}",
    "\r\n",
    "\n",
    "\t",
    "   ",
    "0xDEAD_beef",
    "https://example.org/a?b=c",
    "。",
    "！",
    "fn",
    "{}",
    "\"",
    "\\",
    "<Pin",
    "🇨🇳",
    "\u{feff}",
    "ß",
    "a",
    "1234567890",
    "नि",
    "The end.",
    "diff --git a/x b/x",
    "@@ -1 +1 @@",
    "</tool_call>",
    "```bash",
    "[… 3 lines elided]",
];

/// Returns a text of up to `words` words in many scripts, rarely empty, rarely one giant line.
pub fn text(dice: &mut Dice, words: usize) -> String {
    match dice.below(20) {
        0 => String::new(),
        1 => " \n\t ".to_owned(),
        2 => dice.pick(WORDS).repeat(words.max(1)),
        _ => {
            let mut text = String::new();
            for _ in 0..dice.below(words.max(1)) + 1 {
                text.push_str(dice.pick(WORDS));
                if dice.once_in(2) {
                    text.push(' ');
                }
            }
            text
        }
    }
}

/// Returns the most words of a text of the session: mostly few, sometimes many.
fn length(dice: &mut Dice) -> usize {
    dice.pick(&[3, 10, 30, 30, 100, 400])
}

fn arguments(dice: &mut Dice) -> Arguments {
    let words = length(dice);
    match dice.below(10) {
        0 => Arguments::Text(text(dice, words).into()),
        1 => Arguments::Json("{\"cut\":\"of".into()),
        2 => Arguments::Json("[1, 2, null]".into()),
        3 => Arguments::Json("{}".into()),
        // Values that a reader of JSON may lose: long numbers, trailing zeros, repeated keys, escapes, white space.
        4 => {
            let long = serde_json::Value::from(text(dice, words));
            let json =
                format!("{{ \"n\": [1.0, 1e5, -0.0, 12345678901234567890.10], \"t\": {long}, \"t\": \"\\u00e9\" }}");
            Arguments::Json(json.into())
        }
        _ => {
            let value = serde_json::json!({
                "file_path": text(dice, 2), "deep": {"list": [text(dice, words), 1.5, null, {"x": text(dice, 5)}]},
            });
            Arguments::Json(value.to_string().into())
        }
    }
}

fn opaque(dice: &mut Dice) -> Content {
    let json = serde_json::json!({"type": "novelty", "data": text(dice, 20)}).to_string();
    Content::Opaque(OpaqueBlock { kind: "novelty".into(), json: json.into(), dialect: Dialect::Anthropic })
}

/// Definitions of tools among the messages.
fn tools(dice: &mut Dice) -> Content {
    let tool = serde_json::json!({"type": "function", "name": text(dice, 1), "description": text(dice, 10)});
    let json = serde_json::json!({"type": "additional_tools", "tools": [tool]}).to_string();
    Content::Opaque(OpaqueBlock {
        kind: "additional_tools".into(),
        json: json.into(),
        dialect: Dialect::OpenaiResponses,
    })
}

/// Adds a model's message with calls of tools that the provider runs, each with its result beside it, as three providers have
/// them: its recorded bytes hold for both, or for neither. Now and then the provider has not come to an end.
fn served_step(dice: &mut Dice, session: &mut Session, turn: usize) {
    let said = text(dice, 5);
    let dialect = dice.pick(&[Dialect::Anthropic, Dialect::OpenaiResponses, Dialect::Gemini]);
    for number in 0..=dice.below(3) {
        let id = if dice.once_in(4) { String::new() } else { format!("served_{turn}_{number}") };
        let words = length(dice);
        let (asked, found) = (text(dice, 4), text(dice, words));
        let (call, result) = match dialect {
            Dialect::Anthropic => (
                serde_json::json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": asked}}),
                serde_json::json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [{"type": "web_search_result", "title": found}]}),
            ),
            Dialect::Gemini => (
                serde_json::json!({"executableCode": {"id": id, "language": "PYTHON", "code": asked}}),
                serde_json::json!({"codeExecutionResult": {"id": id, "outcome": "OUTCOME_OK", "output": found}}),
            ),
            _ => {
                let item = serde_json::json!({"type": "mcp_call", "id": id, "name": "look", "arguments": "{}", "output": found});
                (item.clone(), item)
            }
        };
        let recorded = |content: Content, json: &serde_json::Value| {
            let raw = RawBlock { dialect, json: json.to_string().into() };
            Block { raw: Some(raw), ..Block::new(content) }
        };
        let arguments = Arguments::Json(serde_json::json!({ "query": asked }).to_string().into());
        let id: Arc<str> = Arc::from(id);
        let asks = Content::ToolCall(ToolCall { id: Arc::clone(&id), name: "web_search".into(), arguments });
        let mut blocks = if number == 0 { vec![Block::text(said.clone())] } else { Vec::new() };
        blocks.push(recorded(asks, &call));
        session.push(Message::new("", Role::Assistant, Origin::Model, blocks));
        if dice.once_in(12) {
            return;
        }
        let (text, attachments) = (found.into(), Vec::new());
        let answer = Content::ToolResult(ToolResult { call_id: id, name: None, text, attachments, is_error: false });
        session.push(Message::new("", Role::Tool, Origin::Tool, vec![recorded(answer, &result)]));
    }
}

fn media() -> Media {
    Media { mime: "image/png".into(), ..Media::default() }
}

/// Returns a session as no agent should record it, but some do: parallel, unanswered and repeated calls, orphan and
/// late results, results without ids and with ids of their own, tools that the provider runs, instructions and definitions
/// of tools among the messages, empty and giant messages, thinking signed and not, media, unknown blocks, only a system
/// prompt, nothing.
///
/// It has roughly `turns` turns; the same seed gives the same session.
pub fn session(seed: u64, turns: usize) -> Session {
    let mut dice = Dice::new(seed);
    let mut session = Session::new();
    let mut pending: Vec<Arc<str>> = Vec::new();
    if !dice.once_in(4) {
        let system = text(&mut dice, 20);
        session.push(Message::text("", Role::System, Origin::Instructions, system));
    }
    if dice.once_in(25) {
        return session;
    }
    if !dice.once_in(6) {
        session.push(Message::text("", Role::User, Origin::Typed, text(&mut dice, 20)));
    }
    for turn in 0..dice.below(turns + 1) {
        match dice.below(12) {
            0 | 1 => {
                let words = length(&mut dice);
                let mut message = Message::text("", Role::User, Origin::Typed, text(&mut dice, words));
                message.pinned = dice.once_in(20);
                if dice.once_in(20) {
                    message.blocks.push(Block::text("<Pin> keep this"));
                }
                if dice.once_in(20) {
                    message.name = Some("参与者 two".into());
                }
                if dice.once_in(10) {
                    message.blocks.push(Block::new(Content::Media(media())));
                }
                session.push(message);
            }
            2 => {
                let origin = dice.pick(&[Origin::Injected, Origin::ToolOutput]);
                let words = length(&mut dice);
                session.push(Message::text("dup", Role::User, origin, text(&mut dice, words)));
            }
            3 => {
                // A result that no call awaits, or one that comes late.
                let late = !pending.is_empty() && dice.once_in(2);
                let id = if late { pending.remove(0) } else { Arc::from("nobody") };
                session.push(result(&mut dice, id));
            }
            4 if dice.once_in(3) => {
                let origin = dice.pick(&[Origin::Instructions, Origin::Developer]);
                session.push(Message::text("", Role::System, origin, text(&mut dice, 10)));
            }
            4 if dice.once_in(2) => {
                session.push(Message::new("", Role::System, Origin::Configuration, vec![Block::new(tools(&mut dice))]));
            }
            6 if dice.once_in(2) => served_step(&mut dice, &mut session, turn),
            5 => {
                let words = length(&mut dice);
                let said = text(&mut dice, words);
                let mut message = Message::text("", Role::Assistant, Origin::Model, said.clone());
                if dice.once_in(2) {
                    let end = said.len() as u32;
                    message.text_calls.push(TextCall { name: "bash".into(), block: 0, start: 0, end });
                }
                if dice.once_in(10) {
                    message.name = Some("planner".into());
                }
                session.push(message);
            }
            _ => step(&mut dice, &mut session, &mut pending, turn),
        }
    }
    session
}

/// Adds a model's message with some calls, most of them answered.
fn step(dice: &mut Dice, session: &mut Session, pending: &mut Vec<Arc<str>>, turn: usize) {
    let mut blocks = Vec::new();
    if dice.once_in(3) {
        let signature = dice.once_in(2).then(|| Arc::from("c2lnbmF0dXJl"));
        let words = length(dice);
        let thinking = Thinking { text: text(dice, words).into(), signature, redacted: false };
        blocks.push(Block::new(Content::Thinking(thinking)));
    }
    if dice.once_in(2) {
        let words = length(dice);
        blocks.push(Block::text(text(dice, words)));
    }
    if dice.once_in(15) {
        blocks.push(Block::new(opaque(dice)));
    }
    let mut ids: Vec<Arc<str>> = Vec::new();
    for call in 0..dice.below(4) {
        let id: Arc<str> = match dice.below(10) {
            0 => Arc::from("again"),
            1 => Arc::from(""),
            _ => Arc::from(format!("call_{turn}_{call}")),
        };
        let name = dice.pick(&["Read", "Bash", "Skill", "apply_patch", "lookup"]);
        let call = ToolCall { id: Arc::clone(&id), name: name.into(), arguments: arguments(dice) };
        blocks.push(Block::new(Content::ToolCall(call)));
        ids.push(id);
    }
    session.push(Message::new("", Role::Assistant, Origin::Model, blocks));
    if dice.once_in(3) {
        ids.reverse();
    }
    for id in ids {
        match dice.below(15) {
            0 => {}
            1 => pending.push(id),
            2 => {
                // A result that is given twice.
                for _ in 0..2 {
                    let message = result(dice, Arc::clone(&id));
                    session.push(message);
                }
            }
            3 => {
                let message = result(dice, Arc::from(""));
                session.push(message);
            }
            4 => {
                let message = result(dice, Arc::from(format!("of its own {}", session.log().len())));
                session.push(message);
            }
            _ => {
                let message = result(dice, id);
                session.push(message);
            }
        }
    }
}

fn result(dice: &mut Dice, call_id: Arc<str>) -> Message {
    let words = length(dice) * if dice.once_in(30) { 50 } else { 3 };
    let attachments = if dice.once_in(20) { vec![media()] } else { vec![] };
    let text = text(dice, words).into();
    Message::result("", ToolResult { call_id, name: None, text, attachments, is_error: dice.once_in(6) })
}

/// Returns a result for each call of the log that has none: they arrive late, in the order of the calls. Those without ids
/// come last: while a call in front of them is open, one of them is taken for its result.
pub fn missing_results(session: &Session) -> Vec<Message> {
    let mut open: Vec<&Arc<str>> = Vec::new();
    for message in session.log() {
        match message.blocks.iter().find_map(|block| block.as_result()) {
            Some(result) => {
                if let Some(answered) = open.iter().rposition(|id| **id == result.call_id) {
                    open.remove(answered);
                }
            }
            None => open.extend(message.calls().map(|(_, call)| &call.id)),
        }
    }
    let late = |id: &Arc<str>| ToolResult {
        call_id: Arc::clone(id),
        name: None,
        text: "it came late".into(),
        attachments: Vec::new(),
        is_error: false,
    };
    open.sort_by_key(|id| id.is_empty());
    open.into_iter().map(|id| Message::result("late", late(id))).collect()
}

/// The message of [`Chaos`]'s panics.
pub const CHAOS_PANIC: &str = "a strategy gone wrong";

/// A strategy that plans at random: edits of units that are protected, open, missing, or edited already; invalid
/// ranges; summaries longer than what they replace; errors; panics.
#[derive(Debug)]
pub struct Chaos {
    /// The seed of its plans.
    pub seed: u64,
    /// Whether it may panic.
    pub panics: bool,
}

impl Strategy for Chaos {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "chaos",
            summary: "plans at random",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: false, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        // A different plan for each view, the same for an equal view.
        let mut dice = Dice::new(self.seed ^ u64::from(goal.current) << 20 ^ view.len() as u64);
        match dice.below(20) {
            0 => return Err(PlanError("no idea".to_owned())),
            1 => return Ok(Plan::decline("nothing to do")),
            #[expect(clippy::panic, reason = "what this strategy is for")]
            2 if self.panics => panic!("{CHAOS_PANIC}"),
            _ => {}
        }
        let edits = (0..dice.below(12)).map(|_| edit(&mut dice, view)).collect();
        Ok(Plan { edits, declined: None })
    }
}

fn edit(dice: &mut Dice, view: &View<'_>) -> Edit {
    let reason = Reason::new("chaos", "at random").with_score(0.5);
    let unit = |dice: &mut Dice| dice.below(view.units().len() + 1) as u32;
    // Neighbours, or units from anywhere: a summary of the latter is refused where a message between them stays.
    let units: Vec<u32> = match dice.below(2) {
        0 => (unit(dice)..).take(dice.below(5)).collect(),
        _ => (0..dice.below(4)).map(|_| unit(dice)).collect(),
    };
    let message = dice.below(view.len() + 1) as u32;
    let block = dice.below(3) as u32;
    match dice.below(8) {
        0 | 1 => Edit::Drop { units, reason },
        2 => {
            let words = dice.pick(&[1, 5, 2_000]);
            Edit::Summarize { units, summary: SummaryText::Ready(text(dice, words)), reason }
        }
        3 => {
            let request = SummaryRequest::new(dice.below(200) as u32, None);
            Edit::Summarize { units, summary: SummaryText::Request(request), reason }
        }
        4 => Edit::Trim { message, block, max_chars: dice.below(50) as u32, reason },
        _ => {
            let length = view
                .messages()
                .nth(message as usize)
                .and_then(|message| Some(message.blocks.get(block as usize)?.excerptable()?.len()));
            let bound = length.unwrap_or(10) + 2;
            let mut bounds: Vec<u32> = (0..2 * dice.below(4)).map(|_| dice.below(bound) as u32).collect();
            if !dice.once_in(10) {
                bounds.sort_unstable();
            }
            let keep = bounds.chunks(2).map(|pair| pair[0]..pair[1]).collect();
            Edit::Excerpt { message, block, keep, reason }
        }
    }
}
