import { expect, test } from "vitest";

import type { ProxiedConversation } from "../api/types";
import { cachedShare, sumsOf } from "./proxied";

function conversation(input: number, price: number | null): ProxiedConversation {
  return {
    title: "",
    model: null,
    interface: "anthropic",
    began: 1,
    last: 2,
    requests: 3,
    compactions: 0,
    lookups: 0,
    lookups_found: 0,
    tokens_before: 9,
    tokens_after: 5,
    tokens_usable: 10,
    tokens_saved: 12,
    reported: { answers: 1, unpriced: price === null ? 1 : 0, input, cached: input / 4, cache_writes: 0, output: 7 },
    summaries: { answers: 1, unpriced: 0, input: 30, cached: 20, cache_writes: 0, output: 2 },
    price,
  };
}

test("conversations add up, and a price that is not known is none", () => {
  const sums = { saved: 24, summaries: 64, answers: 2, unpriced: 1, input: 400, cached: 100, output: 14, price: 0.5 };
  expect(sumsOf([conversation(100, null), conversation(300, 0.5)])).toEqual(sums);
  expect(sumsOf([conversation(100, null)]).price).toBeNull();
  expect(sumsOf([conversation(100, 0)]).price).toBe(0);
  expect([cachedShare({ input: 400, cached: 100 }), cachedShare({ input: 0, cached: 0 })]).toEqual([25, 0]);
});
