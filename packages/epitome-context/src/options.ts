/** What calls take. Written from the types of Rust by `UPDATE_DOCS=1 cargo test -p epitome-binding declarations`. */

import type { Mode, TaskKind } from "./report.js";

/** What an engine is made of. */
export interface EngineOptions {
  /** The text of a TOML file, or its sections and keys as an object. */
  config?: Configuration | undefined;
  /** The model whose window is the budget. */
  model?: string | null | undefined;
  /** The tokens that the model takes, over `model` and `config`. */
  window?: number | undefined;
  /** The tokens that are kept free for the answer. */
  reserveOutput?: number | undefined;
}

/** The text of a TOML file, or its sections and keys as an object. */
export type Configuration = string | object;

/** How a fitter is made. */
export interface FitterBaseOptions {
  /** The form of the messages, where they do not tell. */
  format?: Provider | null | undefined;
  /** Tokens for messages, system prompt and tools; the window of `model`, `window` or `config` without. */
  budget?: number | undefined;
  /** How many conversations are remembered. */
  conversations?: number | undefined;
  /** How much of conversations is remembered, in bytes, near enough. */
  memoryBytes?: number | undefined;
  /** How much is kept of what left, in bytes. */
  archiveBytes?: number | undefined;
  /** 32 bytes: the key of the hashes by which conversations are recognised. */
  secret?: Uint8Array | undefined;
  /**
   * What the host can change in its list: everything (`any`, and without); texts, in the same messages and the same
   * order (`texts`); one run at the front, that becomes one text (`cut`); messages leave, and one text at most comes
   * in (`removals`). The engine plans for it, and decisions count for it.
   */
  host?: HostChanges | null | undefined;
  /** Strategies in their order, or the name of a chain, for every kind of task; those of the configuration without. */
  chain?: Chain | null | undefined;
}

/** The form of a provider's messages. */
export type Provider = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/**
 * The changes that a host can make to its list of messages. Hosts differ: some take any list, some can only write
 * other texts into the messages that they have, some can only cut.
 */
export type HostChanges = "any" | "texts" | "cut" | "removals";

/** Strategies in their order, or the name of a chain. */
export type Chain = string | readonly string[];

/** How one list of a loop is fitted. */
export interface FitOptions {
  /** The system prompt that is not in the list, as the request has it, or its tokens. */
  system?: unknown;
  /** The definitions of the tools, as the request has them, or their tokens. */
  tools?: readonly unknown[] | number | null | undefined;
  /** Distinguishes conversations that begin alike. */
  key?: string | undefined;
  /** The form of this list, which is recognised otherwise. */
  format?: Provider | null | undefined;
  /**
   * The input tokens, cached ones included, that the provider reported for what the call before this one gave: counts
   * are corrected by them.
   */
  reportedTokens?: number | undefined;
  /** A compaction that the conversation's model asks for: it is made where it is wise, whether one is due or not. */
  asked?: Asked | null | undefined;
}

/** What a model asks for with a compaction. */
export interface Asked {
  /** Why now. */
  reason?: string | undefined;
  /** What the model does next: what bears on it stays first. */
  nextStep?: string | undefined;
  /** What the next context has to hold: messages by their numbers (`#37`, `#40-#52`), or exact texts, up to eight. */
  keep?: readonly string[] | undefined;
}

/** The tokens that a provider's refusal names. */
export interface Overflow {
  /** The most that the model takes. */
  limit?: number | null | undefined;
  /** What the request had. */
  actual?: number | null | undefined;
}

/** How a session is read. */
export interface ReadOptions {
  /** The format, where it is not recognised. */
  format?: string | null | undefined;
  /** The name or number of one of several sessions. */
  name?: string | null | undefined;
}

/** How a session is compacted. */
export interface CompactOptions {
  /** The format, where it is not recognised. */
  format?: string | null | undefined;
  /** The name or number of one of several sessions. */
  name?: string | null | undefined;
  /** Tokens (1 or more), or a part of what the messages take now (below 1). */
  budget?: number | undefined;
  /** The format to write. */
  to?: string | null | undefined;
  /** Strategies in their order, or the name of a chain. */
  chain?: Chain | null | undefined;
  /** How the chain is chosen. */
  mode?: Mode | null | undefined;
  /** The kind of task, where you know it. */
  task?: TaskKind | null | undefined;
  /** What to keep in focus. */
  focus?: string | null | undefined;
  /** Messages that stay whole, each call with its results, by their numbers from 0: `#37`, `#40-#52`, `..#36`, `#53..`. */
  keep?: string | readonly string[] | undefined;
  /** Messages that leave before anything else does, each call with its results. */
  drop?: string | readonly string[] | undefined;
  /** Settings for this call alone, by their keys, such as `keep_recent_messages` or `budget.target`. */
  settings?: Record<string, unknown> | null | undefined;
}

/** What is searched, and how much comes back. */
export interface SearchOptions {
  /** The format, where it is not recognised. */
  format?: string | null | undefined;
  /** The name or number of one of several sessions. */
  name?: string | null | undefined;
  /** Whose text is searched; everybody's without. */
  sources?: Source | readonly Source[] | undefined;
  /** Puts what is newest first. */
  newest?: boolean | undefined;
  /** Passages of a page; 6 without. */
  limit?: number | undefined;
  /** Characters of a page; 9,000 without. */
  characters?: number | undefined;
  /** Which page, from 1. */
  page?: number | undefined;
}

/** The speakers whose text is searched. */
export type Source = "user" | "assistant" | "tool" | "file";
