import { describe, expect, test } from "vitest";

import { type BarState, atSoftThreshold, barOf, barState } from "./bar";

describe("the bar's colour", () => {
  test.each<[percent: number, threshold: number, state: BarState]>([
    [0, 80, "calm"],
    [59.9, 80, "calm"],
    [60, 80, "near"],
    [80, 80, "near"],
    [80.1, 80, "above"],
    [140, 80, "above"],
    [5, 5, "near"],
    // No threshold: the window is what counts.
    [74, 0, "calm"],
    [75, 0, "near"],
    [101, 0, "above"],
  ])("%d%% with a threshold of %d%%", (percent, thresholdPercent, state) => {
    expect(barState({ percent, thresholdPercent })).toBe(state);
  });
});

test("what the bar shows", () => {
  const context = { usedTokens: 70900, maxTokens: 100000, percent: 70.9, thresholdPercent: 80, estimated: true };
  expect(barOf(context)).toEqual({
    state: "near",
    filled: 70.9,
    threshold: 80,
    label: "≈ 70,900 of 100,000 tokens, 70.9%",
    meaning: "close to the threshold of 80%",
  });
  const over = { usedTokens: 250, maxTokens: 100, percent: 250, thresholdPercent: 0, estimated: false };
  expect(barOf(over)).toEqual({
    state: "above",
    filled: 100,
    threshold: null,
    label: "250 of 100 tokens, 250%",
    meaning: "above the window",
  });
});

test("the threshold stays where it is when the hard one is reached", () => {
  const context = { usedTokens: 95, maxTokens: 100, percent: 95, thresholdPercent: 95, estimated: false };
  const budget = { soft: 80, hard: 95 };
  expect(barState(context)).toBe("near");
  expect(barState(atSoftThreshold(context, budget))).toBe("above");
  const below = { ...context, usedTokens: 90, percent: 90, thresholdPercent: 92 };
  expect(atSoftThreshold(below, budget)).toBe(below);
  expect(atSoftThreshold(context, undefined)).toBe(context);
  expect(atSoftThreshold(context, { soft: null, hard: null })).toBe(context);
});
