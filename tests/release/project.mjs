// The first lines of somebody's project, in both kinds of modules; says whether native code or WebAssembly carried them out.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { compact, Fitter, version } from "epitome-context";

const session = readFileSync(process.argv[2]);
const compacted = compact(session, { budget: 12_000, to: "openai-chat" });
assert.ok(compacted.tokensAfter <= 12_000 && compacted.tokensBefore > 80_000, `${compacted.tokensAfter}`);
const require = createRequire(import.meta.url);
assert.equal(require("epitome-context").compact, compact);

const messages = Array.from({ length: 40 }, (_, line) => ({ role: "user", content: `Line ${line}. `.repeat(50) }));
assert.ok(new Fitter({ budget: 2_000 }).fit(messages).messages.length < 40);

const native = process.report.getReport().sharedObjects.filter((path) => path.endsWith(".node"));
const expected = process.cwd().endsWith("with-native") ? 1 : 0;
assert.equal(native.length, expected, `loaded: ${native}`);
console.log(`node ${version()}, ${native.length ? "native" : "WebAssembly"}:`, compacted.tokensBefore, "->", compacted.tokensAfter);
