import { afterEach, describe, expect, test } from "vitest";

import { count } from "../lib/format";
import { LANGUAGES, type Language, chosenLanguage, nextLanguage, speak, t } from ".";
import { en } from "./en";

/** Every text of a table by its place, such as `words.add`: itself, or a function that makes it. */
function texts(table: object, place = ""): Map<string, unknown> {
  const found = Object.entries(table).flatMap(([key, value]): [string, unknown][] =>
    typeof value === "object" && value !== null ? [...texts(value as object, `${place}${key}.`)] : [[`${place}${key}`, value]],
  );
  return new Map(found);
}

const ENGLISH = texts(en);
const OTHERS = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== "en");

afterEach(() => speak("en"));

describe.each(OTHERS)("%s", (language) => {
  const own = texts(LANGUAGES[language]);

  test("has every key, of the same kind", () => {
    const kinds = (table: Map<string, unknown>) => [...ENGLISH.keys()].map((place) => `${place}: ${typeof table.get(place)}`);
    expect(kinds(own)).toEqual(kinds(ENGLISH));
  });

  test("has no key that is none", () => {
    // Of problems, each language has those for which the service's own words are English.
    expect([...own.keys()].filter((place) => !ENGLISH.has(place) && !place.startsWith("problems."))).toEqual([]);
  });

  test("has no text that is still English", () => {
    // Signs alone, and what a program is told, are the same everywhere.
    const same = [...own].filter(([place, text]) => typeof text === "string" && text !== "" && text === ENGLISH.get(place));
    expect(same.map(([place]) => place)).toEqual([]);
  });
});

test("the browser's language counts until somebody chooses", () => {
  const stored = (language: string | null) => ({ getItem: () => language });
  expect(chosenLanguage(stored(null), ["fr", "zh-TW", "en"])).toBe("zh-CN");
  expect(chosenLanguage(stored(null), ["en-GB", "zh"])).toBe("en");
  expect(chosenLanguage(stored(null), ["fr"])).toBe("en");
  expect(chosenLanguage(stored("zh-CN"), ["en"])).toBe("zh-CN");
  expect(chosenLanguage(stored("tlh"), ["zh"])).toBe("zh-CN");
  expect(["en", "zh-CN"].map((language) => nextLanguage(language as Language))).toEqual(["zh-CN", "en"]);
});

test("words and numbers change together", () => {
  expect([t.sessions.title, t.counts.messages(2000)]).toEqual(["Sessions", "2,000 messages"]);
  speak("zh-CN");
  expect([t.sessions.title, t.counts.messages(2000), count(2000)]).toEqual(["会话", "2,000 条消息", "2,000"]);
});

test("one of a thing is told as one", () => {
  expect([t.counts.messages(1), t.counts.messages(0), t.preview.change(2)]).toEqual(["1 message", "0 messages", "Change the 2 summaries (optional)"]);
});
