/** The service's answers, as docs/service.md describes them. Times are milliseconds since 1970, sizes are tokens. */

export type Role = "system" | "user" | "assistant" | "tool";

export type Origin =
  | "instructions"
  | "typed"
  | "injected"
  | "tool-output"
  | "model"
  | "tool"
  | "summary"
  | "notice"
  | "answer";

export interface Media {
  mime: string;
  source: { kind: "base64" | "url"; value: string } | { kind: "missing" };
}

export type Content =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature?: string; redacted?: boolean }
  | { type: "tool-call"; id: string; name: string; arguments: { kind: "json" | "text"; text: string } }
  | {
      type: "tool-result";
      call_id: string;
      name?: string;
      text: string;
      attachments?: Media[];
      is_error?: boolean;
    }
  | ({ type: "media" } & Media)
  | { type: "opaque"; kind: string; json: string }
  | { type: "gone" };

export interface Message {
  id: string;
  role: Role;
  origin: Origin;
  blocks: { content: Content }[];
  name?: string;
  timestamp?: number;
  pinned?: boolean;
}

export interface StoredMessage {
  /** Its number in the log, from 0; null for what a compaction added. */
  number: number | null;
  message: Message;
  is_edited: boolean;
  is_summary: boolean;
  compacted_at: number | null;
  compacted_into: string | null;
}

export interface MessagePage {
  version: number;
  total: number;
  messages: StoredMessage[];
}

/** A stretch of what was said, found by its words. */
export interface FoundPassage {
  text: string;
  message: string;
  /** The message's number in everything that was said, from 0. */
  number: number;
  role: string;
  tool: string | null;
  file: string | null;
  handle: string | null;
  in_context: boolean;
  score: number;
}

export interface Found {
  passages: FoundPassage[];
  more: boolean;
}

export interface ContextTokens {
  usedTokens: number;
  maxTokens: number;
  percent: number;
  thresholdPercent: number;
  estimated: boolean;
}

export interface AgentSettings {
  threshold_percent?: number | null;
  keep_recent?: number | null;
  summarizer?: string | null;
  channel?: string | null;
  model?: string | null;
  [other: string]: unknown;
}

export interface SessionInfo {
  id: string;
  title?: string | null;
  agent?: string | null;
  settings?: AgentSettings | null;
  version: number;
  messages: number;
  epochs: number;
  created_at: number;
  updated_at: number;
}

export interface Session extends SessionInfo {
  context: ContextTokens;
  budget: { window: number; usable: number; soft: number | null; hard: number | null; target: number };
  task: { kind: string; confidence: number } | null;
  running: boolean;
}

export interface Page<T> {
  items: T[];
  next: string | null;
}

export type EditKind = "drop" | "summarize" | "excerpt" | "trim";

export interface EditReceipt {
  edit: EditKind;
  strategy: string;
  messages: string[];
  tokens_saved?: number;
  reason: { code: string; detail: string; score: number | null };
  recall: string | null;
}

export type Outcome = "kept" | "pinned" | "excerpted" | "trimmed" | "summarized" | "dropped";

export interface FloorPart {
  part: string;
  tokens: number;
  messages: number;
}

export type QualityPart = "typed" | "instructions" | "conclusions" | "summaries" | "strings" | "files";

/** What was kept of one part. */
export interface Kept {
  held: number;
  kept: number;
  /** How many this compaction lost; earlier ones lost the rest of what is missing. */
  lost_now: number;
  share: number;
  lost: string[];
}

export interface Shortfall {
  part: QualityPart;
  share: number;
  least: number;
}

/** What was lost; shares are from 0 to 1. */
export interface Quality extends Record<QualityPart, Kept> {
  share: number;
  below: Shortfall[];
  tried: { chain: string[]; tokens_after: number; share: number | null; below: Shortfall[]; problem?: string }[];
}

/** In microseconds; what was not timed is not there. */
export interface Timings {
  configure_us?: number;
  read_us?: number;
  count_us?: number;
  detect_us: number;
  plan_us: number;
  quality_us: number;
  write_us?: number;
}

export interface Report {
  status: "no-change" | "compacted" | "hollow" | "infeasible" | "rolled-back";
  budget: number;
  tokens_before: number;
  tokens_after: number;
  floor: { tokens: number; parts: FloorPart[] } | null;
  /** Where it stopped above the target, and why. */
  stopped?: string;
  messages_before: number;
  messages_after: number;
  edits: EditReceipt[];
  messages: { id: string; role: Role; outcome: Outcome }[];
  quality: Quality | null;
  summary: string | null;
  chain: string[];
  timings: Timings;
}

/** A text in place of a draft's summary. */
export interface EditedSummary {
  number: number;
  text: string;
}

/** A summary of a draft. */
export interface DraftSummary extends EditedSummary {
  /** Its first line, which stays. */
  heading: string;
  /** Tokens that both may be at most. */
  most_tokens: number;
}

export interface Preview {
  draft: string;
  expires_at: number;
  report: Report;
  summaries: DraftSummary[];
  before?: StoredMessage[];
  after?: StoredMessage[];
}

export interface Compacted {
  report: Report;
  epoch: number | null;
  version: number;
  context: ContextTokens;
}

export interface HistoryEntry {
  epoch: number;
  origin: "engine" | "recorded";
  trigger: string;
  messages: number;
  tokens_before: number | null;
  tokens_after: number | null;
  edits: Record<string, number>;
  recall: string[];
  summaries: string[];
  undone: boolean;
}

export interface SideBySide {
  entry: HistoryEntry;
  edits: EditReceipt[];
  before: StoredMessage[];
  after: StoredMessage[];
}

export interface Recalled {
  handle: string;
  kind: string;
  text?: string;
  messages?: StoredMessage[];
}

export interface Agent {
  name: string;
  settings: AgentSettings;
  source: string;
  effective?: AgentSettings;
  /** Why it cannot be used as the service runs now. */
  problem?: string;
}

/** Where a channel's key is: a variable of the service's environment. */
export interface ChannelKey {
  environment: string;
}

/** A channel as it is stored. */
export interface ChannelSettings {
  kind: string;
  base_url: string;
  models: string[];
  compaction: boolean;
  default: boolean;
  window: number;
  key?: ChannelKey;
}

export interface Channel {
  name: string;
  kind: string;
  base_url: string | null;
  models: string[];
  compaction: boolean;
  /** Whether it is meant where several fit and none is named. */
  default: boolean;
  window: number;
  source: string;
  has_key: boolean;
  key?: ChannelKey;
  problem?: string;
}

export interface Appended {
  version: number;
  appended: number;
  ids: string[];
  context: ContextTokens;
  /** What has come of a slash command; null where the messages were stored. */
  command: { name: string; text: string; recalled?: Recalled } | null;
}

/** What the service tells while a session is watched. */
export type ServerEvent =
  | { event: "compaction_start"; reason: string; messageCount: number }
  | { event: "compaction_step"; strategy: string; tokensBefore: number; tokensAfter: number; edits: number }
  | { event: "summary_start"; count: number; messageCount: number }
  | { event: "summary_done"; inputTokens: number; outputTokens: number; problem: string | null }
  | {
      event: "compaction_done";
      success: boolean;
      status: Report["status"];
      stopped: string | null;
      compactedCount: number;
      keepRecentCount: number;
      summaryMessageId: string | null;
      summaryContent: string | null;
      tokensBefore: number;
      tokensAfter: number;
      epoch: number | null;
    }
  | { event: "compaction_error"; message: string; retryable: boolean }
  | { event: "arrival_cut"; epoch: number; tokensBefore: number; tokensAfter: number }
  | { event: "results_cleared"; epoch: number; tokensBefore: number; tokensAfter: number }
  | { event: "undone"; epoch: number; tokens: number }
  | { event: "token_update"; context: ContextTokens };
