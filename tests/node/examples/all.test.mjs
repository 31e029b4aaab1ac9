// Every program of examples/typescript, run as its first lines say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../../examples/typescript/", import.meta.url));

for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
  test(name, () => {
    const printed = execFileSync(process.execPath, [folder + name], { stdio: ["ignore", "pipe", "inherit"] }).toString();
    assert.match(printed, /^Entries are counted twice because the fingerprint holds the row's position\.$/m);
    // The last line has what was sent at most: the budget is 6,000.
    const most = Number(/(\d+) tokens (at most|were sent at most)/.exec(printed)?.[1]);
    assert.ok(most > 3_000 && most <= 6_000, printed);
  });
}
