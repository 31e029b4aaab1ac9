import { expect, test } from "vitest";

import { type SseEvent, SseParser } from "./sse";

/** The events of a stream that comes in one piece, and character by character: they must be the same. */
function events(text: string): SseEvent[] {
  const whole = new SseParser().push(text);
  const parser = new SseParser();
  expect(Array.from(text).flatMap((character) => parser.push(character))).toEqual(whole);
  return whole;
}

test("events as the service sends them", () => {
  expect(events(": keep-alive\n\nid: 1-7\nevent: undone\ndata: {\"epoch\":0}\n\ndata: a\ndata: b\n\n")).toEqual([
    { event: "undone", data: '{"epoch":0}', id: "1-7" },
    { event: "message", data: "a\nb", id: "1-7" },
  ]);
});

test("all line ends, fields without a colon or a space, and an event that is not whole yet", () => {
  expect(events("event:a\r\ndata:1\r\n\r\nretry: 5\rdata\r\rdata: half\n")).toEqual([
    { event: "a", data: "1", id: null },
    { event: "message", data: "", id: null },
  ]);
  expect(events("event: nothing\n\ndata: b\n\n")).toEqual([{ event: "message", data: "b", id: null }]);
});
