/**
 * The OpenAI Agents SDK: a filter of what the model is sent.
 *
 * ```js
 * import { epitomeFilter } from "epitome-context/openai-agents";
 *
 * const runner = new Runner({ callModelInputFilter: epitomeFilter({ budget: 60_000 }) });
 * ```
 */

import { tool, type AgentInputItem, type CallModelInputFilter, type CallModelInputFilterArgs, type Tool } from "@openai/agents";
import type { FitOptions } from "epitome-context";

import { argumentsOf, Fitters, isSame, optionsOf, tell, textOfValue, type AdapterOptions } from "./host.js";
import { partOf } from "./media.js";
import { Recall, toolsOf } from "./recall.js";

export { Recall };

export interface FilterOptions extends AdapterOptions {
  /** The definitions of an agent's tools, or the tokens that they take; without it, its function tools are counted. */
  tools?: FitOptions["tools"];
  /** The name of a conversation, where conversations that begin alike are to be told apart. */
  key?: ((data: CallModelInputFilterArgs<any>) => string) | undefined;
}

/** An item, by what is looked at. */
interface Item {
  type?: string;
  role?: string;
  content?: unknown;
  [key: string]: unknown;
}

interface ContentPart {
  type: string;
  text?: string;
  [key: string]: unknown;
}

/**
 * Fits the input of each call of the model. What a session or a run keeps is never changed.
 *
 * One of `budget`, `model`, `window`, `config`, `engine` and `fitter` is needed; `budget` is for input, instructions and tools
 * together. One filter may serve many agents and runs. Throws `Infeasible` where what must stay is larger than the budget.
 */
export function epitomeFilter(options: FilterOptions): CallModelInputFilter<any> {
  const { tools, key, ...words } = optionsOf(options, ["tools", "key"]);
  const fitter = new Fitters("openai-responses", words).theOne();
  const filter: CallModelInputFilter<any> = async (data) => {
    const { input, instructions } = data.modelData;
    const fitted = await fitter.fitAsync(input.map((item) => wireOf(item as Item)), {
      system: instructions ?? null,
      tools: tools === undefined ? definitionsOf(data.agent.tools) : tools,
      key: key?.(data),
      format: "openai-responses",
      asked: words.recall?.takeAsked(""),
    });
    tell(words, fitted);
    if (fitted.unchanged) return data.modelData;
    const names = new Map((input as Item[]).flatMap((item) => (isCall(item) ? [[item["callId"], item["name"]]] : [])));
    const sent = fitted.applyTo<Item>(input as Item[], {
      edited,
      inserted: (message: Item) => inserted(message, names),
    });
    return { ...data.modelData, input: sent as AgentInputItem[] };
  };
  // Items that are kept are the very items: the SDK then knows which ones were sent.
  filter.preserveInputIdentity = true;
  return filter;
}

/**
 * `recall`, `search_history` and `compact_context` for an agent's `tools`. They are about the conversation that was fitted last, and
 * are offered from its first compaction on: give runs side by side a filter and a `Recall` each.
 * `config: { marks: { handles: true } }` lets the conversation name the handles.
 */
export function recallTools(recall: Recall): Tool<any>[] {
  return toolsOf(recall).map(({ name, description, parameters, run }) =>
    tool({ name, description, parameters: parameters as any, strict: true, isEnabled: () => recall.hasLeft(), execute: (given) => run(given) }),
  );
}

function isCall(item: Item): boolean {
  return item.type === "function_call";
}

/** Function tools as the request has them; tools that the provider hosts are not in it as text. */
function definitionsOf(tools: readonly { type: string }[]): object[] | null {
  const functions = tools.filter((tool) => tool.type === "function") as Record<string, unknown>[];
  if (functions.length === 0) return null;
  return functions.map(({ name, description, parameters }) => ({ type: "function", name, description, parameters }));
}

/** An item as Responses has it. */
function wireOf(item: Item): object {
  switch (item.type) {
    case "function_call":
      return { type: "function_call", call_id: item["callId"], name: item["name"], arguments: item["arguments"] };
    case "function_call_result":
      return { type: "function_call_output", call_id: item["callId"], output: outputOf(item["output"]) };
    case "reasoning": {
      const summary = partsOf(item.content).map((part) => ({ type: "summary_text", text: part.text ?? "" }));
      const hidden = item["providerData"] as Record<string, unknown> | undefined;
      const content = hidden?.["encryptedContent"] ?? hidden?.["encrypted_content"];
      return { type: "reasoning", id: item["id"], summary, encrypted_content: content };
    }
    case undefined:
    case "message":
      return { type: "message", role: item.role, content: contentOf(item.content) };
    default:
      return item["callId"] === undefined ? item : wireOfTool(item);
  }
}

/** A call of one of the SDK's own tools (a shell, a computer, a patch), or its result: these stay or leave together too. */
function wireOfTool(item: Item): object {
  const { type, callId: call_id, action, operation } = item;
  if (!isResult(item)) {
    return { type: "function_call", call_id, name: type, arguments: textOfValue(action ?? operation ?? {}) };
  }
  return { type: "function_call_output", call_id, output: textOfResult(item["output"]) };
}

function isResult(item: Item): boolean {
  return /_(result|output)$/.test(item.type ?? "");
}

/** What a tool printed; a picture is not text. */
function textOfResult(output: unknown): string {
  if (isPrinted(output)) return output.map(({ stdout, stderr }) => `${stdout}${stderr ?? ""}`).join("\n");
  const isPicture = typeof output === "object" && output !== null && "data" in output;
  return isPicture ? "(a picture)" : textOfValue(output ?? "");
}

/** What commands of a shell printed. */
function isPrinted(output: unknown): output is { stdout: string; stderr?: string }[] {
  return Array.isArray(output) && output.length > 0 && output.every((it) => typeof it?.stdout === "string");
}

function partsOf(content: unknown): ContentPart[] {
  return Array.isArray(content) ? (content as ContentPart[]) : [];
}

function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return partsOf(content).map((part) => {
    const { providerData: _, ...rest } = part;
    if (typeof part.text === "string") return rest;
    const medium = partOf(part.type, rest);
    if (medium.type === "image_url") return { type: "input_image", image_url: medium["image_url"].url };
    return medium.type === "file" ? { type: "input_file", ...medium["file"] } : medium;
  });
}

/** What a tool gave: a text, or parts where it is not text alone. */
function outputOf(output: unknown): unknown {
  if (typeof output === "string") return output;
  const parts = contentOf(listOf(output)) as ContentPart[];
  if (parts.every((part) => typeof part.text === "string")) return parts.map((part) => part.text).join("\n");
  return parts.map((part) => (typeof part.text === "string" ? { type: "input_text", text: part.text } : part));
}

function listOf(output: unknown): ContentPart[] {
  return (Array.isArray(output) ? output : [output]) as ContentPart[];
}

function textOfOutput(output: unknown): string {
  if (typeof output === "string") return output;
  const parts = Array.isArray(output) ? (output as ContentPart[]) : [output as ContentPart];
  return parts.map((part) => part?.text ?? textOfValue(part)).join("\n");
}

/** A copy of an item that says what `message` says. */
function edited(own: Item, message: Item): Item {
  switch (own.type) {
    case "function_call":
      return { ...own, arguments: message["arguments"] };
    case "function_call_result": {
      if (Array.isArray(message["output"]) && typeof own["output"] !== "string") {
        return { ...own, output: contentAfter(listOf(own["output"]), message["output"]) };
      }
      const text = textOfOutput(message["output"]);
      return { ...own, output: typeof own["output"] === "string" ? text : { type: "text", text } };
    }
    case undefined:
    case "message":
      return { ...own, content: contentAfter(own.content, message.content) };
    default:
      return isResult(own)
        ? { ...own, output: resultAfter(own["output"], textOfOutput(message["output"])) }
        : callAfter(own, String(message["arguments"]));
  }
}

/** A call of one of the SDK's own tools with arguments that were cut. */
function callAfter(own: Item, json: string): Item {
  const place = own["action"] === undefined ? "operation" : "action";
  const before = own[place];
  if (before === undefined) return own;
  const after = argumentsOf(json);
  const mark = after[ELIDED];
  return { ...own, [place]: typeof mark === "string" ? withMark(before, mark) : withOwnNames(before, after) };
}

/** The key under which the engine leaves a mark where it takes arguments out whole. */
const ELIDED = "_elided";
/** What says which kind of call it is, and on which file or button: a provider takes no other text for it. */
const NAMES = ["type", "path", "moveTo", "button"];

/** What was cut, with the names that it had. */
function withOwnNames(before: unknown, after: Record<string, unknown>): object {
  const names = Object.entries(before as object).filter(([key]) => NAMES.includes(key));
  return { ...after, ...Object.fromEntries(names) };
}

/** A value of the same form in which all texts but the names are gone; a mark stands in place of the first. */
function withMark(before: unknown, mark: string): unknown {
  let text = mark;
  const emptied = (value: unknown): unknown => {
    if (typeof value === "string") {
      const first = text;
      text = "";
      return first;
    }
    if (Array.isArray(value)) return (value.every((it) => typeof it === "string") ? value.slice(0, 1) : value).map(emptied);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, NAMES.includes(key) ? it : emptied(it)]));
  };
  return emptied(before);
}

function resultAfter(own: unknown, text: string): unknown {
  if (isPrinted(own)) return [{ ...own[0]!, stdout: text, stderr: "" }];
  return typeof own === "string" ? text : own;
}

function contentAfter(own: unknown, after: unknown): unknown {
  if (typeof own === "string" || !Array.isArray(after)) return after;
  const wires = contentOf(own) as ContentPart[];
  const left = partsOf(own).map((part, index) => ({ part, wire: wires[index] }));
  const parts = partsOf(after);
  const takesPlaces = parts.length === left.length;
  return parts.map((part, index) => {
    if (takesPlaces) {
      const { part: mine, wire } = left[index]!;
      if (isSame(wire, part)) return mine;
      return mine.text !== undefined && part.text !== undefined ? { ...mine, text: part.text } : part;
    }
    const at = left.findIndex(({ wire }) => isSame(wire, part));
    return at < 0 ? part : left.splice(at, 1)[0]!.part;
  });
}

/** An item that was not there. */
function inserted(message: Item, names: ReadonlyMap<unknown, unknown>): Item {
  if (message.type === "function_call_output") {
    const callId = message["call_id"];
    const output = { type: "text", text: textOfOutput(message["output"]) };
    return { type: "function_call_result", callId, name: names.get(callId) ?? "", status: "completed", output };
  }
  const text = typeof message.content === "string" ? message.content : textOfOutput(message.content);
  if (message.role !== "assistant") return { type: "message", role: message.role ?? "user", content: text };
  return { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
}
