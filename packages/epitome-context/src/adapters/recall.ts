/** Tools by which a model brings back what left its context, and asks for a compaction. */

import { search, type Asked, type Fitted, type Provider, type Retrieved } from "epitome-context";

/**
 * Conversations of which it is remembered what left, those that were used last. A forgotten one is found again at its next call.
 */
const CONVERSATIONS = 200;
/** Characters of one answer, so that it does not fill the context that was just made smaller. */
const CHARACTERS = 20_000;
/** The most texts that one call of `compact_context` keeps. */
const MOST_KEPT = 8;

/** What left a conversation, and what has the texts. A `Fitted` itself would keep the conversation. */
interface Left {
  handles: readonly string[];
  format: Provider;
  retrieve: (handle: string) => Retrieved;
}

/**
 * What left the conversations of an adapter, for the tools of a model. Hand it to the adapter as `recall`, and to `recallTools` of
 * the same module for the tools.
 */
export class Recall {
  readonly #latest = new Map<string, Left>();
  readonly #asked = new Map<string, Asked>();

  /** @internal Remembers what a conversation has become. */
  note(key: string, fitted: Fitted): void {
    const handles = fitted.unchanged ? [] : fitted.removals.map((removal) => removal.handle);
    keepNewest(this.#latest, key, { handles, format: fitted.format, retrieve: fitted.retrieval });
  }

  /** Whether something has left a conversation, so that its model has a use for the tools. */
  hasLeft(key = ""): boolean {
    return (this.#latest.get(key)?.handles.length ?? 0) > 0;
  }

  /** What left under a handle, as text; what to do where there is no such handle. */
  recall(handle: string, key = ""): string {
    const found = this.#latest.get(key)?.retrieve(handle.trim().replace(/^recall /, "").trim()) ?? null;
    if (found === null) {
      return `There is nothing under the handle "${handle}". Handles stand in the conversation behind the word \`recall\`.`;
    }
    const text = typeof found === "string" ? found : found.map(textOfMessage).join("\n\n");
    if (text.length <= CHARACTERS) return text;
    return `${text.slice(0, CHARACTERS)}\n[cut: ${text.length} characters in all; search_history finds single passages]`;
  }

  /** Passages of what left a conversation that match words, the best first. */
  searchHistory(words: string, key = ""): string {
    const left = this.#latest.get(key);
    const messages = left === undefined ? [] : left.handles.flatMap((handle) => messagesUnder(handle, left));
    const isAsked = left !== undefined && messages.length > 0 && words.trim() !== "";
    const passages = isAsked ? search(messages, words, { format: left.format, limit: 6 }) : [];
    if (passages.length === 0) {
      return "Nothing that left the conversation matches. Try other words: names, paths, numbers.";
    }
    return passages.map((passage) => `[${passage.role}] ${passage.text}`).join("\n\n");
  }

  /** Remembers that a model asks for a compaction, for the next call of its conversation. */
  compactContext(asked: Asked, key = ""): string {
    const keep = (asked.keep ?? []).filter((text) => text.trim() !== "");
    if (keep.length > MOST_KEPT) return `\`keep\` takes ${MOST_KEPT} at most: name what you need next.`;
    keepNewest(this.#asked, key, { ...asked, keep });
    return (
      "Noted. Before your next step the context is compacted where it is full enough and the last time is long enough ago; " +
      "what leaves is found with search_history. Go on."
    );
  }

  /** @internal What the model of a conversation asked for since the last call; once. */
  takeAsked(key: string): Asked | undefined {
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    return asked;
  }
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= CONVERSATIONS) break;
    map.delete(oldest);
  }
}

/** The messages that left under a handle; what was cut out of a message that stays is text of its own. */
function messagesUnder(handle: string, { retrieve, format }: Left): Record<string, any>[] {
  const found = retrieve(handle);
  if (typeof found !== "string") return found ?? [];
  return [{ ...(format === "openai-responses" ? { type: "message" } : {}), role: "user", content: found }];
}

/** A message that left, as a person would read it. */
function textOfMessage(message: Record<string, any>): string {
  const { role, type, content, output, tool_calls: calls, name, arguments: given } = message;
  const said = content ?? output ?? "";
  const texts = typeof said === "string" ? [said] : (said as { text?: unknown }[]).map((part) => String(part.text ?? ""));
  const named = (calls ?? []).map((call: any) => `${call.function.name} ${JSON.stringify(call.function.arguments)}`);
  const called = name === undefined ? [] : [`${name} ${given ?? ""}`];
  return `[${role ?? type}] ${[...texts, ...named, ...called].filter((text) => text !== "").join("\n")}`;
}

/** A tool, as every framework's is made from. */
export interface RecallTool {
  name: string;
  description: string;
  /** The JSON schema of what it takes. */
  parameters: { type: "object"; properties: Record<string, object>; required: string[]; additionalProperties: false };
  run: (given: any, key?: string) => string;
}

/** The three tools. */
export function toolsOf(recall: Recall): RecallTool[] {
  const text = (description: string): object => ({ type: "string", description });
  const tool = (name: string, description: string, properties: Record<string, object>, run: RecallTool["run"]): RecallTool => ({
    name,
    description,
    parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
    run,
  });
  return [
    tool(
      "recall",
      "Brings back text that left the conversation.",
      { handle: text("The handle behind the word `recall` in a heading of the conversation.") },
      ({ handle }, key) => recall.recall(String(handle), key),
    ),
    tool(
      "search_history",
      "Finds passages of the conversation that have left it.",
      { words: text("Words that the passages hold, such as names, paths and numbers.") },
      ({ words }, key) => recall.searchHistory(String(words), key),
    ),
    tool(
      "compact_context",
      "Asks for this conversation's context to be compacted before your next step. Call it when a task of your list is done, or " +
        "before you begin with another subject. Do not call it in the middle of a derivation, of an edit or of a search for a " +
        "fault. It is passed over while the context is not full enough, and soon after the last time.",
      {
        reason: text("What is done, so that this is a good moment."),
        next_step: text("What you do next: what is relevant to it stays first."),
        keep: {
          type: "array",
          items: { type: "string" },
          description: "What the next context has to hold: exact texts of this conversation; may be empty.",
        },
      },
      ({ reason, next_step, keep }, key) => {
        const named = Array.isArray(keep) ? keep.map(String) : [];
        return recall.compactContext({ reason: String(reason), nextStep: String(next_step), keep: named }, key);
      },
    ),
  ];
}

/** The names of the tools. */
export const RECALL_TOOLS: ReadonlySet<unknown> = new Set(toolsOf(new Recall()).map((tool) => tool.name));

/** A JSON schema as a Standard Schema, which the AI SDK and Mastra take. */
export function standardOf(parameters: object): any {
  const schema = (): object => parameters;
  return {
    "~standard": { version: 1, vendor: "epitome", validate: (value: unknown) => ({ value }), jsonSchema: { input: schema, output: schema } },
  };
}
