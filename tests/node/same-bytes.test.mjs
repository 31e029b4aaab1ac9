// The same session gives the same bytes as the command (EPITOME_BIN), and as the package for Python where there is one
// (EPITOME_PYTHON: an interpreter that has it).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { compact, fit } from "epitome-context";

const path = fileURLToPath(new URL("../../examples/session.jsonl", import.meta.url));
const session = readFileSync(path);
const CASES = [
  { budget: 12_000 },
  { budget: 12_000, to: "anthropic" },
  { budget: 30_000, to: "openai-chat" },
  { budget: 5_000, to: "openai-responses" },
  { budget: 20_000, to: "anthropic", chain: ["structured-extraction", "sliding-window"] },
];

test("the command writes the same bytes", () => {
  const folder = mkdtempSync(join(tmpdir(), "epitome-"));
  try {
    for (const { budget, to, chain } of CASES) {
      const out = join(folder, "out");
      const words = ["compact", path, "--budget", String(budget), "-o", out];
      if (to !== undefined) words.push("--to", to);
      if (chain !== undefined) words.push("--chain", chain.join(","));
      execFileSync(process.env.EPITOME_BIN, words, { stdio: "pipe" });
      const { data } = compact(session, { budget, to, chain });
      assert.equal(Buffer.compare(data, readFileSync(out)), 0, `${budget} ${to} ${chain}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the package for Python gives the same bytes", { skip: process.env.EPITOME_PYTHON === undefined && "no EPITOME_PYTHON" }, () => {
  const program = `
import json, sys, pathlib
import epitome_context as epitome
path, cases = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
texts = [epitome.compact(path, **case).text for case in cases]
messages = json.loads(epitome.convert(path.read_text(), "openai-chat"))["messages"]
texts.append(json.dumps([epitome.fit(messages, budget=9_000).messages, messages]))
print(json.dumps(texts))`;
  const printed = execFileSync(process.env.EPITOME_PYTHON, ["-c", program, path, JSON.stringify(CASES)], {
    maxBuffer: 1 << 28,
  });
  const texts = JSON.parse(printed.toString());
  const [fitted, messages] = JSON.parse(texts.pop());
  texts.forEach((text, index) => assert.equal(compact(session, CASES[index]).text, text));
  assert.deepEqual(fit(messages, { budget: 9_000 }).messages, fitted);
});
