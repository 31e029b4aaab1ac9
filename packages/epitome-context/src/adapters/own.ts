/** A host's own messages in the place of what was fitted. */

import type { Fitted } from "epitome-context";

import { isSame } from "./host.js";
import { sourceOf, type Part } from "./media.js";

/** A message as it is fitted. */
export interface Wire {
  role: string;
  name?: string;
  content: string | Part[] | null;
  reasoning_content?: string;
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** A message of what is sent: the number of the one that it is, and -1 of one that was inserted; `cut` where it says less. */
interface Sent {
  at: number;
  wire: Wire;
  cut: boolean;
}

/**
 * Messages in which the media of results have a place behind them: in chat completions a document at an address has none, and costs
 * what a picture does.
 */
export function withPlaces(wires: readonly Wire[]): Wire[] {
  return wires.map((wire) => {
    if (wire.role !== "tool" || !Array.isArray(wire.content)) return wire;
    const content = wire.content.map((part): Part => {
      const url: unknown = part.type === "file" ? part["file"].file_url : undefined;
      return url === undefined ? part : { type: "image_url", image_url: { url } };
    });
    return { ...wire, content };
  });
}

/** Characters of a part that stays in a result that was cut; what is longer is cut with its text. */
const SMALL = 1_000;

/** What to send: the host's own objects for what is kept. `wires` were fitted, and `own` are as many, in the same order. */
export function ownMessages<O>(
  fitted: Fitted,
  wires: readonly Wire[],
  own: readonly O[],
  { edited, inserted }: { edited(own: O, wire: Wire): O; inserted(wire: Wire): O },
): O[] {
  if (fitted.unchanged) return [...own];
  const sent = fitted.applyTo<Sent>(
    wires.map((wire, at) => ({ at, wire, cut: false })),
    {
      edited: ({ at }, wire: Wire) => ({ at, wire, cut: true }),
      inserted: (wire: Wire) => ({ at: -1, wire, cut: false }),
    },
  );
  return withParts(sent, wires).map(({ at, wire, cut }) => {
    if (at < 0) return inserted(wire);
    return cut ? edited(own[at]!, wire) : own[at]!;
  });
}

/**
 * What is no text back in results that were cut: in the form that was fitted a result is text alone, its media follow the results of
 * their step in a message of their own, and other parts stand in it as JSON.
 */
function withParts(sent: readonly Sent[], wires: readonly Wire[]): Sent[] {
  const after: Sent[] = [];
  let first = 0; // the place of the first of the results that stand last
  for (const message of sent) {
    const { wire, at, cut } = message;
    if (at >= 0 && wire.role === "tool") {
      after.push(cut ? withSmallParts(message, partsOf(wires[at]!.content)) : message);
      continue;
    }
    const media = at < 0 ? partsOf(wire.content).flatMap((part) => sourceOf(part) ?? []) : [];
    const left = new Set(media);
    for (let place = first; place < after.length && left.size > 0; place++) {
      if (after[place]!.cut) after[place] = withMedia(after[place]!, partsOf(wires[after[place]!.at]!.content), left);
    }
    if (media.length === 0 || left.size > 0) after.push(message);
    first = after.length;
  }
  return after;
}

/** The content of a message as parts. */
export function partsOf(content: Wire["content"]): Part[] {
  if (typeof content !== "string") return content ?? [];
  return content === "" ? [] : [{ type: "text", text: content }];
}

/** The texts of a message's content. */
export function textOfContent(content: Wire["content"]): string {
  return typeof content === "string" ? content : (content ?? []).map((part) => String(part["text"] ?? "")).join("\n");
}

/** A result that was cut, with the parts that are neither texts nor media, where they are small. */
function withSmallParts(result: Sent, before: readonly Part[]): Sent {
  let text = textOfContent(result.wire.content);
  const stay = before.filter((part) => {
    const json = JSON.stringify(part);
    const stays = part.type !== "text" && sourceOf(part) === undefined && json.length <= SMALL;
    if (stays) text = text.replace(json, "");
    return stays;
  });
  if (stay.length === 0) return result;
  const said = [{ type: "text", text: text.replace(/^\n+|\n+$/g, "") }];
  return { ...result, wire: { ...result.wire, content: inTheirPlaces(before, said, stay) } };
}

/** A result that was cut, with those of its media that are to be sent; they are taken out of `left`. */
function withMedia(result: Sent, before: readonly Part[], left: Set<string>): Sent {
  const now = partsOf(result.wire.content);
  const stay = before.filter((part) => {
    const isThere = part.type !== "text" && now.some((it) => isSame(it, part));
    return isThere || left.has(sourceOf(part) ?? "");
  });
  for (const part of stay) left.delete(sourceOf(part) ?? "");
  const said = now.filter((part) => part.type === "text");
  return { ...result, wire: { ...result.wire, content: inTheirPlaces(before, said, stay) } };
}

/** What is said now where the first text stood, and the parts that stay where they stood. */
function inTheirPlaces(before: readonly Part[], said: readonly Part[], stay: readonly Part[]): Part[] {
  const at = before.findIndex((part) => part.type === "text");
  const ahead = before.slice(0, Math.max(at, 0)).filter((part) => stay.includes(part));
  return [...ahead, ...said, ...before.slice(Math.max(at, 0)).filter((part) => stay.includes(part))];
}
