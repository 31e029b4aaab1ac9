/**
 * Messages made of parts, as Vercel's AI SDK and Mastra have them, fitted in the form of OpenAI's chat completions. Only the
 * shape is looked at, so that prompts of any version of the SDK are taken, and messages of a loop as well.
 */

import type { FitOptions, Fitter, Overflow } from "epitome-context";

import { argumentsOf, isSame, tell, textOfValue, type AdapterOptions } from "./host.js";
import { partOf, type Part } from "./media.js";
import { ownMessages, textOfContent, withPlaces, type Wire } from "./own.js";

/** A message of text or of parts. */
export interface PartsMessage {
  role: string;
  content: string | Part[];
  [key: string]: any;
}

/** A message as it is fitted, with where it comes from; a message of tool results is one for each of them. */
interface Slot {
  wire: Wire;
  /** The number of the host's message; -1 where it was inserted. */
  host: number;
  /** The number of the result in it. */
  part?: number;
  /** Whether it says something else now. */
  changed?: boolean;
}

/**
 * What to send in place of messages: the host's own objects for what is kept; `messages` itself where all is kept. With `overflow`
 * a provider has refused what was sent.
 */
export async function fitParts<M extends PartsMessage>(
  fitter: Fitter,
  messages: readonly M[],
  options: FitOptions,
  listeners: Pick<AdapterOptions, "onFit" | "recall"> = {},
  overflow?: Overflow,
): Promise<readonly M[]> {
  const slots = messages.flatMap(slotsOf);
  const wires = slots.map((slot) => slot.wire);
  const fitted = await (overflow === undefined
    ? fitter.fitAsync(withPlaces(wires), { ...options, format: "openai-chat", asked: listeners.recall?.takeAsked("") })
    : fitter.fitAfterAsync(withPlaces(wires), overflow, { ...options, format: "openai-chat" }));
  tell(listeners, fitted);
  if (fitted.unchanged) return messages;
  const sent = ownMessages<Slot>(fitted, wires, slots, {
    edited: (own, wire) => ({ ...own, wire, changed: true }),
    inserted: (wire) => ({ wire, host: -1 }),
  });
  return joined(sent, messages);
}

function slotsOf(message: PartsMessage, host: number): Slot[] {
  const { role, content } = message;
  if (role === "tool" && Array.isArray(content)) {
    const results = content.flatMap((part, index) => (part.type === "tool-result" ? [{ part, index }] : []));
    return results.map(({ part, index }) => ({
      wire: { role: "tool", tool_call_id: part["toolCallId"], content: contentOfOutput(part) },
      host,
      part: index,
    }));
  }
  if (typeof content === "string") return [{ wire: { role, content }, host }];
  const wire: Wire = { role, content: content.filter(isContent).map(wireOfPart) };
  if (role === "assistant") {
    const thought = content.flatMap((part) => (part.type === "reasoning" ? [String(part["text"] ?? "")] : [])).join("\n");
    if (thought !== "") wire.reasoning_content = thought;
    const calls = content.filter(isCall);
    if (calls.length > 0) {
      wire.tool_calls = calls.map((part) => ({
        id: part["toolCallId"] as string,
        type: "function",
        function: { name: part["toolName"] as string, arguments: textOfValue(part["input"] ?? {}) },
      }));
    }
    if (wire.content?.length === 0) wire.content = null;
  }
  return [{ wire, host }];
}

/** A call that the host answers; one that the provider carries out itself stands with its result in the same message. */
function isCall(part: Part): boolean {
  return part.type === "tool-call" && part["providerExecuted"] !== true;
}

function isContent(part: Part): boolean {
  return part.type !== "reasoning" && !isCall(part);
}

function wireOfPart(part: Part): Part {
  return part.type === "text" ? { type: "text", text: String(part["text"]) } : partOf(part.type, part);
}

/** What a tool gave: a text, or parts where a picture is among it. */
function contentOfOutput(part: Part): string | Part[] {
  const output = part["output"] as { type: string; value?: unknown; reason?: string } | undefined;
  if (output === undefined) return textOfValue(part["result"] ?? "");
  const items = itemsOf(output);
  if (items === undefined) return textOfValue(output.value ?? output.reason ?? "");
  const parts = items.map(wireOfPart);
  return parts.every((it) => it.type === "text") ? textOfContent(parts) : parts;
}

/** The items of a result that is made of several. */
function itemsOf(output: { type?: string; value?: unknown } | undefined): Part[] | undefined {
  return output?.type === "content" && Array.isArray(output.value) ? (output.value as Part[]) : undefined;
}

/** Messages of what is sent: neighbouring results of one message are that message again. */
function joined<M extends PartsMessage>(sent: readonly Slot[], messages: readonly M[]): M[] {
  const names = new Map<string, string>();
  for (const { content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) if (part.type === "tool-call") names.set(part["toolCallId"], part["toolName"]);
  }
  const joinedMessages: M[] = [];
  const followed = new Set<number>();
  for (let at = 0; at < sent.length; ) {
    const first = sent[at]!;
    let end = at + 1;
    while (first.part !== undefined && end < sent.length && sent[end]!.host === first.host) end++;
    const own = messages[first.host];
    if (own === undefined) joinedMessages.push(inserted(first.wire, names) as M);
    else if (first.part === undefined) joinedMessages.push(first.changed ? (edited(own, first.wire) as M) : own);
    else joinedMessages.push(withResults(own, sent.slice(at, end)) as M);
    // What has nothing to fit, such as an answer to a question of the SDK's, goes with what it follows.
    if (own !== undefined && !followed.has(first.host)) {
      followed.add(first.host);
      for (let next = first.host + 1; next < messages.length && slotsOf(messages[next]!, next).length === 0; next++) {
        joinedMessages.push(messages[next]!);
      }
    }
    at = end;
  }
  return joinedMessages;
}

function withResults(own: PartsMessage, slots: readonly Slot[]): PartsMessage {
  const parts = own.content as Part[];
  const results = parts.filter((part) => part.type === "tool-result");
  if (slots.length === results.length && slots.every((slot) => slot.changed !== true)) return own;
  const kept = new Map(slots.map((slot) => [slot.part!, slot]));
  const content = parts.flatMap((part, index) => {
    const slot = kept.get(index);
    if (part.type !== "tool-result") return [part];
    if (slot === undefined) return [];
    return [slot.changed === true ? { ...part, output: outputOf(part, slot) } : part];
  });
  return { ...own, content };
}

function outputOf(part: Part, { wire }: Slot): object {
  const before = part["output"] as { type?: string; value?: unknown } | undefined;
  if (Array.isArray(wire.content) && wire.content.some((it) => it.type !== "text")) {
    const items = itemsOf(before) ?? [];
    const value = wire.content.filter((it) => it["text"] !== "");
    return { ...before, value: value.map((it) => items.find((item) => isSame(wireOfPart(item), it)) ?? it) };
  }
  const value = textOfContent(wire.content);
  return before?.type === "error-text" || before?.type === "text" ? { ...before, value } : { type: "text", value };
}

/** A copy of a message that says what `wire` says; its own parts where they say what they said. */
function edited(own: PartsMessage, wire: Wire): PartsMessage {
  const parts = typeof wire.content === "string" ? [{ type: "text", text: wire.content }] : (wire.content ?? []);
  if (typeof own.content === "string") return { ...own, content: textOfContent(wire.content) };
  const entries = own.content.filter(isContent);
  const content: Part[] = [];
  let next = 0;
  const takesPlaces = parts.length === entries.length;
  // What the provider alone can read has no text that could leave: it stays as long as its message does.
  const thought = slotsOf(own, 0)[0]?.wire.reasoning_content;
  const keepsThought = thought === undefined || (wire.reasoning_content ?? "") !== "";
  const calls = new Map(wire.tool_calls?.map((call) => [call.id, call.function.arguments]));
  for (const part of own.content) {
    if (isCall(part)) {
      const text = calls.get(part["toolCallId"]);
      if (text === undefined) continue;
      content.push(text === textOfValue(part["input"] ?? {}) ? part : { ...part, input: argumentsOf(text) });
    } else if (part.type === "reasoning") {
      if (keepsThought) content.push(part);
    } else if (takesPlaces) {
      content.push(partAfter(part, parts[next++]!));
    } else if (next === 0) {
      // Parts came or left: all stand where the first stood.
      next = 1;
      content.push(...parts.map((after) => entries.find((entry) => isSame(wireOfPart(entry), after)) ?? after));
    }
  }
  return { ...own, content: content.filter(isWhole) };
}

function partAfter(part: Part, after: Part): Part {
  if (isSame(wireOfPart(part), after)) return part;
  return part.type === "text" ? { ...part, text: after["text"] } : { type: "text", text: String(after["text"] ?? "") };
}

/** A call of the provider's own and its result stand together or not at all. */
function isWhole(part: Part, _index: number, all: readonly Part[]): boolean {
  if (part.type !== "tool-call" && part.type !== "tool-result") return true;
  if (isCall(part)) return true;
  const other = part.type === "tool-call" ? "tool-result" : "tool-call";
  return all.some((it) => it.type === other && it["toolCallId"] === part["toolCallId"]);
}

/** A message that was not there. */
function inserted(wire: Wire, names: ReadonlyMap<string, string>): PartsMessage {
  const text = textOfContent(wire.content);
  if (wire.role === "system") return { role: "system", content: text };
  if (wire.role !== "tool") return { role: wire.role, content: [{ type: "text", text }] };
  const toolCallId = wire.tool_call_id ?? "";
  const output = { type: "text", value: text };
  return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName: names.get(toolCallId) ?? "", output }] };
}
