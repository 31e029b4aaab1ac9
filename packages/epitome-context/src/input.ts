import { FormatError } from "./errors.js";
import { jsonOf } from "./json.js";
import type { Engine } from "./engine.js";
import type { EngineOptions, FitOptions, FitterBaseOptions } from "./options.js";

/** A session: its text or bytes in any format that epitome reads, or messages or a request as objects. */
export type SessionInput = string | Uint8Array | readonly object[] | object;

/** An engine, or what one is made of. */
export interface WithEngine extends EngineOptions {
  engine?: Engine | undefined;
}

/** What stands beside the messages of one call. */
export type BesideOptions = Pick<FitOptions, "system" | "tools">;

/** How a fitter is made. */
export interface FitterOptions extends FitterBaseOptions, WithEngine {}

/** How a list is fitted once. */
export interface FitOnceOptions extends BesideOptions, WithEngine, Pick<FitterBaseOptions, "budget" | "format" | "host" | "chain"> {}

/** A session as the native part takes it: text and bytes as they are, anything else as JSON. */
export function dataOf(session: SessionInput, name = "session"): string | Uint8Array {
  if ((typeof session === "string" && isPath(session)) || session instanceof URL) {
    throw new FormatError(
      `${name}: ${String(session)} is where a session is, and not the session: give what the file holds ` +
        "(`readFileSync(path)`), or messages",
    );
  }
  return isText(session) ? session : jsonOf(session, name);
}

/** Whether a text names a file: one line that begins or ends as paths do. No session is such a line. */
function isPath(text: string): boolean {
  return text.length < 4_096 && /^(?:(?:\.{0,2}|~|[A-Za-z]:|file:)[\\/][^\n]*|[^\s{["#][^\n{["]*\.(?:jsonl?|gz|md|txt))$/.test(text);
}

/** Whether a session came as text or bytes, and not as objects. */
export function isText(session: unknown): session is string | Uint8Array {
  return typeof session === "string" || session instanceof Uint8Array;
}
