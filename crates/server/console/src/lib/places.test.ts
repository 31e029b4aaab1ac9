import { expect, test } from "vitest";

import type { HistoryItem } from "../api/types";
import { epochsByPlace, rangeText } from "./places";
import { message } from "./testing";

function entry(epoch: number, messages: number): HistoryItem {
  return {
    epoch,
    messages,
    origin: "engine",
    trigger: "manual",
    tokens_before: 2,
    tokens_after: 1,
    edits: {},
    recall: [],
    summaries: [],
    undone: false,
    at: null,
    undone_at: null,
    covered_by: null,
  };
}

/** Places and epochs, as `place: epoch`. */
function shown(epochs: HistoryItem[], ids: string[], isStart: boolean, isEnd: boolean): string[] {
  const placed = epochsByPlace(epochs, ids.map((id) => message(id)), isStart, isEnd);
  return [...placed].map(([place, entries]) => `${place}: ${entries.map((entry) => entry.epoch).join(" ")}`);
}

test("behind the messages that were there", () => {
  expect(shown([entry(0, 2)], ["0", "1", "2", "3"], true, true)).toEqual(["2: 0"]);
  expect(shown([entry(0, 4)], ["0", "1", "2", "3"], true, true)).toEqual(["4: 0"]);
  expect(shown([entry(0, 3), entry(1, 3)], ["0", "summary", "5"], true, true)).toEqual(["2: 0 1"]);
});

test("not on a page that it does not belong to", () => {
  expect(shown([entry(0, 2)], ["10", "11"], false, true)).toEqual([]);
  expect(shown([entry(0, 50)], ["10", "11"], false, false)).toEqual([]);
  expect(shown([entry(0, 12)], ["10", "11"], false, false)).toEqual(["2: 0"]);
  expect(shown([entry(0, 10)], ["10", "11"], false, false)).toEqual(["0: 0"]);
  expect(shown([entry(0, 2)], ["10", "11"], true, false)).toEqual(["0: 0"]);
});

test("a view of summaries alone", () => {
  expect(shown([entry(0, 2)], ["summary"], true, true)).toEqual(["1: 0"]);
  expect(shown([], [], true, true)).toEqual([]);
});

test.each([
  [["0", "1"], 2, "2 messages"],
  [["0"], 1, "1 message"],
  [["116", "117", "118"], 166, "3 of 166 messages: #116 to #118"],
  [["summary", "40", "41"], 60, "3 of 60 messages: #40 to #41"],
  [["summary"], 60, "1 of 60 messages"],
])("what is in sight of %j", (ids, total, expected) => {
  expect(rangeText(ids.map((id) => message(id)), total)).toBe(expected);
});
