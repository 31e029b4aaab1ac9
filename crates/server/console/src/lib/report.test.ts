import { expect, test } from "vitest";

import type { KeptShare, Quality } from "../api/types";
import { isCompaction, keptParts, milliseconds, overTarget, shortfalls, statusSentence, whyUnchanged } from "./report";

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
    "below what is asked for: strings 40%, asked for 60%; conclusions 0%, asked for 25%",
  );
});

test("a hollow result is a compaction, and says what is wrong with it", () => {
  const statuses = ["no-change", "compacted", "hollow", "infeasible", "rolled-back"] as const;
  expect(statuses.filter(isCompaction)).toEqual(["compacted", "hollow"]);
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
  ["stopped at 331 tokens, 281 above the target of 50: what must stay holds 331 (original-task 169)", { over: "281", target: "50" }],
  ["stopped at 21,331 tokens, 1,331 above the target of 20,000: what must stay holds 9", { over: "1,331", target: "20,000" }],
  ["not made: of 331 tokens 300 would stay", null],
  [undefined, null],
])("how far above the target: %j", (stopped, expected) => {
  expect(overTarget(stopped)).toEqual(expected);
});
