// An agent's loop that is written by hand, with two lines of `epitome-context`. The client is scripted, with the shape of
// OpenAI's: put `new OpenAI()` in its place.
//
//   node examples/typescript/loop.ts
import { Fitter, countTokens, validate } from "epitome-context";

const BUDGET = 6_000;

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | null;
  tool_calls?: Call[];
  tool_call_id?: string;
}

interface Call {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** Calls the tool for every part of the ledger, and then answers. It refuses what is too long, as a provider does. */
class ScriptedClient {
  readonly requests: number[] = [];
  readonly parts: number;

  constructor(parts: number) {
    this.parts = parts;
  }

  async create(messages: Message[]): Promise<Message> {
    const tokens = countTokens(messages);
    if (tokens > BUDGET || validate(messages, { format: "openai-chat" }).length > 0) throw new Error("invalid request");
    this.requests.push(tokens);
    const part = this.requests.length;
    if (part > this.parts) {
      return { role: "assistant", content: "Entries are counted twice because the fingerprint holds the row's position." };
    }
    const call: Call = { id: `call_${part}`, type: "function", function: { name: "read", arguments: `{"part": ${part}}` } };
    return { role: "assistant", content: null, tool_calls: [call] };
  }
}

function read(part: number): string {
  return Array.from({ length: 60 }, (_, row) => `part ${part}, row ${row}: amount ${(row * 37) % 101}\n`).join("");
}

const client = new ScriptedClient(40);
const messages: Message[] = [
  { role: "system", content: "You mend programs." },
  {
    role: "user",
    content: "The import of the ledger counts entries twice. Find out why, and keep the database as it is.",
  },
];
const fitter = new Fitter({ budget: BUDGET }); // the first of the two lines
for (;;) {
  const toSend = fitter.fit(messages).messages; // the second
  const answer = await client.create(toSend);
  messages.push(answer);
  if (answer.tool_calls === undefined) break;
  for (const call of answer.tool_calls) {
    const { part } = JSON.parse(call.function.arguments) as { part: number };
    messages.push({ role: "tool", tool_call_id: call.id, content: read(part) });
  }
}
console.log(messages.at(-1)?.content);
const { requests } = client;
console.log(`${requests.length} requests of ${Math.max(...requests)} tokens at most; ${countTokens(messages)} in all`);
