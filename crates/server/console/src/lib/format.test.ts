import { expect, test } from "vitest";

import { ago, count, firstLine, lineCount, savedShare, sentence, share, short } from "./format";

test("numbers", () => {
  expect([count(1204), short(128_000), share(70.94), share(100)]).toEqual(["1,204", "128K", "70.9%", "100%"]);
});

test("what the service says, as a sentence", () => {
  expect(["", "no model", "is it there?", "what stays (newest-user 9)"].map(sentence)).toEqual([
    "",
    "No model.",
    "Is it there?",
    "What stays (newest-user 9)",
  ]);
});

test("what was saved", () => {
  expect([savedShare(200, 50), savedShare(null, 50), savedShare(0, 0)]).toEqual([75, null, null]);
});

test("how long ago", () => {
  const now = Date.UTC(2026, 3, 7, 12);
  expect(ago(now - 5_000, now)).toBe("5 seconds ago");
  expect(ago(now - 3 * 3_600_000, now)).toBe("3 hours ago");
  expect(ago(now - 86_400_000, now)).toBe("yesterday");
  expect(ago(now - 400 * 86_400_000, now)).toMatch(/2025/);
  expect(ago(Number.NaN, now)).toBe("—");
});

test("lines", () => {
  expect([lineCount(""), lineCount("a"), lineCount("a\nb\n"), lineCount("a\n\nb")]).toEqual([0, 1, 2, 3]);
  expect(firstLine("\n\n  one\ntwo")).toBe("one");
  expect(firstLine("日本語日本語", 4)).toBe("日本語…");
  expect(firstLine("😀".repeat(9), 3)).toBe("😀😀…");
});
