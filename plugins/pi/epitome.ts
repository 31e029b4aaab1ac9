// epitome in Pi: it compacts in place of the model, and the model can look up what left the context.
//
// `epitome` does the work, and reads what Pi's own session holds. Whatever goes wrong, Pi compacts as it would without this
// file: where the program is not there or broken, shows no sign of life, or answers with what is not understood. Such a
// program is not asked again.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Type } from "@earendil-works/pi-ai";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const PROGRAM = "epitome";

/** Characters of what a program that ended has told at its end. */
const TOLD = 1_000;

/** JSON text with U+FFFD for each half of a character that a cut left alone: the program reads Unicode only. */
function jsonOf(value: object) {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:(ud[89a-f]..)|.)/g, (escape: string, alone?: string) => (alone ? "\\ufffd" : escape));
}

/** Milliseconds within which the program says that it is at work. */
const SIGN = 2_000;
/** Milliseconds that it may then take. */
const PATIENCE = 300_000;

/** Whether the program is lost: it is not asked again. */
let isLost = false;

/** The program's answer to a question: its result, an object; `undefined` where the program was lost earlier. */
function ask(question: object, signal?: AbortSignal): Promise<any> {
  if (isLost) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, ["fit", "--stdio", "--plugin"], { stdio: ["pipe", "pipe", "pipe"], signal });
    // A configuration that is refused is told there.
    let told = "";
    child.stderr.on("data", (text) => (told = (told + text).slice(-TOLD)));
    let isSettled = false;
    const lose = (problem: string) => {
      if (isSettled) return;
      // What a person breaks off says nothing of the program.
      if (!signal?.aborted) isLost = true;
      settle(() => reject(new Error(problem)));
    };
    const wait = (time: number) => setTimeout(() => lose(`no sign of life in ${time / 1000} seconds`), time);
    let timer = wait(SIGN);
    const settle = (then: () => void) => {
      isSettled = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
      then();
    };
    const isObject = (value: unknown) => typeof value === "object" && value !== null;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (isSettled) return;
      let answer: any;
      try {
        answer = JSON.parse(line);
      } catch {
        return lose("it answered with a line that is not JSON");
      }
      if (answer?.id !== 1) return lose("it answered another question");
      if (answer.alive === true) {
        clearTimeout(timer);
        timer = wait(PATIENCE);
      } else if (isObject(answer.error)) {
        settle(() => reject(new Error(String(answer.error.message))));
      } else if (isObject(answer.result)) {
        settle(() => resolve(answer.result));
      } else {
        lose("it answered with neither a result nor an error");
      }
    });
    child.on("error", (error) => lose(error.message));
    child.on("close", (code) => lose(`it ended with ${code} and no answer: ${told.trim()}`));
    // A program that ends early closes the pipe.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${jsonOf({ id: 1, alive: true, ...question })}\n`);
  });
}

/** The text of a result. */
function textOf(result: any): string {
  if (typeof result.text !== "string" || !result.text.trim()) throw new Error("its answer has no words");
  return result.text.trim();
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
    // The text and what stays beside it are as much of the context as the configuration says.
    const beside = preparation.settings.keepRecentTokens;
    try {
      const told = await ask({ call: "brief", content: fileOf(ctx, leaving), context: tokensBefore, beside }, signal);
      if (!told) return undefined;
      const summary = `${textOf(told)}\n\n(search_history finds everything that was said and done before.)`;
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: { by: "epitome" } } };
    } catch (error) {
      if (ctx.hasUI && !signal.aborted) ctx.ui.notify(`epitome did not compact: ${(error as Error).message}`, "warning");
      return undefined;
    }
  });

  const lookUp = (tool: string) => async (_id: string, params: any, signal: AbortSignal | undefined, _update: any, ctx: any) => {
    const content = fileOf(ctx, ctx.sessionManager.getBranch());
    const found = await ask({ call: "look-up", tool, arguments: params, content }, signal);
    if (!found) throw new Error("epitome does not answer: go on without it");
    return { content: [{ type: "text" as const, text: textOf(found) }], details: undefined };
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
