/** JSON texts, as the native part reads them. */

/** JSON text of a value; `name` is what errors call it. */
export function jsonOf(value: unknown, name: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${name} cannot be written as JSON: ${(cause as Error).message}`, { cause });
  }
  if (text === undefined) throw new TypeError(`${name}: ${typeof value} is not a value of JSON`);
  return wellFormed(text);
}

/** An escape of a JSON text: two surrogates that are one character, a surrogate alone, or any other. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|[^])/g;

/**
 * A JSON text with U+FFFD for each surrogate that stands alone. JavaScript makes them where a text is cut inside a character, as
 * `slice` does; they are not Unicode, so that the native part cannot read them, and providers refuse them.
 */
export function wellFormed(json: string): string {
  if (!json.includes("\\ud") && !json.includes("\\uD")) return json;
  return json.replace(ESCAPE, (escape, alone: string | undefined) => (alone === undefined ? escape : "\\ufffd"));
}
