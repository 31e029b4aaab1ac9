import { call, callAsync, Held, textOf, type Answer } from "./call.js";
import { objectProblem, problemOf } from "./checks.js";
import { engineAndRest, type Engine } from "./engine.js";
import { FormatError, Infeasible, refuse } from "./errors.js";
import { Fitted, type FitReply, type Retrieved } from "./fitted.js";
import { isText, type FitterOptions } from "./input.js";
import { jsonOf, wellFormed } from "./json.js";
import type { FitOptions, Overflow, Provider } from "./options.js";
import { formatOf } from "./recognise.js";

/** A fitter of the native part. */
interface Made {
  handle: number;
  format: Provider;
}

/** What lists of plain texts are taken for: they look the same in all formats. */
const PLAIN: Provider = "openai-chat";

/** A list of messages: objects in a provider's form, or a JSON list as text or bytes. */
export type Messages<M> = readonly M[] | string | Uint8Array;

/**
 * Fits the list of messages of a loop, call after call, with the same decisions at the same places.
 *
 * Each call brings the whole list. The conversation is recognised by what the list begins with: what was decided for it is done
 * again byte for byte, so that the provider's prompt cache lives, and a new decision is made only where the budget asks for
 * one. Then there is room for many turns: with `budget`, down to half of it; with `model` or a configuration, down to its
 * target. One fitter may serve many conversations, of several providers too: each list is recognised by itself, unless `format`
 * names the one form of all.
 *
 * ```js
 * const fitter = new Fitter({ budget: 60_000 }); // or { model: "gpt-5" }
 * const toSend = fitter.fit(messages).messages; // before each call of the model
 * ```
 */
export class Fitter {
  readonly #engine: Engine;
  readonly #words: object;
  readonly #once: boolean;
  /** The one form of all lists, where it was named. */
  readonly #named: Provider | undefined;
  #held: Held;
  /** The form of lists that do not tell: the named one, or that of the first list that told. */
  #format: Provider | undefined;

  constructor(options?: FitterOptions);
  /** @internal `once`: a list that does not grow; as much stays as the budget holds, and no room is made for more. */
  constructor(options?: FitterOptions, once?: boolean);
  constructor(options: FitterOptions = {}, once = false) {
    refuse(problemOf(options));
    const [engine, words] = engineAndRest(options);
    this.#once = once;
    this.#engine = engine;
    this.#words = wordsOf(words);
    this.#named = this.#format = words.format ?? undefined;
    this.#held = this.#make(this.#format ?? PLAIN);
  }

  /**
   * What to send in place of a list of messages.
   *
   * `messages` are objects in the provider's form; OpenAI's chat completions and Responses, Anthropic's messages and Gemini's
   * contents are recognised. They are never changed.
   *
   * @throws {Infeasible} where what must stay is larger than the budget; its `fitted` has what earlier decisions make of it.
   */
  fit<M>(messages: readonly M[], options?: FitOptions): Fitted<M>;
  fit(messages: string | Uint8Array, options?: FitOptions): Fitted;
  fit(messages: Messages<any>, options: FitOptions = {}): Fitted {
    return this.#run(messages, options);
  }

  /** The same, off this thread. */
  fitAsync<M>(messages: readonly M[], options?: FitOptions): Promise<Fitted<M>>;
  fitAsync(messages: string | Uint8Array, options?: FitOptions): Promise<Fitted>;
  async fitAsync(messages: Messages<any>, options: FitOptions = {}): Promise<Fitted> {
    return this.#runAsync(messages, options);
  }

  /**
   * What to send after the provider refused what `fit` gave as too long: smaller than was due. `overflow` has the tokens that
   * its error names ({@link contextOverflow} reads them); a limit counts from here on.
   */
  fitAfter<M>(messages: readonly M[], overflow?: Overflow | null, options?: FitOptions): Fitted<M>;
  fitAfter(messages: string | Uint8Array, overflow?: Overflow | null, options?: FitOptions): Fitted;
  fitAfter(messages: Messages<any>, overflow: Overflow | null = {}, options: FitOptions = {}): Fitted {
    return this.#run(messages, options, overflow ?? {});
  }

  /** The same, off this thread. */
  fitAfterAsync<M>(messages: readonly M[], overflow?: Overflow | null, options?: FitOptions): Promise<Fitted<M>>;
  fitAfterAsync(messages: string | Uint8Array, overflow?: Overflow | null, options?: FitOptions): Promise<Fitted>;
  async fitAfterAsync(
    messages: Messages<any>,
    overflow: Overflow | null = {},
    options: FitOptions = {},
  ): Promise<Fitted> {
    return this.#runAsync(messages, options, overflow ?? {});
  }

  /** @internal Refuses the first option whose name is not known; for the adapters, which have some of their own. */
  static checkNames(given: object, known: readonly string[]): void {
    refuse(objectProblem(given));
    call("check-options", { given: Object.keys(given), known });
  }

  /** The form of its lists: the one that was named, or that of the first list that told; `openai-chat` before. */
  get format(): Provider {
    return this.#format ?? PLAIN;
  }

  /** Conversations that are remembered, and bytes in all, near enough. */
  get size(): { conversations: number; bytes: number } {
    return this.#call<{ conversations: number; bytes: number }>("fitter-size", {}).value;
  }

  /** What left under a handle: a text, or a list of messages; `null` where there is no such handle, or it was forgotten. */
  retrieve(handle: string): Retrieved {
    return retrieved(this.#held, handle, this.format);
  }

  /** What it remembers, as bytes; they hold what left the context. {@link Fitter.fromState} reads them. */
  state(): Uint8Array {
    return this.#call("fitter-state", {}).bytes;
  }

  /** The fitter whose `state` these bytes are: it makes the decisions that the other made, and new ones as these options say. */
  static fromState(state: Uint8Array, options: FitterOptions = {}): Fitter {
    const fitter = new Fitter(options);
    const { native, handle } = fitter.#engine.held;
    fitter.#adopt(call<Made>("fitter-from-state", { ...fitter.#words, engine: handle }, state, native).value);
    return fitter;
  }

  /** A fitter that makes the same decisions, with a memory of its own. */
  copy(): Fitter {
    const copy = new Fitter({ ...this.#words, engine: this.#engine, format: this.#named });
    copy.#adopt(this.#call<Made>("fitter-copy", {}).value);
    return copy;
  }

  /** Lets go of what it remembers now, and not when it is collected. It is not to be used afterwards. */
  close(): void {
    this.#held.close();
  }

  #make(format: Provider): Held {
    const { native, handle: engine } = this.#engine.held;
    const words = { ...this.#words, format, once: this.#once, engine };
    return new Held(native, call<Made>("fitter", words, undefined, native).value.handle, "free-fitter");
  }

  /** Takes over what another one knows. */
  #adopt(made: Made): void {
    this.#held.close();
    this.#held = new Held(this.#engine.held.native, made.handle, "free-fitter");
    this.#format = made.format;
  }

  #call<T>(name: string, words: object): Answer<T> {
    const { native, handle } = this.#held;
    return call<T>(name, { ...words, handle }, undefined, native);
  }

  #run(messages: Messages<any>, options: FitOptions, overflow?: Overflow): Fitted {
    const words = wordsOfFit(options, overflow);
    const [came, json, format] = this.#list(messages, options.format);
    const held = this.#held;
    const answer = call<FitReply>("fit", { ...words, format, handle: held.handle }, json, held.native);
    return fittedOf(came, answer, this.#retrieval(answer.value, held));
  }

  async #runAsync(messages: Messages<any>, options: FitOptions, overflow?: Overflow): Promise<Fitted> {
    const words = wordsOfFit(options, overflow);
    const [came, json, format] = this.#list(messages, options.format);
    const held = this.#held;
    const answer = await callAsync<FitReply>("fit", { ...words, format, handle: held.handle }, json, held.native);
    return fittedOf(came, answer, this.#retrieval(answer.value, held));
  }

  /**
   * What brings back what left a list. A fitter that fits once is closed at once: its memory, if there is one, is kept as bytes,
   * which the garbage collector sees, and read when something is asked for.
   */
  #retrieval(told: FitReply, held: Held): Retrieval {
    const { format } = told;
    if (!this.#once) return (handle) => retrieved(held, handle, format);
    if (told.unchanged) return () => null;
    const { native } = held;
    // A copy, for native bytes are let go of only between the turns of the event loop.
    const state = call("fitter-state", { handle: held.handle }, undefined, native).bytes.slice();
    return (handle) => {
      const words = { ...this.#words, format, engine: this.#engine.held.handle };
      const made = call<Made>("fitter-from-state", words, state, native).value;
      const again = new Held(native, made.handle, "free-fitter");
      try {
        return retrieved(again, handle, format);
      } finally {
        again.close();
      }
    };
  }

  /** The list as it is now, its JSON text, and its form where it is named or the list tells it. */
  #list(messages: Messages<any>, named: Provider | null | undefined): [any[], string | Uint8Array, Provider | undefined] {
    if (!isText(messages) && !Array.isArray(messages)) {
      throw new TypeError("messages: not a list of messages; give the list, and `system` and `tools` beside it");
    }
    const given = typeof messages === "string" ? messages : isText(messages) ? textOf(messages) : undefined;
    const came = given === undefined ? [...(messages as any[])] : listOf(given);
    const format = named ?? (this.#named === undefined ? formatOf(came) : undefined);
    this.#format ??= format;
    return [came, given === undefined ? jsonOf(came, "messages") : wellFormed(given), format];
  }
}

/** What left under a handle. */
type Retrieval = (handle: string) => Retrieved;

/** What became of a list; what left it is in the fitter that was asked, which stays as long as `retrieval`. */
function fittedOf(came: any[], { value, bytes }: Answer<FitReply>, retrieval: Retrieval): Fitted {
  const fitted = new Fitted(came, value, bytes, retrieval);
  if (value.problem !== null) {
    throw new Infeasible(value.problem, fitted.report.floor, fitted.budget, fitted.report, fitted);
  }
  return fitted;
}

function retrieved({ native, handle }: Held, of: string, format: Provider): Retrieved {
  return call<Retrieved>("fitter-retrieve", { handle, of, format }, undefined, native).value;
}

function listOf(json: string): any[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch (cause) {
    throw new FormatError(`messages: not a JSON list of messages: ${(cause as Error).message}`, { cause });
  }
  if (!Array.isArray(list)) throw new FormatError("messages: not a JSON list of messages");
  return list as any[];
}

/** The options of a fitter as the native part takes them. */
function wordsOf<T extends { secret?: Uint8Array | undefined }>(words: T): object {
  const { secret, ...rest } = words;
  return { ...rest, secret: secret instanceof Uint8Array ? [...secret] : secret };
}

/** The options of one fit as the native part takes them. */
function wordsOfFit(options: FitOptions, overflow: Overflow | undefined): object {
  refuse(problemOf(options) ?? (overflow && problemOf(overflow)));
  return { ...options, overflow };
}
