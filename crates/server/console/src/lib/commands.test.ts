import { expect, test } from "vitest";

import { commandList, unknownCommand } from "./commands";

test.each([
  ["/foo", "/foo"],
  [" /compat the parser", "/compat"],
  ["/undo1", "/undo1"],
  ["/foo\nand more", "/foo"],
  ["/compact parser", null],
  ["/UNDO 2", null],
  ["/history", null],
  ["/home/user is full", null],
  ["/etc/passwd", null],
  ["either/or", null],
  ["say /foo", null],
  ["// a comment", null],
  ["/", null],
])("%j is meant as the unknown command %j", (text, expected) => {
  expect(unknownCommand(text)).toBe(expected);
});

test("the commands in a sentence", () => {
  expect(commandList()).toBe("The commands are /compact [focus], /undo [number], /history, /recall handle and /context.");
});
