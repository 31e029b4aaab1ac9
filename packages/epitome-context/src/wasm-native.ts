import type { Native, Reply } from "./native.js";

/** What the module exports: `crates/wasm/src/border.rs`. */
interface Exports {
  memory: { buffer: ArrayBuffer };
  epitome_alloc(length: number): number;
  epitome_free(block: number, length: number): void;
  epitome_call(
    name: number,
    nameLength: number,
    words: number,
    wordsLength: number,
    data: number,
    dataLength: number,
  ): number;
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
const NOTHING = new Uint8Array();

/** The bytes before the texts of an answer. */
const HEAD = 12;

/** The native part in a WebAssembly module. A defect that ends a call ends the instance; the next call says so. */
export function nativeOfModule(module: WebAssembly.Module): Native {
  const exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  let broken: unknown;
  const call = (name: string, words: string, data: string | Uint8Array = NOTHING): Reply => {
    if (broken !== undefined) {
      throw new Error("a defect ended this instance of epitome-context; load the module again", { cause: broken });
    }
    try {
      return carryOut(exports, name, words, data);
    } catch (error) {
      broken = error;
      throw error;
    }
  };
  return { call, callAsync: (...words) => Promise.resolve().then(() => call(...words)) };
}

function carryOut(exports: Exports, name: string, words: string, data: string | Uint8Array): Reply {
  const blocks = [ENCODER.encode(name), ENCODER.encode(words), typeof data === "string" ? ENCODER.encode(data) : data];
  const handed = blocks.map((bytes) => {
    const block = exports.epitome_alloc(bytes.length);
    new Uint8Array(exports.memory.buffer, block, bytes.length).set(bytes);
    return [block, bytes.length] as const;
  });
  const [[n, nLength], [w, wLength], [d, dLength]] = handed as [Block, Block, Block];
  const answer = exports.epitome_call(n, nLength, w, wLength, d, dLength);
  const head = new DataView(exports.memory.buffer, answer, HEAD);
  const [jsonLength, bytesLength] = [head.getUint32(4, true), head.getUint32(8, true)];
  const text = new Uint8Array(exports.memory.buffer, answer + HEAD, jsonLength);
  const bytes = new Uint8Array(exports.memory.buffer, answer + HEAD + jsonLength, bytesLength);
  const reply: Reply = {
    isFailure: head.getUint8(0) === 1,
    json: DECODER.decode(text),
    bytes: head.getUint8(1) === 1 ? bytes.slice() : null,
  };
  exports.epitome_free(answer, HEAD + jsonLength + bytesLength);
  return reply;
}

type Block = readonly [number, number];
