import { errorOf } from "./errors.js";
import { jsonOf } from "./json.js";
import { theNative, type Native, type Reply } from "./native.js";

/** What a call gives: its value, and the bytes beside it. */
export interface Answer<T> {
  value: T;
  bytes: Uint8Array;
}

const NOTHING = new Uint8Array();

/** Carries a call out. Options that are `undefined` are as if they were not there. */
export function call<T>(name: string, words: object = {}, data?: string | Uint8Array, native = theNative()): Answer<T> {
  return answerOf(native.call(name, jsonOf(words, "options"), data));
}

/** Carries a call out off this thread, where the platform has others. */
export async function callAsync<T>(
  name: string,
  words: object = {},
  data?: string | Uint8Array,
  native = theNative(),
): Promise<Answer<T>> {
  return answerOf(await native.callAsync(name, jsonOf(words, "options"), data));
}

function answerOf<T>(reply: Reply): Answer<T> {
  if (reply.isFailure) throw errorOf(reply.json);
  return { value: JSON.parse(reply.json) as T, bytes: reply.bytes ?? NOTHING };
}

const DECODER = new TextDecoder();

/** The text of bytes. */
export function textOf(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/** Frees what the native part holds for objects that are gone. */
const REGISTRY = new FinalizationRegistry<() => void>((free) => free());

/**
 * What the native part holds for an object of this package, under a number. It goes when this goes. The number means something
 * to the native part that gave it, and to no other: a page may load a second one.
 */
export class Held {
  readonly #free: () => void;
  #isOpen = true;

  /** `free` is the name of the call that lets it go. */
  constructor(
    readonly native: Native,
    readonly handle: number,
    free: string,
  ) {
    this.#free = () => void native.call(free, JSON.stringify({ handle }));
    REGISTRY.register(this, this.#free, this);
  }

  /** Lets it go now; the second time nothing happens. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    REGISTRY.unregister(this);
    this.#free();
  }
}
