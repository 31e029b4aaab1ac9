/** What the native part gives back for a call. */
export interface Reply {
  isFailure: boolean;
  /** A value, or the failure, as JSON. */
  json: string;
  bytes?: Uint8Array | null | undefined;
}

/** The engine behind this package: one function, in native code or in WebAssembly. */
export interface Native {
  call(name: string, words: string, data?: string | Uint8Array): Reply;
  callAsync(name: string, words: string, data?: string | Uint8Array): Promise<Reply>;
}

let native: Native | undefined;

/** Says what carries calls out. */
export function useNative(given: Native): void {
  native = given;
}

/** What carries calls out. */
export function theNative(): Native {
  if (native === undefined) {
    throw new Error("epitome-context is not loaded: wait for `init()` of epitome-context/wasm first");
  }
  return native;
}
