import { expect, test } from "vitest";

import type { ContextFullness, Departure, NextCompaction } from "../api/types";
import { barTokens, departureMessages, isNearTheWindow, nearness, nextSentence, removedSentence, savingDepartures, usageSentence, warningSentence } from "./context";

const fullness: ContextFullness = {
  should_compact: false,
  current_tokens: 500,
  threshold_tokens: 800,
  usable_tokens: 1_000,
  share: 0.5,
  urgency: "none",
  trigger: null,
  window_tokens: 1_200,
  reserve_output_tokens: 200,
  tool_definition_tokens: 0,
  counter: "c",
  exact: true,
};

test.each<[Partial<ContextFullness>, RegExp]>([
  [{}, /from 800 tokens on: 300 more/],
  [{ current_tokens: 850, urgency: "soft", trigger: "soft" }, /suggested: 800 tokens are reached/],
  [{ current_tokens: 950, urgency: "hard", trigger: "hard" }, /due/],
  [{ current_tokens: 850, urgency: "soft", trigger: null }, /too little has come/],
  [{ trigger: "marker" }, /the model asked/],
  [{ threshold_tokens: null }, /No number/],
])("nearness %o", (change, expected) => {
  expect(nearness({ ...fullness, ...change })).toMatch(expected);
});

test("the bar's figures are shares of the room", () => {
  expect(barTokens(fullness)).toEqual({ usedTokens: 500, maxTokens: 1_000, percent: 50, thresholdPercent: 80, estimated: false });
  expect(barTokens({ ...fullness, threshold_tokens: null, usable_tokens: 0 }).thresholdPercent).toBe(0);
});

const next: NextCompaction = {
  trigger: "manual",
  status: "compacted",
  tokens_before: 1_000,
  tokens_after: 400,
  chain: [],
  stay: 3,
  departures: [],
};

const calm = { trigger: null, urgency: "none" } as const;
const due = { trigger: "hard", urgency: "hard" } as const;
const suggested = { trigger: "soft", urgency: "soft" } as const;

test.each<[Partial<NextCompaction>, Pick<ContextFullness, "trigger" | "urgency">, string]>([
  [{}, calm, "Nothing yet. A compaction made now would leave 400 of 1,000 tokens (−60%), and 3 messages as they are."],
  [{}, due, "The compaction that is due would leave 400 of 1,000 tokens (−60%), and 3 messages as they are."],
  [{}, suggested, "The compaction that is suggested would leave 400 of 1,000 tokens (−60%), and 3 messages as they are."],
  [{ status: "no-change" }, calm, "Nothing. There is too little that may leave."],
  [{ status: "no-change", problem: "the task stays" }, calm, "Nothing. The task stays."],
  [{ status: null, problem: "no summary" }, calm, "A compaction could not be worked out. No summary."],
  [{ status: "infeasible" }, due, "What must stay is larger than the limit."],
])("the next compaction %o", (change, fullness, expected) => {
  expect(nextSentence({ ...next, ...change }, fullness)).toBe(expected);
});

const departure: Departure = {
  edit: "drop",
  strategy: "s",
  messages: 3,
  first: 1,
  last: 5,
  tokens: 10,
  tokens_saved: 9,
  mostly: "tool-results",
  words: "w",
  reason: { code: "c", detail: "d", score: null },
};

test("what leaves is told by its place and kind", () => {
  expect(departureMessages(departure)).toBe("3 messages, #1 to #5, mostly tool results");
  expect(departureMessages({ ...departure, messages: 1, last: 1 })).toBe("1 message, #1, tool results");
  expect(departureMessages({ ...departure, first: null, last: null, mostly: null })).toBe("3 messages");
});

test("what has left is told with what is kept of it", () => {
  const removed = { messages: 2, shortened: 1, tokens: 1_200, compactions: 1, items: [] };
  expect(removedSentence(removed)).toBe("2 messages of 1,200 tokens, and 1 message shortened by 1 compaction. All of it is kept.");
  expect(removedSentence({ ...removed, messages: 0, shortened: 0 })).toBe("Nothing.");
});

test("what the provider counted is told, and what the session lacks", () => {
  const contents = { rounds: 1, calls: 0, tokens: 1_000, tool_definition_tokens: 0, tokens_by_role: {}, tokens_by_tool: {}, parts: [], task: { kind: "unknown" as const, confidence: 0, evidence: [] }, counter: "c" };
  const tell = (usage: { tokens: number; messages_since: number } | null) => usageSentence({ usage, contents, fullness });
  expect(tell(null)).toBe("");
  expect(tell({ tokens: 1_050, messages_since: 0 })).toBe(
    "The provider counted 1,050 tokens in the newest request and its answer, 88% of the window.",
  );
  expect(tell({ tokens: 1_200, messages_since: 2 })).toBe(
    "The provider counted 1,200 tokens in the newest request and its answer, 100% of the window: the session does not record all that is sent, and models count differently; 2 messages since.",
  );
  const larger = { ...fullness, current_tokens: 1_200 };
  expect(usageSentence({ usage: { tokens: 1_200, messages_since: 0 }, contents, fullness: larger })).toMatch(/differently; the bar goes by it\.$/);
  const isNear = (tokens: number) => isNearTheWindow({ usage: { tokens, messages_since: 0 }, fullness });
  expect([isNear(959), isNear(960), isNearTheWindow({ usage: null, fullness })]).toEqual([false, true, false]);
});

test("what saves nothing is not listed", () => {
  expect(savingDepartures({ ...next, departures: [departure, { ...departure, tokens_saved: 0 }] })).toEqual([departure]);
});

test("warnings are sentences", () => {
  expect(warningSentence({ warning: "large-message", position: 3, id: "m", tool: "Read", tokens: 250, share: 0.25 })).toBe(
    "One result of Read (#3) fills 25% of the usable window.",
  );
  expect(warningSentence({ warning: "repeated-call", position: 3, tool: "Bash", arguments: "make", times: 3, of: 9 })).toBe(
    "Bash was called 3 times among the newest 9 calls with the same arguments and the same result: make",
  );
});
