import type { ContextFullness, ContextReport, ContextTokens, ContextWarning, Departure, NextCompaction, PartKind, RemovedContent } from "../api/types";
import { t } from "../lang";
import { sentence } from "./format";
import { statusSentence } from "./report";

/** A part, as a person calls it. */
export function partName(part: PartKind): string {
  return t.context.parts[part];
}

/** The figures of the token bar. */
export function barTokens({ current_tokens, usable_tokens, threshold_tokens, exact }: ContextFullness): ContextTokens {
  const percent = (tokens: number) => (tokens * 100) / Math.max(usable_tokens, 1);
  return {
    usedTokens: current_tokens,
    maxTokens: usable_tokens,
    percent: percent(current_tokens),
    thresholdPercent: threshold_tokens === null ? 0 : percent(threshold_tokens),
    estimated: !exact,
  };
}

/** When a compaction is near. */
export function nearness({ current_tokens, threshold_tokens, urgency, trigger }: ContextFullness): string {
  if (threshold_tokens === null) return t.context.noThreshold;
  if (trigger === "rounds") return t.context.rounds;
  if (trigger === "marker") return t.context.marker;
  if (urgency === "none") return t.context.from(threshold_tokens, Math.max(threshold_tokens - current_tokens, 0));
  if (trigger === null) return t.context.tooLittle(threshold_tokens);
  return urgency === "hard" ? t.context.due(threshold_tokens) : t.context.suggested(threshold_tokens);
}

/** What the window leaves for the messages. */
export function windowSentence(fullness: ContextFullness): string {
  return t.context.window(fullness.window_tokens, fullness.reserve_output_tokens, fullness.tool_definition_tokens);
}

/** The share of the window from which on a request is near it; the service has the same. */
const NEAR = 0.8;

/** What the provider counted; empty where that is not known. */
export function usageSentence({ usage, contents, fullness }: Pick<ContextReport, "usage" | "contents" | "fullness">): string {
  if (usage === null) return "";
  const ours = contents.tokens + contents.tool_definition_tokens;
  const percent = Math.round((usage.tokens * 100) / Math.max(fullness.window_tokens, 1));
  return t.context.usage(usage.tokens, percent, usage.tokens > ours * 1.1, usage.messages_since, fullness.current_tokens > contents.tokens);
}

/** Whether the newest request was nearly as large as the window, and the messages that are known say nothing of that. */
export function isNearTheWindow({ usage, fullness }: Pick<ContextReport, "usage" | "fullness">): boolean {
  return usage !== null && usage.tokens >= fullness.window_tokens * NEAR && !fullness.should_compact;
}

/** What would leave, without what only goes along: that saves nothing. */
export function savingDepartures(next: NextCompaction): Departure[] {
  return next.departures.filter((departure) => departure.tokens_saved > 0);
}

/** What deserves a look, in a sentence. */
export function warningSentence(warning: ContextWarning): string {
  switch (warning.warning) {
    case "large-message":
      return t.context.largeMessage(warning.tool, warning.position, Math.round(warning.share * 100));
    case "repeated-call":
      return t.context.repeatedCall(warning.tool, warning.times, warning.of, warning.arguments);
  }
}

/** What a compaction would do that were made now. */
export function nextSentence(next: NextCompaction, { trigger, urgency }: Pick<ContextFullness, "trigger" | "urgency">): string {
  const problem = sentence(next.problem ?? "");
  if (next.status === null) return t.context.notWorkedOut(problem);
  if (next.status === "no-change") return t.context.nothingNext(problem);
  if (next.status === "infeasible" || next.status === "rolled-back") return statusSentence(next.status);
  const called = trigger === null ? "none" : urgency === "hard" ? "due" : "suggested";
  const stays = t.context.wouldLeave(called, next.tokens_before, next.tokens_after, next.stay);
  return [stays, statusSentence(next.status), problem].filter((text) => text !== "").join(" ");
}

/** What an edit does, as a person says it. */
export function editName(edit: Departure["edit"]): string {
  return t.context.edits[edit];
}

/** Which messages would leave: `49 messages, #1 to #98, mostly tool results`. */
export function departureMessages({ messages, first, last, mostly }: Departure): string {
  return t.context.departure(messages, first, last, mostly === null ? "" : partName(mostly));
}

/** What has left, in a sentence. */
export function removedSentence({ messages, shortened, tokens, compactions }: RemovedContent): string {
  if (messages === 0 && shortened === 0) return t.context.nothingRemoved;
  return t.context.removedAll(messages, tokens, shortened, compactions);
}
