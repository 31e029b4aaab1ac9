import { expect, test } from "vitest";

import { newTitle, titleOf } from "./title";

test("what a session is called", () => {
  const id = "0c1b11892f948be4527aa8fd2d8050f0";
  expect(titleOf({ id, title: "The parser" })).toBe("The parser");
  expect([titleOf({ id, title: "" }), titleOf({ id })]).toEqual(["Untitled session 0c1b1189", "Untitled session 0c1b1189"]);
  expect(titleOf({ id: "parser" })).toBe("parser");
  expect(newTitle(Date.UTC(2026, 3, 7, 12))).toMatch(/^New session, Apr \d, 2026, \d\d:\d\d$/);
});
