import { expect, test } from "vitest";

import type { SessionEvent } from "../api/types";
import { type Compaction, after } from "./compaction";

function run(...events: SessionEvent[]): Compaction | null {
  return events.reduce<Compaction | null>(after, null);
}

const start: SessionEvent = { event: "compaction_start", reason: "manual", messageCount: 12 };
const step: SessionEvent = { event: "compaction_step", strategy: "trim", tokensBefore: 9, tokensAfter: 5, edits: 2 };
const done: SessionEvent & { event: "compaction_done" } = {
  event: "compaction_done",
  success: true,
  status: "compacted",
  stopped: null,
  compactedCount: 8,
  keepRecentCount: 4,
  summaryMessageId: "s",
  summaryContent: "Summary",
  tokensBefore: 9,
  tokensAfter: 5,
  savedRatio: 0.44,
  epoch: 0,
  flushedMemories: 0,
};

test("running, with what is done so far", () => {
  const summary: SessionEvent = { event: "summary_start", count: 2, messageCount: 5 };
  const written: SessionEvent = { event: "summary_done", inputTokens: 1, outputTokens: 1, problem: null };
  expect(run(start, step, summary, written)).toEqual({
    state: "running",
    reason: "manual",
    messages: 12,
    steps: [{ strategy: "trim", tokensBefore: 9, tokensAfter: 5, edits: 2 }],
    summaries: { asked: 2, written: 1 },
  });
});

test("done, unchanged, failed", () => {
  const expected = { state: "done", epoch: 0, tokensBefore: 9, tokensAfter: 5, compacted: 8, summary: "s" };
  expect(run(start, step, done)).toEqual(expected);
  const untouched: SessionEvent = { ...done, success: false, status: "no-change", stopped: "not made: 9 would stay" };
  expect(run(start, untouched)).toEqual({ state: "unchanged", why: "Not made: 9 would stay." });
  const error: SessionEvent = { event: "compaction_error", message: "no model", retryable: true };
  expect(run(start, error)).toEqual({ state: "failed", message: "no model", help: "", retryable: true });
});

test("what the answer said stays when the event comes after it", () => {
  const failed: Compaction = { state: "failed", message: "no model", help: "start it", retryable: true };
  expect(after(failed, { event: "compaction_error", message: "no model", retryable: true })).toBe(failed);
});

test("a page that opens in the middle, and one that starts again after a failure", () => {
  expect(run(step)).toMatchObject({ state: "running", messages: 0, steps: [{ strategy: "trim" }] });
  const error: SessionEvent = { event: "compaction_error", message: "no", retryable: true };
  expect(run(start, step, error, start)).toMatchObject({ state: "running", steps: [] });
});

test("other events change nothing", () => {
  const tokens = { usedTokens: 1, maxTokens: 2, percent: 50, thresholdPercent: 80, estimated: false };
  expect(run(start, { event: "token_update", context: tokens, usage: null })).toMatchObject({ state: "running" });
  expect(run({ event: "undone", epoch: 0, tokens: 9 })).toBeNull();
});
