import { expect, test } from "vitest";

import { helpFor, messageFor } from "./problem";

test.each([
  ["unknown-session", "GET /v1/sessions lists the sessions", "it may have been deleted; the page Sessions lists those that there are"],
  ["unreadable-session", "`format` names the format where it is not recognised", "open a file in which an agent recorded a session, plain or gzipped"],
  ["unknown-handle", "marks, summaries and GET …/history name the handles", "marks in the messages, summaries and the page Context name the handles"],
  ["a-new-code", "GET /v1/things lists the things", ""],
  ["a-new-code", "`field` says so", ""],
  ["stale-draft", "preview it again", "preview it again"],
  ["not-compacted", "try again, or let the rules write summaries: [summary] fall_back_to_rules = true", "try again, or let the rules write summaries: [summary] fall_back_to_rules = true"],
])("the help of %s", (code, help, expected) => {
  expect(helpFor(code, help)).toBe(expected);
});

test("what is wrong", () => {
  expect(messageFor("bad-title", "`title` cannot be a title")).toBe("this cannot be a title");
  expect(messageFor("unknown-session", "there is no such session")).toBe("there is no such session");
});
