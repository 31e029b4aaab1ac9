// Conditions that are waited for.

import assert from "node:assert/strict";

export { assert };

/** Waits until `read` gives what is expected. */
export async function until(read, expected, what = "") {
  const end = Date.now() + 20_000;
  let value;
  for (;;) {
    value = await read();
    const holds = expected instanceof RegExp ? expected.test(String(value)) : Object.is(value, expected);
    if (holds) return value;
    if (Date.now() > end) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  if (expected instanceof RegExp) assert.match(String(value), expected, what);
  else assert.equal(value, expected, what);
}

/** The text of an element, on one line. */
export async function textOf(locator) {
  return (await locator.innerText()).replaceAll(/\s+/g, " ").trim();
}
