// Opening sessions and reading them.

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

import { assert, textOf, until } from "../check.js";
import { talk, text } from "../sessions.js";

const EXAMPLE = new URL("../../../examples/session.jsonl", import.meta.url);

async function opensByButton({ service, visit }) {
  const { page } = await visit();
  assert.match(page.url(), /\/console\/#?/);
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open a recorded session" }).click();
  await (await chooser).setFiles(EXAMPLE.pathname);
  await page.waitForURL(/#\/sessions\/\w+$/);
  const session = await service.call("GET", `/v1/sessions/${page.url().split("/").at(-1)}`);
  assert.ok(session.context.usedTokens > 60_000);
  const meter = page.getByRole("meter");
  await until(() => meter.getAttribute("aria-valuenow"), String(session.context.usedTokens));
  await page.getByText("50 of 166 messages: #116 to #165").waitFor();
  assert.equal(await page.locator(".messages > li").count(), 50);
  await page.getByRole("button", { name: /earlier messages/ }).click();
  await page.getByText("100 of 166 messages: #66 to #165").waitFor();
  await page.getByRole("button", { name: "Go to the first" }).click();
  await page.getByText("House rules, for everything you do").waitFor();
  // Messages have the numbers that the command line and the handles give them.
  await until(() => textOf(page.locator(".message .number").first()), "#0");
}

async function opensByDrop({ visit }) {
  const here = await visit();
  const { page } = here;
  const drop = async (target, texts) => {
    const data = await page.evaluateHandle((texts) => {
      const data = new DataTransfer();
      texts.forEach((text, at) => {
        const content = JSON.stringify({ messages: [{ role: "user", content: text }] });
        data.items.add(new File([content], `session-${at}.json`));
      });
      return data;
    }, texts);
    await target.dispatchEvent("dragover", { dataTransfer: data });
    await page.getByText("Drop it to open the session").waitFor();
    await target.dispatchEvent("drop", { dataTransfer: data });
    await until(() => page.getByText("Drop it to open the session").count(), 0);
  };
  await drop(page.getByRole("region", { name: "Open a recorded session" }), ["Dropped on the list"]);
  await page.locator(".message").getByText("Dropped on the list").waitFor();
  await drop(page.locator("body"), ["Dropped anywhere"]);
  await page.locator(".message").getByText("Dropped anywhere").waitFor();
  await drop(page.locator("body"), ["The first of two", "The second of two"]);
  await page.getByRole("link", { name: "The first of two" }).waitFor();
  await page.getByRole("link", { name: "The second of two" }).waitFor();
}

/** Somebody follows a link while the page is being made: it must not be missed. */
async function followedAtOnce({ visit }) {
  const { page } = await visit();
  await page.addInitScript(() => {
    const watcher = new MutationObserver(() => {
      if (!document.querySelector("#console > *")) return;
      watcher.disconnect();
      location.hash = "#/agents";
    });
    watcher.observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
}

async function whatIsNoSession({ visit }) {
  const here = await visit();
  here.expect("400");
  await here.page.locator("input[type=file]").setInputFiles({
    name: "no.json",
    mimeType: "application/json",
    buffer: Buffer.from("this is no session"),
  });
  const alert = here.page.getByRole("alert");
  await until(() => textOf(alert), /Open a file in which an agent recorded a session, plain or gzipped\.$/);
  assert.doesNotMatch(await textOf(alert), /`format`|GET/, "what programs are told is not for people");
  assert.doesNotMatch(here.page.url(), /sessions\//);
}

async function findsSessions({ service, visit }) {
  await service.session([{ role: "user", content: "a" }], { title: "A walrus by the sea" });
  await service.session([{ role: "user", content: "b" }], { title: "Walnuts", agent: "writer" });
  const { page } = await visit();
  const titles = page.locator(".card-title");
  const byTitle = page.getByLabel("Filter by title");
  await byTitle.fill("wal");
  await until(() => titles.count(), 2);
  await page.getByLabel("Filter by agent").fill("writer");
  await until(() => titles.count(), 1);
  assert.equal(await textOf(titles), "Walnuts");
  await byTitle.fill("nothing of that name");
  await page.getByText("No session is like that").waitFor();
}

async function deletesFromTheList({ service, visit }) {
  const made = await service.session([{ role: "user", content: "a" }], { title: "A heron that may go" });
  const { page } = await visit();
  await page.getByRole("button", { name: "Delete A heron that may go" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this session?" });
  await dialog.getByText("Its 1 message").waitFor();
  await dialog.getByRole("button", { name: "Keep it" }).click();
  await until(() => dialog.count(), 0);
  await service.call("GET", `/v1/sessions/${made.id}`);
  await page.getByRole("button", { name: "Delete A heron that may go" }).click();
  await dialog.getByRole("button", { name: "Delete it for good" }).click();
  await until(() => page.getByRole("link", { name: "A heron that may go" }).count(), 0);
  await assert.rejects(service.call("GET", `/v1/sessions/${made.id}`), /404/);
}

async function sentToTheProxysPage({ bench, visit }) {
  const service = await bench.another({ upstream: bench.model.address });
  try {
    const here = await visit({ service, at: "/console/" });
    here.expectLoss();
    await here.page.getByText("There are no sessions yet. This page lists those that the service stores").waitFor();
    await here.page.getByRole("link", { name: "the page Proxy lists them" }).click();
    await here.page.getByText("No conversation has gone through the proxy yet").waitFor();
    await here.page.goto("about:blank"); // it would ask on when the service has gone
  } finally {
    await service.kill();
  }
  const { page } = await visit();
  await page.locator(".cards[aria-busy=false]").waitFor({ state: "attached" });
  assert.equal(await page.getByText("go through the proxy").count(), 0, "a service without one does not speak of it");
}

async function markdown({ service, visit }) {
  const said = "# A plan\n\nDo **this** first:\n\n- one\n- `two`\n\n```\nlet a = 1;\n```\n\n[a page](https://example.com/)";
  const { id } = await service.session([{ role: "user", content: "Plan it.\nIn two lines." }, { role: "assistant", content: said }]);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const message = page.locator(".message").last();
  await message.getByRole("heading", { name: "A plan" }).waitFor();
  assert.equal(await textOf(message.locator("strong")), "this");
  assert.deepEqual(await message.locator("li").allInnerTexts(), ["one", "two"]);
  assert.equal(await message.locator("pre code").innerText(), "let a = 1;");
  assert.equal(await message.getByRole("link", { name: "a page" }).getAttribute("href"), "https://example.com/");
  assert.match(await page.locator(".message").first().locator(".markdown").innerText(), /^Plan it\.\nIn two lines\.$/);
  // Character for character, and back.
  await message.getByRole("button", { name: "Raw text: #1" }).click();
  assert.equal(await message.locator(".text").innerText(), said);
  assert.equal(await message.locator("strong").count(), 0);
  await message.getByRole("button", { name: "Formatted: #1" }).click();
  await message.locator("strong").waitFor();
}

async function firstCompaction({ service, visit }) {
  const { id } = await service.session(talk(12, 1_400));
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  await page.getByText("Nothing has been compacted yet").waitFor();
  const first = page.getByRole("button", { name: "First compaction" });
  assert.equal(await first.count(), 0);
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 6_000 });
  for (let round = 0; round < 40; round += 1) {
    const messages = [{ role: "user", content: `Round ${round}: ${text(20, round)}` }];
    await service.call("POST", `/v1/sessions/${id}/messages`, { messages });
  }
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 3_000 });
  await page.reload();
  await page.getByRole("link", { name: "Compactions (2)" }).waitFor();
  await first.click();
  const bubble = page.locator(".bubble").filter({ hasText: "Compaction 0" });
  await bubble.waitFor();
  await until(() => bubble.evaluate((part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }), true, "it is in sight");
  await page.getByRole("radio", { name: "Full history" }).and(page.locator(":checked")).waitFor();
}

async function helpForPeople({ visit }) {
  const here = await visit();
  here.expect("status of 404");
  await here.open("sessions/nobody/compactions");
  const alert = here.page.getByRole("alert");
  await until(() => textOf(alert), "There is no such session. It may have been deleted; the page Sessions lists those that there are.");
}

async function barChanges({ service, visit }) {
  const { id } = await service.session(talk(1, 1_000));
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const state = () => page.locator(".token-bar").getAttribute("data-state");
  const colour = () => page.locator(".filled").evaluate((bar) => getComputedStyle(bar).backgroundColor);
  const seen = [];
  const say = (tokens) =>
    service.call("POST", `/v1/sessions/${id}/messages`, { messages: [{ role: "user", content: text(tokens) }] });
  await until(state, "calm");
  seen.push(await colour());
  await say(11_000); // of 18,000: above 60 %, below 80 %
  await until(state, "near");
  seen.push(await colour());
  await say(4_000);
  await until(state, "above");
  seen.push(await colour());
  const [blue, orange, red] = seen.map((colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number));
  assert.ok(blue[2] > blue[0] && orange[0] > orange[2] && orange[1] > red[1] + 50 && red[0] > red[1], `${seen}`);
  // The figures: shown on demand, and told to those who do not see the bar.
  const tip = page.getByRole("tooltip", { includeHidden: true });
  assert.equal(await tip.isVisible(), false);
  await page.getByRole("meter").hover();
  assert.match(await textOf(tip), /May take 18,000 .*Threshold 14,400 80% .*Window 20,000/);
  assert.match(await page.getByRole("meter").getAttribute("aria-valuetext"), /of 18,000 tokens, \d.*above the threshold of 80%/);
}

async function addsMessages({ service, visit }) {
  const { page } = await visit();
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByRole("heading", { name: /^New session, .* \d{4}, \d\d:\d\d$/ }).waitFor();
  await page.getByText("No messages yet").waitFor();
  await page.getByRole("textbox", { name: /command/ }).fill("Good morning!\n<b>not bold</b>");
  await page.keyboard.press("Enter");
  await page.locator(".message").getByText("<b>not bold</b>").waitFor();
  const id = page.url().split("/").at(-1);
  const { messages } = await service.call("GET", `/v1/sessions/${id}/messages`);
  assert.equal(messages[0].message.blocks[0].content.text, "Good morning!\n<b>not bold</b>");
  // Title and end of a session.
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Title").fill("A new name");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "A new name" }).waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete it for good" }).click();
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  await assert.rejects(service.call("GET", `/v1/sessions/${id}`), /404/);
}

async function longSession({ service, visit }) {
  const messages = Array.from({ length: 4_000 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `Message number ${at}`,
  }));
  const { id } = await service.session(messages);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const counted = page.locator(".counted");
  await until(() => counted.innerText(), "50 of 4,000 messages: #3950 to #3999");
  for (const from of [3900, 3850, 3800, 3750, 3700, 3650]) {
    await page.getByRole("button", { name: /earlier messages/ }).click();
    await until(() => counted.innerText(), new RegExp(`: #${from} to #`));
  }
  assert.equal(await page.locator(".messages > li").count(), 300, "what is far away leaves the page");
  await until(() => counted.innerText(), "300 of 4,000 messages: #3650 to #3949");
  await page.getByRole("button", { name: "Go to the first" }).click();
  await page.getByText("Message number 0", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Go to the newest" }).click();
  await page.getByText("Message number 3999").waitFor();
}

async function survivesRestart({ bench, visit }) {
  const service = await bench.another({});
  try {
    const { id } = await service.session(talk(1, 200));
    const here = await visit({ service });
    here.expectLoss();
    await here.open(`sessions/${id}`);
    await here.page.getByText("2 messages").first().waitFor();
    const { port } = new URL(service.address);
    await service.kill();
    await here.page.getByText("not connected").waitFor();
    await service.run(port);
    await service.call("POST", `/v1/sessions/${id}/messages`, { messages: [{ role: "user", content: "Back again" }] });
    await here.page.locator(".message").getByText("Back again").waitFor();
    await until(() => here.page.getByText("not connected").count(), 0);
  } finally {
    await service.kill();
  }
}

async function recordedSession({ service, visit }) {
  const file = await longRecording(process.env.EPITOME_SESSIONS);
  if (file === null) return "no recorded sessions here: not tried";
  const { page } = await visit();
  await page.locator("input[type=file]").setInputFiles(file);
  await page.waitForURL(/#\/sessions\/\w+$/);
  const id = page.url().split("/").at(-1);
  const { context } = await service.call("GET", `/v1/sessions/${id}`);
  assert.ok(context.usedTokens >= 100_000, `${context.usedTokens}`);
  await until(() => page.locator(".token-bar").getAttribute("data-state"), "above");
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByRole("button", { name: "Compact now" }).click();
  await page.locator(".bubble").first().waitFor();
  await until(async () => (await page.locator(".bubble[data-state=done]").count()) > 0, true);
  await page.getByRole("link", { name: "Before and after" }).last().click();
  await page.locator(".compare .receipt").first().waitFor();
  return `${context.usedTokens} tokens`;
}

/** The largest recording of a coding agent, of a size that opens quickly; null where there is none. */
async function longRecording(folder) {
  const files = [];
  for (const kind of ["claude_code", "codex_rollout", "pi"]) {
    for (const name of await readdir(join(folder, kind)).catch(() => [])) {
      const path = join(folder, kind, name);
      files.push({ path, size: (await stat(path)).size });
    }
  }
  files.sort((a, b) => b.size - a.size);
  return files.find(({ size }) => size < 8_000_000)?.path ?? null;
}

export const reading = [
  ["a recorded session is opened by the button and read page by page", opensByButton],
  ["a recorded session is opened by dropping its file", opensByDrop],
  ["a link that is followed at once is followed", followedAtOnce],
  ["a file that is no session is refused with the reason", whatIsNoSession],
  ["sessions are found by title and agent", findsSessions],
  ["a session is deleted from the list, once that is confirmed", deletesFromTheList],
  ["with a proxy the list leads to what is not in it", sentToTheProxysPage],
  ["messages are Markdown, with their raw text on demand", markdown],
  ["the first compaction of a long session is one click away", firstCompaction],
  ["help is for people, and speaks of no routes", helpForPeople],
  ["the bar turns orange and red while messages arrive", barChanges],
  ["a session is begun, written to, renamed and deleted", addsMessages],
  ["a session of thousands of messages stays a small page", longSession],
  ["the page comes back when the service does", survivesRestart],
  ["a long recorded session is opened and compacted", recordedSession],
];
