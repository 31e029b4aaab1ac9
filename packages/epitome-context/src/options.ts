import type { Engine } from "./engine.js";
import type { Mode, TaskKind } from "./report.js";

/** The form of a provider's messages. */
export type Provider = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/**
 * What a host can change in its list: everything (`any`); texts, in the same messages and the same order (`texts`); one run at
 * the front, that becomes one text (`cut`); messages leave, and one text at most comes in (`removals`).
 */
export type HostChanges = "any" | "texts" | "cut" | "removals";

/** A session: its text or bytes in any format that epitome reads, or messages or a request as objects. */
export type SessionInput = string | Uint8Array | readonly object[] | object;

/** What an engine is made of. */
export interface EngineOptions {
  /** The text of a TOML file, or its sections and keys as an object. */
  config?: string | object | undefined;
  /** The model whose window is the budget. */
  model?: string | undefined;
  /** The tokens that the model takes, stands over `model` and `config`. */
  window?: number | undefined;
  /** The tokens that are kept free for the answer. */
  reserveOutput?: number | undefined;
}

/** An engine, or what one is made of. */
export interface WithEngine extends EngineOptions {
  engine?: Engine | undefined;
}

/** How a session is read. */
export interface ReadOptions {
  /** The format, where it is not recognised. */
  format?: string | undefined;
  /** The name or number of one of several sessions. */
  name?: string | undefined;
}

/** How a session is compacted. */
export interface CompactOptions extends ReadOptions {
  /** Tokens (1 or more), or a part of what the messages take now (below 1). */
  budget?: number | undefined;
  /** The format to write. */
  to?: string | undefined;
  /** Strategies in their order, or the name of a chain. */
  chain?: string | readonly string[] | undefined;
  mode?: Mode | undefined;
  task?: TaskKind | undefined;
  /** What to keep in focus. */
  focus?: string | undefined;
  /** Messages that stay whole, each call with its results: `"#37"`, `"#40-#52"`, `"..#36"`, `"#53.."`, by their numbers, from 0. */
  keep?: string | readonly string[] | undefined;
  /** Messages that leave before anything else does, each call with its results. */
  drop?: string | readonly string[] | undefined;
  /** Settings for this call alone, such as `{ keep_recent_messages: 10 }` or `{ "budget.target": 0.3 }`. */
  settings?: Record<string, unknown> | undefined;
}

/** What is searched, and how much comes back. */
export interface SearchOptions extends ReadOptions {
  sources?: Source | readonly Source[] | undefined;
  /** Puts what is newest first. */
  newest?: boolean | undefined;
  /** Passages of a page. */
  limit?: number | undefined;
  /** Characters of a page. */
  characters?: number | undefined;
  /** From 1. */
  page?: number | undefined;
}

export type Source = "user" | "assistant" | "tool" | "file";

/** What stands beside the messages of one call. */
export interface BesideOptions {
  /** The system prompt that is not in the list, as the request has it, or its tokens. */
  system?: unknown;
  /** The definitions of the tools, as the request has them, or their tokens. */
  tools?: readonly unknown[] | number | null | undefined;
}

/** How one list of a loop is fitted. */
export interface FitOptions extends BesideOptions {
  /** Distinguishes conversations that begin alike. */
  key?: string | undefined;
  /** The form of this list, which is recognised otherwise. */
  format?: Provider | undefined;
  /** The input tokens, cached ones included, that the provider reported for what the call before this one gave: counts are corrected by them. */
  reportedTokens?: number | undefined;
  /** A compaction that the conversation's model asks for: it is made where it is wise, whether one is due or not. */
  asked?: Asked | undefined;
}

/** What a model asks for with a compaction. */
export interface Asked {
  /** Why now. */
  reason: string;
  /** What the model does next: what bears on it stays first. */
  nextStep: string;
  /** What the next context has to hold: messages by their numbers (`#37`, `#40-#52`), or exact texts. */
  keep?: readonly string[] | undefined;
}

/** The tokens that a provider's refusal names. */
export interface Overflow {
  limit?: number | null | undefined;
  actual?: number | null | undefined;
}

/** How a list is fitted once. */
export interface FitOnceOptions extends BesideOptions, WithEngine {
  /** Tokens for messages, system prompt and tools; the window of `model`, `window` or `config` without. */
  budget?: number | undefined;
  /** The form of the messages, where they do not tell. */
  format?: Provider | undefined;
  /** What the host can change in its list; everything without. */
  host?: HostChanges | undefined;
  /** Strategies in their order, or the name of a chain; those of the configuration without. */
  chain?: string | readonly string[] | undefined;
}

/** How a fitter is made. */
export interface FitterOptions extends WithEngine {
  /** Tokens for messages, system prompt and tools; the window of `model`, `window` or `config` without. */
  budget?: number | undefined;
  /** The form of the messages, where they do not tell. */
  format?: Provider | undefined;
  /** How many conversations are remembered. */
  conversations?: number | undefined;
  memoryBytes?: number | undefined;
  archiveBytes?: number | undefined;
  /** 32 bytes: the key of the hashes by which conversations are recognised. */
  secret?: Uint8Array | undefined;
  /** What the host can change in its list; everything without. The engine plans for it, and decisions count for it. */
  host?: HostChanges | undefined;
  /** Strategies in their order, or the name of a chain, for every kind of task; those of the configuration without. */
  chain?: string | readonly string[] | undefined;
}
