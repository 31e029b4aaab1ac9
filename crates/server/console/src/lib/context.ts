import type { ContextFullness, ContextReport, ContextTokens, ContextWarning, Departure, NextCompaction, PartKind, RemovedContent } from "../api/types";
import { count, plural, savedShare, sentence, share } from "./format";
import { statusSentence } from "./report";

const NAMES: Record<PartKind, string> = {
  "system-prompt": "System prompt",
  "tool-definitions": "Tool definitions",
  instructions: "Added by the agent",
  task: "The task",
  user: "The user",
  assistant: "The model's text",
  thinking: "Thinking",
  "tool-calls": "Tool calls",
  "tool-results": "Tool results",
  "files-read": "Files read",
  images: "Images",
  summaries: "Summaries",
  other: "Other",
};

/** A part, as a person calls it. */
export function partName(part: PartKind): string {
  return NAMES[part];
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
  if (threshold_tokens === null) return "No number of tokens calls for a compaction.";
  const threshold = count(threshold_tokens);
  if (trigger === "rounds") return "A compaction is suggested: there were as many rounds as the settings say.";
  if (trigger === "marker") return "A compaction is suggested: the model asked for one.";
  if (urgency === "none") {
    return `A compaction is suggested from ${threshold} tokens on: ${count(Math.max(threshold_tokens - current_tokens, 0))} more.`;
  }
  if (trigger === null) return `Past ${threshold} tokens, but too little has come since the last compaction for another.`;
  if (urgency === "hard") return `A compaction is due: ${threshold} tokens are reached.`;
  return `A compaction is suggested: ${threshold} tokens are reached.`;
}

/** What the window leaves for the messages. */
export function windowSentence(fullness: ContextFullness): string {
  const tools = fullness.tool_definition_tokens;
  const definitions = tools > 0 ? `, ${count(tools)} for the tool definitions` : "";
  return `Window ${count(fullness.window_tokens)}; ${count(fullness.reserve_output_tokens)} kept free for the answer${definitions}.`;
}

/** The share of the window from which on a request is near it; the service has the same. */
const NEAR = 0.8;

/** What the provider counted; empty where that is not known. */
export function usageSentence({ usage, contents, fullness }: Pick<ContextReport, "usage" | "contents" | "fullness">): string {
  if (usage === null) return "";
  const ours = contents.tokens + contents.tool_definition_tokens;
  const why = usage.tokens > ours * 1.1 ? ": the session does not record all that is sent, and models count differently" : "";
  const since = usage.messages_since > 0 ? `; ${plural(usage.messages_since, "message")} since` : "";
  const by = fullness.current_tokens > contents.tokens ? "; the bar goes by it" : "";
  const of = share(Math.round((usage.tokens * 100) / Math.max(fullness.window_tokens, 1)));
  return `The provider counted ${count(usage.tokens)} tokens in the newest request and its answer, ${of} of the window${why}${since}${by}.`;
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
    case "large-message": {
      const what = warning.tool === null ? "One message" : `One result of ${warning.tool}`;
      return `${what} (#${warning.position}) fills ${share(Math.round(warning.share * 100))} of the usable window.`;
    }
    case "repeated-call":
      return `${warning.tool} was called ${warning.times} times among the newest ${warning.of} calls with the same arguments and the same result: ${warning.arguments}`;
  }
}

/** What a compaction would do that were made now. */
export function nextSentence(next: NextCompaction, { trigger, urgency }: Pick<ContextFullness, "trigger" | "urgency">): string {
  const problem = next.problem ?? "";
  if (next.status === null) return `A compaction could not be worked out. ${sentence(problem)}`;
  if (next.status === "no-change") {
    return `Nothing. ${problem === "" ? "There is too little that may leave." : sentence(problem)}`;
  }
  if (next.status === "infeasible" || next.status === "rolled-back") return statusSentence(next.status);
  const saved = savedShare(next.tokens_before, next.tokens_after);
  const less = saved === null ? "" : ` (−${share(saved)})`;
  const called = urgency === "hard" ? "The compaction that is due" : "The compaction that is suggested";
  const which = trigger === null ? "Nothing yet. A compaction made now" : called;
  const stays = `${which} would leave ${count(next.tokens_after)} of ${count(next.tokens_before)} tokens${less}, and ${plural(next.stay, "message")} as they are.`;
  return [stays, statusSentence(next.status), sentence(problem)].filter((text) => text !== "").join(" ");
}

const EDITS: Record<Departure["edit"], string> = {
  drop: "leaves",
  summarize: "summarised",
  excerpt: "shortened",
  trim: "arguments cut",
};

/** What an edit does, as a person says it. */
export function editName(edit: Departure["edit"]): string {
  return EDITS[edit];
}

/** Which messages would leave: `49 messages, #1 to #98, mostly tool results`. */
export function departureMessages({ messages, first, last, mostly }: Departure): string {
  const place = first === null ? "" : first === last || last === null ? `, #${first}` : `, #${first} to #${last}`;
  const name = mostly === null ? "" : partName(mostly).toLowerCase();
  const what = name === "" ? "" : messages === 1 ? `, ${name}` : `, mostly ${name}`;
  return `${plural(messages, "message")}${place}${what}`;
}

/** What has left, in a sentence. */
export function removedSentence({ messages, shortened, tokens, compactions }: RemovedContent): string {
  if (messages === 0 && shortened === 0) return "Nothing.";
  const cut = shortened > 0 ? `, and ${plural(shortened, "message")} shortened` : "";
  const by = compactions > 0 ? ` by ${plural(compactions, "compaction")}` : "";
  return `${plural(messages, "message")} of ${count(tokens)} tokens${cut}${by}. All of it is kept.`;
}
