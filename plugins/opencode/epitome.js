// epitome in opencode: each request is fitted into the model's window, and the model can look up what left it.
//
// `epitome fit --stdio` decides; this file turns opencode's messages into a list, and the decisions back into messages.
// Whatever goes wrong, the request goes out as it would without this file: where the program is not there or broken, shows no
// sign of life, or answers with what is not understood. Such a program is not asked again.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const PROGRAM = "epitome";

/** Milliseconds within which the program says that it is at work. */
const SIGN = 2_000;
/** Milliseconds that it may then take: a model may be asked for a summary. */
const PATIENCE = 300_000;
/** Tokens of the system prompt and the tools, until a provider's figures tell how many they are. */
const HIDDEN = 10_000;
/** The most tokens of an answer that opencode asks for. */
const ANSWER = 32_000;
/** Characters of what a program that ended has told at its end. */
const TOLD = 1_000;
/** Tokens of the exact words that are handed to opencode's own compaction. */
const BRIEF = 4_000;

/** What a decision may be. */
const STATUSES = ["unchanged", "replayed", "compacted", "near-empty", "infeasible"];

const CLEARED = "[Old tool result content cleared]";
const INTERRUPTED = "[Tool execution was interrupted]";

/** JSON text with U+FFFD for each half of a character that a cut left alone: the program reads Unicode only. */
function jsonOf(value) {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:(ud[89a-f]..)|.)/g, (escape, alone) => (alone ? "\\ufffd" : escape));
}

/**
 * The program, which is asked line by line. One that never answered, or that shows no sign of life, is lost: it is not started
 * again, and questions get `undefined`. One that ended after it had answered is started anew.
 */
function createProgram(path = PROGRAM) {
  let current = null;
  let isLost = false;
  let number = 0;

  /** Ends a process of the program. What waits for it waits no longer; what waits for a later one is not touched. */
  function end(program, error, isSilent = false) {
    if (current === program) current = null;
    isLost ||= isSilent || !program.hasAnswered;
    const questions = [...program.waiting.values()];
    program.waiting.clear();
    for (const question of questions) question.reject(error);
    program.child.kill("SIGKILL");
  }

  /** Gives an answer to the question that waits for it. */
  function settle(program, line) {
    let answer;
    try {
      answer = JSON.parse(line);
    } catch {
      return end(program, new Error(`${path} answered with a line that is not JSON`));
    }
    if (answer?.id == null) {
      const why = answer?.error?.message ?? "it does not say which question it answers";
      return end(program, new Error(`${path} did not understand a question: ${why}`));
    }
    // A question that nobody waits for any more may be answered late.
    const question = program.waiting.get(answer.id);
    if (answer.alive === true) return question?.wait();
    if (!answer.error && typeof answer.result !== "object") {
      return end(program, new Error(`${path} answered with neither a result nor an error`));
    }
    program.hasAnswered = true;
    program.waiting.delete(answer.id);
    if (answer.error) question?.reject(new Error(answer.error.message));
    else question?.resolve(answer.result);
  }

  function start() {
    const child = spawn(path, ["fit", "--stdio", "--plugin"], { stdio: ["pipe", "pipe", "pipe"] });
    const program = { child, waiting: new Map(), hasAnswered: false };
    // A configuration that is refused is told there.
    let told = "";
    child.stderr.on("data", (text) => (told = (told + text).slice(-TOLD)));
    const fail = (error) => end(program, error);
    child.on("error", fail);
    child.on("exit", (code, signal) => fail(new Error(`${path} ended with ${code ?? signal}: ${told.trim()}`)));
    child.stdin.on("error", fail);
    child.stdout.on("error", fail);
    createInterface({ input: child.stdout }).on("line", (line) => settle(program, line));
    // It ends with this process, and does not keep it.
    child.unref();
    child.stdin.unref?.();
    child.stdout.unref?.();
    child.stderr.unref?.();
    current = program;
  }

  return function ask(question) {
    if (isLost) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      if (!current) start();
      const program = current;
      const id = (number += 1);
      const silent = (time) => new Error(`${path} gave no sign of life in ${time / 1000} seconds`);
      // Questions are answered one after the other: while one is worked on, the program lives.
      const isAtWork = () => [...program.waiting.values()].some((other) => other.isWorkedOn);
      const listen = () => (isAtWork() ? (timer = setTimeout(listen, SIGN)) : end(program, silent(SIGN), true));
      let timer = setTimeout(listen, SIGN);
      const settled = (settle) => (value) => (clearTimeout(timer), settle(value));
      const asked = { isWorkedOn: false, resolve: settled(resolve), reject: settled(reject) };
      asked.wait = () => {
        asked.isWorkedOn = true;
        clearTimeout(timer);
        timer = setTimeout(() => end(program, silent(PATIENCE), true), PATIENCE);
      };
      program.waiting.set(id, asked);
      program.child.stdin.write(jsonOf({ id, alive: true, ...question }) + "\n");
    });
  };
}

/** Whether a result is a decision about so many entries of a list. */
function isDecision(result, count) {
  const isIndex = (index) => Number.isInteger(index) && index >= 0 && index <= count;
  const isMessage = (message) => typeof message?.role === "string";
  const isPiece = ({ keep, edit, insert } = {}) =>
    keep
      ? isIndex(keep[0]) && isIndex(keep[1]) && keep[0] < keep[1]
      : edit
        ? isIndex(edit.index) && edit.index < count && isMessage(edit.message)
        : isMessage(insert?.message);
  const { status, tokensBefore, tokensAfter, pieces } = result ?? {};
  if (!STATUSES.includes(status) || !Number.isInteger(tokensBefore) || !Number.isInteger(tokensAfter)) return false;
  return Array.isArray(pieces) && pieces.length > 0 && pieces.every(isPiece);
}

/** Whether a result is a text. */
const isText = (result) => typeof result?.text === "string" && result.text.trim() !== "";

/** The list that stands for opencode's messages, and where each of its entries comes from. */
function listOf(messages) {
  const list = [];
  const places = [];
  const add = (entry, place) => (list.push(entry), places.push(place));
  messages.forEach(({ info, parts }, number) => {
    if (info.role === "user") {
      const content = parts.flatMap(saidByUser);
      if (content.length) add({ role: "user", content: content.join("\n") }, { number, parts });
      return;
    }
    for (const step of stepsOf(parts)) {
      const text = step.filter((part) => part.type === "text").map((part) => part.text).join("\n");
      const calls = step.filter((part) => part.type === "tool");
      if (!text && !calls.length) continue;
      const entry = { role: "assistant", content: text || null };
      if (calls.length) {
        entry.tool_calls = calls.map((part) => ({
          id: part.callID,
          type: "function",
          function: { name: part.tool, arguments: jsonOf(part.state.input ?? {}) },
        }));
      }
      add(entry, { number, parts: step });
      for (const part of calls) {
        add({ role: "tool", tool_call_id: part.callID, content: outputOf(part.state) }, { number, parts: [part] });
      }
    }
  });
  return { list, places };
}

function saidByUser(part) {
  if (part.type === "text") return part.ignored ? [] : [part.text];
  if (part.type === "file") return [`[${part.mime}: ${part.filename ?? "a file"}]`];
  return [];
}

/** The steps of a message of the model: one answer of the provider each. */
function stepsOf(parts) {
  const steps = [[]];
  for (const part of parts) {
    if (part.type === "step-start" && steps.at(-1).length) steps.push([]);
    steps.at(-1).push(part);
  }
  return steps;
}

function outputOf(state) {
  if (state.status === "completed") return state.time?.compacted ? CLEARED : state.output;
  return state.status === "error" ? state.error : INTERRUPTED;
}

/** opencode's messages behind a decision. */
function messagesOf(messages, { list, places }, pieces) {
  const sent = pieces.flatMap((piece) => {
    if (piece.keep) {
      const [start, end] = piece.keep;
      const numbers = Array.from({ length: end - start }, (_, step) => start + step);
      return numbers.map((index) => ({ entry: list[index], place: places[index], isChanged: false }));
    }
    const { index, message } = piece.edit ?? piece.insert;
    return [{ entry: message, place: piece.edit && places[index], isChanged: true }];
  });
  const results = new Map();
  for (const { entry, isChanged } of sent) {
    if (entry.role === "tool" && isChanged) results.set(entry.tool_call_id, textOf(entry.content));
  }
  const built = [];
  let last = null;
  for (const { entry, place, isChanged } of sent) {
    if (entry.role === "tool") continue;
    const parts = place ? partsOf(entry, place.parts, isChanged, results) : null;
    if (!place) {
      built.push(insertedMessage(messages, entry, built.length));
    } else if (last === place.number) {
      built.at(-1).parts.push(...parts);
    } else {
      built.push({ info: messages[place.number].info, parts });
    }
    last = place ? place.number : null;
  }
  return built;
}

/** The parts of one entry, with its texts, and its calls with their results, as they are now. */
function partsOf(entry, parts, isChanged, results) {
  const calls = new Map((entry.tool_calls ?? []).map((call) => [call.id, call]));
  const first = parts.find((part) => part.type === "text" && !part.ignored);
  const text = textOf(entry.content);
  const now = [];
  for (const part of parts) {
    if (part.type === "tool") {
      const call = calls.get(part.callID);
      if (call) now.push(toolPart(part, isChanged ? call.function.arguments : null, results.get(part.callID)));
    } else if (!isChanged || part.type !== "text") {
      now.push(part);
    } else if (part === first && text) {
      now.push({ ...part, text });
    }
  }
  return now;
}

function toolPart(part, argumentsNow, resultNow) {
  const state = { ...part.state };
  if (argumentsNow !== null) state.input = JSON.parse(argumentsNow);
  if (resultNow !== undefined && state.status === "completed") {
    state.output = resultNow;
    state.time = { ...state.time, compacted: undefined };
  }
  if (resultNow !== undefined && state.status === "error") state.error = resultNow;
  return { ...part, state };
}

function textOf(content) {
  if (Array.isArray(content)) return content.map((part) => part.text ?? "").join("\n");
  return content ?? "";
}

/** A message that was not there, such as a summary. */
function insertedMessage(messages, entry, number) {
  const model = messages.findLast(({ info }) => info.role === entry.role) ?? messages[0];
  const id = `msg_epitome_${number}`;
  const { sessionID } = model.info;
  const part = { id: `prt_epitome_${number}`, sessionID, messageID: id, type: "text", text: textOf(entry.content) };
  return { info: { ...model.info, id, role: entry.role, summary: undefined }, parts: [part] };
}

/** opencode may load the plug-in more than once: they ask the same program. */
const ask = createProgram();

export const Epitome = async ({ client }) => {
  const limits = new Map();
  /** For each session the tokens of the list that was sent last, and those beside it. */
  const known = new Map();

  const log = (level, message) =>
    client.app.log({ body: { service: "epitome", level, message } }).catch(() => undefined);

  async function limitOf({ providerID, modelID }) {
    if (!limits.size) {
      const { data } = await client.config.providers();
      for (const provider of data.providers) {
        for (const [name, model] of Object.entries(provider.models)) limits.set(`${provider.id}/${name}`, model.limit);
      }
    }
    return limits.get(`${providerID}/${modelID}`);
  }

  /** Tokens of the system prompt and the tools: what the provider counted beyond the list. */
  function hiddenTokens(session, messages, window) {
    const state = known.get(session) ?? {};
    const answer = messages.findLast(({ info }) => info.role === "assistant" && info.tokens?.input)?.info;
    if (answer && state.sent && state.answered !== answer.id) {
      const { input, cache } = answer.tokens;
      state.hidden = Math.max(0, input + (cache?.read ?? 0) + (cache?.write ?? 0) - state.sent);
      state.answered = answer.id;
    }
    known.set(session, state);
    return Math.min(state.hidden ?? HIDDEN, Math.floor(window / 2));
  }

  /** All messages of the session, as opencode's own store has them. */
  async function storedOf(session) {
    const { data } = await client.session.messages({ path: { id: session } });
    return data;
  }

  /** The whole session, in the form in which opencode exports it. */
  async function contentOf(session) {
    return jsonOf({ info: { id: session }, messages: await storedOf(session) });
  }

  /** For each session the first message of the list, and what was typed in front of it. */
  const typed = new Map();

  /** What people typed before a compaction of opencode's own, which shows the model only what is behind it. */
  async function typedBefore(session, messages) {
    if (!messages.some(({ info, parts }) => info.summary === true || parts.some(({ type }) => type === "compaction"))) return [];
    const { id } = messages[0].info;
    if (typed.get(session)?.id !== id) {
      const stored = await storedOf(session);
      const end = stored.findIndex(({ info }) => info.id === id);
      const isTyped = ({ info, parts }) => info.role === "user" && parts.some((part) => part.type === "text" && !part.synthetic);
      typed.set(session, { id, messages: stored.slice(0, Math.max(end, 0)).filter(isTyped) });
    }
    // What opencode keeps beside its summary is in the list.
    const listed = new Set(messages.map(({ info }) => info.id));
    return typed.get(session).messages.filter(({ info }) => !listed.has(info.id));
  }

  /** For each session the compaction that its model asked for since the last request. */
  const wishes = new Map();

  const lookUp = (tool) => async (given, context) => {
    const content = await contentOf(context.sessionID);
    const found = await ask({ call: "look-up", tool, arguments: given, content });
    if (!isText(found)) throw new Error("epitome does not answer: go on without it");
    return found.text;
  };

  return {
    "experimental.chat.messages.transform": async (_input, output) => {
      const { messages } = output;
      const asked = messages.findLast(({ info }) => info.role === "user")?.info;
      if (!asked) return;
      try {
        const limit = await limitOf(asked.model);
        if (!limit?.context) return;
        const { sessionID: session } = asked;
        const reserve = Math.min(limit.output || ANSWER, ANSWER, Math.floor(limit.context / 2));
        const window = limit.input ? Math.min(limit.input + reserve, limit.context) : limit.context;
        const system = hiddenTokens(session, messages, window);
        const all = [...(await typedBefore(session, messages)), ...messages];
        const made = listOf(all);
        const engine = { window, reserveOutput: reserve };
        const question = { key: session, format: "openai-chat", messages: made.list, engine, system, asked: wishes.get(session) };
        wishes.delete(session);
        const fitted = await ask(question);
        if (!fitted) return;
        if (!isDecision(fitted, made.list.length)) throw new Error("the decision is not understood");
        known.get(session).sent = fitted.tokensAfter;
        if (fitted.status === "infeasible") await log("warn", `nothing more can leave ${fitted.tokensAfter} tokens`);
        if (fitted.status === "unchanged" && all.length === messages.length) return;
        if (["compacted", "near-empty"].includes(fitted.status)) {
          await log("info", `compacted ${fitted.tokensBefore} tokens to ${fitted.tokensAfter}`);
        }
        messages.splice(0, messages.length, ...messagesOf(all, made, fitted.pieces));
      } catch (error) {
        await log("error", `the request goes out as it is: ${error.message}`);
      }
    },

    "experimental.session.compacting": async ({ sessionID }, output) => {
      try {
        const told = await ask({ call: "brief", content: await contentOf(sessionID), tokens: BRIEF });
        if (!told) return;
        if (!isText(told)) throw new Error("the answer has no words");
        output.context.push(`Exact words of the conversation, which the summary should keep as they are:\n\n${told.text}`);
      } catch (error) {
        await log("error", `the compaction has no exact words: ${error.message}`);
      }
    },

    tool: {
      search_history: {
        description:
          "Searches everything that was said and done in this conversation, also what has left the context: messages, " +
          "tool calls and what they printed. Look here before you say that something is not known, or do it a second time.",
        args: {
          queries: {
            type: "array",
            items: { type: "string" },
            description: "The question in words, and beside it the identifiers that the answer is likely to hold.",
          },
        },
        execute: lookUp("search_history"),
      },
      recall: {
        description: "Gives back one message of this conversation word for word, by the number that search_history names.",
        args: { handle: { type: "string", description: "The message's number, such as #37." } },
        execute: lookUp("recall"),
      },
      compact_context: {
        description:
          "Asks for this conversation's context to be compacted before your next step. Call it when a task of your list is done, " +
          "or before you begin with another subject. Do not call it in the middle of a derivation, of an edit or of a search for " +
          "a fault. It is passed over while the context is not full enough, and soon after the last time.",
        args: {
          reason: { type: "string", description: "What is done, so that this is a good moment." },
          next_step: { type: "string", description: "What you do next: what is relevant to it stays first." },
          keep: {
            type: "array",
            items: { type: "string" },
            description: "What the next context has to hold: exact texts of this conversation; may be empty.",
          },
        },
        execute: async ({ reason, next_step, keep }, context) => {
          const texts = (keep ?? []).filter((text) => text.trim() && !text.trim().startsWith("#"));
          if (texts.length > 8) return "`keep` takes 8 at most: name what you need next.";
          wishes.set(context.sessionID, { reason, next_step, keep: texts });
          return "It is done before your next step, where the context is full enough.";
        },
      },
    },
  };
};
