// epitome in Pi: it compacts in place of the model, and the model can look up what left the context.
//
// `epitome` does the work, and reads what Pi's own session holds. Whatever goes wrong, Pi compacts as it would without this
// file.
import { spawn } from "node:child_process";
import { Type } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const PROGRAM = "epitome";

/** The share of the tokens before that the text in place of what leaves may take, and its bounds. */
const SHARE = 0.15;
const LEAST = 2_000;
const MOST = 20_000;

/** JSON text with U+FFFD for each half of a character that a cut left alone: the program reads Unicode only. */
function jsonOf(value: object) {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:(ud[89a-f]..)|.)/g, (escape: string, alone?: string) => (alone ? "\\ufffd" : escape));
}

/** Runs the program with a text on standard input: what it prints. */
function run(args: string[], input: string, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, args, { signal });
    let out = "";
    let problem = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (problem += text));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(problem.trim() || `exit code ${code}`))));
    // A program that ends early closes the pipe; its exit code says why.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

/** Entries as Pi's session file has them. */
function fileOf(ctx: any, entries: any[]): string {
  const head = { type: "session", version: 3, id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd };
  return [head, ...entries].map(jsonOf).join("\n") + "\n";
}

export default function (pi: ExtensionAPI) {
  pi.on("session_before_compact", async (event, ctx) => {
    const { preparation, branchEntries, signal, customInstructions } = event;
    // What a person wants of a summary in words is for a model.
    if (customInstructions) return undefined;
    const { firstKeptEntryId, tokensBefore } = preparation;
    // Everything from the beginning up to what stays: also what earlier compactions took, and the head of a turn that is
    // cut in two. A compaction that keeps nothing names an entry that is not there.
    const end = branchEntries.findIndex((entry: any) => entry.id === firstKeptEntryId);
    const leaving = end < 0 ? branchEntries : branchEntries.slice(0, end);
    const tokens = Math.min(MOST, Math.max(LEAST, Math.round(tokensBefore * SHARE)));
    try {
      const args = ["brief", "-", "--from", "pi", "--tokens", String(tokens), "--quiet"];
      const text = await run(args, fileOf(ctx, leaving), signal);
      const summary = `${text.trim()}\n\n(search_history finds everything that was said and done before.)`;
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { by: "epitome" } } };
    } catch (error) {
      if (ctx.hasUI && !signal.aborted) ctx.ui.notify(`epitome did not compact: ${(error as Error).message}`, "warning");
      return undefined;
    }
  });

  const lookUp = (tool: string) => async (_id: string, params: any, signal: AbortSignal | undefined, _update: any, ctx: any) => {
    const content = fileOf(ctx, ctx.sessionManager.getBranch());
    const question = jsonOf({ op: "ask", tool, arguments: params, content });
    const answer = JSON.parse(await run(["fit", "--stdio"], `${question}\n`, signal));
    if (answer.error) throw new Error(answer.error.message);
    return { content: [{ type: "text" as const, text: answer.result.text }], details: undefined };
  };

  pi.registerTool({
    name: "search_history",
    label: "Search history",
    description:
      "Searches everything that was said and done in this conversation, also what has left the context: messages, tool " +
      "calls and what they printed. Look here before you say that something is not known, or do it a second time.",
    promptSnippet: "Search what was said and done, also what has left the context",
    parameters: Type.Object({
      queries: Type.Array(Type.String(), {
        description: "The question in words, and beside it the identifiers that the answer is likely to hold.",
      }),
    }),
    execute: lookUp("search_history"),
  });

  pi.registerTool({
    name: "recall",
    label: "Recall",
    description: "Gives back one message of this conversation word for word, by the number that search_history names.",
    promptSnippet: "Get one earlier message back word for word",
    parameters: Type.Object({ handle: Type.String({ description: "The message's number, such as #37." }) }),
    execute: lookUp("recall"),
  });
}
