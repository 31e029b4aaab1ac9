/**
 * Messages made of parts, as Vercel's AI SDK and Mastra have them, fitted in the form of OpenAI's chat completions. Only the
 * shape is looked at, so that prompts of any version of the SDK are taken, and messages of a loop as well.
 */

import type { Fitted, FitOptions, Fitter } from "epitome-context";

import { argumentsOf, isSame, textOfValue } from "./host.js";

/** A part of a message. */
export interface Part {
  type: string;
  [key: string]: any;
}

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
  /** The pictures of a changed result that stay: items of the host's. */
  pictures?: Part[];
}

interface Wire {
  role: string;
  content: string | Part[] | null;
  reasoning_content?: string;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** What to send in place of messages: the host's own objects for what is kept; `messages` itself where all is kept. */
export async function fitParts<M extends PartsMessage>(
  fitter: Fitter,
  messages: readonly M[],
  options: FitOptions,
  onFit?: (fitted: Fitted) => void,
): Promise<readonly M[]> {
  const slots = messages.flatMap(slotsOf);
  const fitted = await fitter.fitAsync(
    slots.map((slot) => slot.wire),
    options,
  );
  onFit?.(fitted);
  if (fitted.unchanged) return messages;
  const sent = fitted.applyTo<Slot>(slots, {
    edited: (own, wire: Wire) => ({ ...own, wire, changed: true }),
    inserted: (wire: Wire) => ({ wire, host: -1 }),
  });
  return joined(withPictures(sent, messages), messages);
}

/**
 * Pictures of results that were cut, back at their results: in the form that was fitted a result is text alone, and its
 * pictures follow the results of their step in a message of their own.
 */
function withPictures(sent: readonly Slot[], messages: readonly PartsMessage[]): Slot[] {
  const slots: Slot[] = [];
  for (const slot of sent) {
    const pictures = slot.host < 0 && Array.isArray(slot.wire.content) ? slot.wire.content.filter(isPicture) : [];
    let first = slots.length;
    while (first > 0 && slots[first - 1]!.part !== undefined) first--;
    const left = slots.slice(first).flatMap((result, index) => {
      const items = result.changed === true ? (itemsOf(resultOf(result, messages)?.["output"]) ?? []) : [];
      return items.map((item) => ({ item, wire: wireOfItem(item), at: first + index }));
    });
    const found = pictures.flatMap((picture) => {
      const at = left.findIndex(({ wire }) => isSame(wire, picture));
      return at < 0 ? [] : left.splice(at, 1);
    });
    for (const { item, at } of found) slots[at] = { ...slots[at]!, pictures: [...(slots[at]!.pictures ?? []), item] };
    if (pictures.length === 0 || found.length < pictures.length) slots.push(slot);
  }
  return slots;
}

function isPicture(part: Part): boolean {
  return part.type === "image_url";
}

/** The host's result that a slot stands for. */
function resultOf({ host, part }: Slot, messages: readonly PartsMessage[]): Part | undefined {
  return part === undefined ? undefined : (messages[host]?.content[part] as Part | undefined);
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
  if (part.type === "text") return { type: "text", text: String(part["text"]) };
  const data: unknown = part.type === "image" ? part["image"] : part.type === "file" ? part["data"] : undefined;
  const kind = String(part["mediaType"] ?? (part.type === "image" ? "image/*" : ""));
  if (data !== undefined && kind.startsWith("image/")) return { type: "image_url", image_url: { url: urlOf(data, kind) } };
  if (part.type === "file") return { type: "file", file: { filename: String(part["filename"] ?? kind) } };
  // What only the SDK and the provider know: it is counted as what it says.
  return { type: "text", text: textOfValue(part) };
}

/** The address of data; of bytes their number, for what they show is not looked at. */
function urlOf(data: unknown, kind: string): string {
  if (data instanceof URL) return data.href;
  if (typeof data === "string") return /^(https?|data):/.test(data) ? data : `data:${kind};base64,${data}`;
  const length = (data as { byteLength?: number }).byteLength ?? 0;
  return `data:${kind};length=${length},`;
}

/** What a tool gave: a text, or parts where a picture is among it. */
function contentOfOutput(part: Part): string | Part[] {
  const output = part["output"] as { type: string; value?: unknown; reason?: string } | undefined;
  if (output === undefined) return textOfValue(part["result"] ?? "");
  const items = itemsOf(output);
  if (items === undefined) return textOfValue(output.value ?? output.reason ?? "");
  const parts = items.map(wireOfItem);
  return parts.every((it) => it.type === "text") ? textOfContent(parts) : parts;
}

/** The items of a result that is made of several. */
function itemsOf(output: { type?: string; value?: unknown } | undefined): Part[] | undefined {
  return output?.type === "content" && Array.isArray(output.value) ? (output.value as Part[]) : undefined;
}

/** An item of a result: versions of the SDK name pictures `media`, `image-data`, `image-url`, `file-data`, `file-url` or `file`. */
function wireOfItem(item: Part): Part {
  if (item.type === "text") return { type: "text", text: String(item["text"]) };
  const kind = String(item["mediaType"] ?? (item.type.startsWith("image") ? "image/*" : ""));
  const data = dataOf(item["data"]) ?? item["url"];
  if (data !== undefined && kind.startsWith("image/")) return { type: "image_url", image_url: { url: urlOf(data, kind) } };
  return { type: "text", text: textOfValue(item) };
}

/** Data, or its address; newer versions of the SDK say beside it which of the two it is. */
function dataOf(data: unknown): unknown {
  const tagged = data as { type?: unknown; data?: unknown; url?: unknown } | null | undefined;
  return typeof tagged?.type === "string" ? (tagged.data ?? tagged.url) : (data ?? undefined);
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

function outputOf(part: Part, { wire, pictures = [] }: Slot): object {
  const before = part["output"] as { type?: string } | undefined;
  const value = textOfContent(wire.content);
  if (pictures.length > 0) {
    return { ...before, value: [...(value === "" ? [] : [{ type: "text", text: value }]), ...pictures] };
  }
  return before?.type === "error-text" || before?.type === "text" ? { ...before, value } : { type: "text", value };
}

function textOfContent(content: Wire["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => String(part["text"] ?? "")).join("\n");
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
