import type { Content, Message } from "../api/types";
import { t } from "../lang";
import { firstLine } from "./format";

/** The readable text of a block; empty where it has none. */
export function textOf(content: Content): string {
  switch (content.type) {
    case "text":
    case "thinking":
    case "tool-result":
      return content.text;
    case "tool-call":
      return content.arguments.text;
    case "opaque":
      return content.json;
    case "media":
    case "gone":
      return "";
  }
}

/** Arguments of a call as one reads them: JSON objects as `name: value` lines, everything else as it is. */
export function readableArguments(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return text;
  return Object.entries(value)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

/** One line that says what a message is. */
export function gist(message: Message): string {
  for (const { content } of message.blocks) {
    if (content.type === "tool-call") return `${content.name} ${firstLine(readableArguments(content.arguments.text))}`;
    const line = firstLine(textOf(content));
    if (line !== "" && content.type !== "thinking") return line;
  }
  const [first] = message.blocks;
  if (!first) return t.message.gists.empty;
  const kinds: Partial<Record<string, string>> = t.message.gists;
  return kinds[first.content.type] ?? t.message.gists.other;
}

/** All text of a message, block after block: what the two sides of a comparison are made of. */
export function wholeText(message: Message): string {
  const texts = message.blocks.map(({ content }) => {
    if (content.type === "tool-call") return `${content.name}\n${readableArguments(content.arguments.text)}`;
    return textOf(content);
  });
  return texts.join("\n");
}
