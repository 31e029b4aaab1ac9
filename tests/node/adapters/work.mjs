// The work that every framework's agent does here: reads the parts of a ledger, one after the other, and answers.
import assert from "node:assert/strict";

import { countTokens, validate } from "epitome-context";

export const TASK = "Find out which partner's rows are counted twice. Keep to the rule: the column `fingerprint` must not change.";
export const ANSWER = "Partner HLV-2209: its rows come in two statements.";
export const BUDGET = 3_000;
export const PARTS = 25;

/** A part of the ledger. */
export function read(part) {
  return `part ${part} of the ledger\n` + `2026-03-${part} HLV-2209 row ${part * 17} 12.40 EUR ok\n`.repeat(20);
}

/** What a model was sent, as messages of OpenAI's chat completions or items of Responses: within the budget, and valid. */
export function checkSent(messages, format = "openai-chat", budget = BUDGET) {
  const tokens = countTokens(messages, { format });
  assert.ok(tokens <= budget, `${tokens} tokens were sent`);
  assert.deepEqual(validate(messages, { format }), []);
  assert.ok(JSON.stringify(messages).includes("must not change"), "the task is there");
  return tokens;
}

/** The input tokens that a provider reports for a request, which counts more than is counted here. */
export function reported(messages) {
  return Math.round(1.4 * countTokens(messages, { format: "openai-chat" }));
}

/**
 * Requests for which a provider reported this are within the budget in its tokens, and use it. The figures leave instructions and
 * tools out, which are much of the first requests: they are within it to the token once there are as many as count.
 */
export function checkReported(figures, budget = BUDGET) {
  const most = Math.max(...figures.slice(10));
  assert.ok(figures.length > 20 && most > 0.7 * budget && most <= budget, String(figures));
  assert.ok(Math.max(...figures) <= 1.03 * budget, String(figures));
}

const WISH = { reason: "Parts are read.", next_step: "Read on.", keep: ["no such text"] };
/** What a model calls in a turn in place of reading, where it is to look something up and to ask for a compaction. */
export const ASK = { 18: ["search_history", { words: "2026-03-3 row 51" }], 19: ["recall", { handle: "00000000" }], 20: ["compact_context", WISH] };

/** The answers to these calls, by the tool's name, and what became of the messages of each call. */
export function checkAsked(answers, fits) {
  assert.match(answers.search_history, /HLV-2209 row 51 /);
  assert.match(answers.recall, /nothing under the handle \\?"00000000/);
  assert.match(answers.compact_context, /^"?Noted\. Before your next step/);
  assert.deepEqual(fits.flatMap(({ asked }, call) => (asked === null ? [] : [call])), [20], "the call that comes next");
  assert.match(fits[20].asked, /^Not yet: |^Not made: /);
}
