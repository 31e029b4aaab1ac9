// Writes src/api/types.ts: the types of what the service takes and answers, from its own OpenAPI document.
//
//   npm run types              asks the service at EPITOME_URL, http://127.0.0.1:7777 without it
//   npm run types -- --check   writes nothing, and fails where the file is not what the document gives
import { readFile, writeFile } from "node:fs/promises";

import openapiTS, { astToString } from "openapi-typescript";

const HEAD = "// Written by `npm run types` from the service's OpenAPI document: change the types in Rust.\n\n";
const file = new URL("src/api/types.ts", import.meta.url);
const url = new URL("/openapi.json", process.env.EPITOME_URL ?? "http://127.0.0.1:7777");
const answer = await fetch(url);
if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
// The client names its paths itself, and the document describes the fields: here are the shapes of bodies alone.
const document = JSON.parse(await answer.text(), (key, value) => (key === "description" && typeof value === "string" ? undefined : value));
const types = await openapiTS({ ...document, paths: {} }, { rootTypes: true, rootTypesNoSchemaPrefix: true });
const text = HEAD + astToString(types);
if (!process.argv.includes("--check")) {
  await writeFile(file, text);
} else if ((await readFile(file, "utf8")) !== text) {
  console.error("src/api/types.ts is not what the service's document gives: npm run types");
  process.exit(1);
}
