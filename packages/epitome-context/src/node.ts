import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { EpitomeError } from "./errors.js";
import { useNative, type Native } from "./native.js";
import { nativeOfModule } from "./wasm-native.js";

export * from "./api.js";

/** Where the build puts the native parts; this file is dist/cjs/node.js. */
const FOLDER = join(__dirname, "../../native");

useNative(load());

/** The native code for this platform, or the WebAssembly module that goes everywhere. */
function load(): Native {
  const name = nameOfPlatform();
  const native = placeOfNative(name);
  if (native !== undefined) {
    const { NativeCalls } = require(native) as { NativeCalls: new () => Native };
    return new NativeCalls();
  }
  const portable = join(FOLDER, "epitome-context.wasm");
  if (existsSync(portable)) return nativeOfModule(new WebAssembly.Module(readFileSync(portable)));
  throw new EpitomeError(
    `epitome-context has no native part for ${name}, neither in ${FOLDER} nor in a package epitome-context-${name}; build it: ` +
      "npm run build, or, where this is a bundle, keep `epitome-context` outside of it (its documentation says how)",
  );
}

/** What a build in the repository left, or the package for the platform, which npm installs beside this one. */
function placeOfNative(name: string): string | undefined {
  const built = join(FOLDER, `${name}.node`);
  if (existsSync(built)) return built;
  try {
    return require.resolve(`epitome-context-${name}/epitome-context.node`);
  } catch (error) {
    // Bun names the code as its modules are: ERR_MODULE_NOT_FOUND.
    if ((error as NodeJS.ErrnoException).code?.endsWith("MODULE_NOT_FOUND")) return undefined;
    throw error;
  }
}

function nameOfPlatform(): string {
  const { platform, arch } = process;
  if (platform !== "linux") return `${platform}-${arch}`;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return `${platform}-${arch}-${report.header?.glibcVersionRuntime === undefined ? "musl" : "gnu"}`;
}
