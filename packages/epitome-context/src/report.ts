/** The reports. Their keys are those of `epitome compact --report` (docs/command-line.md) and of docs/fit.md. */

/** What must stay, where it is more than the budget. */
export interface Floor {
  /** The least that all of it can be cut down to. */
  tokens: number;
  /** The largest first: `system`, `original-task`, `newest-user`, `pinned`, …; each with its least and as it is. */
  parts: { part: string; tokens: number; tokens_before: number; messages: number }[];
}

/** The kind of task, and why it is taken for that. */
export interface Verdict {
  kind: TaskKind;
  confidence: number;
  evidence: string[];
}

export type TaskKind = "code" | "analysis" | "conversation" | "mixed" | "unknown";
export type Mode = "adaptive" | "fixed" | "tournament";
export type Status = "no-change" | "compacted" | "hollow" | "infeasible" | "rolled-back";
export type Outcome = "kept" | "excerpted" | "trimmed" | "summarized" | "dropped" | "pinned";

/** How much of one part was kept, and up to five examples of what was lost: now, and by earlier compactions. */
export interface KeptShare {
  held: number;
  kept: number;
  lost_now: number;
  /** The share of their weight that is kept, from 0 to 1; 1 where there was nothing to keep. */
  share: number;
  lost: string[];
  lost_earlier: string[];
}

/** What a compaction kept of what matters. */
export interface Quality {
  /** The whole, from 0 to 1. */
  share: number;
  /** Messages that people typed. */
  typed: KeptShare;
  /** Sentences that demand something. */
  instructions: KeptShare;
  conclusions: KeptShare;
  summaries: KeptShare;
  /** Exact strings that were asked for. */
  strings: KeptShare;
  files: KeptShare;
  /** The thresholds of the configuration that are missed. */
  below: { part: string; share: number; least: number }[];
  /** The chains that were tried, where there were several. */
  tried: Record<string, unknown>[];
}

/** One edit that was made. */
export interface EditReport {
  edit: "drop" | "summarize" | "excerpt" | "trim";
  strategy: string;
  messages: string[];
  tokens_saved: number;
  reason: { code: string; detail: string; score: number | null };
  /** The handle that brings back what left. */
  recall: string | null;
}

/** One strategy's turn. */
export interface Step {
  strategy: string;
  tokens_before: number;
  tokens_after: number;
  edits: number;
  refused: number;
  declined: string | null;
  duration_us: number;
}

/** What a compaction did, or would do. */
export interface Report {
  status: Status;
  /** The most that the result may take. */
  budget: number;
  /** What it aims at, at most `budget`: it is reached where `tokens_after` is not above it. */
  target: number;
  tokens_before: number;
  tokens_after: number;
  saved_ratio: number;
  /** What the repair did, which saves nothing: absent where it did nothing. */
  repaired?: { removed: number; answered: number; empty: number; tokens: number };
  floor: Floor | null;
  stays: number;
  /** Why it ended above the target, or was not made; text for a person. */
  stopped?: string;
  messages_before: number;
  messages_after: number;
  task: Verdict;
  mode: Mode;
  chain: string[];
  cycle: number;
  trigger: string;
  first_changed_message: number | null;
  cache_loss_tokens: number;
  steps: Step[];
  quality: Quality | null;
  edits: EditReport[];
  messages: { id: string; role: string; outcome: Outcome }[];
  /** What became of the messages that were kept and dropped by hand, by their numbers: absent where none were. */
  by_hand?: { kept: string[]; dropped: string[]; stayed: { messages: string; why: string }[]; gone: string[] };
  summary: string | null;
  counter: string;
  [more: string]: unknown;
}

/** A part of what is to be sent. */
export type FitPieceReport =
  | { keep: { start: number; end: number } }
  | { edit: { index: number; message: string; texts: { pointer: string; text: string }[] | null } }
  | { insert: { message: string; reason: string | null; replaces: number[] } };

/** What left the context under one handle. */
export interface Removal {
  handle: string;
  /** The numbers of the messages in the list. */
  messages: number[];
  reason: string;
}

/** All that there is to say of one call of `fit`. */
export interface FitReport {
  status: FitStatus;
  pieces: FitPieceReport[];
  messages: number;
  tokens_before: number;
  tokens_after: number;
  budget: number;
  compactions: number;
  detail: string | null;
  floor: Floor | null;
  strategies: string[];
  removals: Removal[];
  read: number;
  /** What the newest compaction kept, also in calls that only repeat it; `null` where there is none, or another process made it. */
  quality: Quality | null;
  /** The engine's report of the compaction that this call made, or tried. */
  report: Report | null;
  /** For each id in the engine's report the number of the message in the list. */
  ids: Record<string, number | null>;
  [more: string]: unknown;
}

export type FitStatus = "unchanged" | "replayed" | "compacted" | "infeasible";

/** What a session is made of. */
export interface Contents {
  format: string;
  rounds: number;
  calls: number;
  tokens: number;
  tool_definition_tokens: number;
  tokens_by_role: Record<string, number>;
  tokens_by_tool: Record<string, number>;
  messages: { position: number; id: string; role: string; origin: string; tokens: number; protection: string }[];
  compactions: Record<string, unknown>[];
  task: Verdict;
  counter: string;
}

/** Whether a session should be compacted. */
export interface Fullness {
  should_compact: boolean;
  /** By the provider's count of the newest request, where the session records it and it is more than the messages take. */
  current_tokens: number;
  urgency: "none" | "soft" | "hard";
  usable_tokens: number;
  window_tokens: number;
  reserve_output_tokens: number;
  tool_definition_tokens: number;
  counter: string;
  /** Whether `current_tokens` is the counter's own count, and the counter has the model's vocabulary. */
  exact: boolean;
  [more: string]: unknown;
}

/** A passage that a search found. */
export interface Passage {
  text: string;
  /** The message that matches best: its id, and its number in the log. */
  message: string;
  number: number;
  role: string;
  tool: string | null;
  file: string | null;
  /** Brings back what left the context with it. */
  handle: string | null;
  in_context?: boolean;
  /** The messages in it that the person took back in the agent, by their numbers. */
  taken_back?: number[];
  score: number;
}

/** A rule of its provider that a request breaks. */
export interface BrokenRule {
  path: string;
  rule: string;
  message: string;
}

/** A strategy that a chain may name. */
export interface StrategyEntry {
  id: string;
  summary: string;
  lossiness: string;
  since: string;
  [more: string]: unknown;
}

/** A format of sessions. */
export interface FormatEntry {
  name: string;
  about: string;
  /** Whether `to` may name it. */
  writable: boolean;
}
