// The same calls over WebAssembly, where the module was built (scripts/build-wasm.mjs).
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";

import * as native from "epitome-context";
import * as wasm from "epitome-context/wasm";

const place = new URL("../../packages/epitome-context/native/epitome-context.wasm", import.meta.url);
const skip = !existsSync(place) && "the module is not built: no target wasm32-unknown-unknown here";
const session = readFileSync(new URL("../../examples/session.jsonl", import.meta.url));

test("a call before `init` says what is missing", () => {
  assert.throws(() => wasm.countTokens("Hello"), { message: /wait for `init\(\)`/ });
});

test("a module that is none is refused", async () => {
  await assert.rejects(wasm.init(new Uint8Array([1, 2, 3])), { name: "CompileError" });
});

test("the same session gives the same bytes as native code", { skip }, async () => {
  await wasm.init(readFileSync(place));
  for (const options of [{ budget: 12_000 }, { budget: 12_000, to: "anthropic" }, { budget: 5_000, to: "openai-responses" }]) {
    assert.equal(Buffer.compare(wasm.compact(session, options).data, native.compact(session, options).data), 0);
  }
  const { messages } = native.compact(session, { budget: 200_000, to: "openai-chat" });
  const fitted = [wasm, native].map((epitome) => epitome.fit(messages, { budget: 9_000 }));
  assert.deepEqual(fitted[0].messages, fitted[1].messages);
  assert.equal(fitted[0].messages.at(-1), messages.at(-1));
  assert.deepEqual(wasm.inspect(session), native.inspect(session));
  assert.deepEqual(wasm.search(session, "fingerprint"), native.search(session, "fingerprint"));
  assert.ok((await wasm.compactAsync(session, { budget: 9_000 })).report.steps.every((step) => step.duration_us === 0));
});

test("a fitter of one build goes on in the other", { skip }, () => {
  const list = Array.from({ length: 41 }, (_, line) => ({ role: "user", content: `Line ${line}. `.repeat(50) }));
  const ours = new native.Fitter({ budget: 2_000, format: "openai-chat" });
  const { messages } = ours.fit(list);
  const theirs = wasm.Fitter.fromState(ours.state(), { budget: 2_000 });
  const again = theirs.fit(list);
  assert.deepEqual([again.status, again.messages], ["replayed", messages]);
});

test("what is not in the module is told by name", { skip }, () => {
  assert.throws(() => wasm.countTokens("a", { counter: "cl100k_base" }), {
    name: "ConfigError",
    message: /no vocabulary `cl100k_base`.*`vocab-cl100k`/,
  });
  assert.throws(() => new wasm.Engine({ config: { embeddings: { embedder: "static" } } }), {
    name: "ConfigError",
    message: /no embedder `static`.*`embeddings`/,
  });
  const report = wasm.preview(session, { budget: 12_000, chain: ["vector-retrieval", "sliding-window"], focus: "fingerprint" });
  assert.match(report.steps.find((step) => step.strategy === "vector-retrieval").declined, /no embedder/);
  assert.throws(() => wasm.fit([{ role: "user", content: "a" }], { budget: 2 }), (error) => error instanceof wasm.Infeasible);
});
