"""What calls give, for type checkers; nothing imports this at run time.

Written from the types of Rust by `UPDATE_DOCS=1 cargo test -p epitome-binding declarations`.
"""

from __future__ import annotations

from typing import Any, Literal, final, overload

from typing_extensions import NotRequired, TypedDict


class Report(TypedDict):
    """The result of a compaction, or of a draft of one."""

    status: Status
    """How it ended."""
    budget: int
    """The limit, in tokens."""
    target: int
    """The tokens that it aims at, at most the limit: reached where `tokens_after` is not above it."""
    tokens_before: int
    """Tokens of the view before."""
    tokens_after: int
    """Tokens of the view after; those before where nothing was changed."""
    saved_ratio: float
    """The share of the tokens before that was saved, from 0 to 1, without what the repair took out."""
    repaired: NotRequired[Repairs]
    """What the repair did, where it did anything: its edits name the messages."""
    floor: Floor | None
    """The floor, where what must stay exceeds the limit."""
    stays: int
    """Tokens before that no compaction to this target can save: what must stay, and earlier summaries as far as the
    target has room for them."""
    stopped: NotRequired[str]
    """Where it stopped above the target and why, or why it was not made: the parts of what must stay, with their
    tokens, or why each strategy of a named chain declined. Text for a person: a program compares `tokens_after`
    with `target`. `None` at or under the target, and where `floor` has them."""
    messages_before: int
    """Messages of the view before."""
    messages_after: int
    """Messages of the view after."""
    task: Verdict
    """What kind of task the session is, and why."""
    mode: Mode
    """How the chain was chosen."""
    chain: list[str]
    """The chain."""
    cycle: int
    """How many compactions the session has had, this one included."""
    trigger: Trigger
    """The trigger that started it."""
    first_changed_message: int | None
    """The position of the first message that the provider's prompt cache no longer covers."""
    cache_loss_tokens: int
    """Tokens that were sent before and are behind that message."""
    steps: list[Step]
    """The result of each strategy and stage."""
    quality: Quality | None
    """The losses, made or avoided; `None` where nothing would have changed."""
    edits: list[EditReport]
    """Every edit."""
    messages: list[Receipt]
    """A receipt for every message of the view before."""
    recent: NotRequired[RecentMessages]
    """The newest messages that were to stay whole, and how many of them do."""
    by_hand: NotRequired[ByHandReport]
    """The outcome for the messages that were kept and dropped by hand; `None` where none were."""
    flushed_memories: int
    """New facts that were put into the memory store before the compaction. The host fills it in."""
    summary: str | None
    """The text of the summary, if any: the one that a model was asked for, where one was, else the longest
    (`summary`). A hand-off is more informative than the lines that are kept in front of it."""
    summarizer: SummarizerReport
    """Who wrote the summaries."""
    counter: str
    """The token counter."""
    timings: Timings
    """The time that each phase took."""


# How a compaction ended.
Status = Literal["no-change", "compacted", "near-empty", "infeasible", "rolled-back"]


class Repairs(TypedDict):
    """What the repair did to a recorded history before anything was compacted. It saves nothing: what it takes out
    could not have been sent."""

    removed: int
    """Results that left because no call for them can exist: nothing in front of them calls, or all that was called is
    answered."""
    answered: int
    """Calls that got an answer because their result was never recorded."""
    empty: int
    """Messages without content that left."""
    tokens: int
    """Tokens that left, less those of the answers."""


class Floor(TypedDict):
    """The parts of a session that must stay, where they exceed the limit."""

    tokens: int
    """The least tokens that everything which must stay can be cut down to."""
    parts: list[FloorPart]
    """Its parts, largest first."""


class FloorPart(TypedDict):
    """A part of the floor."""

    part: str
    """Its name: `system`, `original-task`, `newest-user`, `pinned`, `protected-tool`, `instructions`, `recent-round`,
    `recent-message`, `open`, `newest-step`, `notice`."""
    tokens: int
    """The least tokens that it can be cut down to; those of all parts make the floor."""
    tokens_before: int
    """Its tokens as it is; of the notice those of all messages that may leave."""
    messages: int
    """How many messages it has."""


class Verdict(TypedDict):
    """A detector's answer."""

    kind: TaskKind
    """The kind."""
    confidence: float
    """From 0 (a guess) to 1 (certain)."""
    evidence: list[str]
    """The evidence, one line each, for a person."""


# The kinds of task that decide the chain.
TaskKind = Literal["code", "analysis", "conversation", "mixed", "unknown"]


# How the chain is chosen.
Mode = Literal["fixed", "adaptive", "tournament"]


# What started a compaction.
Trigger = Literal[
    "manual", "soft", "hard", "remaining-share", "rounds", "marker", "overflow", "arrival", "clearing", "recorded",
    "taken-back", "kept"
]


class Step(TypedDict):
    """One strategy's turn in the chain."""

    strategy: str
    """The strategy, or a stage of the engine: `repair`, `by-hand`, `thinking`, `oversize`, `floor`, `refill`,
    `notices`."""
    tokens_before: int
    """Tokens of the view before."""
    tokens_after: int
    """Tokens of the view after."""
    edits: int
    """Edits that were applied."""
    refused: int
    """Edits that a guard refused."""
    declined: str | None
    """Why it changed nothing, or how it failed."""
    duration_us: int
    """How long it took, in microseconds."""


class Quality(TypedDict):
    """What a compaction lost: how much of what the session held the view after still holds, outside the system prompt.
    The session is its log, so losses of earlier compactions count as missing here too. The figures are cheap and
    need no model. Those of a draft are of the summaries as they were written, before any edit by a person."""

    share: float
    """The whole, from 0 to 1: the mean of the parts' shares, each with its weight. A part of which the session held
    nothing is left out; the share is 1 where all are."""
    typed: KeptShare
    """Messages that people typed or answered through a tool, without what a harness added; a message counts as kept
    where all its words stay the same, white space aside, so one that was cut does not. Equal messages count once
    for each copy that remains, as a message or as a user's words in a transcript, and once where the words stand
    elsewhere; those of fewer than 10 characters, such as "yes", do not count elsewhere. One without a letter or a
    digit has no words and is not counted."""
    instructions: KeptShare
    """Sentences of people that demand something or tell a fact to be kept, with the sentence that they refer to
    (`demands`); kept as typed messages are."""
    conclusions: KeptShare
    """Concluding sentences of 40 to 300 characters in the model's last message before each typed message, and in its
    last message of all."""
    summaries: KeptShare
    """Lines of summaries in the view before that an agent or a model wrote, and not this engine."""
    strings: KeptShare
    """Exact strings that were asked for: those in typed messages and in what calls name. A string weighs from 1 to 2,
    more the later it was last asked for; it counts as kept where it occurs on token boundaries."""
    files: KeptShare
    """Files that calls wrote or edited, which weigh 2, and files that calls only read, which weigh 1; a file counts as
    kept where it is named."""
    below: list[Shortfall]
    """The thresholds that it misses; empty where it meets all, or where there are none."""
    tried: list[TriedChain]
    """The chains that were tried, in order; empty where there was one."""


class KeptShare(TypedDict):
    """How much of one part was kept."""

    held: int
    """How many the session held."""
    kept: int
    """How many of them the view after holds."""
    lost_now: int
    """How many of them the view before held and the view after does not: the loss of this compaction. Earlier ones
    lost the rest of what is missing."""
    share: float
    """The share of their weight that is kept, from 0 to 1 in steps of 1/10,000, rounded down; 1 where there was
    nothing to keep."""
    lost: list[str]
    """Up to five examples of what this compaction lost, the most valuable first."""
    lost_earlier: list[str]
    """Up to five examples of what earlier compactions lost and is still missing, the most valuable first."""


class Shortfall(TypedDict):
    """A part of which less was kept than the configuration asks for."""

    part: QualityPart
    """The part."""
    share: float
    """The share that is kept."""
    least: float
    """The least share that the configuration asks for."""


# The parts that the guard measures, in the order in which reports list them.
QualityPart = Literal["typed", "instructions", "conclusions", "summaries", "strings", "files"]


class TriedChain(TypedDict):
    """A chain that was tried."""

    chain: list[str]
    """Its strategies."""
    tokens_after: int
    """Tokens of the view that it produced; 0 where it produced none."""
    share: float | None
    """Its `share`; `None` where there was nothing to measure."""
    below: list[Shortfall]
    """The thresholds that it misses."""
    problem: NotRequired[str]
    """Why it has no result."""


class EditReport(TypedDict):
    """One edit that was applied."""

    edit: EditKind
    """Its kind."""
    strategy: str
    """The strategy that planned it, or the engine's stage."""
    messages: list[str]
    """The messages that it changed."""
    tokens_saved: int
    """Tokens that it saved, its own additions already subtracted; 0 for the repair."""
    reason: ReasonReport
    """Why it was made."""
    recall: str | None
    """The archive's handle of the removed content."""


# The four kinds of edit, as reports name them.
EditKind = Literal["drop", "summarize", "excerpt", "trim"]


class ReasonReport(TypedDict):
    """Why an edit was made, as the report shows it."""

    code: str
    """A documented kebab-case code."""
    detail: str
    """One line for a person."""
    score: float | None
    """The strategy's own score, where it has one."""


class Receipt(TypedDict):
    """The receipt of one message."""

    id: str
    """The message."""
    role: Role
    """Its role."""
    outcome: Outcome
    """Its outcome."""


# The role of a message, for the provider.
Role = Literal["system", "user", "assistant", "tool"]


# The outcome of a compaction for one message.
Outcome = Literal["kept", "excerpted", "trimmed", "summarized", "dropped", "pinned"]


class RecentMessages(TypedDict):
    """The newest messages that `keep_recent` asks for."""

    asked: int
    """How many the configuration asks for."""
    kept: int
    """How many stay whole: fewer where the others take more than half of the target's room beside the rest that must
    stay, and where the session has fewer."""


class ByHandReport(TypedDict):
    """The outcome for the messages that a request keeps and drops by hand. The numbers are those of the log, from 0."""

    kept: list[str]
    """The messages that are kept, each call with its results."""
    dropped: list[str]
    """The messages that left, each call with its results."""
    stayed: list[StayingMessages]
    """The messages that were to leave and stay."""
    gone: list[str]
    """The messages that were named and had left the context before."""


class StayingMessages(TypedDict):
    """Messages that a person wanted to drop and that stay."""

    messages: str
    """The messages, such as `#40` or `#40-#52`."""
    why: str
    """Why they stay, in words for a person."""


class SummarizerReport(TypedDict):
    """Who wrote the summaries."""

    kind: str
    """The summarizer: `rules`, `llm`; `off` where summaries are switched off."""
    input_tokens: int
    """Tokens that models read, those included whose answers could not be used."""
    cached_tokens: NotRequired[int]
    """The part of these that came from the provider's cache."""
    output_tokens: int
    """Tokens that models wrote."""
    models: NotRequired[list[ModelUsage]]
    """The same for each model that answered."""
    fell_back: bool
    """Whether another summarizer replaced the configured one: the rules for a model, or another model."""
    problem: NotRequired[str]
    """Why it did, or why there is no summary; the first such problem."""
    checks: NotRequired[list[SummaryCheck]]
    """The results of checking each summary that a model wrote against the session."""


class ModelUsage(TypedDict):
    """What one model took for summaries, by the figures of its service."""

    model: str
    """The model as its service calls it; empty where the summarizer does not say."""
    answers: int
    """The requests that it answered, also those whose answer could not be used."""
    input_tokens: int
    """Tokens that it read, cached ones included."""
    cached_tokens: NotRequired[int]
    """Of these, the tokens that came from the provider's cache."""
    output_tokens: int
    """Tokens that it wrote."""


class SummaryCheck(TypedDict):
    """The result of checking a model's summary against the session's log."""

    strings: int
    """Paths, identifiers, numbers and commands of the summary that were looked up in the session."""
    unknown: NotRequired[list[str]]
    """Those of them that the session does not contain. The summary marks each as unverified."""
    demands: int
    """Demands of the user in the messages that the summary covers."""
    added_demands: NotRequired[list[str]]
    """Those of them that the model had left out and that rules added word for word; also sentences of the newest
    request whose exact strings it had left out."""
    files: int
    """Files that calls changed in the messages that the summary covers."""
    added_files: NotRequired[list[str]]
    """Those of them that the model had left out and that rules added."""
    left_out: NotRequired[list[str]]
    """Demands and files for which neither the model nor the rules had room."""
    corrected: NotRequired[list[str]]
    """Lines, as the model wrote them, whose state of a file or a command the log contradicts. The summary has the
    log's, or a mark behind a deletion that the log does not show."""
    asked_again: NotRequired[str]
    """What was wrong with the model's first answer, where the model was asked again."""


class Timings(TypedDict):
    """The time that each phase of a compaction took, in microseconds by the clock. Phases outside the engine are
    `None` unless the caller fills them in."""

    configure_us: NotRequired[int]
    """Reading, checking and building the configuration."""
    read_us: NotRequired[int]
    """Reading the session."""
    count_us: NotRequired[int]
    """Counting the session for the first time."""
    detect_us: int
    """Detecting the kind of task, and choosing the chain."""
    plan_us: int
    """Planning: the chain and the engine's own stages, summaries and archive included."""
    quality_us: int
    """Measuring the quality, of all chains that were tried."""
    write_us: NotRequired[int]
    """Writing the session."""


class FitReport(TypedDict):
    """All that there is to say of one call of `fit`."""

    status: FitStatus
    """The outcome."""
    pieces: list[FitPieceReport]
    """The messages to send, in their order."""
    messages: int
    """The number of messages that came."""
    system: str | None
    """A system prompt to send beside them, as JSON, where the list had none and needs one now."""
    tokens_before: int
    """Tokens of the list as it came, with what an earlier compaction took out of it."""
    tokens_after: int
    """Tokens of the messages to send, with a system prompt that was shown."""
    budget: int
    """Tokens that they may take: the window less the answer's reserve, the tools and what the host does not show."""
    compactions: int
    """Compactions in force, those of earlier calls included."""
    detail: str | None
    """Why a compaction that was due was not made, as a code: `infeasible`, `nothing-can-leave`, `tried-before`,
    `loop-goes-on` (the model is at work between calls of tools, with signed reasoning, and there is room left),
    `not-compacted`, `given-up`, `not-written`."""
    floor: Floor | None
    """The messages that must stay, with their parts, where these are more than the budget."""
    strategies: list[str]
    """The strategies that changed something in this call."""
    removals: list[Removal]
    """The removals of all calls so far, with their handles."""
    read: int
    """The number of new messages: these were read and counted, all others were known. A compaction reads the whole
    list besides."""
    quality: Quality | None
    """What the newest compaction kept, also in calls that only repeat it; `None` where it was made by another process,
    or where none is in force."""
    report: Report | None
    """The engine's report of the compaction that this call made, or tried."""
    ids: dict[str, int | None]
    """For each id in the engine's report the number of the message in the list; none for a system prompt beside it."""


# The outcome of fitting a list.
FitStatus = Literal["unchanged", "replayed", "compacted", "infeasible"]


class FitPieceReportKeepKeep(TypedDict):
    start: int
    """The number of the first."""
    end: int
    """The number behind the last."""


@final
class FitPieceReportKeep(TypedDict):
    keep: FitPieceReportKeepKeep
    """Messages as they came."""


class FitPieceReportEditEdit(TypedDict):
    index: int
    """The number of the message that came."""
    message: str
    """The message to send, as JSON."""
    texts: list[TextChange] | None
    """The texts that are other ones now, where nothing else is: a host may put them into its own object. `None` where
    parts came or left, or the arguments of a call that are an object left whole."""


@final
class FitPieceReportEdit(TypedDict):
    edit: FitPieceReportEditEdit
    """The message of this number, changed."""


class FitPieceReportInsertInsert(TypedDict):
    message: str
    """The message to send, as JSON."""
    reason: str | None
    """The code of the reason for it; `None` where the provider's rules ask for it."""
    replaces: list[int]
    """The numbers of the messages that this one replaces."""


@final
class FitPieceReportInsert(TypedDict):
    insert: FitPieceReportInsertInsert
    """A message that was not in the list."""


# A part of what to send.
FitPieceReport = FitPieceReportKeep | FitPieceReportEdit | FitPieceReportInsert


class TextChange(TypedDict):
    """A text within a message that is another one now."""

    pointer: str
    """The text's place in the message, as a JSON pointer: `/content`, `/content/0/text`,
    `/tool_calls/0/function/arguments`."""
    text: str
    """The text that is there now."""


class Removal(TypedDict):
    """Text that left the context under one handle."""

    handle: str
    """The handle: `retrieve` gives the text back."""
    messages: list[int]
    """The numbers of the messages that it is of."""
    reason: str
    """Why it left, for a person."""


class Contents(TypedDict):
    """What a session is made of. The keys are those of the service's `/v1/inspect`, and each message with what
    protects it."""

    rounds: int
    """The number of messages that a person typed."""
    calls: int
    """The number of tool calls."""
    tokens: int
    """Tokens of all messages."""
    tool_definition_tokens: int
    """Tokens of the tool definitions."""
    tokens_by_role: dict[str, int]
    """Tokens by role."""
    tokens_by_tool: dict[str, int]
    """Tokens of calls and results by tool."""
    parts: list[ContextPart]
    """The parts of the context, the largest first: `tokens` and `tool_definition_tokens` together."""
    task: Verdict
    """The kind of task, with its confidence and evidence."""
    counter: str
    """The token counter."""
    format: str
    """The name of the format that it came in."""
    messages: list[MessageSize]
    """Each message of the view."""
    compactions: list[HistoryEntry]
    """What left the view, and when."""


class ContextPart(TypedDict):
    """One part of a context, with what it is made of."""

    part: PartKind
    """Which part."""
    messages: int
    """How many messages have some of it; 0 for the definitions of the tools."""
    tokens: int
    """Its tokens."""
    items: list[ContextPartItem]
    """Calls and results by tool, files by path, the largest first; empty for the other parts."""


# A part of a context.
PartKind = Literal[
    "system-prompt", "tool-definitions", "instructions", "task", "user", "assistant", "thinking", "tool-calls",
    "tool-results", "files-read", "images", "summaries", "other"
]


class ContextPartItem(TypedDict):
    """A tool, or a file, within a part."""

    name: str
    """The tool's name, or the file's path as the call spells it; `unknown` where the recording names no tool."""
    count: int
    """How many calls or results."""
    tokens: int
    """Their tokens."""


class MessageSize(TypedDict):
    """The size of one message of a view."""

    position: int
    """The message's position in the view, from 0."""
    id: str
    """The message's id, as in reports."""
    role: Role
    """The message's role."""
    origin: Origin
    """The message's real author."""
    tokens: int
    """The message's tokens."""
    protection: str
    """What protects the message from leaving."""


# The real author of a message. A user-role message that only carries tool output or an injected reminder is not a
# genuine user turn: pins, rounds and standing instructions go by the origin and not by the role.
Origin = Literal[
    "instructions", "developer", "configuration", "typed", "injected", "tool-output", "model", "tool", "summary",
    "notice", "answer"
]


class HistoryEntry(TypedDict):
    """One compaction of a session's history."""

    epoch: int
    """The compaction's number, to undo it by."""
    origin: EpochOrigin
    """The author."""
    trigger: Trigger
    """The trigger; `arrival` for a result that was cut before it was sent."""
    messages: int
    """The number of messages that the session had."""
    tokens_before: int | None
    """Tokens of the view before, where they are known."""
    tokens_after: int | None
    """Tokens of the view after, where they are known."""
    edits: dict[str, int]
    """The number of edits by each strategy."""
    recall: list[str]
    """Handles of what left, to recall it by, in order."""
    summaries: list[str]
    """The summaries that it wrote, the one first that is its summary."""
    undone: bool
    """Whether it was undone."""


# The author of an epoch.
EpochOrigin = Literal["engine", "recorded"]


class Fullness(TypedDict):
    """How full a session's context is, and whether a compaction is due."""

    should_compact: bool
    """Whether a threshold is reached."""
    current_tokens: int
    """Tokens of the messages now."""
    threshold_tokens: int | None
    """The threshold that was reached, or the soft one; `None` where no number of tokens calls for a compaction."""
    usable_tokens: int
    """Tokens that messages may take: the window less the answer's reserve and the tool definitions."""
    share: float
    """`current_tokens` as a share of `usable_tokens`."""
    urgency: Urgency
    """How urgent it is."""
    trigger: Trigger | None
    """The trigger that calls for it."""
    waits: NotRequired[bool]
    """Whether the compaction that is suggested waits for the end of a piece of work."""
    over: NotRequired[str]
    """The limit of the provider's, beside tokens, that the session is over, in words; absent where it keeps all that
    are known."""
    window_tokens: int
    """The model's window."""
    reserve_output_tokens: int
    """Tokens that are kept free for the answer."""
    tool_definition_tokens: int
    """Tokens of the tool definitions."""
    counter: str
    """The token counter."""
    exact: bool
    """Whether `current_tokens` is the counter's own count, and that one exact: for the model, where one is named."""


# How urgent a compaction is.
Urgency = Literal["none", "soft", "hard"]


class Passage(TypedDict):
    """A stretch of the log that matches."""

    text: str
    """The text of the log. Where it has more than one speaker, each part follows a line that names its message: `#37
    Bash →`."""
    message: str
    """The message that matches best."""
    number: int
    """That message's number in the log, from 0."""
    role: Role
    """That message's role."""
    tool: str | None
    """The tool that was called there, or whose output it is."""
    file: str | None
    """The file that the call names."""
    handle: str | None
    """The handle that recalls what left the context with it; `None` for a passage that the context still contains, and
    where that is not known."""
    in_context: NotRequired[bool]
    """Whether the context still contains all of it; `None` where that is not known."""
    taken_back: NotRequired[list[int]]
    """The messages in it that a person took back in the agent, by their numbers in the log: nobody goes by them any
    more (`locate`)."""
    score: float
    """How well it matches, as a share of the best passage's score."""


class BrokenRule(TypedDict):
    """A rule of its provider that a request breaks."""

    path: str
    """Where, such as `messages[3].content[0]`."""
    rule: str
    """The rule, as a code: `call-without-result`, `alternation`, …"""
    message: str
    """What is wrong, for a person."""


class StrategyEntry(TypedDict):
    """The description of a strategy."""

    id: str
    """Its id: kebab-case, the name in chains, configuration and reports, and of its folder."""
    summary: str
    """One line for a list."""
    lossiness: Lossiness
    """What leaves the context by its edits."""
    needs: RequiredServices
    """Services that it cannot work without."""
    since: str
    """The version that it first shipped with."""


# What leaves the context by a strategy's edits (the archive keeps everything).
Lossiness = Literal["redundant", "partial", "whole"]


class RequiredServices(TypedDict):
    """Services that a strategy cannot work without."""

    embeddings: bool
    """An embedder."""
    model: bool
    """A model that writes text; without one the rule-based summarizer is used."""


class FormatEntry(TypedDict):
    """A format of sessions."""

    name: str
    about: str
    """What is read in it, in a line."""
    writable: bool
    """Whether `to` may name it."""


class ContextOverflow(TypedDict):
    """The tokens that a provider's refusal names."""

    limit: int | None
    """The most that the model takes."""
    actual: int | None
    """What the request had."""


class ReportKeys(dict[str, Any]):
    """A dictionary with the keys of `Report`."""

    @overload
    def __getitem__(self, key: Literal["status"], /) -> Status: ...

    @overload
    def __getitem__(self, key: Literal["budget"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["target"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["tokens_before"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["tokens_after"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["saved_ratio"], /) -> float: ...

    @overload
    def __getitem__(self, key: Literal["repaired"], /) -> Repairs: ...

    @overload
    def __getitem__(self, key: Literal["floor"], /) -> Floor | None: ...

    @overload
    def __getitem__(self, key: Literal["stays"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["stopped"], /) -> str: ...

    @overload
    def __getitem__(self, key: Literal["messages_before"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["messages_after"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["task"], /) -> Verdict: ...

    @overload
    def __getitem__(self, key: Literal["mode"], /) -> Mode: ...

    @overload
    def __getitem__(self, key: Literal["chain"], /) -> list[str]: ...

    @overload
    def __getitem__(self, key: Literal["cycle"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["trigger"], /) -> Trigger: ...

    @overload
    def __getitem__(self, key: Literal["first_changed_message"], /) -> int | None: ...

    @overload
    def __getitem__(self, key: Literal["cache_loss_tokens"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["steps"], /) -> list[Step]: ...

    @overload
    def __getitem__(self, key: Literal["quality"], /) -> Quality | None: ...

    @overload
    def __getitem__(self, key: Literal["edits"], /) -> list[EditReport]: ...

    @overload
    def __getitem__(self, key: Literal["messages"], /) -> list[Receipt]: ...

    @overload
    def __getitem__(self, key: Literal["recent"], /) -> RecentMessages: ...

    @overload
    def __getitem__(self, key: Literal["by_hand"], /) -> ByHandReport: ...

    @overload
    def __getitem__(self, key: Literal["flushed_memories"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["summary"], /) -> str | None: ...

    @overload
    def __getitem__(self, key: Literal["summarizer"], /) -> SummarizerReport: ...

    @overload
    def __getitem__(self, key: Literal["counter"], /) -> str: ...

    @overload
    def __getitem__(self, key: Literal["timings"], /) -> Timings: ...

    @overload
    def __getitem__(self, key: str, /) -> Any: ...

    def __getitem__(self, key: str, /) -> Any:
        return super().__getitem__(key)


class FitReportKeys(dict[str, Any]):
    """A dictionary with the keys of `FitReport`."""

    @overload
    def __getitem__(self, key: Literal["status"], /) -> FitStatus: ...

    @overload
    def __getitem__(self, key: Literal["pieces"], /) -> list[FitPieceReport]: ...

    @overload
    def __getitem__(self, key: Literal["messages"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["system"], /) -> str | None: ...

    @overload
    def __getitem__(self, key: Literal["tokens_before"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["tokens_after"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["budget"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["compactions"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["detail"], /) -> str | None: ...

    @overload
    def __getitem__(self, key: Literal["floor"], /) -> Floor | None: ...

    @overload
    def __getitem__(self, key: Literal["strategies"], /) -> list[str]: ...

    @overload
    def __getitem__(self, key: Literal["removals"], /) -> list[Removal]: ...

    @overload
    def __getitem__(self, key: Literal["read"], /) -> int: ...

    @overload
    def __getitem__(self, key: Literal["quality"], /) -> Quality | None: ...

    @overload
    def __getitem__(self, key: Literal["report"], /) -> Report | None: ...

    @overload
    def __getitem__(self, key: Literal["ids"], /) -> dict[str, int | None]: ...

    @overload
    def __getitem__(self, key: str, /) -> Any: ...

    def __getitem__(self, key: str, /) -> Any:
        return super().__getitem__(key)
