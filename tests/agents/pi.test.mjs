// The extension of Pi beside a made-up Pi: what it does where the program answers, wrongly, late or never.
//
//   EPITOME_BIN=PATH node --test tests/agents/pi.test.mjs     (a node that takes types: 22.18 or newer)
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "epitome-pi-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const source = readFileSync(fileURLToPath(new URL("../../plugins/pi/epitome.ts", import.meta.url)), "utf8");
// The settings that the program reads.
process.env.XDG_CONFIG_HOME = join(folder, "config");
let number = 0;

/** The extension with the program at a path: its compaction, its tools, and what it told the person. */
async function extension(program, { sign = 30_000, patience = 30_000 } = {}) {
  const changes = [
    ['const PROGRAM = "epitome";', `const PROGRAM = ${JSON.stringify(program)};`],
    ["const SIGN = 2_000;", `const SIGN = ${sign};`],
    ["const PATIENCE = 300_000;", `const PATIENCE = ${patience};`],
    ['import { Type } from "@earendil-works/pi-ai";', "const Type = { Object: (it: any) => it, Array: (it: any) => it, String: (it?: any) => it };"],
  ];
  const made = changes.reduce((text, [from, to]) => {
    assert.ok(text.includes(from), from);
    return text.replace(from, to);
  }, source);
  const file = join(folder, `${(number += 1)}.ts`);
  writeFileSync(file, made);
  const told = [];
  const tools = new Map();
  let compaction;
  const pi = { on: (_, handler) => (compaction = handler), registerTool: (tool) => tools.set(tool.name, tool) };
  (await import(pathToFileURL(file))).default(pi);
  const entries = session();
  const sessionManager = { getSessionId: () => "s", getBranch: () => entries };
  const ctx = { cwd: "/work", hasUI: true, sessionManager, ui: { notify: (text) => told.push(text) } };
  const compact = (signal = new AbortController().signal) => {
    const preparation = { firstKeptEntryId: entries.at(-1).id, tokensBefore: 40_000, settings: { keepRecentTokens: 20_000 } };
    return compaction({ preparation, branchEntries: entries, signal, customInstructions: undefined }, ctx);
  };
  return { compact, tools, told, ctx };
}

/** A session as Pi's file has it. */
function session() {
  const entry = (id, message) => ({ type: "message", id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z", message });
  const said = (id, text) => entry(id, { role: "user", content: [{ type: "text", text }], timestamp: 1 });
  return [said("a", "Look at every part. Never touch partner HLV-2209."), said("b", "Go on."), said("c", "And now?")];
}

/** A program that answers each line by this script of Node; `ids` are its processes. */
function made(script) {
  const path = join(folder, `made-${(number += 1)}`);
  const head = `#!${process.execPath}\nrequire("fs").appendFileSync(${JSON.stringify(`${path}.log`)}, process.pid + "\\n");\n`;
  const lines = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => { ${script} });\n`;
  writeFileSync(path, `${head}setTimeout(() => undefined, 60_000);\n${lines}`, { mode: 0o755 });
  return { path, count: () => readFileSync(`${path}.log`, "utf8").trim().split("\n").length };
}

test("the program's words stand in place of what leaves", async () => {
  const { compact, tools, ctx } = await extension(process.env.EPITOME_BIN);
  const { compaction } = await compact();
  assert.match(compaction.summary, /^Earlier steps, shortened\..*\n« Look at every part\. Never touch partner HLV-2209\./);
  assert.deepEqual(compaction.details, { by: "epitome" });
  // The end of a process that has answered says nothing of the program.
  for (let time = 0; time < 5; time += 1) assert.equal((await compact()).compaction.summary, compaction.summary);
  const found = await tools.get("search_history").execute("id", { queries: ["HLV-2209"] }, undefined, undefined, ctx);
  assert.match(found.content[0].text, /HLV-2209/);
});

test("Pi compacts by itself where the program answers wrongly, late or never, and it is not asked again", async () => {
  const check = async (path, expect, times) => {
    const { compact, told, tools, ctx } = await extension(path, times);
    for (let time = 0; time < 3; time += 1) assert.equal(await compact(), undefined);
    assert.equal(told.length, 1, told.join("\n"));
    assert.match(told[0], expect);
    await assert.rejects(tools.get("recall").execute("id", { handle: "#0" }, undefined, undefined, ctx), /go on without it/);
  };
  const checkMade = async (script, expect, times) => {
    const { path, count } = made(script);
    await check(path, expect, times);
    assert.equal(count(), 1, "a program that is lost is not started again");
  };
  await check(join(folder, "none"), /ENOENT/);
  await check("/bin/false", /ended with 1 and no answer/);
  await checkMade("", /no sign of life in 0.4 seconds/, { sign: 400 });
  await checkMade('console.log(JSON.stringify({ id: 1, alive: true }))', /no sign of life in 0.4 seconds/, { patience: 400 });
  await checkMade('console.log("no JSON")', /not JSON/);
  await checkMade('console.log(JSON.stringify({ id: 2, result: { text: "x" } }))', /another question/);
  await checkMade('console.log(JSON.stringify({ id: 1, result: "x" }))', /neither a result nor an error/);
});

test("an answer without words is refused, and one that takes its time is waited for", async () => {
  const check = async (script, expect, times) => {
    const { compact, told } = await extension(made(script).path, times);
    assert.equal((await compact())?.compaction.summary.split("\n")[0], expect);
    assert.equal(told.length, expect ? 0 : 1);
  };
  const answer = (result) => `console.log(JSON.stringify({ id: 1, result: ${JSON.stringify(result)} }))`;
  await check(answer({ text: " \n" }), undefined);
  await check(answer({}), undefined);
  await check(answer({ text: ["a"] }), undefined);
  await check(answer({ text: "Words.", messages: 3 }), "Words.");
  await check(`console.log('{"id":1,"alive":true}'); setTimeout(() => ${answer({ text: "Late." })}, 600)`, "Late.", { sign: 400 });
});

test("what a person breaks off says nothing of the program", async () => {
  const { compact } = await extension(process.env.EPITOME_BIN);
  assert.equal(await compact(AbortSignal.abort()), undefined);
  assert.ok((await compact()).compaction.summary);
});
