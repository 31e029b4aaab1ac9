import { LIST_FIELDS, providerOf } from "./recognise.js";
import { call, Held, textOf } from "./call.js";
import { FormatError } from "./errors.js";
import type { Retrieved } from "./fitted.js";
import type { Native } from "./native.js";
import type { Report, Status } from "./report.js";

/** @internal What the native part tells of a compaction. */
export interface CompactReply {
  handle: number;
  report: Report;
  sizes: number[];
  format: string;
  warnings: string[];
}

/**
 * A session that was compacted as a whole: the session after it, the report, and what left.
 *
 * What left is in native memory, which the garbage collector does not see: who compacts many sessions closes each.
 */
export class Compacted {
  /** Every decision with its reason. */
  readonly report: Report;
  /** The format of `data`. */
  readonly format: string;
  /** What was passed over in reading, and what the format to write has no place for. */
  readonly warnings: readonly string[];
  /** Tokens of each message before. */
  readonly sizes: readonly number[];
  /** The session as a file of `format`: the bytes that `epitome compact` writes. */
  readonly data: Uint8Array;
  readonly #held: Held;

  /** @internal */
  constructor(told: CompactReply, data: Uint8Array, native: Native) {
    this.report = told.report;
    this.format = told.format;
    this.warnings = told.warnings;
    this.sizes = told.sizes;
    this.data = data;
    this.#held = new Held(native, told.handle, "free-result");
  }

  /** `no-change`, `compacted`, `near-empty` (it fits, and almost nothing of the task is left) or `rolled-back`. */
  get status(): Status {
    return this.report.status;
  }

  /** Whether the session is as it was: it fits, or a compaction was rolled back. */
  get unchanged(): boolean {
    return this.status === "no-change" || this.status === "rolled-back";
  }

  /** Tokens of the messages before. */
  get tokensBefore(): number {
    return this.report.tokens_before;
  }

  /** Tokens of the messages after. */
  get tokensAfter(): number {
    return this.report.tokens_after;
  }

  /** Tokens that the messages may take. */
  get budget(): number {
    return this.report.budget;
  }

  /** `data` as text. */
  get text(): string {
    return textOf(this.data);
  }

  /** The session as a request of its provider. For the formats of providers only; an agent's own file is in `data`. */
  get request(): Record<string, any> {
    const provider = providerOf(this.format);
    if (provider === undefined) {
      throw new FormatError(`${this.format} is an agent's file and not a request: take \`data\`, or another \`to\``);
    }
    const request: unknown = JSON.parse(this.text);
    return Array.isArray(request) ? { [LIST_FIELDS[provider]]: request } : (request as Record<string, any>);
  }

  /** The messages of `request`. They are new objects; `fit` gives a caller's own ones back. */
  get messages(): any[] {
    const { request } = this;
    return request[LIST_FIELDS[providerOf(this.format) ?? "openai-chat"]] as any[];
  }

  /** What left under a handle of the report: a text, or a list of messages; `null` where there is no such handle. */
  retrieve(handle: string): Retrieved {
    const { native, handle: result } = this.#held;
    return call<Retrieved>("result-retrieve", { handle: result, of: handle }, undefined, native).value;
  }

  /** Lets go of what left now, and not when it is collected: `retrieve` is an error afterwards, all else stays. */
  close(): void {
    this.#held.close();
  }
}
