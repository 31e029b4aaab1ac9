import { expect, test } from "vitest";

import { pieces } from "./marks";

/** The handles of the marks; the pieces must be the text again. */
function handles(text: string): string[] {
  const found = pieces(text);
  expect(found.map((piece) => piece.text).join("")).toBe(text);
  return found.flatMap((piece) => (piece.kind === "mark" ? [piece.handle] : []));
}

test("the engine's marks, in both languages", () => {
  expect(handles("a\n[… 132 lines, 1,204 tokens elided · recall e3f90a12]\nb")).toEqual(["e3f90a12"]);
  expect(handles("[… 省略 3 行、40 token · 可取回 0123456789ab]")).toEqual(["0123456789ab"]);
  expect(handles("[Summary of 12 earlier messages; search_history finds what they said · recall aaaaaaaa] [… 1 attachment elided · recall bbbbbbbb]")).toEqual([
    "aaaaaaaa",
    "bbbbbbbb",
  ]);
});

test("what only looks like one", () => {
  for (const text of ["", "[… elided]", "[… · recall xyz]", "recall e3f90a12", "[a\n · recall e3f90a12]"]) {
    expect(handles(text)).toEqual([]);
  }
});
