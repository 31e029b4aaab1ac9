// Whole sessions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import * as epitome from "epitome-context";

const session = readFileSync(new URL("../../examples/session.jsonl", import.meta.url));
const talk = Array.from({ length: 40 }, (_, line) => ({
  role: line % 2 === 0 ? "user" : "assistant",
  content: `Line ${line}. `.repeat(50),
}));

test("a session is compacted, on this thread and off it, from bytes and from text", async () => {
  const compacted = epitome.compact(session, { budget: 12_000, to: "anthropic" });
  assert.deepEqual(
    [compacted.status, compacted.format, compacted.tokensBefore, compacted.budget],
    ["compacted", "anthropic", 83_141, 12_000],
  );
  assert.ok(compacted.tokensAfter <= 12_000 && !compacted.unchanged);
  assert.deepEqual(epitome.validate(compacted.request), []);
  assert.equal(compacted.sizes.length, compacted.report.messages_before);
  const { recall } = compacted.report.edits.find((edit) => edit.recall !== null);
  assert.ok(compacted.retrieve(recall).length > 0);
  assert.equal(compacted.retrieve("00000000"), null);
  const again = await epitome.compactAsync(session.toString(), { budget: 12_000, to: "anthropic" });
  assert.equal(again.text, compacted.text);
});

test("a session in its own format stays in it, and one that fits stays as it is", () => {
  const appended = epitome.compact(session, { budget: 12_000 });
  assert.ok(appended.text.startsWith(session.toString()) && appended.data.length > session.length);
  assert.throws(() => appended.request, { name: "FormatError", message: /claude-code is an agent's file/ });
  const fits = epitome.compact(session, { budget: 200_000 });
  assert.ok(fits.unchanged && Buffer.compare(fits.data, session) === 0);
});

test("settings are those of one call", () => {
  const engine = new epitome.Engine({ window: 6_000 });
  const usual = engine.compact(talk);
  assert.ok(engine.compact(talk, { settings: { budget: { target: 0.4 } } }).tokensAfter > usual.tokensAfter);
  assert.ok(engine.preview(talk, { settings: { keep_recent_messages: 10 } }).recent);
  assert.equal(engine.compact(talk).tokensAfter, usual.tokensAfter);
  const refused = (settings, message) => assert.throws(() => engine.compact(talk, { settings }), { name: "ConfigError", message });
  refused({ keep_recent_message: 1 }, /did you mean `keep_recent_messages`/);
  refused({ "summary.prompts": "/etc" }, /not a setting of one call/);
  refused([1], /settings/);
});

test("objects come back as objects", () => {
  const compacted = epitome.compact(talk, { budget: 0.3 });
  assert.ok(compacted.tokensAfter <= 0.3 * compacted.tokensBefore);
  assert.equal(compacted.messages.at(-1).content, talk.at(-1).content);
  const responses = epitome.compact({ input: talk, model: "gpt-5" }, { budget: 0.3, format: "openai-responses" });
  assert.deepEqual(responses.messages, responses.request.input);
  assert.equal(responses.request.model, "gpt-5");
  assert.deepEqual(epitome.convert([{ role: "user", content: "Hello" }], "anthropic", { format: "openai-chat" }), {
    messages: [{ role: "user", content: "Hello" }],
  });
  assert.ok(epitome.convert(session, "openai-chat") instanceof Uint8Array);
});

test("a preview says what would be done, and never throws for what does not fit", async () => {
  assert.equal(epitome.preview(talk, { budget: 900 }).status, "compacted");
  const report = await epitome.previewAsync(talk, { budget: 5 });
  assert.ok(report.status === "infeasible" && report.floor.tokens > 5);
  assert.throws(() => epitome.compact(talk, { budget: 5 }), (error) => {
    assert.ok(error instanceof epitome.Infeasible);
    assert.deepEqual([error.budget, error.report.status], [5, "infeasible"]);
    return error.floor.parts.length > 0;
  });
});

test("a session is looked at", () => {
  const contents = epitome.inspect(session);
  assert.deepEqual([contents.format, contents.task.kind, contents.messages.length], ["claude-code", "code", 166]);
  assert.equal(epitome.check(talk, { window: 4_000 }).urgency, "hard");
  assert.equal(epitome.check(talk, { model: "gpt-5" }).urgency, "none");
  assert.equal(epitome.countTokens("Hello world"), 2);
  assert.equal(epitome.countTokens([{ role: "user", content: "Hello world" }]), 6);
  assert.equal(epitome.countTokens("Hello world", { counter: "quarters" }), 3);
  const [passage] = epitome.search(session, "which column do partners reconcile on", { limit: 1, sources: "user" });
  assert.match(passage.text, /reconciliation on\s+exactly that column/);
  assert.equal(epitome.search(session, ["fingerprint"], { page: 2 }).length > 0, true);
  const broken = [{ role: "user", content: "Go" }, { role: "tool", tool_call_id: "c1", content: "done" }];
  assert.deepEqual(epitome.validate(broken).map(({ path, rule }) => [path, rule]), [["messages[1]", "result-without-call"]]);
});

test("the words of a call choose how", () => {
  const chain = epitome.preview(session, { budget: 12_000, chain: "sliding-window" });
  assert.deepEqual([chain.mode, chain.chain], ["fixed", ["sliding-window"]]);
  assert.equal(epitome.preview(session, { budget: 12_000, task: "conversation" }).task.kind, "conversation");
  assert.equal(epitome.preview(session, { budget: 12_000, mode: "tournament" }).mode, "tournament");
  const engine = new epitome.Engine({ config: "[budget]\nwindow = 20000\n" });
  assert.ok(engine.compact(session).tokensAfter < 20_000);
  assert.ok(engine.strategies().some(({ id }) => id === "transcript"));
  assert.equal(engine.countTokens("Hello world"), 2);
  const check = (message, options) => assert.throws(() => epitome.compact(talk, options), { message });
  check(/`engine` is there already: `window`/, { engine, window: 500 });
  check(/`mode` fixed needs a chain/, { budget: 100, mode: "fixed" });
  check(/`task`/, { budget: 100, task: "sewing" });
  check(/`chain`.*nothing-such/s, { budget: 100, chain: ["nothing-such"] });
  check(/`aider` is read and not written/, { budget: 100, to: "aider" });
});

test("each message among objects has to be one; a text is read with what is understood of it", () => {
  const user = { role: "user", content: "Go." };
  const check = (list, message) => {
    for (const call of ["compact", "preview", "inspect", "check", "countTokens", "convert", "search"]) {
      const words = { convert: ["anthropic"], search: ["go"] }[call] ?? [];
      assert.throws(() => epitome[call](list, ...words), { name: "FormatError", message }, call);
    }
    assert.throws(() => epitome.fit(list, { budget: 500 }), { name: "FormatError", message });
  };
  check([user, { role: "assistant", content: 5 }], /messages\[1\]: `content`: a text or a list of parts is expected, and this is a number/);
  check([user, { content: "Done." }], /messages\[1\]: `role`: a text is expected, and it is missing \(read as openai-chat; `format` names/);
  check(["Go.", user], /messages\[0\]: a message is an object, and this is a text/);
  check(["Go."], /messages\[0\]: a message is an object, and this is a text/);
  const recorded = JSON.stringify([user, { role: "assistant", content: 5 }, "Go."]);
  assert.equal(epitome.inspect(recorded).messages.length, 2);
  assert.equal(epitome.validate([user, { role: "assistant", content: 5 }])[0].path, "messages[1]");
});

test("what there is", () => {
  const writable = epitome.formats().filter((format) => format.writable);
  assert.deepEqual(writable.map(({ name }) => name), ["openai-chat", "openai-responses", "anthropic", "gemini", "claude-code", "codex", "pi"]);
  const refusal = "prompt is too long: 210000 tokens > 200000 maximum";
  assert.deepEqual(epitome.contextOverflow(400, refusal), { limit: 200_000, actual: 210_000 });
  assert.equal(epitome.contextOverflow(500, "no"), null);
  assert.match(epitome.version(), /^\d+\.\d+\.\d+/);
});
