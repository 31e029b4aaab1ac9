import { useNative } from "./native.js";
import { nativeOfModule } from "./wasm-native.js";

export * from "./api.js";

/** A module, its bytes, or where they are. */
export type ModuleSource = WebAssembly.Module | BufferSource | Response | PromiseLike<Response> | URL | string;

/**
 * Loads the module; every other call of this package needs it done. Without a word it is fetched from beside this package
 * (`native/epitome-context.wasm`); hosts that allow no fetching give a module or its bytes.
 */
export async function init(source: ModuleSource = new URL("../../native/epitome-context.wasm", import.meta.url)): Promise<void> {
  useNative(nativeOfModule(await moduleOf(source)));
}

async function moduleOf(source: ModuleSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source as BufferSource);
  const response = await (typeof source === "string" || source instanceof URL ? fetch(source) : source);
  if (!response.ok) throw new Error(`epitome-context.wasm: ${response.status} ${response.statusText} (${response.url})`);
  // Not `compileStreaming`: that refuses servers that do not know the type of the file.
  return WebAssembly.compile(await response.arrayBuffer());
}
