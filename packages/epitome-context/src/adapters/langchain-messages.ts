/** LangChain's messages as OpenAI's chat completions have them, one for one, and back into LangChain's own. */

import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from "langchain";

import { argumentsOf, isSame, textOfValue } from "./host.js";
import { partOf as mediumOf, type Part } from "./media.js";
import { textOfContent, type Wire } from "./own.js";

type Block = Part;

interface Call {
  id?: string;
  name: string;
  args: Record<string, unknown>;
  type?: "tool_call";
}

const ROLES: Record<string, string> = { human: "user", ai: "assistant", system: "system", tool: "tool", function: "function" };
const THINKING = new Set(["thinking", "reasoning", "redacted_thinking", "reasoning_content"]);
/** Blocks that say again what is in `tool_calls`, with the keys of the call's id and of its arguments. */
const CALLS: Record<string, readonly [id: string, args: string]> = {
  tool_use: ["id", "input"],
  tool_call: ["id", "args"],
  function_call: ["call_id", "arguments"],
};

/** The roles of a `ChatMessage` that say who speaks; any other is somebody else who speaks to the model, as a user does. */
const SPEAKERS = new Set(["system", "developer", "user", "assistant"]);

function roleOf(message: BaseMessage): string {
  const { role = "user" } = message as { role?: string };
  return ROLES[message.getType()] ?? (SPEAKERS.has(role) ? role : "user");
}

/** A message as it is fitted. What its provider alone understands is in it as it is, so that it is counted. */
export function wireOf(message: BaseMessage): Wire {
  const role = roleOf(message);
  const wire: Wire = { role, content: contentOf(message) };
  if (message.name) wire.name = message.name;
  if (role === "assistant") {
    const thought = thoughtOf(message);
    if (thought !== "") wire.reasoning_content = thought;
    const calls = callsOf(message);
    if (calls.length > 0) {
      wire.tool_calls = calls.map(({ id, name, args }) => ({
        id: id ?? "",
        type: "function",
        function: { name, arguments: textOfValue(args) },
      }));
      if (wire.content?.length === 0) wire.content = null;
    }
  }
  if (role === "tool") wire.tool_call_id = (message as ToolMessage).tool_call_id;
  return wire;
}

function callsOf(message: BaseMessage): readonly Call[] {
  return (message as { tool_calls?: Call[] }).tool_calls ?? [];
}

function contentOf(message: BaseMessage): string | Block[] {
  const { content } = message;
  return typeof content === "string" ? content : entriesOf(message).map(partOf);
}

/** The blocks that are content: neither thinking nor a call that is in `tool_calls` too. */
function entriesOf(message: BaseMessage): Block[] {
  return (message.content as Block[]).filter((block) => !THINKING.has(block.type) && !isCallOf(message, block));
}

function isCallOf(message: BaseMessage, block: Block): boolean {
  const keys = CALLS[block.type];
  return keys !== undefined && callsOf(message).some((call) => call.id === block[keys[0]]);
}

function partOf(block: Block): Block {
  const kind: unknown = block.type ?? Object.keys(block)[0] ?? "other";
  if (kind === "text" && typeof block["text"] === "string") return { type: "text", text: block["text"] };
  return mediumOf(String(kind), block);
}

function thoughtOf(message: BaseMessage): string {
  const texts = [String(message.additional_kwargs["reasoning_content"] ?? "")];
  if (typeof message.content !== "string") {
    for (const block of message.content as Block[]) {
      if (!THINKING.has(block.type)) continue;
      const said: unknown = block["thinking"] ?? block["reasoning"] ?? block["text"] ?? block["data"] ?? "";
      texts.push(textOfValue(said));
    }
  }
  return texts.filter((text) => text !== "").join("\n");
}

/** A copy of a message that says what `wire` says: class, id, name and metadata are those of `own`. */
export function edited(own: BaseMessage, wire: Wire): BaseMessage {
  const before = wireOf(own);
  const keepsThought = before.reasoning_content === undefined || (wire.reasoning_content ?? "") !== "";
  const args = new Map(
    wire.tool_calls?.map((call) => [call.id, argumentsAfter(own, call.id, call.function.arguments)]),
  );
  const fields: Record<string, unknown> = {
    ...own.lc_kwargs,
    id: own.id,
    name: own.name,
    response_metadata: own.response_metadata,
    additional_kwargs: kwargsAfter(own, keepsThought, args),
    content: contentAfter(own, wire, keepsThought, args),
  };
  if (before.role === "assistant") {
    fields["tool_calls"] = callsOf(own)
      .filter((call) => args.has(call.id ?? ""))
      .map((call) => ({ ...call, args: args.get(call.id ?? "")! }));
    return new AIMessage(fields as ConstructorParameters<typeof AIMessage>[0]);
  }
  const Message = own.constructor as new (fields: object) => BaseMessage;
  return new Message(fields);
}

function argumentsAfter(own: BaseMessage, id: string, text: string): Record<string, unknown> {
  const call = callsOf(own).find((it) => it.id === id);
  return call !== undefined && textOfValue(call.args) === text ? call.args : argumentsOf(text);
}

function kwargsAfter(
  own: BaseMessage,
  keepsThought: boolean,
  args: ReadonlyMap<string, Record<string, unknown>>,
): Record<string, unknown> {
  const { reasoning_content: thought, tool_calls: raw, ...rest } = own.additional_kwargs;
  const kwargs: Record<string, unknown> = rest;
  if (keepsThought && thought !== undefined) kwargs["reasoning_content"] = thought;
  if (raw !== undefined) {
    kwargs["tool_calls"] = raw
      .filter((call) => args.has(call.id))
      .map((call) => ({ ...call, function: { ...call.function, arguments: JSON.stringify(args.get(call.id)) } }));
  }
  return kwargs;
}

function contentAfter(
  own: BaseMessage,
  wire: Wire,
  keepsThought: boolean,
  args: ReadonlyMap<string, Record<string, unknown>>,
): string | Block[] {
  if (typeof own.content === "string") return textOfContent(wire.content);
  const after = typeof wire.content === "string" ? [{ type: "text", text: wire.content }] : (wire.content ?? []);
  const entries = entriesOf(own);
  const takesPlaces = after.length === entries.length;
  let next = 0;
  return (own.content as Block[]).flatMap((block): Block[] => {
    if (THINKING.has(block.type)) return keepsThought ? [block] : [];
    if (isCallOf(own, block)) return callAfter(block, args);
    if (takesPlaces) return [blockAfter(block, after[next++]!)];
    // Parts came or left: all stand where the first stood.
    if (next++ > 0) return [];
    return after.map((part) => entries.find((entry) => isSame(partOf(entry), part)) ?? part);
  });
}

function callAfter(block: Block, args: ReadonlyMap<string, Record<string, unknown>>): Block[] {
  const [id, key] = CALLS[block.type]!;
  const given = args.get(String(block[id]));
  if (given === undefined) return [];
  return [{ ...block, [key]: typeof block[key] === "string" ? JSON.stringify(given) : given }];
}

function blockAfter(block: Block, part: Block): Block {
  if (isSame(partOf(block), part)) return block;
  if (block.type !== "text") return part;
  // Citations point into the text that was.
  const { citations: _, annotations: __, ...rest } = block;
  return { ...rest, ...part };
}

/** A message that was not there. */
export function inserted(wire: Wire): BaseMessage {
  const content = textOfContent(wire.content);
  switch (wire.role) {
    case "assistant":
      return new AIMessage(content);
    case "system":
      return new SystemMessage(content);
    case "tool":
      return new ToolMessage({ content, tool_call_id: wire.tool_call_id ?? "" });
    default:
      return new HumanMessage(content);
  }
}
