import type { Quality, QualityPart, Report } from "../api/types";
import { t } from "../lang";
import { count, sentence, words } from "./format";

const PARTS: QualityPart[] = ["typed", "instructions", "conclusions", "summaries", "strings", "files"];

/** A sentence on the status; empty where there is nothing to say. */
export function statusSentence(status: Report["status"]): string {
  return status === "compacted" ? "" : t.report.statuses[status];
}

/** Why a compaction left the session as it was. */
export function whyUnchanged(status: Report["status"], stopped: string | null): string {
  if (status !== "no-change") return statusSentence(status);
  return stopped === null ? t.report.fits : sentence(stopped);
}

/** How many tokens above its target a compaction ends; 0 where it reaches it, or where none was made. */
export function tokensOverTarget({ status, target, tokens_after: after }: Pick<Report, "status" | "target" | "tokens_after">): number {
  return isCompaction(status) ? Math.max(0, after - target) : 0;
}

/** Whether the session is another one with it. */
export function isCompaction(status: Report["status"]): boolean {
  return status === "compacted" || status === "near-empty";
}

/** `typed messages 4 of 5 · files 2 of 3`; parts of which the session held nothing are left out. */
export function keptParts(quality: Quality): string {
  return PARTS.map((part) => ({ name: t.report.parts[part], ...quality[part] }))
    .filter(({ held }) => held > 0)
    .map(({ name, held, kept }) => t.report.keptOf(name, kept, held))
    .join(" · ");
}

/** `below what is asked for: strings 40%, asked for 60%`; empty where nothing is. */
export function shortfalls(quality: Quality): string {
  const told = quality.below.map(({ part, share: kept, least }) => t.report.belowPart(t.report.parts[part], kept * 100, least * 100));
  return told.length > 0 ? t.report.below(told.join("; ")) : "";
}

/** What must stay, where it is too much. */
export function floorSentence({ tokens, parts }: NonNullable<Report["floor"]>): string {
  return t.report.floor(tokens, parts.map((part) => `${words(part.part)} ${count(part.tokens)}`).join(" + "));
}

/** The milliseconds that all phases took together, as far as they were timed. */
export function milliseconds(timings: Report["timings"]): number {
  return Object.values<number>({ ...timings }).reduce((sum, microseconds) => sum + microseconds, 0) / 1000;
}
