// One package, however it is loaded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { Worker } from "node:worker_threads";

import * as imported from "epitome-context";

const require = createRequire(import.meta.url);

test("what `require` gives is what `import` gives", () => {
  const required = require("epitome-context");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(imported).sort());
  for (const name of Object.keys(imported)) assert.equal(required[name], imported[name], name);
});

test("the types name what there is", () => {
  const api = readFileSync(new URL("../../packages/epitome-context/dist/esm/api.d.ts", import.meta.url), "utf8");
  for (const name of Object.keys(imported)) assert.match(api, new RegExp(`\\b${name}\\b`));
});

test("the adapters load in both ways", async () => {
  const manifest = require("epitome-context/package.json");
  for (const part of ["ai", "langchain", "mastra", "openai-agents"]) {
    assert.ok(`./${part}` in manifest.exports);
    if (part === "mastra" && Number(process.versions.node.split(".")[0]) < 22) continue;
    const names = (module) => Object.keys(module).sort();
    assert.deepEqual(names(require(`epitome-context/${part}`)), names(await import(`epitome-context/${part}`)));
  }
});

test("a worker has engines of its own", async () => {
  const program = `
    const { parentPort, workerData } = require("node:worker_threads");
    const { countTokens, fit } = require("node:module").createRequire(workerData)("epitome-context");
    const list = Array.from({ length: 41 }, (_, line) => ({ role: "user", content: "Line of it. ".repeat(50) }));
    parentPort.postMessage([countTokens("Hello world"), fit(list, { budget: 2_000 }).tokensAfter <= 2_000]);`;
  const answers = await Promise.all(
    Array.from({ length: 3 }, () => new Promise((resolve, reject) => {
      const worker = new Worker(program, { eval: true, workerData: import.meta.url });
      worker.once("message", resolve).once("error", reject);
    })),
  );
  assert.deepEqual(answers, Array(3).fill([2, true]));
});
