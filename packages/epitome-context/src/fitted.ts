import { textOf } from "./call.js";
import type { Provider } from "./options.js";
import type { FitPieceReport, FitReport, FitStatus, Quality, Removal } from "./report.js";

/** Messages that are sent as they came: those from `start` up to `end`, which is the first that is not one of them. */
export interface Keep {
  kind: "keep";
  start: number;
  end: number;
}

/**
 * Message `number`, of which a part was cut. `message` is all of it as it is to be sent; `texts` are those that are other ones
 * now, or `null` where more than texts changed.
 */
export interface Edit {
  kind: "edit";
  number: number;
  message: Record<string, any>;
  texts: readonly TextChange[] | null;
}

/**
 * A message that was not there, such as a summary: the code of its reason, where there is one, and the numbers of the messages
 * that it replaces.
 */
export interface Insert {
  kind: "insert";
  message: Record<string, any>;
  reason: string | null;
  replaces: readonly number[];
}

/** A part of what to send. */
export type Piece = Keep | Edit | Insert;

/** What left under a handle: a text, or messages in the provider's form; `null` where there is no such handle. */
export type Retrieved = string | Record<string, any>[] | null;

/** A system prompt: a text, or what the provider's form has in its place. */
export type SystemPrompt = string | Record<string, any> | Record<string, any>[];

/** A part of what to send, as the native part tells it. */
type PieceReply =
  | { keep: [first: number, end: number] }
  | { edit: { index: number; message: Record<string, any>; texts: TextChange[] | null } }
  | { insert: { message: Record<string, any> } };

type InsertReport = Extract<FitPieceReport, { insert: unknown }>;

/** A text within a message that is another one now; `pointer` is its place as a JSON pointer. */
export interface TextChange {
  pointer: string;
  text: string;
}

/** @internal What the native part tells of a list. */
export interface FitReply {
  format: Provider;
  status: FitStatus | "near-empty";
  unchanged: boolean;
  tokensBefore: number;
  tokensAfter: number;
  budget: number;
  pieces: PieceReply[];
  system: SystemPrompt | null;
  problem: string | null;
  asked: string | null;
}

/** How a host's own objects take part in what is sent. */
export interface Replacing<M> {
  /** A copy of `own` that says `message`; `texts` is what changed in it, or `null` where more than texts did. */
  edited(own: M, message: any, texts: readonly TextChange[] | null): M;
  /** A message that was not there. */
  inserted(message: any): M;
}

/** What `fit` gives: the messages to send, and what was done to them. The caller's list and objects are never changed. */
export class Fitted<M = any> implements Iterable<M> {
  /**
   * The messages to send: the caller's own objects for what is kept, copies with other texts for what was cut, new objects
   * for what was inserted.
   */
  readonly messages: M[];
  /** A system prompt to send beside them, where the list had none and needs one now; else `null`. */
  readonly system: SystemPrompt | null;
  /**
   * `unchanged`; `replayed`: with what was decided in earlier calls; `compacted`: with a new decision; `near-empty`: with a new
   * one, and almost nothing of the task is left.
   */
  readonly status: FitStatus | "near-empty";
  /** Whether the list is to be sent as it came. */
  readonly unchanged: boolean;
  /** Tokens of the list as it came, a `system` text that was given beside it included. */
  readonly tokensBefore: number;
  /** Tokens of `messages`, that text included. */
  readonly tokensAfter: number;
  /** Tokens that the messages may take, what stands beside them already taken off. */
  readonly budget: number;
  /** What became of the compaction that the model asked for, in words for it; `null` where it asked for none. */
  readonly asked: string | null;
  /** @internal The form of what left. */
  readonly format: Provider;
  readonly #pieces: PieceReply[];
  readonly #report: Uint8Array;
  readonly #retrieve: (handle: string) => Retrieved;
  #read: FitReport | undefined;

  /** @internal */
  constructor(
    came: readonly M[],
    told: FitReply,
    report: Uint8Array,
    retrieve: (handle: string) => Retrieved,
  ) {
    this.status = told.status;
    this.unchanged = told.unchanged;
    this.tokensBefore = told.tokensBefore;
    this.tokensAfter = told.tokensAfter;
    this.budget = told.budget;
    this.asked = told.asked;
    this.format = told.format;
    this.system = told.system;
    this.#pieces = told.pieces;
    this.#report = report;
    this.#retrieve = retrieve;
    this.messages = this.applyTo(came, { edited: changed, inserted: (message) => message as M });
  }

  /**
   * The same for a host's own objects: `own` are as many as were fitted, in the same order. What is kept is the very object.
   */
  applyTo<O>(own: readonly O[], replacing: Replacing<O>): O[] {
    if (this.unchanged) return [...own];
    const messages: O[] = [];
    for (const piece of this.#pieces) {
      if ("keep" in piece) {
        for (let index = piece.keep[0]; index < piece.keep[1]; index++) messages.push(own[index]!);
      } else if ("edit" in piece) {
        const { index, message, texts } = piece.edit;
        messages.push(replacing.edited(own[index]!, message, texts));
      } else {
        messages.push(replacing.inserted(piece.insert.message));
      }
    }
    return messages;
  }

  /**
   * What to send, by the numbers of the messages that came, in the order in which it is sent. For hosts that keep messages of
   * their own: {@link Fitted.applyTo} puts those in their places.
   */
  get pieces(): Piece[] {
    const told = this.report.pieces;
    return this.#pieces.map((piece, at): Piece => {
      if ("keep" in piece) return { kind: "keep", start: piece.keep[0], end: piece.keep[1] };
      if ("edit" in piece) {
        const { index: number, message, texts } = piece.edit;
        return { kind: "edit", number, message, texts };
      }
      const { reason, replaces } = (told[at] as InsertReport).insert;
      return { kind: "insert", message: piece.insert.message, reason, replaces };
    });
  }

  /** Every decision with its reason. */
  get report(): FitReport {
    return (this.#read ??= JSON.parse(textOf(this.#report)) as FitReport);
  }

  /**
   * What the newest compaction kept of what matters, with examples of what was lost, also in calls that only repeat it; `null`
   * where there is none, or where another process made it.
   */
  get quality(): Quality | null {
    return this.report.quality;
  }

  /** What has left, in all calls so far. */
  get removals(): Removal[] {
    return this.report.removals;
  }

  /** What left under a handle: a text, or a list of messages; `null` where there is no such handle. */
  retrieve(handle: string): Retrieved {
    return this.#retrieve(handle);
  }

  /** @internal What brings back what left, without the messages. */
  get retrieval(): (handle: string) => Retrieved {
    return this.#retrieve;
  }

  [Symbol.iterator](): Iterator<M> {
    return this.messages[Symbol.iterator]();
  }
}

/** A copy of the caller's object with other texts; the message as it is to be sent where a copy would not be one. */
function changed<M>(own: M, message: unknown, texts: readonly TextChange[] | null): M {
  if (texts === null) return message as M;
  let copy: unknown = own;
  for (const { pointer, text } of texts) {
    copy = withText(copy, stepsOf(pointer), text);
    if (copy === undefined) return message as M; // an object of a class lies on the way
  }
  return copy as M;
}

/** The keys and indices of a JSON pointer. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A copy of a value in which another text stands at the end of a path; what does not lie on it is shared. */
export function withText(value: unknown, steps: readonly string[], text: string): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return text;
  if (typeof value !== "object" || value === null || !(step in value)) return undefined;
  const inner = withText((value as Record<string, unknown>)[step], rest, text);
  if (inner === undefined) return undefined;
  if (Array.isArray(value)) return value.map((item, index) => (index === Number(step) ? inner : item));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  return { ...value, [step]: inner };
}
