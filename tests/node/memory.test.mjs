// What the native part holds goes when a call ends, or when it is closed.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import test from "node:test";

import * as epitome from "epitome-context";

// The copy that Node loads, whoever asks.
const { theNative, useNative } = createRequire(import.meta.url)("../../packages/epitome-context/dist/cjs/native.js");

const talk = Array.from({ length: 60 }, (_, line) => ({
  role: line % 2 === 0 ? "user" : "assistant",
  content: `Line ${line} of the ledger, sheet S${line}. `.repeat(60),
}));

/** The objects that the native part holds, by what is asked of it while `carryOut` runs: those made and not let go of. */
async function heldAfter(carryOut) {
  const native = theNative();
  const held = { fitter: 0, result: 0 };
  const count = (name) => {
    if (name === "fitter" || name === "fitter-from-state") held.fitter++;
    if (name === "compact") held.result++;
    if (name === "free-fitter") held.fitter--;
    if (name === "free-result") held.result--;
  };
  useNative({
    call: (name, ...given) => (count(name), native.call(name, ...given)),
    callAsync: (name, ...given) => (count(name), native.callAsync(name, ...given)),
  });
  try {
    await carryOut();
  } finally {
    useNative(native);
  }
  return held;
}

test("what a call holds has gone when it ends, or is closed", async () => {
  const check = async (carryOut, expect) => assert.deepEqual(await heldAfter(carryOut), expect);
  const none = { fitter: 0, result: 0 };
  await check(() => epitome.fit(talk, { budget: 3_000 }), none);
  const late = { role: "user", content: [{ type: "input_text", text: "Late." }] };
  await check(() => epitome.fit([...talk, late], { budget: 10 ** 6 }), none);
  await check(() => epitome.fitAsync(talk, { budget: 3_000 }), none);
  await check(() => epitome.fit(talk, { budget: 3_000 }).retrieve("00000000"), none);
  await check(() => assert.throws(() => epitome.fit(talk, { budget: 5 }), epitome.Infeasible), none);
  await check(() => assert.rejects(epitome.fitAsync("no list", { budget: 5 }), epitome.FormatError), none);
  await check(() => epitome.compact(talk, { budget: 3_000 }).close(), none);
  await check(() => epitome.compact(talk, { budget: 3_000 }), { fitter: 0, result: 1 });
  await check(() => new epitome.Fitter({ budget: 3_000 }), { fitter: 1, result: 0 });
});

test("what left a list that was fitted once is brought back", async () => {
  for (const fitted of [epitome.fit(talk, { budget: 3_000 }), await epitome.fitAsync(talk, { budget: 3_000 })]) {
    assert.ok(fitted.removals.length > 0);
    const left = fitted.removals.map(({ handle }) => JSON.stringify(fitted.retrieve(handle))).join();
    assert.match(left, /sheet S31\./);
    assert.equal(fitted.retrieve("00000000"), null);
  }
  assert.equal(epitome.fit(talk, { budget: 10 ** 6 }).retrieve("00000000"), null);
});

test("what was closed says so, and closing twice is closing once", () => {
  const compacted = epitome.compact(talk, { budget: 3_000 });
  compacted.close();
  compacted.close();
  assert.throws(() => compacted.retrieve("00000000"), /this result was closed/);
  assert.ok(compacted.messages.length > 0);
  const engine = new epitome.Engine();
  engine.close();
  engine.close();
  assert.throws(() => engine.countTokens("Hello"), /this engine was closed/);
  assert.equal(epitome.countTokens("Hello"), 1);
});
