// Lists of messages, fitted once and call after call.
import assert from "node:assert/strict";
import test from "node:test";

import { ConfigError, EpitomeError, Fitter, FormatError, Infeasible, compact, fit, fitAsync, search, validate } from "epitome-context";

const talk = (lines) =>
  Array.from({ length: lines }, (_, line) => ({
    role: line % 2 === 0 ? "user" : "assistant",
    content: `Line ${line}. `.repeat(50),
  }));

test("what is kept are the caller's own objects, and nothing of theirs is changed", async () => {
  const list = talk(41);
  const before = structuredClone(list);
  for (const fitted of [fit(list, { budget: 2_000 }), await fitAsync(list, { budget: 2_000 })]) {
    assert.equal(fitted.status, "compacted");
    assert.ok(fitted.tokensAfter <= 2_000 && fitted.tokensBefore > 8_000);
    assert.equal(fitted.messages[0], list[0]);
    assert.equal(fitted.messages.at(-1), list.at(-1));
    assert.deepEqual([...fitted], fitted.messages);
    const { handle, messages } = fitted.removals[0];
    assert.equal(fitted.retrieve(handle)[0].content, list[messages[0]].content);
    assert.equal(fitted.retrieve("00000000"), null);
  }
  assert.deepEqual(list, before);
  const few = fit(list.slice(0, 3), { budget: 2_000 });
  assert.deepEqual([few.status, few.unchanged, few.messages], ["unchanged", true, list.slice(0, 3)]);
});

test("a text that is cut is a copy of its message with everything else of it", () => {
  const printed = Array.from({ length: 4_000 }, (_, row) => `row ${row} ${row * 37}`).join("\n");
  const call = { id: "c1", type: "function", function: { name: "bash", arguments: "{}" } };
  const own = { role: "tool", tool_call_id: "c1", content: printed, meta: { started: 5 } };
  const list = [{ role: "user", content: "Go." }, { role: "assistant", content: null, tool_calls: [call] }, own];
  const { messages } = fit(list, { budget: 1_000 });
  const sent = messages.at(-1);
  assert.ok(sent !== own && sent.content.length < 4_000 && own.content === printed);
  assert.deepEqual({ ...sent, content: printed }, own);
  assert.equal(sent.meta, own.meta);

  class Message {
    constructor(fields) {
      Object.assign(this, fields);
    }
  }
  const { messages: plain } = fit([list[0], list[1], new Message(own)], { budget: 1_000 });
  assert.equal(Object.getPrototypeOf(plain.at(-1)), Object.prototype, "a copy of a class would not be one");
  assert.equal(plain.at(-1).content, sent.content);
});

test("the forms of the providers are recognised", () => {
  const long = "A line of it. ".repeat(400);
  const check = (list, format) => {
    const fitter = new Fitter({ budget: 2_000 });
    assert.equal(fitter.fit(list).unchanged, true);
    assert.equal(fitter.format, format);
    assert.ok(fitter.fit([...list, { role: "user", content: long }, { role: "user", content: "Now?" }]).tokensAfter <= 2_000);
  };
  const user = { role: "user", content: "Go." };
  check([user], "openai-chat");
  check([user, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "c" }] }], "anthropic");
  check([user, { type: "function_call", call_id: "a", name: "b", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: "c" }], "openai-responses");
  check([user, { role: "assistant", content: null, tool_calls: [
    { id: "a", type: "function", function: { name: "b", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "a", content: "c" }], "openai-chat");
});

test("a loop is sent the same messages at the same places", async () => {
  const fitter = new Fitter({ budget: 1_500, conversations: 10, secret: new Uint8Array(32) });
  const list = [{ role: "user", content: "Count for me." }];
  let [last, again] = [[], 0];
  for (let turn = 0; turn < 60; turn++) {
    list.push({ role: "assistant", content: `${turn}, as you asked. `.repeat(10) }, { role: "user", content: "Go on." });
    const fitted = turn % 2 === 0 ? fitter.fit(list) : await fitter.fitAsync(list);
    const sent = fitted.messages.map((message) => JSON.stringify(message));
    assert.ok(fitted.tokensAfter <= 1_500);
    if (fitted.status !== "compacted") {
      assert.deepEqual(sent.slice(0, last.length), last);
      again++;
    }
    last = sent;
  }
  assert.ok(again > 50, `${again} of 60`);
  const next = [...list, { role: "assistant", content: "60." }, { role: "user", content: "Stop." }];
  const expected = fitter.copy().fit(next).messages;
  assert.deepEqual(Fitter.fromState(fitter.state(), { budget: 1_500 }).fit(next).messages, expected);
  // Lists of plain texts tell no format: what was known of them holds.
  const plain = new Fitter({ budget: 1_500, format: "anthropic" });
  const known = plain.fit(list).messages;
  const begun = Fitter.fromState(plain.state(), { budget: 1_500 });
  assert.deepEqual([begun.fit(list).messages, begun.format], [known, "anthropic"]);
  const smaller = fitter.fitAfter(next, { limit: 1_000, actual: 1_200 });
  assert.ok(smaller.tokensAfter <= 1_000 && smaller.status === "compacted");
  assert.equal(fitter.size.conversations > 0, true);
  fitter.close();
  assert.throws(() => fitter.fit(next), { name: "EpitomeError", message: /was closed/ });
});

test("calls at once do not disturb each other", async () => {
  const fitter = new Fitter({ budget: 2_000 });
  const lists = Array.from({ length: 8 }, (_, number) => [{ role: "user", content: `Talk ${number}.` }, ...talk(41).slice(1)]);
  const results = await Promise.all(lists.map((list) => fitter.fitAsync(list)));
  results.forEach((fitted, number) => {
    assert.equal(fitted.messages[0], lists[number][0]);
    assert.deepEqual(fitted.messages, new Fitter({ budget: 2_000 }).fit(lists[number]).messages);
  });
  // A list that grows while it is fitted is answered for what it was.
  const list = talk(41);
  const pending = fitter.fitAsync(list);
  list.length = 0;
  assert.equal((await pending).messages.at(-1).content, talk(41).at(-1).content);
});

test("a host gets no change that it cannot make", () => {
  const list = talk(41);
  const { messages, status } = fit(list, { budget: 2_500, host: "texts" });
  assert.deepEqual([status, messages.length], ["compacted", list.length]);
  assert.deepEqual(messages.map(({ role }) => role), list.map(({ role }) => role));
  for (const host of ["cut", "removals"]) {
    const { messages } = new Fitter({ budget: 2_000, host }).fit(list);
    const put = messages.filter((message) => !list.includes(message));
    assert.ok(messages.length < list.length && put.length <= 1, host);
  }
});

test("a chain is asked in place of the configuration's, in every call", () => {
  const list = talk(41);
  const asked = (fitted) => fitted.report.report.chain;
  assert.deepEqual(asked(fit(list, { budget: 2_000, chain: "sliding-window" })), ["sliding-window"]);
  const chain = ["tool-results", "sliding-window"];
  const fitter = new Fitter({ budget: 2_000, chain });
  for (const other of [fitter, fitter.copy(), Fitter.fromState(fitter.state(), { budget: 2_000, chain })]) {
    assert.deepEqual(asked(other.fit(list)), chain);
  }
  const check = (chain, expected) => assert.throws(() => new Fitter({ budget: 2_000, chain }), { name: "ConfigError", message: expected });
  check("sliding-windwo", /`chain`: .*sliding-window/s);
  check(5, /`chain` takes the name of a chain or strategy, or a list of names/);
});

test("what a compaction kept stays visible in the calls that repeat it", () => {
  const fitter = new Fitter({ budget: 2_000 });
  assert.equal(fitter.fit(talk(3)).quality, null);
  const [first, again] = [fitter.fit(talk(41)), fitter.fit(talk(41))];
  assert.deepEqual([first.status, again.status], ["compacted", "replayed"]);
  assert.ok(first.quality.typed.held === 21 && first.quality.typed.kept < 21 && first.quality.share < 1);
  assert.deepEqual(again.quality, first.quality);
  // Where next to nothing is left, the status says so.
  const lines = Array.from({ length: 41 }, (_, turn) => ({
    role: turn % 2 === 0 ? "user" : "assistant",
    content: `Line ${turn} of our talk. `.repeat(40),
  }));
  assert.equal(fit(lines, { budget: 50 }).status, "near-empty");
});

test("what stands beside the messages counts", () => {
  const list = talk(9);
  assert.ok(fit(list, { budget: 2_000 }).unchanged);
  // What has a text of the host's own list or prompt is one of the tokens told; a number and the tools only leave less room.
  const check = (beside, room) => {
    const fitted = fit(list, { budget: 2_000, ...beside });
    assert.ok(!fitted.unchanged && fitted.tokensAfter <= fitted.budget);
    assert.ok(fitted.budget >= room[0] && fitted.budget <= room[1], `${fitted.budget}`);
  };
  check({ tools: 1_000 }, [1_000, 1_000]);
  check({ tools: [{ type: "function", function: { name: "a", description: "It helps. ".repeat(400) } }] }, [500, 1_000]);
  check({ system: 1_000 }, [1_000, 1_000]);
  check({ system: "You help. ".repeat(400) }, [2_000, 2_000]);
});

test("a JSON text, or its bytes, is a list too", () => {
  const list = talk(41);
  const json = JSON.stringify(list);
  for (const given of [json, new TextEncoder().encode(json)]) {
    assert.deepEqual(fit(given, { budget: 2_000 }).messages, fit(list, { budget: 2_000 }).messages);
  }
});

test("what is wrong is said by class and name", () => {
  const check = (Kind, message, work) =>
    assert.throws(work, (error) => {
      assert.ok(error instanceof Kind, `${error}`);
      assert.match(error.message, message);
      assert.equal(error.name, Kind.name);
      return true;
    });
  const list = talk(41);
  check(Infeasible, /cannot fit 5/, () => fit(list, { budget: 5 }));
  check(ConfigError, /there is no option `buget`; did you mean `budget`\?/, () => fit(list, { buget: 5 }));
  check(ConfigError, /`budget` takes a number of tokens/, () => fit(list, { budget: 0.5 }));
  check(ConfigError, /`host`: `text` is not one of any, texts, cut, removals/, () => fit(list, { budget: 900, host: "text" }));
  check(ConfigError, /32 bytes/, () => new Fitter({ secret: new Uint8Array(3) }));
  check(ConfigError, /windwo.*\n?.*/, () => fit(list, { config: { budget: { windwo: 5 } } }));
  check(FormatError, /messages\[1\]/, () => fit([list[0], { role: "user", content: 5 }], { budget: 900 }));
  check(FormatError, /not a JSON list/, () => fit("{}", { budget: 900 }));
  check(FormatError, /not a JSON list/, () => fit("nothing", { budget: 900 }));
  check(EpitomeError, /state/, () => Fitter.fromState(new Uint8Array([1, 2])));
  check(TypeError, /not a list of messages/, () => fit({ messages: list }, { budget: 900 }));
  check(TypeError, /cannot be written as JSON/, () => fit([{ role: "user", content: 5n }], { budget: 900 }));
  try {
    fit(list, { budget: 5 });
  } catch (error) {
    assert.ok(error instanceof EpitomeError && error instanceof Error);
    assert.equal(error.budget, 5);
    assert.equal(error.floor.parts[0].part, "newest-user");
    assert.equal(error.fitted.messages.length, 41);
    assert.equal(error.report.status, "infeasible");
  }
});

test("a surrogate that stands alone counts as U+FFFD, and the caller's object stays", async () => {
  const cut = "An emoji: \u{1f600}".slice(0, -1);
  const own = { role: "user", content: cut };
  for (const given of [[own], JSON.stringify([own]), new TextEncoder().encode(JSON.stringify([own]))]) {
    for (const fitted of [fit(given, { budget: 900 }), await new Fitter({ budget: 900 }).fitAsync(given, { system: cut, key: cut })]) {
      assert.deepEqual([fitted.status, fitted.messages], ["unchanged", [own]]);
    }
  }
  const fitted = fit([own], { budget: 900 });
  assert.equal(fitted.messages[0], own);
  assert.equal(fitted.tokensBefore, fit([{ ...own, content: cut.toWellFormed() }], { budget: 900 }).tokensBefore);
  const list = (text) => [{ role: "user", content: text }];
  const check = (text, expected) => assert.equal(compact(list(text), { budget: 900 }).messages[0].content, expected);
  check("\ud83da", "\ufffda");
  check("a\ude00", "a\ufffd");
  check("\ude00\ud83d", "\ufffd\ufffd");
  check("\u{1f600}\ud83d", "\u{1f600}\ufffd");
  check("\\ud83d \\\\ud83d \ud83d", "\\ud83d \\\\ud83d \ufffd");
  const escaped = '[{"role":"user","content":"\\ud83d\\ude00 \\uD83D"}]';
  assert.equal(fit(escaped, { budget: 900 }).messages[0].content, "\u{1f600} \ud83d");
  assert.deepEqual(validate(list(cut), { format: "openai-chat" }), []);
  search(list(cut), ["emoji", "\ud83d"]);
});

test("the pieces tell what is sent by the numbers of what came", () => {
  const fitted = fit(talk(41), { budget: 2_000 });
  const sent = fitted.pieces.flatMap((piece) => {
    if (piece.kind === "keep") return talk(41).slice(piece.start, piece.end);
    if (piece.kind === "insert") assert.ok(piece.replaces.length > 0 && "reason" in piece);
    return [piece.message];
  });
  assert.ok(!fitted.unchanged && fitted.pieces.some(({ kind }) => kind === "insert"));
  assert.deepEqual(sent, fitted.messages);
});

test("an option of a wrong value is refused by its name", () => {
  const list = talk(5);
  const check = (work, message) => assert.throws(work, { name: "ConfigError", message });
  for (const [value, shown] of [[NaN, "NaN"], [Infinity, "Infinity"], [null, "null"], ["9", '"9"'], [-1, "-1"], [5n, "5n"]]) {
    for (const name of ["budget", "window", "reserveOutput", "conversations", "memoryBytes", "archiveBytes"]) {
      const takes = typeof value === "bigint" || Object.is(value, NaN) || value === Infinity ? "a value of JSON" : "a number of .*";
      check(() => new Fitter({ [name]: value }), new RegExp(`^\`${name}\` takes ${takes}, not ${shown}$`));
    }
    check(() => compact(list, { budget: value }), /^`budget` takes/);
    for (const name of ["limit", "characters", "page"]) check(() => search(list, "a", { [name]: value }), new RegExp(`^\`${name}\` takes`));
  }
  check(() => fit(list, { budget: 900, tools: NaN }), /^`tools` takes .*, not NaN$/);
  check(() => search(list, "a", { page: 0 }), /^`page` takes .* 1 or more\), not 0$/);
  check(() => new Fitter(60_000), /such as `{ budget: 60_000 }`, not as 60000$/);
  check(() => fit(list, null), /not as null$/);
  assert.throws(() => compact("/path/session.jsonl"), { name: "FormatError", message: /readFileSync/ });
  assert.throws(() => validate(undefined), { name: "TypeError", message: /^request: / });
});
