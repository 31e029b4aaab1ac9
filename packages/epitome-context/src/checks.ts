/**
 * What options take. They are looked at here because JSON has no `NaN`: it would become `null`, and be as if it were not there.
 * Problems are given as text; who asks throws the error, for the adapters know one class of it and not this copy's.
 */

import type {
  BesideOptions,
  CompactOptions,
  EngineOptions,
  FitOptions,
  FitterOptions,
  Overflow,
  ReadOptions,
  SearchOptions,
} from "./options.js";

/** What one option takes. */
interface Take {
  takes: string;
  fits(value: unknown): boolean;
}

/** What options of a call take, by their names; the native part looks at those that are not here. */
export type Takes = Readonly<Record<string, Take>>;

const TEXT: Take = { takes: "a text", fits: (value) => value === null || typeof value === "string" };

function whole(what: string, least: number, most = Infinity): Take {
  return {
    takes: `${what} (a whole number${most === Infinity ? `, ${least} or more` : ` from ${least} to ${most}`})`,
    fits: (value) => isWhole(value, least, Math.min(most, Number.MAX_SAFE_INTEGER)),
  };
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** The most tokens that the native part counts. */
const MOST_TOKENS = 2 ** 32 - 1;

function tokens(least: number): Take {
  return { ...whole("a number of tokens", least), fits: (value) => isWhole(value, least, MOST_TOKENS) };
}

const TOKENS = tokens(1);

/** Where it is a number, it is one of tokens; what else it may be, the native part looks at. */
function beside(what: string): Take {
  return {
    takes: `${what}, or the tokens that they take (a whole number, 0 or more)`,
    fits: (value) => (typeof value !== "number" && typeof value !== "bigint") || isWhole(value, 0, MOST_TOKENS),
  };
}

export const ENGINE_TAKES = {
  model: TEXT,
  window: whole("a number of tokens", 100, 1_000_000_000),
  reserveOutput: tokens(0),
} satisfies Takes & Partial<Record<keyof EngineOptions, Take>>;

export const FITTER_TAKES = {
  ...ENGINE_TAKES,
  budget: TOKENS,
  format: TEXT,
  host: TEXT,
  conversations: whole("a number of conversations", 0),
  memoryBytes: whole("a number of bytes", 0),
  archiveBytes: whole("a number of bytes", 0),
  secret: { takes: "32 bytes", fits: (value) => isBytes(value) && value.length === 32 },
} satisfies Takes & Partial<Record<keyof FitterOptions, Take>>;

export const BESIDE_TAKES = {
  system: beside("a system prompt"),
  tools: beside("a list of definitions"),
} satisfies Takes & Record<keyof BesideOptions, Take>;

/** Its parts are looked at by the native part. */
const ASKED: Take = {
  takes: "an object with `reason`, `nextStep` and `keep`",
  fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

export const FIT_TAKES = { ...BESIDE_TAKES, key: TEXT, format: TEXT, reportedTokens: tokens(0), asked: ASKED } satisfies Takes & Record<keyof FitOptions, Take>;

/** A provider does not always name both. */
const REFUSED: Take = { ...tokens(0), fits: (value) => value === null || tokens(0).fits(value) };

export const OVERFLOW_TAKES = { limit: REFUSED, actual: REFUSED } satisfies Takes & Record<keyof Overflow, Take>;

export const READ_TAKES = { format: TEXT, name: TEXT } satisfies Takes & Record<keyof ReadOptions, Take>;

const MESSAGES: Take = {
  takes: "messages by their numbers, such as \"#37\" or \"#40-#52\", or a list of them",
  fits: (value) => (Array.isArray(value) ? value : [value]).every((range) => typeof range === "string"),
};

export const COMPACT_TAKES = {
  ...READ_TAKES,
  budget: {
    takes: `${TOKENS.takes} or a part of what the messages take (above 0 and below 1)`,
    fits: (value) => TOKENS.fits(value) || (typeof value === "number" && value > 0 && value < 1),
  },
  to: TEXT,
  mode: TEXT,
  task: TEXT,
  focus: TEXT,
  keep: MESSAGES,
  drop: MESSAGES,
  settings: {
    takes: "an object of settings",
    fits: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  },
} satisfies Takes & Partial<Record<keyof CompactOptions, Take>>;

const SOURCES: readonly unknown[] = ["user", "assistant", "tool", "file"];

export const SEARCH_TAKES = {
  ...READ_TAKES,
  sources: {
    takes: `one or more of ${SOURCES.join(", ")}`,
    fits: (value) => (Array.isArray(value) ? value : [value]).every((source) => SOURCES.includes(source)),
  },
  newest: { takes: "true or false", fits: (value) => typeof value === "boolean" },
  limit: whole("a number of passages", 1, 100),
  characters: whole("a number of characters", 1, 200_000),
  page: whole("the number of a page", 1),
  words: {
    takes: "a text, or a list of texts",
    fits: (value) => (Array.isArray(value) ? value : [value]).every((word) => typeof word === "string"),
  },
} satisfies Takes & Partial<Record<keyof SearchOptions | "words", Take>>;

/** What is wrong with the options of a call; `undefined` where nothing is. */
export function problemOf(options: unknown, takes: Takes): string | undefined {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return `options are given as an object, such as \`{ budget: 60_000 }\`, not as ${shortOf(options)}`;
  }
  for (const [name, value] of Object.entries(options)) {
    const take = Object.hasOwn(takes, name) ? takes[name] : undefined;
    if (value !== undefined && take?.fits(value) === false) return `\`${name}\` takes ${take.takes}, not ${shortOf(value)}`;
  }
  return undefined;
}

/** What is wrong with the names of options; `undefined` where all are known. */
export function unknownOf(options: object, known: readonly string[]): string | undefined {
  const wrong = Object.keys(options).find((name) => !known.includes(name));
  if (wrong === undefined) return undefined;
  const near = nearest(wrong, known);
  const help = near === undefined ? `there are ${known.map((name) => `\`${name}\``).join(", ")}` : `did you mean \`${near}\`?`;
  return `there is no option \`${wrong}\`; ${help}`;
}

/** The name that was meant, as the native part finds it: one edit is near, and one more for every four characters. */
function nearest(given: string, known: readonly string[]): string | undefined {
  const word = given.toLowerCase();
  let [found, least] = [undefined as string | undefined, Infinity];
  for (const name of known) {
    const distance = editsOf(word, name.toLowerCase());
    if (distance < least && distance <= 1 + Math.floor(name.length / 4) && distance < name.length) {
      [found, least] = [name, distance];
    }
  }
  return found;
}

/** Characters to put in, take out, replace or swap with the next one, to make one word of another. */
function editsOf(one: string, other: string): number {
  let [before, row] = [[] as number[], Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) {
      const isSame = one[at - 1] === other[to - 1];
      let edits = Math.min(row[to]! + 1, next[to - 1]! + 1, row[to - 1]! + (isSame ? 0 : 1));
      const isSwapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      if (isSwapped) edits = Math.min(edits, before[to - 2]! + 1);
      next.push(edits);
    }
    [before, row] = [row, next];
  }
  return row[other.length]!;
}

function isBytes(value: unknown): value is Uint8Array | readonly number[] {
  return value instanceof Uint8Array || Array.isArray(value);
}

/** A value in a few words. */
export function shortOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
