/**
 * What only JavaScript can get wrong in options: JSON has no `NaN`, which would become `null`, and no functions, which would be
 * as if they were not there. All else the native part looks at. Problems are given as text; who asks throws the error, for the
 * adapters know one class of it and not this copy's.
 */

/** What is wrong with the options of a call; `undefined` where nothing is. */
export function problemOf(options: object): string | undefined {
  const problem = objectProblem(options);
  if (problem !== undefined) return problem;
  const wrong = Object.entries(options).find(([, value]) => !isOfJson(value));
  return wrong && `\`${wrong[0]}\` takes a value of JSON, not ${shortOf(wrong[1])}`;
}

/** What is wrong with options that are no object. */
export function objectProblem(options: unknown): string | undefined {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return undefined;
  return `options are given as an object, such as \`{ budget: 60_000 }\`, not as ${shortOf(options)}`;
}

function isOfJson(value: unknown): boolean {
  return typeof value === "number" ? Number.isFinite(value) : !["bigint", "function", "symbol"].includes(typeof value);
}

/** A value in a few words. */
export function shortOf(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "a list";
  if (typeof value === "function") return "a function";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
