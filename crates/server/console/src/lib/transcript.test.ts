import { expect, test } from "vitest";

import { isTranscript } from "./transcript";

const LEGEND = "Earlier steps, shortened. » assistant, « user, ▸ call (✓ no error, ✗ failed), → its result, … left out.";

test.each([
  ["» I look at the parser.\n▸ Bash: cat notes.md\n→ # Notes", true],
  [`${LEGEND}\n« And the tests?`, true],
  [`[Summary of 9 earlier messages]\n${LEGEND}\n» I look at the parser.`, true],
  ["[Summary of 9 earlier messages]\n» I look at the parser.", true],
  ["## Goal\n\nThe parser.\n\n→ done", false],
  ["[Summary of 9 earlier messages]\n## Goal\n» quoted", false],
  ["", false],
])("%j", (text, expected) => {
  expect(isTranscript(text)).toBe(expected);
});
