// The page in a real browser: a session that is dropped on it is compacted there, and nothing is sent.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { compact } from "epitome-context";

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const session = path("examples/session.jsonl");
const browser = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"].find((it) => it && existsSync(it));
const isBuilt = existsSync(path("packages/epitome-context/native/epitome-context.wasm"));
const skip = (!isBuilt && "the module is not built") || (browser === undefined && "there is no Chromium");

test("a dropped session is compacted in the page", { skip }, async () => {
  const server = spawn(process.execPath, [path("packages/epitome-context/page/serve.mjs"), "--port", "0"]);
  const opened = await chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });
  try {
    const [line] = await once(server.stdout, "data");
    const address = /http:\S+/.exec(String(line))[0];
    const page = await opened.newPage({ colorScheme: "light" });
    const [asked, errors] = [[], []];
    page.on("request", (request) => asked.push([request.method(), request.url(), request.postData()]));
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(address);
    await page.getByText("Ready.").waitFor();
    const before = asked.length;
    await page.locator("#budget").fill("12k");
    await page.locator("#to").selectOption("anthropic");
    await page.locator("#file").setInputFiles(session);
    await page.getByText("Done, in this page.").waitFor({ timeout: 60_000 });
    assert.match(await page.locator("#result-title").textContent(), /session\.jsonl: Compacted/);
    const download = page.waitForEvent("download");
    await page.locator("#download").click();
    const saved = await download;
    assert.equal(saved.suggestedFilename(), "session-compacted.json");
    const expected = compact(readFileSync(session), { budget: 12_000, to: "anthropic" });
    assert.equal(readFileSync(await saved.path(), "utf8"), expected.text);
    await page.locator("#edits button").first().click();
    assert.ok((await page.locator("#recalled-text").textContent()).length > 100);
    await page.getByRole("button", { name: "Close" }).click();
    if (process.env.EPITOME_PICTURE) await page.screenshot({ path: process.env.EPITOME_PICTURE, fullPage: true });

    await page.locator("#budget").fill("5");
    await page.locator("#go").click();
    await page.getByText(/cannot fit 5 tokens/).waitFor();
    await page.locator("#budget").fill("some");
    await page.locator("#go").click();
    await page.getByText("“some” is not a budget").waitFor();
    await page.locator("#budget").fill("30 %");
    await page.locator("#file").setInputFiles({ name: "x.bin", mimeType: "text/plain", buffer: Buffer.from("no session") });
    await page.locator(".state.failed").waitFor();
    assert.deepEqual(asked.slice(before).filter(([, url]) => !url.startsWith("blob:")), [], "nothing was asked for");
    assert.ok(asked.every(([method, url, body]) => method === "GET" && body === null && !url.includes("?")));
    assert.deepEqual(errors, []);
  } finally {
    await opened.close();
    server.kill();
  }
});
