// What the compiler accepts and refuses of the package's types. It is checked, not run.
import type { ModelMessage } from "ai";
import {
  Compacted,
  ConfigError,
  Engine,
  EpitomeError,
  Fitter,
  Infeasible,
  compact,
  compactAsync,
  convert,
  countTokens,
  fit,
  fitAsync,
  inspect,
  search,
  type Converted,
  type Fitted,
  type Quality,
  type Report,
  type Retrieved,
  type SystemPrompt,
} from "epitome-context";
import { epitomeMiddleware as aiMiddleware, epitomeStep } from "epitome-context/ai";
import { epitomeMiddleware } from "epitome-context/langchain";
import { EpitomeProcessor } from "epitome-context/mastra";
import { epitomeFilter } from "epitome-context/openai-agents";
import * as wasm from "epitome-context/wasm";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<A, B>(_: Same<A, B>): void {}

interface Message {
  role: "user" | "assistant";
  content: string;
  at?: number;
}
declare const messages: readonly Message[];
declare const bytes: Uint8Array;

// The caller's own type comes back.
const fitted = fit(messages, { budget: 9_000 });
is<typeof fitted, Fitted<Message>>(true);
is<typeof fitted.messages, Message[]>(true);
is<ReturnType<typeof fitAsync<Message>>, Promise<Fitted<Message>>>(true);
for (const message of fitted) is<typeof message, Message>(true);
is<typeof fitted.status, "unchanged" | "replayed" | "compacted" | "near-empty" | "infeasible">(true);
const fitter = new Fitter({ model: "gpt-5", conversations: 5 });
is<ReturnType<typeof fitter.state>, Uint8Array>(true);
fitter.fit(messages, { system: "Be terse.", tools: 500, key: "a" }).retrieve("0a1b2c3d");
fitter.fit(bytes).messages[0].anything;
fitter.fitAfter(messages, null);
Fitter.fromState(bytes, { budget: 5, host: "cut" });
fit(messages, { budget: 9_000, host: "texts", chain: "transcript" });
new Fitter({ budget: 9_000, chain: ["transcript", "sliding-window"] });
is<typeof fitted.quality, Quality | null>(true);

is<typeof fitted.system, SystemPrompt | null>(true);
for (const piece of fitted.pieces) if (piece.kind === "insert") is<typeof piece.replaces, readonly number[]>(true);
is<ReturnType<typeof fitted.retrieve>, Retrieved>(true);
const written = convert(bytes, "anthropic");
is<typeof written, Uint8Array>(true);
const converted = convert(messages, "anthropic");
is<typeof converted, Converted>(true);

// Options are known by name and type.
// @ts-expect-error there is no such option
fit(messages, { buget: 9_000 });
// @ts-expect-error a number
fit(messages, { budget: "9000" });
// @ts-expect-error a form of a provider
fit(messages, { format: "claude-code" });
// @ts-expect-error strategies by their names
fit(messages, { chain: [5] });
// @ts-expect-error what a host can change
fit(messages, { host: "text" });
// @ts-expect-error an option of `fit`
fitter.fit(messages, { budget: 5 });
// @ts-expect-error a kind of task
compact(bytes, { task: "sewing" });
// @ts-expect-error `to` is needed
convert(bytes);

const compacted: Compacted = compact(bytes, { budget: 0.3, to: "anthropic", chain: ["transcript"], mode: "fixed" });
is<typeof compacted.report, Report>(true);
is<typeof compacted.data, Uint8Array>(true);
is<ReturnType<typeof compactAsync>, Promise<Compacted>>(true);
is<ReturnType<typeof countTokens>, number>(true);
new Engine({ config: { budget: { window: 5 } } }).preview("text").quality;
inspect(messages).messages[0]?.protection;
search(bytes, ["which port"], { sources: ["user"], page: 2 })[0]?.handle;

try {
  fit(messages, { budget: 5 });
} catch (error) {
  if (error instanceof Infeasible) is<typeof error.budget, number>(true);
  if (error instanceof ConfigError) is<typeof error.problems, readonly string[]>(true);
  if (error instanceof EpitomeError) error.message;
}

// The adapters are what their frameworks take.
declare const generate: typeof import("ai").generateText;
declare const model: import("ai").LanguageModel;
declare const history: ModelMessage[];
void generate({ model, messages: history, prepareStep: epitomeStep({ budget: 5 }) });
declare const wrap: typeof import("ai").wrapLanguageModel;
declare const inner: Parameters<typeof wrap>[0]["model"];
wrap({ model: inner, middleware: aiMiddleware({ budget: 5, onFit: (it) => it.tokensAfter }) });
declare const create: typeof import("langchain").createAgent;
create({ model: "m", tools: [], middleware: [epitomeMiddleware()] });
declare const Runner: typeof import("@openai/agents").Runner;
new Runner({ callModelInputFilter: epitomeFilter({ budget: 5, key: ({ agent }) => agent.name }) });
declare const Agent: typeof import("@mastra/core/agent").Agent;
new Agent({ id: "a", name: "a", instructions: "", model: "m/n", inputProcessors: [new EpitomeProcessor({ window: 5 })] });

// WebAssembly has the same calls.
is<typeof wasm.fit, typeof fit>(true);
void wasm.init(new URL("https://example.org/epitome-context.wasm"));
