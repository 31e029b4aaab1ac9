// The plug-in of opencode with messages of every kind, beside a made-up opencode.
//
//   EPITOME_BIN=PATH node --test tests/agents/opencode.test.mjs
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const SESSION = "ses_1";
const MODEL = { providerID: "made", modelID: "m" };
const folder = mkdtempSync(join(tmpdir(), "epitome-opencode-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const source = readFileSync(fileURLToPath(new URL("../../plugins/opencode/epitome.js", import.meta.url)), "utf8");

/** The hooks of the plug-in, with the program at a path, and what it logged. */
async function plugin(program, { context = 18_000, stored = [], sign = 30_000, patience = 30_000, data = `data-${Math.random()}` } = {}) {
  // What the program keeps, and the settings that it reads.
  process.env.XDG_DATA_HOME = join(folder, data);
  process.env.XDG_CONFIG_HOME = join(folder, "config");
  const file = join(folder, `${Math.random()}.mjs`);
  const named = source.replace('const PROGRAM = "epitome";', `const PROGRAM = ${JSON.stringify(program)};`);
  assert.notEqual(named, source);
  const hurried = named.replace("const SIGN = 2_000;", `const SIGN = ${sign};`).replace("const PATIENCE = 300_000;", `const PATIENCE = ${patience};`);
  assert.ok(hurried.includes(`const SIGN = ${sign};`) && hurried.includes(`const PATIENCE = ${patience};`));
  writeFileSync(file, hurried);
  const logged = [];
  const models = context ? { m: { limit: { context, output: 1_000 } } } : {};
  const client = {
    app: { log: async ({ body }) => logged.push(`${body.level}: ${body.message}`) },
    config: { providers: async () => ({ data: { providers: [{ id: "made", models }] } }) },
    session: { messages: async () => ({ data: stored }) },
  };
  const { Epitome } = await import(pathToFileURL(file));
  return { hooks: await Epitome({ client }), logged };
}

let number = 0;
const part = (more) => ({ id: `prt_${(number += 1)}`, sessionID: SESSION, ...more });

function message(role, parts, more = {}) {
  const info = { id: `msg_${(number += 1)}`, role, sessionID: SESSION, time: { created: number }, ...more };
  return { info: role === "user" ? { ...info, model: MODEL, agent: "build" } : { ...info, ...MODEL }, parts };
}

const lines = (step) => Array.from({ length: 90 }, (_, line) => `src/part_${step}/file_${line}.rs: checked`).join("\n");

function tool(step, state) {
  return part({ type: "tool", tool: "bash", callID: `call_${step}`, state: { input: { command: `look ${step}` }, ...state } });
}

/** A session with messages of every kind, and so many steps. */
function session(steps) {
  number = 0;
  const file = part({ type: "file", mime: "image/png", filename: "shot.png", url: "data:image/png;base64,AAAA" });
  const text = (words) => part({ type: "text", text: words });
  const messages = [message("user", [text("Look at every part. Never touch partner HLV-2209."), file])];
  for (let step = 0; step < steps; step += 1) {
    const done = tool(step, { status: "completed", output: lines(step), title: "look", metadata: {}, time: { start: 1, end: 2 } });
    const parts = [part({ type: "step-start" }), part({ type: "reasoning", text: "Hm." }), done, part({ type: "step-finish" })];
    if (step === 1) parts.push(part({ type: "step-start" }), text("Two steps in one message."), tool("1b", { status: "error", error: "it broke" }));
    messages.push(message("assistant", parts));
    if (step === 3) messages.push(message("user", [part({ type: "text", text: "hidden", ignored: true }), text("Go on.")]));
  }
  return messages;
}

const transformed = async (hooks, messages) => {
  const output = { messages: structuredClone(messages) };
  await hooks["experimental.chat.messages.transform"]({}, output);
  return output.messages;
};

test("a session that grows keeps what was decided", async () => {
  const { hooks, logged } = await plugin(process.env.EPITOME_BIN);
  let last = [];
  let compactions = 0;
  for (let steps = 1; steps <= 14; steps += 1) {
    const came = session(steps);
    const sent = await transformed(hooks, came);
    assert.deepEqual(await transformed(hooks, came), sent, "the same list has the same answer");
    assert.match(sent[0].parts[0].text, /^Look at every part\. Never touch partner HLV-2209\./);
    assert.equal(sent[0].parts.filter((each) => each.type === "file").length, 1, "a file stays with its message");
    const known = new Map(came.flatMap(({ parts }) => parts).map((each) => [each.id, each]));
    for (const each of sent.flatMap(({ parts }) => parts)) {
      const before = known.get(each.id);
      assert.ok(before ? before.type === each.type : each.type === "text", JSON.stringify(each));
      if (each.type === "tool") assert.deepEqual([each.callID, each.state.status], [before.callID, before.state.status]);
    }
    assert.ok(sent.every(({ info, parts }) => info.sessionID === SESSION && parts.length > 0));
    const isMade = logged.filter((line) => line.includes("compacted")).length;
    // A step that gets a neighbour of its own message is another one, and so are those that get a new id.
    const begin = JSON.stringify(last.slice(0, -1)).slice(0, -1);
    if (isMade === compactions) assert.ok(JSON.stringify(sent).startsWith(begin), `${steps}: the cache is lost`);
    [last, compactions] = [sent, isMade];
  }
  assert.ok(compactions >= 1 && compactions <= 5, logged.join("\n"));
  assert.ok(JSON.stringify(last).length < JSON.stringify(session(14)).length * 0.8);
  assert.deepEqual(logged.filter((line) => line.startsWith("error")), []);
});

test("a character that a cut left in halves does not stop a fit", async () => {
  const came = session(14);
  const state = came.at(-1).parts.find(({ type }) => type === "tool").state;
  [state.output, state.input] = ["cut: \ud83d", { command: "echo \\ud83d \ud83d" }];
  const { hooks, logged } = await plugin(process.env.EPITOME_BIN, { stored: came });
  assert.ok((await transformed(hooks, came)).length < came.length);
  assert.match(await hooks.tool.search_history.execute({ queries: ["cut", "\ud83d"] }, { sessionID: SESSION }), /cut/);
  assert.deepEqual(logged.filter((line) => line.startsWith("error")), []);
});

test("a session that is taken up again begins as it was sent", async () => {
  const came = session(14);
  const before = await transformed((await plugin(process.env.EPITOME_BIN, { data: "kept" })).hooks, came);
  assert.ok(before.length < came.length);
  const { hooks, logged } = await plugin(process.env.EPITOME_BIN, { data: "kept" });
  assert.deepEqual(await transformed(hooks, came), before);
  assert.deepEqual(logged, [], "nothing is compacted anew");
});

test("the model asks for a compaction", async () => {
  const came = session(8);
  const { hooks, logged } = await plugin(process.env.EPITOME_BIN, { context: 29_000 });
  assert.deepEqual(await transformed(hooks, came), came, "none is due");
  const said = { reason: "the first parts are looked at", next_step: "go on with part 8", keep: ["file_57", "#3"] };
  assert.match(await hooks.tool.compact_context.execute(said, { sessionID: SESSION }), /before your next step/);
  const sent = await transformed(hooks, came);
  assert.ok(sent.length < came.length, logged.join("\n"));
  assert.match(JSON.stringify(sent), /file_57/);
  assert.deepEqual(await transformed(hooks, came), sent, "it is made once");
});

test("a call that is at work stays as it is", async () => {
  const { hooks } = await plugin(process.env.EPITOME_BIN);
  const running = message("assistant", [part({ type: "step-start" }), tool("now", { status: "running" })]);
  const sent = await transformed(hooks, [...session(14), running]);
  assert.ok(sent.length < 14);
  assert.deepEqual(sent.at(-1).parts.at(-1), running.parts.at(-1));
});

test("a request goes out as it is where nothing can be decided", async () => {
  const came = session(14);
  const check = async (program, options, expect) => {
    const { hooks, logged } = await plugin(program, options);
    assert.deepEqual(await transformed(hooks, came), came);
    assert.match(logged.join("\n"), expect);
  };
  await check(join(folder, "none"), {}, /error: the request goes out as it is: spawn .*none ENOENT/);
  await check("/bin/false", {}, /error: the request goes out as it is: .*(ended with 1|EPIPE)/);
  await check(process.env.EPITOME_BIN, { context: 0 }, /^$/);
  await check(process.env.EPITOME_BIN, { context: 200_000 }, /^$/);
});

/** A program that answers each line by this script of Node; `log` keeps the process's id. */
function made(script) {
  const path = join(folder, `made-${(number += 1)}`);
  const log = `${path}.log`;
  const head = `#!${process.execPath}\nrequire("fs").appendFileSync(${JSON.stringify(log)}, process.pid + "\\n");\n`;
  const lines = `require("readline").createInterface({ input: process.stdin }).on("line", (line) => { ${script} });`;
  writeFileSync(path, head + lines, { mode: 0o755 });
  return { path, ids: () => readFileSync(log, "utf8").trim().split("\n").map(Number) };
}

/** Whether a process is at work. */
function isAtWork(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}

test("a program that answers wrongly or shows no sign of life is not asked again", async () => {
  const came = session(14);
  const check = async (script, expect, times = {}) => {
    const { path, ids } = made(script);
    const { hooks, logged } = await plugin(path, times);
    // Two that wait at the same time, and one behind them.
    const both = await Promise.all([transformed(hooks, came), transformed(hooks, came)]);
    assert.deepEqual(both, [came, came]);
    assert.deepEqual(await transformed(hooks, came), came);
    assert.equal(logged.length, 2, logged.join("\n"));
    for (const line of logged) assert.match(line, expect);
    assert.equal(ids().length, 1, "a program that is lost is not started again");
    while (ids().some(isAtWork)) await new Promise((wake) => setImmediate(wake));
  };
  await check('console.log("no JSON")', /error: the request goes out as it is: .* a line that is not JSON/);
  await check('console.log("null")', /error: .* does not say which question/);
  await check('console.log(JSON.stringify({ id: JSON.parse(line).id, result: "done" }))', /neither a result nor an error/);
  await check('console.log(JSON.stringify({ id: null, error: { message: "too long" } }))', /error: .*: too long/);
  await check("", /error: .* no sign of life in 0.4 seconds/, { sign: 400 });
  const alive = 'console.log(JSON.stringify({ id: JSON.parse(line).id, alive: true }))';
  await check(alive, /error: .* no sign of life in 0.4 seconds/, { patience: 400 });
});

test("an answer that is no decision is refused, and one that takes its time is waited for", async () => {
  const came = session(14);
  const answers = (result) => `const { id } = JSON.parse(line); console.log(JSON.stringify({ id, result: ${JSON.stringify(result)} }));`;
  const tokens = { tokensBefore: 9, tokensAfter: 3 };
  const keep = { keep: [0, 1] };
  const check = async (result, isTaken = false, script = answers(result), times = {}) => {
    const { hooks, logged } = await plugin(made(script).path, times);
    const sent = await transformed(hooks, came);
    assert.deepEqual(sent, isTaken ? came.slice(0, 1) : came, JSON.stringify(result));
    assert.equal(logged.some((line) => line.startsWith("error")), !isTaken, logged.join("\n"));
  };
  await check({ status: "compacted", ...tokens, pieces: [keep] }, true);
  await check({ status: "near-empty", ...tokens, pieces: [keep] }, true);
  for (const pieces of [[], [{}], [null], {}, [{ keep: [0, 99] }], [{ insert: { message: "text" } }], [{ insert: { message: {} } }]]) {
    await check({ status: "compacted", ...tokens, pieces });
  }
  await check({ status: "done", ...tokens, pieces: [keep] });
  await check({ status: "compacted", pieces: [keep] });
  await check({});
  const late = `const { id } = JSON.parse(line); console.log(JSON.stringify({ id, alive: true }));
    setTimeout(() => console.log(JSON.stringify({ id, result: ${JSON.stringify({ status: "compacted", ...tokens, pieces: [keep] })} })), 600);`;
  await check({}, true, late, { sign: 400 });
});

test("a program that ended after it had answered is started again", async () => {
  const { path, ids } = made(`const { id } = JSON.parse(line); console.log(JSON.stringify({ id, result: {} })); process.exit(1);`);
  const { hooks } = await plugin(path);
  for (let time = 0; time < 3; time += 1) {
    await transformed(hooks, session(14));
    while (ids().some(isAtWork)) await new Promise((wake) => setImmediate(wake));
    assert.equal(ids().length, time + 1);
  }
});

test("what was typed before a compaction of opencode's own is in the request", async () => {
  const all = session(14);
  const asked = message("user", [part({ type: "compaction" })]);
  const summary = message("assistant", [part({ type: "text", text: "Parts were looked at." })], { summary: true });
  const { hooks } = await plugin(process.env.EPITOME_BIN, { context: 200_000, stored: [...all, asked, summary] });
  const next = message("user", [part({ type: "text", text: "Go on from there." })]);
  const sent = await transformed(hooks, [asked, summary, next]);
  const texts = sent.filter(({ info }) => info.role === "user").flatMap(({ parts }) => parts.map(({ text }) => text));
  assert.deepEqual(texts.filter(Boolean), ["Look at every part. Never touch partner HLV-2209.", "hidden", "Go on.", "Go on from there."]);
  // Nothing is added where opencode has compacted nothing.
  assert.deepEqual(await transformed(hooks, [next]), [next]);
});

test("what left is found, and told to a compaction of opencode's own", async () => {
  const { hooks } = await plugin(process.env.EPITOME_BIN, { stored: session(14) });
  const context = { sessionID: SESSION };
  const found = await hooks.tool.search_history.execute({ queries: ["src/part_2/file_57.rs"] }, context);
  assert.match(found, /src\/part_2\/file_57\.rs: checked/);
  assert.match(await hooks.tool.recall.execute({ handle: "#0" }, context), /Never touch partner HLV-2209/);
  assert.match(await hooks.tool.recall.execute({ handle: "nothing" }, context), /Nothing is kept under `nothing`/);
  const output = { context: [] };
  await hooks["experimental.session.compacting"](context, output);
  assert.equal(output.context.length, 1);
  assert.match(output.context[0], /^Exact words .*\n\nEarlier steps, shortened\..*\n« Look at every part\./);
});
