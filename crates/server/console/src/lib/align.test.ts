import { expect, test } from "vitest";

import type { EditReport, Report, StoredMessage } from "../api/types";
import { align, tally } from "./align";
import { edit, message } from "./testing";

const summary = message("s", { origin: "summary" }, { is_summary: true });

/** The rows in short: `a=a` kept, `a~a` edited, `[a dropped, b dropped > s]` replaced. */
function shown(
  before: StoredMessage[],
  after: StoredMessage[],
  edits: EditReport[],
  receipts?: Report["messages"],
): string[] {
  return align(before, after, edits, receipts).map((row) => {
    if (row.kind === "replaced") {
      const left = row.left.map(({ message, receipt }) => `${message.message.id} ${receipt.outcome}`).join(", ");
      return `[${left} > ${row.came.map((stored) => stored.message.id).join(", ")}]`;
    }
    return row.before.message.id + (row.kind === "kept" ? "=" : `~${row.receipt.outcome}~`) + row.after.message.id;
  });
}

const [a, b, c, d] = ["1", "2", "3", "4"].map((id) => message(id)) as [
  StoredMessage,
  StoredMessage,
  StoredMessage,
  StoredMessage,
];

test("nothing changed", () => {
  expect(shown([a, b], [a, b], [])).toEqual(["1=1", "2=2"]);
  expect(shown([], [], [])).toEqual([]);
});

test("a summary stands beside what it stands for, before it or behind it", () => {
  const edits = [edit("summarize", ["2", "3"])];
  const rows = ["1=1", "[2 summarized, 3 summarized > s]", "4=4"];
  expect(shown([a, b, c, d], [a, summary, d], edits)).toEqual(rows);
});

test("what was cut keeps its place", () => {
  expect(shown([a, b, c], [a, b, c], [edit("excerpt", ["2"]), edit("trim", ["3"])])).toEqual([
    "1=1",
    "2~excerpted~2",
    "3~trimmed~3",
  ]);
});

test("first cut and then dropped is dropped", () => {
  expect(shown([a, b], [a], [edit("excerpt", ["2"]), edit("drop", ["2"])])).toEqual(["1=1", "[2 dropped > ]"]);
});

test("what came where nothing left, and at the end", () => {
  expect(shown([a], [summary, a], [])).toEqual(["[ > s]", "1=1"]);
  expect(shown([a], [a, summary], [])).toEqual(["1=1", "[ > s]"]);
});

test("messages that changed places are shown once each", () => {
  expect(shown([a, b, c], [c, a, b], [])).toEqual(["1=1", "2=2", "3=3"]);
});

test("the report's own receipts count where there are any", () => {
  const receipts: Report["messages"] = [{ id: "1", role: "user", outcome: "pinned" }];
  expect(shown([a, b], [a, b], [], receipts)).toEqual(["1=1", "2=2"]);
  const [row] = align([a, b], [a, b], [], receipts);
  expect(row?.kind === "kept" && row.receipt.outcome).toBe("pinned");
});

test("how many had each outcome: every message once", () => {
  const rows = align([a, b, c, d], [a, summary, d], [edit("summarize", ["2", "3"]), edit("excerpt", ["4"])]);
  expect([...tally(rows)]).toEqual([
    ["kept", 1],
    ["summarized", 2],
    ["excerpted", 1],
  ]);
});
