import { jsonOf } from "./call.js";
import type { SessionInput } from "./options.js";

/** A session as the native part takes it: text and bytes as they are, anything else as JSON. */
export function dataOf(session: SessionInput, name = "messages"): string | Uint8Array {
  return isText(session) ? session : jsonOf(session, name);
}

/** Whether a session came as text or bytes, and not as objects. */
export function isText(session: unknown): session is string | Uint8Array {
  return typeof session === "string" || session instanceof Uint8Array;
}
