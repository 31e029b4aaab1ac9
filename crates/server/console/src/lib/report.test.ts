import { expect, test } from "vitest";

import type { KeptShare, Quality } from "../api/types";
import { isCompaction, keptParts, milliseconds, shortfalls, statusSentence, tokensOverTarget, whyUnchanged } from "./report";

const kept = (kept: number, held: number): KeptShare => ({ held, kept, lost_now: held - kept, share: held > 0 ? kept / held : 1, lost: [], lost_earlier: [] });
const QUALITY: Quality = {
  share: 0.5,
  typed: kept(4, 5),
  instructions: kept(0, 0),
  conclusions: kept(0, 2),
  summaries: kept(0, 0),
  strings: kept(1_200, 3_000),
  files: kept(2, 3),
  below: [],
  tried: [],
};

test("what was kept, part by part", () => {
  expect(keptParts(QUALITY)).toBe("typed messages 4 of 5 · conclusions 0 of 2 · exact strings 1,200 of 3,000 · files 2 of 3");
  expect(keptParts({ ...QUALITY, typed: kept(0, 0), conclusions: kept(0, 0), strings: kept(0, 0), files: kept(0, 0) })).toBe("");
});

test("thresholds that are missed", () => {
  expect(shortfalls(QUALITY)).toBe("");
  const below = [
    { part: "strings", share: 0.4, least: 0.6 },
    { part: "conclusions", share: 0, least: 0.25 },
  ] as const;
  expect(shortfalls({ ...QUALITY, below: [...below] })).toBe(
    "below what is asked for: exact strings 40%, asked for 60%; conclusions 0%, asked for 25%",
  );
});

test("a near-empty result is a compaction, and says what is wrong with it", () => {
  const statuses = ["no-change", "compacted", "near-empty", "infeasible", "rolled-back"] as const;
  expect(statuses.filter(isCompaction)).toEqual(["compacted", "near-empty"]);
  expect(statuses.filter((status) => statusSentence(status) === "")).toEqual(["compacted"]);
});

test("why nothing changed", () => {
  expect(whyUnchanged("no-change", null)).toBe("The session fits as it is.");
  expect(whyUnchanged("no-change", "not made: of 9 tokens 9 would stay")).toBe("Not made: of 9 tokens 9 would stay.");
  expect(whyUnchanged("rolled-back", null)).toMatch(/keeps enough .* nothing changes\.$/);
});

test("phases that were not timed count for nothing", () => {
  expect(milliseconds({ detect_us: 200, plan_us: 1_500, quality_us: 300 })).toBe(2);
  expect(milliseconds({ read_us: 1_000, detect_us: 0, plan_us: 0, quality_us: 0 })).toBe(1);
});

test.each([
  ["compacted", 331, 50, 281],
  ["near-empty", 21_331, 20_000, 1_331],
  ["compacted", 50, 50, 0],
  ["compacted", 49, 50, 0],
  ["no-change", 331, 50, 0],
  ["infeasible", 331, 50, 0],
] as const)("above the target: %s with %d tokens of %d", (status, tokens_after, target, expected) => {
  expect(tokensOverTarget({ status, target, tokens_after })).toBe(expected);
});
