// What providers report for requests is handed on with the list that follows.
import assert from "node:assert/strict";
import test from "node:test";

import { Usages, inputTokens } from "../../../packages/epitome-context/dist/esm/adapters/usage.js";

const talk = (turns, name = "ann") =>
  Array.from({ length: turns }, (_, turn) => ({ role: turn % 2 ? "assistant" : "user", content: `${turn} of ${name}` }));

test("input tokens in the words of each framework", () => {
  const check = (usage, expect) => assert.equal(inputTokens(usage), expect);
  check({ inputTokens: 70, outputTokens: 1 }, 70);
  check({ inputTokens: { total: 70, noCache: 10, cacheRead: 60 } }, 70);
  check({ input_tokens: 70, input_token_details: { cache_read: 60 } }, 70);
  check({ inputTokens: undefined }, undefined);
  check({ inputTokens: { total: undefined } }, undefined);
  check({ input_tokens: 0 }, undefined);
  check(undefined, undefined);
  check(null, undefined);
});

test("a figure is of its own conversation, and handed on once", () => {
  const usages = new Usages();
  usages.note(talk(3), 100);
  usages.note(talk(3, "bob"), 200);
  usages.note(talk(5), undefined);
  assert.equal(usages.take(talk(2)), undefined);
  assert.deepEqual([usages.take(talk(5, "bob")), usages.take(talk(5)), usages.take(talk(5))], [200, 100, undefined]);
  assert.deepEqual([10, 10, 20, undefined].map((it) => usages.once("a", it)), [10, undefined, 20, undefined]);
  assert.equal(usages.once("b", 20), 20);
});

test("what is remembered is bounded", () => {
  const usages = new Usages();
  for (let number = 0; number < 500; number++) {
    usages.note(talk(1, `${number}`), 1);
    usages.once(`${number}`, 1);
  }
  assert.deepEqual([usages.take(talk(1, "0")), usages.take(talk(1, "499")), usages.once("0", 1)], [undefined, 1, 1]);
});
