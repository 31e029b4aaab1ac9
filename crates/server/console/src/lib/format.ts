// The console speaks English throughout, so numbers and dates do too, whatever the browser's language is.
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** `1204` → `1,204`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** `128000` → `128K`. */
export function short(value: number): string {
  return COMPACT.format(value);
}

/** A percentage with one decimal at most. */
export function share(percent: number): string {
  return `${TENTHS.format(percent)}%`;
}

/** `1 message`, `2,000 messages`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A time for people. */
export function time(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? "an unknown time" : TIME.format(date);
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
];

/** How long ago a time is, up to a week; then the time itself. */
export function ago(milliseconds: number, now: number): string {
  let distance = (milliseconds - now) / 1000;
  for (const [most, unit] of STEPS) {
    if (Math.abs(distance) < most) return RELATIVE.format(Math.round(distance), unit);
    distance /= most;
  }
  return time(milliseconds);
}

/** What a compaction saved, as a percentage; null where a figure is missing. */
export function savedShare(before: number | null, after: number | null): number | null {
  if (before === null || after === null || before <= 0) return null;
  return ((before - after) / before) * 100;
}

/** The first line with something on it, shortened to `most` characters. */
export function firstLine(text: string, most = 160): string {
  // Only the beginning is looked at: texts can be megabytes.
  const line = text.slice(0, most * 20).trimStart().split("\n", 1)[0] ?? "";
  const characters = Array.from(line);
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : line;
}

/** How many lines a text has. */
export function lineCount(text: string): number {
  let lines = text.length > 0 && !text.endsWith("\n") ? 1 : 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** The text with a capital letter and a full stop; empty where it is. */
export function sentence(text: string): string {
  if (text === "") return "";
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(whole) ? whole : `${whole}.`;
}

/** An id that a program made up, of hexadecimal digits. */
const MADE_UP = /^[0-9a-f]{32}$/;

/** What a session is called: its title, or its id where a person gave it one. */
export function titleOf({ id, title }: { id: string; title?: string }): string {
  if (title !== undefined && title !== "") return title;
  return MADE_UP.test(id) ? `Untitled session ${id.slice(0, 8)}` : id;
}

/** The title of a session that is begun in the console. */
export function newTitle(now: number): string {
  return `New session, ${time(now)}`;
}

/** `context-window` → `context window`. */
export function words(name: string): string {
  return name.replaceAll(/[-_]/g, " ");
}
