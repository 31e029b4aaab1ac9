// The script by which the plug-in of Claude Code asks epitome, beside programs that answer, fail, or say nothing.
//
//   EPITOME_BIN=PATH node --test tests/agents/ask.test.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "epitome-ask-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const source = readFileSync(fileURLToPath(new URL("../../plugins/claude-code/hooks/ask.sh", import.meta.url)), "utf8");
const SIGN = 'echo "epitome is at work" >&2';
let number = 0;

/** The script with a program at a path, and what it leaves in the plug-in's folder of data. */
function asking(program) {
  const own = join(folder, `${(number += 1)}`);
  mkdirSync(join(own, "data"), { recursive: true });
  assert.ok(source.includes("program=epitome\n"));
  writeFileSync(join(own, "ask.sh"), source.replace("program=epitome\n", `program=${program}\n`));
  const env = { PATH: process.env.PATH, TMPDIR: own, CLAUDE_PLUGIN_DATA: join(own, "data"), CLAUDE_CODE_SESSION_ID: "s-1" };
  const ask = (event, input = "{}", more = {}) => {
    const ran = spawnSync("sh", [join(own, "ask.sh"), event], { input, env: { ...env, ...more }, encoding: "utf8" });
    return [ran.status, ran.stdout, ran.stderr];
  };
  // Nothing is left of what the script wrote on its way.
  const isLost = () => {
    assert.deepEqual(readdirSync(own).filter((name) => name.startsWith("tmp")), []);
    return existsSync(join(own, "data/epitome-lost-s-1"));
  };
  return { ask, isLost };
}

/** A program that runs these lines of the shell, and counts how often it was started. */
function made(lines) {
  const path = join(folder, `made-${(number += 1)}`);
  writeFileSync(path, `#!/bin/sh\necho started >> ${path}.log\n${lines}\n`, { mode: 0o755 });
  return { path, count: () => readFileSync(`${path}.log`, "utf8").trim().split("\n").length };
}

test("what the program answers is printed", () => {
  const { ask, isLost } = asking(process.env.EPITOME_BIN);
  const [code, out] = ask("compact", JSON.stringify({ messages: [{ role: "user", text: "Hello.", toolUses: [] }] }));
  assert.equal(code, 0);
  assert.match(JSON.parse(out).note, /tokens fit, and nothing has to leave/);
  const echo = asking(made(`${SIGN}; cat`).path);
  assert.deepEqual(echo.ask("compact", "what the agent said"), [0, "what the agent said", ""]);
  assert.ok(!isLost() && !echo.isLost());
});

test("a program that says that it is at work may take its time", () => {
  const { ask, isLost } = asking(made(`${SIGN}; sleep 3; echo done`).path);
  assert.deepEqual(ask("compact"), [0, "done\n", ""]);
  assert.ok(!isLost());
});

test("a failure is 1, whatever the program says, and nothing of its answer is printed", () => {
  const { path, count } = made(`${SIGN}; echo half; echo why >&2; exit 2`);
  const { ask, isLost } = asking(path);
  assert.deepEqual(ask("compact"), [1, "", "why\n"]);
  assert.deepEqual(ask("pre-compact"), [1, "", "why\n"]);
  assert.ok(!isLost() && count() === 2, "a question that cannot be answered says nothing of the next one");
});

test("a program that gives no sign of life is not asked again in the session", () => {
  const check = (path, least, most, count) => {
    const { ask, isLost } = asking(path);
    const before = performance.now();
    const [code, out, problem] = ask("compact");
    const took = performance.now() - before;
    assert.deepEqual([code, out], [1, ""]);
    assert.match(problem, /^epitome gives no sign of life, and is not asked again in this session/);
    assert.ok(took >= least && took < most, `${took} ms`);
    assert.ok(isLost());
    assert.deepEqual(ask("pre-compact"), [0, "", ""], "nothing is asked, and nothing is said");
    assert.equal(count?.() ?? 1, 1);
    const [again] = ask("pre-compact", "{}", { CLAUDE_CODE_SESSION_ID: "s-2" });
    assert.equal(again, 1, "another session asks");
  };
  check(join(folder, "none"), 0, 2_000);
  check("/bin/false", 0, 2_000);
  const junk = made("echo Segmentation fault");
  check(junk.path, 0, 2_000, junk.count);
  const silent = made("exec sleep 60");
  check(silent.path, 2_000, 10_000, silent.count);
});
