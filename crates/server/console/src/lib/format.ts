/** How a language writes numbers and times. */
function formatsOf(locale: string) {
  return {
    whole: new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
    tenths: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    compact: new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }),
    money: new Intl.NumberFormat(locale, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", maximumFractionDigits: 4 }),
    time: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" }),
    relative: new Intl.RelativeTimeFormat(locale, { numeric: "auto" }),
  };
}

let formats = formatsOf("en");

/** Writes numbers and times as a language does, from now on. */
export function setLocale(locale: string): void {
  formats = formatsOf(locale);
}

/** `1204` → `1,204`. */
export function count(value: number): string {
  return formats.whole.format(value);
}

/** `128000` → `128K`. */
export function short(value: number): string {
  return formats.compact.format(value);
}

/** A percentage with one decimal at most. */
export function share(percent: number): string {
  return `${formats.tenths.format(percent)}%`;
}

/** A price in US dollars. */
export function money(dollars: number): string {
  return formats.money.format(dollars);
}

/** A time for people. */
export function time(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? "—" : formats.time.format(date);
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
    if (Math.abs(distance) < most) return formats.relative.format(Math.round(distance), unit);
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
  if (/[.!?)。！？）]$/.test(whole)) return whole;
  return `${whole}${/\p{Script=Han}$/u.test(whole) ? "。" : "."}`;
}

/** `context-window` → `context window`. */
export function words(name: string): string {
  return name.replaceAll(/[-_]/g, " ");
}
