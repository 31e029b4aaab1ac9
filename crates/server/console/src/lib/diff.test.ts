import { describe, expect, test } from "vitest";

import { diffLines, runs } from "./diff";

/** The lines as a person writes a diff. */
function shown(before: string, after: string): string {
  const signs = { same: " ", removed: "-", added: "+" };
  return diffLines(before, after)
    .map((line) => signs[line.kind] + line.text)
    .join("\n");
}

/** The text that a side of the diff holds. */
function side(before: string, after: string, without: "added" | "removed"): string {
  const lines = diffLines(before, after).filter((line) => line.kind !== without);
  return lines.map((line) => line.text).join("\n");
}

test("an excerpt against its original", () => {
  expect(shown("one\ntwo\nthree\nfour", "one\n[… 2 lines elided]\nfour")).toBe(
    " one\n-two\n-three\n+[… 2 lines elided]\n four",
  );
});

test("equal texts, empty texts", () => {
  expect(shown("a\nb", "a\nb")).toBe(" a\n b");
  expect(shown("", "a")).toBe("-\n+a");
  expect(shown("", "")).toBe(" ");
});

test("lines that stand more than once", () => {
  expect(shown("}\na\n}\nb\n}", "}\nb\n}")).toBe(" }\n-a\n-}\n b\n }");
});

test("lines that changed places are taken out and put in", () => {
  expect(shown("a\nb\nc", "c\na\nb")).toBe("+c\n a\n b\n-c");
});

describe("whatever the texts are, each side is whole", () => {
  // A small generator with a fixed start: the same texts every time.
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const text = () => Array.from({ length: next(12) }, () => "abcde".charAt(next(5))).join("\n");
  test.each(Array.from({ length: 200 }, () => [text(), text()]))("%j and %j", (before, after) => {
    expect(side(before, after, "added")).toBe(before);
    expect(side(before, after, "removed")).toBe(after);
  });
});

test("a hundred thousand lines", () => {
  const lines = Array.from({ length: 100_000 }, (_, number) => `line ${number % 1000} of ${number}`);
  const kept = [...lines.slice(0, 50), "[… elided]", ...lines.slice(-50)];
  const found = runs(diffLines(lines.join("\n"), kept.join("\n")));
  expect(found.map(({ kind, lines }) => [kind, lines.length])).toEqual([
    ["same", 50],
    ["removed", 99_900],
    ["added", 1],
    ["same", 50],
  ]);
});
