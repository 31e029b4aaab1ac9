/**
 * What calls give; the keys are the same in all languages. Written from the types of Rust by `UPDATE_DOCS=1 cargo test
 * -p epitome-binding declarations`.
 */

/** The result of a compaction, or of a draft of one. */
export interface Report {
  /** How it ended. */
  status: Status;
  /** The limit, in tokens. */
  budget: number;
  /** The tokens that it aims at, at most the limit: reached where `tokens_after` is not above it. */
  target: number;
  /** Tokens of the view before. */
  tokens_before: number;
  /** Tokens of the view after; those before where nothing was changed. */
  tokens_after: number;
  /** The share of the tokens before that was saved, from 0 to 1, without what the repair took out. */
  saved_ratio: number;
  /** What the repair did, where it did anything: its edits name the messages. */
  repaired?: Repairs;
  /** The floor, where what must stay exceeds the limit. */
  floor: Floor | null;
  /**
   * Tokens before that no compaction to this target can save: what must stay, and earlier summaries as far as the
   * target has room for them.
   */
  stays: number;
  /**
   * Where it stopped above the target and why, or why it was not made: the parts of what must stay, with their tokens,
   * or why each strategy of a named chain declined. Text for a person: a program compares `tokens_after` with
   * `target`. `null` at or under the target, and where `floor` has them.
   */
  stopped?: string;
  /** Messages of the view before. */
  messages_before: number;
  /** Messages of the view after. */
  messages_after: number;
  /** What kind of task the session is, and why. */
  task: Verdict;
  /** How the chain was chosen. */
  mode: Mode;
  /** The chain. */
  chain: string[];
  /** How many compactions the session has had, this one included. */
  cycle: number;
  /** The trigger that started it. */
  trigger: Trigger;
  /** The position of the first message that the provider's prompt cache no longer covers. */
  first_changed_message: number | null;
  /** Tokens that were sent before and are behind that message. */
  cache_loss_tokens: number;
  /** The result of each strategy and stage. */
  steps: Step[];
  /** The losses, made or avoided; `null` where nothing would have changed. */
  quality: Quality | null;
  /** Every edit. */
  edits: EditReport[];
  /** A receipt for every message of the view before. */
  messages: Receipt[];
  /** The newest messages that were to stay whole, and how many of them do. */
  recent?: RecentMessages;
  /** The outcome for the messages that were kept and dropped by hand; `null` where none were. */
  by_hand?: ByHandReport;
  /** New facts that were put into the memory store before the compaction. The host fills it in. */
  flushed_memories: number;
  /**
   * The text of the summary, if any: the one that a model was asked for, where one was, else the longest (`summary`).
   * A hand-off is more informative than the lines that are kept in front of it.
   */
  summary: string | null;
  /** Who wrote the summaries. */
  summarizer: SummarizerReport;
  /** The token counter. */
  counter: string;
  /** The time that each phase took. */
  timings: Timings;
}

/** How a compaction ended. */
export type Status = "no-change" | "compacted" | "near-empty" | "infeasible" | "rolled-back";

/**
 * What the repair did to a recorded history before anything was compacted. It saves nothing: what it takes out could
 * not have been sent.
 */
export interface Repairs {
  /**
   * Results that left because no call for them can exist: nothing in front of them calls, or all that was called is
   * answered.
   */
  removed: number;
  /** Calls that got an answer because their result was never recorded. */
  answered: number;
  /** Messages without content that left. */
  empty: number;
  /** Tokens that left, less those of the answers. */
  tokens: number;
}

/** The parts of a session that must stay, where they exceed the limit. */
export interface Floor {
  /** The least tokens that everything which must stay can be cut down to. */
  tokens: number;
  /** Its parts, largest first. */
  parts: FloorPart[];
}

/** A part of the floor. */
export interface FloorPart {
  /**
   * Its name: `system`, `original-task`, `newest-user`, `pinned`, `protected-tool`, `instructions`, `recent-round`,
   * `recent-message`, `open`, `newest-step`, `notice`.
   */
  part: string;
  /** The least tokens that it can be cut down to; those of all parts make the floor. */
  tokens: number;
  /** Its tokens as it is; of the notice those of all messages that may leave. */
  tokens_before: number;
  /** How many messages it has. */
  messages: number;
}

/** A detector's answer. */
export interface Verdict {
  /** The kind. */
  kind: TaskKind;
  /** From 0 (a guess) to 1 (certain). */
  confidence: number;
  /** The evidence, one line each, for a person. */
  evidence: string[];
}

/** The kinds of task that decide the chain. */
export type TaskKind = "code" | "analysis" | "conversation" | "mixed" | "unknown";

/** How the chain is chosen. */
export type Mode = "fixed" | "adaptive" | "tournament";

/** What started a compaction. */
export type Trigger =
  "manual" | "soft" | "hard" | "remaining-share" | "rounds" | "marker" | "overflow" | "arrival" | "clearing" |
  "recorded" | "taken-back" | "kept";

/** One strategy's turn in the chain. */
export interface Step {
  /** The strategy, or a stage of the engine: `repair`, `by-hand`, `thinking`, `oversize`, `floor`, `refill`, `notices`. */
  strategy: string;
  /** Tokens of the view before. */
  tokens_before: number;
  /** Tokens of the view after. */
  tokens_after: number;
  /** Edits that were applied. */
  edits: number;
  /** Edits that a guard refused. */
  refused: number;
  /** Why it changed nothing, or how it failed. */
  declined: string | null;
  /** How long it took, in microseconds. */
  duration_us: number;
}

/**
 * What a compaction lost: how much of what the session held the view after still holds, outside the system prompt. The
 * session is its log, so losses of earlier compactions count as missing here too. The figures are cheap and need no
 * model. Those of a draft are of the summaries as they were written, before any edit by a person.
 */
export interface Quality {
  /**
   * The whole, from 0 to 1: the mean of the parts' shares, each with its weight. A part of which the session held
   * nothing is left out; the share is 1 where all are.
   */
  share: number;
  /**
   * Messages that people typed or answered through a tool, without what a harness added; a message counts as kept
   * where all its words stay the same, white space aside, so one that was cut does not. Equal messages count once for
   * each copy that remains, as a message or as a user's words in a transcript, and once where the words stand
   * elsewhere; those of fewer than 10 characters, such as "yes", do not count elsewhere. One without a letter or a
   * digit has no words and is not counted.
   */
  typed: KeptShare;
  /**
   * Sentences of people that demand something or tell a fact to be kept, with the sentence that they refer to
   * (`demands`); kept as typed messages are.
   */
  instructions: KeptShare;
  /**
   * Concluding sentences of 40 to 300 characters in the model's last message before each typed message, and in its
   * last message of all.
   */
  conclusions: KeptShare;
  /** Lines of summaries in the view before that an agent or a model wrote, and not this engine. */
  summaries: KeptShare;
  /**
   * Exact strings that were asked for: those in typed messages and in what calls name. A string weighs from 1 to 2,
   * more the later it was last asked for; it counts as kept where it occurs on token boundaries.
   */
  strings: KeptShare;
  /**
   * Files that calls wrote or edited, which weigh 2, and files that calls only read, which weigh 1; a file counts as
   * kept where it is named.
   */
  files: KeptShare;
  /** The thresholds that it misses; empty where it meets all, or where there are none. */
  below: Shortfall[];
  /** The chains that were tried, in order; empty where there was one. */
  tried: TriedChain[];
}

/** How much of one part was kept. */
export interface KeptShare {
  /** How many the session held. */
  held: number;
  /** How many of them the view after holds. */
  kept: number;
  /**
   * How many of them the view before held and the view after does not: the loss of this compaction. Earlier ones lost
   * the rest of what is missing.
   */
  lost_now: number;
  /**
   * The share of their weight that is kept, from 0 to 1 in steps of 1/10,000, rounded down; 1 where there was nothing
   * to keep.
   */
  share: number;
  /** Up to five examples of what this compaction lost, the most valuable first. */
  lost: string[];
  /** Up to five examples of what earlier compactions lost and is still missing, the most valuable first. */
  lost_earlier: string[];
}

/** A part of which less was kept than the configuration asks for. */
export interface Shortfall {
  /** The part. */
  part: QualityPart;
  /** The share that is kept. */
  share: number;
  /** The least share that the configuration asks for. */
  least: number;
}

/** The parts that the guard measures, in the order in which reports list them. */
export type QualityPart = "typed" | "instructions" | "conclusions" | "summaries" | "strings" | "files";

/** A chain that was tried. */
export interface TriedChain {
  /** Its strategies. */
  chain: string[];
  /** Tokens of the view that it produced; 0 where it produced none. */
  tokens_after: number;
  /** Its `share`; `null` where there was nothing to measure. */
  share: number | null;
  /** The thresholds that it misses. */
  below: Shortfall[];
  /** Why it has no result. */
  problem?: string;
}

/** One edit that was applied. */
export interface EditReport {
  /** Its kind. */
  edit: EditKind;
  /** The strategy that planned it, or the engine's stage. */
  strategy: string;
  /** The messages that it changed. */
  messages: string[];
  /** Tokens that it saved, its own additions already subtracted; 0 for the repair. */
  tokens_saved: number;
  /** Why it was made. */
  reason: ReasonReport;
  /** The archive's handle of the removed content. */
  recall: string | null;
}

/** The four kinds of edit, as reports name them. */
export type EditKind = "drop" | "summarize" | "excerpt" | "trim";

/** Why an edit was made, as the report shows it. */
export interface ReasonReport {
  /** A documented kebab-case code. */
  code: string;
  /** One line for a person. */
  detail: string;
  /** The strategy's own score, where it has one. */
  score: number | null;
}

/** The receipt of one message. */
export interface Receipt {
  /** The message. */
  id: string;
  /** Its role. */
  role: Role;
  /** Its outcome. */
  outcome: Outcome;
}

/** The role of a message, for the provider. */
export type Role = "system" | "user" | "assistant" | "tool";

/** The outcome of a compaction for one message. */
export type Outcome = "kept" | "excerpted" | "trimmed" | "summarized" | "dropped" | "pinned";

/** The newest messages that `keep_recent` asks for. */
export interface RecentMessages {
  /** How many the configuration asks for. */
  asked: number;
  /**
   * How many stay whole: fewer where the others take more than half of the target's room beside the rest that must
   * stay, and where the session has fewer.
   */
  kept: number;
}

/** The outcome for the messages that a request keeps and drops by hand. The numbers are those of the log, from 0. */
export interface ByHandReport {
  /** The messages that are kept, each call with its results. */
  kept: string[];
  /** The messages that left, each call with its results. */
  dropped: string[];
  /** The messages that were to leave and stay. */
  stayed: StayingMessages[];
  /** The messages that were named and had left the context before. */
  gone: string[];
}

/** Messages that a person wanted to drop and that stay. */
export interface StayingMessages {
  /** The messages, such as `#40` or `#40-#52`. */
  messages: string;
  /** Why they stay, in words for a person. */
  why: string;
}

/** Who wrote the summaries. */
export interface SummarizerReport {
  /** The summarizer: `rules`, `llm`; `off` where summaries are switched off. */
  kind: string;
  /** Tokens that models read, those included whose answers could not be used. */
  input_tokens: number;
  /** The part of these that came from the provider's cache. */
  cached_tokens?: number;
  /** Tokens that models wrote. */
  output_tokens: number;
  /** The same for each model that answered. */
  models?: ModelUsage[];
  /** Whether another summarizer replaced the configured one: the rules for a model, or another model. */
  fell_back: boolean;
  /** Why it did, or why there is no summary; the first such problem. */
  problem?: string;
  /** The results of checking each summary that a model wrote against the session. */
  checks?: SummaryCheck[];
}

/** What one model took for summaries, by the figures of its service. */
export interface ModelUsage {
  /** The model as its service calls it; empty where the summarizer does not say. */
  model: string;
  /** The requests that it answered, also those whose answer could not be used. */
  answers: number;
  /** Tokens that it read, cached ones included. */
  input_tokens: number;
  /** Of these, the tokens that came from the provider's cache. */
  cached_tokens?: number;
  /** Tokens that it wrote. */
  output_tokens: number;
}

/** The result of checking a model's summary against the session's log. */
export interface SummaryCheck {
  /** Paths, identifiers, numbers and commands of the summary that were looked up in the session. */
  strings: number;
  /** Those of them that the session does not contain. The summary marks each as unverified. */
  unknown?: string[];
  /** Demands of the user in the messages that the summary covers. */
  demands: number;
  /**
   * Those of them that the model had left out and that rules added word for word; also sentences of the newest request
   * whose exact strings it had left out.
   */
  added_demands?: string[];
  /** Files that calls changed in the messages that the summary covers. */
  files: number;
  /** Those of them that the model had left out and that rules added. */
  added_files?: string[];
  /** Demands and files for which neither the model nor the rules had room. */
  left_out?: string[];
  /**
   * Lines, as the model wrote them, whose state of a file or a command the log contradicts. The summary has the log's,
   * or a mark behind a deletion that the log does not show.
   */
  corrected?: string[];
  /** What was wrong with the model's first answer, where the model was asked again. */
  asked_again?: string;
}

/**
 * The time that each phase of a compaction took, in microseconds by the clock. Phases outside the engine are `null`
 * unless the caller fills them in.
 */
export interface Timings {
  /** Reading, checking and building the configuration. */
  configure_us?: number;
  /** Reading the session. */
  read_us?: number;
  /** Counting the session for the first time. */
  count_us?: number;
  /** Detecting the kind of task, and choosing the chain. */
  detect_us: number;
  /** Planning: the chain and the engine's own stages, summaries and archive included. */
  plan_us: number;
  /** Measuring the quality, of all chains that were tried. */
  quality_us: number;
  /** Writing the session. */
  write_us?: number;
}

/** All that there is to say of one call of `fit`. */
export interface FitReport {
  /** The outcome. */
  status: FitStatus;
  /** The messages to send, in their order. */
  pieces: FitPieceReport[];
  /** The number of messages that came. */
  messages: number;
  /** A system prompt to send beside them, as JSON, where the list had none and needs one now. */
  system: string | null;
  /** Tokens of the list as it came, with what an earlier compaction took out of it. */
  tokens_before: number;
  /** Tokens of the messages to send, with a system prompt that was shown. */
  tokens_after: number;
  /** Tokens that they may take: the window less the answer's reserve, the tools and what the host does not show. */
  budget: number;
  /** Compactions in force, those of earlier calls included. */
  compactions: number;
  /**
   * Why a compaction that was due was not made, as a code: `infeasible`, `nothing-can-leave`, `tried-before`,
   * `loop-goes-on` (the model is at work between calls of tools, with signed reasoning, and there is room left),
   * `not-compacted`, `given-up`, `not-written`.
   */
  detail: string | null;
  /** The messages that must stay, with their parts, where these are more than the budget. */
  floor: Floor | null;
  /** The strategies that changed something in this call. */
  strategies: string[];
  /** The removals of all calls so far, with their handles. */
  removals: Removal[];
  /**
   * The number of new messages: these were read and counted, all others were known. A compaction reads the whole list
   * besides.
   */
  read: number;
  /**
   * What the newest compaction kept, also in calls that only repeat it; `null` where it was made by another process,
   * or where none is in force.
   */
  quality: Quality | null;
  /** The engine's report of the compaction that this call made, or tried. */
  report: Report | null;
  /** For each id in the engine's report the number of the message in the list; none for a system prompt beside it. */
  ids: Record<string, number | null>;
}

/** The outcome of fitting a list. */
export type FitStatus = "unchanged" | "replayed" | "compacted" | "infeasible";

/** A part of what to send. */
export type FitPieceReport = { keep: { start: number; end: number } } | { edit: { index: number; message: string; texts: TextChange[] | null } } | { insert: { message: string; reason: string | null; replaces: number[] } };

/** A text within a message that is another one now. */
export interface TextChange {
  /**
   * The text's place in the message, as a JSON pointer: `/content`, `/content/0/text`,
   * `/tool_calls/0/function/arguments`.
   */
  pointer: string;
  /** The text that is there now. */
  text: string;
}

/** Text that left the context under one handle. */
export interface Removal {
  /** The handle: `retrieve` gives the text back. */
  handle: string;
  /** The numbers of the messages that it is of. */
  messages: number[];
  /** Why it left, for a person. */
  reason: string;
}

/**
 * What a session is made of. The keys are those of the service's `/v1/inspect`, and each message with what protects
 * it.
 */
export interface Contents {
  /** The number of messages that a person typed. */
  rounds: number;
  /** The number of tool calls. */
  calls: number;
  /** Tokens of all messages. */
  tokens: number;
  /** Tokens of the tool definitions. */
  tool_definition_tokens: number;
  /** Tokens by role. */
  tokens_by_role: Record<string, number>;
  /** Tokens of calls and results by tool. */
  tokens_by_tool: Record<string, number>;
  /** The parts of the context, the largest first: `tokens` and `tool_definition_tokens` together. */
  parts: ContextPart[];
  /** The kind of task, with its confidence and evidence. */
  task: Verdict;
  /** The token counter. */
  counter: string;
  /** The name of the format that it came in. */
  format: string;
  /** Each message of the view. */
  messages: MessageSize[];
  /** What left the view, and when. */
  compactions: HistoryEntry[];
}

/** One part of a context, with what it is made of. */
export interface ContextPart {
  /** Which part. */
  part: PartKind;
  /** How many messages have some of it; 0 for the definitions of the tools. */
  messages: number;
  /** Its tokens. */
  tokens: number;
  /** Calls and results by tool, files by path, the largest first; empty for the other parts. */
  items: ContextPartItem[];
}

/** A part of a context. */
export type PartKind =
  "system-prompt" | "tool-definitions" | "instructions" | "task" | "user" | "assistant" | "thinking" | "tool-calls" |
  "tool-results" | "files-read" | "images" | "summaries" | "other";

/** A tool, or a file, within a part. */
export interface ContextPartItem {
  /** The tool's name, or the file's path as the call spells it; `unknown` where the recording names no tool. */
  name: string;
  /** How many calls or results. */
  count: number;
  /** Their tokens. */
  tokens: number;
}

/** The size of one message of a view. */
export interface MessageSize {
  /** The message's position in the view, from 0. */
  position: number;
  /** The message's id, as in reports. */
  id: string;
  /** The message's role. */
  role: Role;
  /** The message's real author. */
  origin: Origin;
  /** The message's tokens. */
  tokens: number;
  /** What protects the message from leaving. */
  protection: string;
}

/**
 * The real author of a message. A user-role message that only carries tool output or an injected reminder is not a
 * genuine user turn: pins, rounds and standing instructions go by the origin and not by the role.
 */
export type Origin =
  "instructions" | "developer" | "configuration" | "typed" | "injected" | "tool-output" | "model" | "tool" | "summary"
  | "notice" | "answer";

/** One compaction of a session's history. */
export interface HistoryEntry {
  /** The compaction's number, to undo it by. */
  epoch: number;
  /** The author. */
  origin: EpochOrigin;
  /** The trigger; `arrival` for a result that was cut before it was sent. */
  trigger: Trigger;
  /** The number of messages that the session had. */
  messages: number;
  /** Tokens of the view before, where they are known. */
  tokens_before: number | null;
  /** Tokens of the view after, where they are known. */
  tokens_after: number | null;
  /** The number of edits by each strategy. */
  edits: Record<string, number>;
  /** Handles of what left, to recall it by, in order. */
  recall: string[];
  /** The summaries that it wrote, the one first that is its summary. */
  summaries: string[];
  /** Whether it was undone. */
  undone: boolean;
}

/** The author of an epoch. */
export type EpochOrigin = "engine" | "recorded";

/** How full a session's context is, and whether a compaction is due. */
export interface Fullness {
  /** Whether a threshold is reached. */
  should_compact: boolean;
  /** Tokens of the messages now. */
  current_tokens: number;
  /** The threshold that was reached, or the soft one; `null` where no number of tokens calls for a compaction. */
  threshold_tokens: number | null;
  /** Tokens that messages may take: the window less the answer's reserve and the tool definitions. */
  usable_tokens: number;
  /** `current_tokens` as a share of `usable_tokens`. */
  share: number;
  /** How urgent it is. */
  urgency: Urgency;
  /** The trigger that calls for it. */
  trigger: Trigger | null;
  /** Whether the compaction that is suggested waits for the end of a piece of work. */
  waits?: boolean;
  /**
   * The limit of the provider's, beside tokens, that the session is over, in words; absent where it keeps all that are
   * known.
   */
  over?: string;
  /** The model's window. */
  window_tokens: number;
  /** Tokens that are kept free for the answer. */
  reserve_output_tokens: number;
  /** Tokens of the tool definitions. */
  tool_definition_tokens: number;
  /** The token counter. */
  counter: string;
  /** Whether `current_tokens` is the counter's own count, and that one exact: for the model, where one is named. */
  exact: boolean;
}

/** How urgent a compaction is. */
export type Urgency = "none" | "soft" | "hard";

/** A stretch of the log that matches. */
export interface Passage {
  /**
   * The text of the log. Where it has more than one speaker, each part follows a line that names its message: `#37
   * Bash →`.
   */
  text: string;
  /** The message that matches best. */
  message: string;
  /** That message's number in the log, from 0. */
  number: number;
  /** That message's role. */
  role: Role;
  /** The tool that was called there, or whose output it is. */
  tool: string | null;
  /** The file that the call names. */
  file: string | null;
  /**
   * The handle that recalls what left the context with it; `null` for a passage that the context still contains, and
   * where that is not known.
   */
  handle: string | null;
  /** Whether the context still contains all of it; `null` where that is not known. */
  in_context?: boolean;
  /**
   * The messages in it that a person took back in the agent, by their numbers in the log: nobody goes by them any more
   * (`locate`).
   */
  taken_back?: number[];
  /** How well it matches, as a share of the best passage's score. */
  score: number;
}

/** A rule of its provider that a request breaks. */
export interface BrokenRule {
  /** Where, such as `messages[3].content[0]`. */
  path: string;
  /** The rule, as a code: `call-without-result`, `alternation`, … */
  rule: string;
  /** What is wrong, for a person. */
  message: string;
}

/** The description of a strategy. */
export interface StrategyEntry {
  /** Its id: kebab-case, the name in chains, configuration and reports, and of its folder. */
  id: string;
  /** One line for a list. */
  summary: string;
  /** What leaves the context by its edits. */
  lossiness: Lossiness;
  /** Services that it cannot work without. */
  needs: RequiredServices;
  /** The version that it first shipped with. */
  since: string;
}

/** What leaves the context by a strategy's edits (the archive keeps everything). */
export type Lossiness = "redundant" | "partial" | "whole";

/** Services that a strategy cannot work without. */
export interface RequiredServices {
  /** An embedder. */
  embeddings: boolean;
  /** A model that writes text; without one the rule-based summarizer is used. */
  model: boolean;
}

/** A format of sessions. */
export interface FormatEntry {
  name: string;
  /** What is read in it, in a line. */
  about: string;
  /** Whether `to` may name it. */
  writable: boolean;
}

/** The tokens that a provider's refusal names. */
export interface ContextOverflow {
  /** The most that the model takes. */
  limit: number | null;
  /** What the request had. */
  actual: number | null;
}
