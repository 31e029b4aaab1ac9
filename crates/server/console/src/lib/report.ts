import type { Quality, QualityPart, Report } from "../api/types";
import { count, sentence, share } from "./format";

/** What a status means where it is not simply a compaction; empty where it is. */
const MEANING: Record<Report["status"], string> = {
  "no-change": "The session fits, or nothing in it may leave: nothing changes.",
  compacted: "",
  hollow: "It fits, but nothing is left of what was asked for and worked on. A larger budget keeps some of it.",
  infeasible: "What must stay is larger than the limit.",
  "rolled-back": "No way was found that keeps enough of what the session holds: nothing changes.",
};

const PARTS: [QualityPart, string][] = [
  ["typed", "typed messages"],
  ["instructions", "instructions"],
  ["conclusions", "conclusions"],
  ["summaries", "lines of earlier summaries"],
  ["strings", "exact strings"],
  ["files", "files"],
];

/** A sentence on the status; empty where there is nothing to say. */
export function statusSentence(status: Report["status"]): string {
  return MEANING[status];
}

/** Why a compaction left the session as it was. */
export function whyUnchanged(status: Report["status"], stopped: string | null): string {
  if (status !== "no-change") return statusSentence(status);
  return stopped === null ? "The session fits as it is." : sentence(stopped);
}

/** How many tokens above its target a compaction ends; 0 where it reaches it, or where none was made. */
export function tokensOverTarget({ status, target, tokens_after: after }: Pick<Report, "status" | "target" | "tokens_after">): number {
  return isCompaction(status) ? Math.max(0, after - target) : 0;
}

/** Whether the session is another one with it. */
export function isCompaction(status: Report["status"]): boolean {
  return status === "compacted" || status === "hollow";
}

/** `typed messages 4 of 5 · files 2 of 3`; parts of which the session held nothing are left out. */
export function keptParts(quality: Quality): string {
  return PARTS.map(([part, name]) => ({ name, ...quality[part] }))
    .filter(({ held }) => held > 0)
    .map(({ name, held, kept }) => `${name} ${count(kept)} of ${count(held)}`)
    .join(" · ");
}

/** `below what is asked for: strings 40%, asked for 60%`; empty where nothing is. */
export function shortfalls(quality: Quality): string {
  const told = quality.below.map(
    ({ part, share: kept, least }) => `${part} ${share(kept * 100)}, asked for ${share(least * 100)}`,
  );
  return told.length > 0 ? `below what is asked for: ${told.join("; ")}` : "";
}

/** The milliseconds that all phases took together, as far as they were timed. */
export function milliseconds(timings: Report["timings"]): number {
  return Object.values<number>({ ...timings }).reduce((sum, microseconds) => sum + microseconds, 0) / 1000;
}
