import type { Provider } from "./options.js";

/** The field of a request that holds the list, for each provider's form. */
export const LIST_FIELDS: Record<Provider, string> = {
  "openai-chat": "messages",
  "openai-responses": "input",
  anthropic: "messages",
  gemini: "contents",
};

/** The provider's form that a format is, if it is one. */
export function providerOf(format: string): Provider | undefined {
  return Object.hasOwn(LIST_FIELDS, format) ? (format as Provider) : undefined;
}

const RESPONSES_PARTS = new Set(["input_text", "output_text", "input_image", "input_file"]);
const ANTHROPIC_PARTS = new Set(["tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image"]);
const CHAT_PARTS = new Set(["image_url", "input_audio", "file", "refusal"]);

/** The form of a list, told by what only one of them has; `undefined` where nothing tells: plain texts look the same in all. */
export function formatOf(messages: readonly unknown[]): Provider | undefined {
  for (const message of messages) {
    const format = formatOfOne(message);
    if (format !== undefined) return format;
  }
  return undefined;
}

function formatOfOne(given: unknown): Provider | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const message = given as Record<string, unknown>;
  if (Array.isArray(message["parts"]) && message["type"] === undefined) return "gemini";
  const role = message["role"];
  if (role === undefined || role === null) {
    // Items that are not messages: calls, their outputs, reasoning.
    return typeof message["type"] === "string" ? "openai-responses" : undefined;
  }
  const calls = message["tool_calls"];
  if (role === "tool" || role === "function" || (Array.isArray(calls) && calls.length > 0)) return "openai-chat";
  const content = message["content"];
  if (!Array.isArray(content)) return undefined;
  for (const part of content as unknown[]) {
    const kind = typeof part === "object" && part !== null ? (part as Record<string, unknown>)["type"] : undefined;
    if (typeof kind !== "string") continue;
    if (RESPONSES_PARTS.has(kind)) return "openai-responses";
    if (ANTHROPIC_PARTS.has(kind)) return "anthropic";
    if (CHAT_PARTS.has(kind)) return "openai-chat";
  }
  return undefined;
}
