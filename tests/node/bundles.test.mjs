// Programs that a bundler has put together.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
// Beside the tests, so that what stays outside of a bundle is found from it; and far from everything.
const [beside, far] = [join(here, "node_modules/.bundles-"), join(tmpdir(), "bundles-")].map((path) => mkdtempSync(path));
after(() => [beside, far].forEach((folder) => rmSync(folder, { recursive: true })));

const SERVER = `
  import { FormatError, fit } from "epitome-context";
  import { epitomeMiddleware } from "epitome-context/ai";
  const list = Array.from({ length: 41 }, (_, line) => ({ role: "user", content: "Line of it. ".repeat(50) }));
  console.log(fit(list, { budget: 2_000 }).status, typeof epitomeMiddleware({ budget: 5 }), FormatError.name);`;
const OUTSIDE = ["epitome-context", "epitome-context/*"];

/** The place of a program after esbuild. */
async function bundled(program, outfile, options) {
  const stdin = { contents: program, resolveDir: here };
  await build({ stdin, outfile, bundle: true, logLevel: "silent", ...options });
  return outfile;
}

test("on a server the package stays outside of the bundle", async () => {
  for (const [name, format] of [["server.mjs", "esm"], ["server.cjs", "cjs"]]) {
    const file = await bundled(SERVER, join(beside, name), { platform: "node", format, external: OUTSIDE });
    assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8" }), "compacted object FormatError\n");
  }
});

test("a bundle that has taken it along says what to do", async () => {
  const file = await bundled('import { fit } from "epitome-context"; fit([]);', join(far, "whole.cjs"), { platform: "node", format: "cjs" });
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /has no native part for .*; build it: npm run build, or, where this is a bundle, keep `epitome-context` outside/);
});

test("for browsers the WebAssembly build is bundled, and the module goes beside it", async () => {
  const program = `
    import { countTokens, init } from "epitome-context";
    import { epitomeMiddleware } from "epitome-context/ai";
    const calls = [() => countTokens("Hello world"), () => typeof epitomeMiddleware({ budget: 5 })];
    for (const call of calls) try { call(); } catch (error) { console.log(error.message); }
    const module = process.argv[2];
    if (module) {
      const { readFileSync } = await import("node:fs");
      await init(readFileSync(module));
      console.log(...calls.map((call) => call()));
    }`;
  const file = await bundled(program, join(far, "browser.mjs"), { platform: "browser", format: "esm", external: ["node:fs"] });
  assert.doesNotMatch(readFileSync(file, "utf8").replace('import("node:fs")', ""), /node:/, "nothing of Node is in it");
  const module = fileURLToPath(new URL("../../packages/epitome-context/native/epitome-context.wasm", import.meta.url));
  const isBuilt = existsSync(module);
  const printed = execFileSync(process.execPath, isBuilt ? [file, module] : [file], { encoding: "utf8" });
  const missing = "epitome-context is not loaded: wait for `init()` of epitome-context/wasm first\n";
  assert.equal(printed, missing.repeat(2) + (isBuilt ? "2 object\n" : ""));
});
