// Agents, channels, the token, the look.

import { assert, textOf, until } from "../check.js";
import { talk } from "../sessions.js";

const TOKEN = "a-token-for-the-console-tests";

async function agentSettings({ service, visit }) {
  const here = await visit();
  await here.open("agents");
  const { page } = here;
  const fixed = page.getByRole("form", { name: "Settings of writer" });
  await fixed.getByText("read-only").waitFor();
  assert.equal(await fixed.getByRole("slider").isDisabled(), true);

  await page.getByLabel("New agent").fill("reviewer");
  await page.getByRole("button", { name: "Add agent" }).click();
  const form = page.getByRole("form", { name: "Settings of reviewer" });
  const slider = form.getByRole("slider");
  await slider.waitFor();
  assert.deepEqual(
    await slider.evaluate(({ min, max, step }) => [min, max, step]),
    ["0", "100", "5"],
  );
  await slider.focus();
  await page.keyboard.press("Home");
  await form.getByText("Threshold: off").waitFor();
  await page.keyboard.press("End");
  for (let at = 100; at > 30; at -= 5) await page.keyboard.press("ArrowLeft");
  await form.getByText("Threshold: 30%").waitFor();
  const keep = form.getByRole("spinbutton");
  assert.deepEqual(await keep.evaluate(({ min, max }) => [min, max]), ["0", "20"]);
  for (const [refused, why] of [["1", "customError"], ["21", "rangeOverflow"], ["-1", "rangeUnderflow"]]) {
    await keep.fill(refused);
    await form.getByRole("button", { name: "Save" }).click();
    assert.equal(await keep.evaluate((field, why) => field.validity[why], why), true, `${refused} is refused`);
  }
  assert.deepEqual((await service.call("GET", "/v1/agents/reviewer")).settings, {}, "nothing of it is saved");
  await keep.fill("8");
  await form.getByLabel("Summaries are written by").selectOption("llm");
  const channel = form.getByRole("combobox", { name: /channel/i });
  assert.deepEqual((await channel.locator("option").allInnerTexts()).slice(1), ["local"], "only channels for compaction");
  await channel.selectOption("local");
  await form.getByRole("combobox", { name: /^Auxiliary model/ }).fill("large");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Settings of reviewer saved").waitFor();
  const { settings } = await service.call("GET", "/v1/agents/reviewer");
  assert.deepEqual(settings, {
    threshold_percent: 30,
    keep_recent: 8,
    summarizer: "llm",
    channel: "local",
    model: "large",
  });

  // They count for its sessions.
  const { id } = await service.session(talk(1, 200), { agent: "reviewer" });
  await here.open(`sessions/${id}`);
  await until(() => page.getByRole("meter").getAttribute("aria-valuetext"), /threshold of 30%/);
  await here.open("agents");
  await form.waitFor(); // the session's page is left before its session goes
  await service.call("DELETE", `/v1/sessions/${id}`);
  await form.getByRole("button", { name: "Remove" }).click();
  await until(() => form.count(), 0);
}

async function channelList({ visit }) {
  const here = await visit();
  await here.open("channels");
  const { page } = here;
  const rows = page.locator("tbody tr");
  await until(() => rows.count(), 2);
  const local = rows.filter({ hasText: "local" }).first();
  assert.match(await textOf(local), /auxiliary.*small, large/);
  assert.equal(await rows.filter({ hasText: "chatty" }).getByText("auxiliary").count(), 0);
  await page.getByLabel("Only those that may be used for compaction").check();
  await until(() => rows.count(), 1);
  await local.getByText("auxiliary").waitFor();
}

async function token({ bench, visit }) {
  const service = await bench.another({ token: TOKEN });
  try {
    const { id } = await service.session(talk(1, 200), { title: "Behind a token" });
    const here = await visit({ service });
    here.expect("status of 401");
    here.expectLoss();
    const { page } = here;
    const dialog = page.getByRole("dialog", { name: /asks for a token/ });
    await dialog.getByLabel("Token").fill("a-wrong-token-of-some-length");
    await dialog.getByRole("button", { name: "Go on" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Behind a token" }).click();
    await page.locator(".message").first().waitFor();
    // Events come with it too.
    await service.call("POST", `/v1/sessions/${id}/messages`, { messages: [{ role: "user", content: "And this" }] });
    const { context } = await service.call("GET", `/v1/sessions/${id}`);
    await until(() => page.getByRole("meter").getAttribute("aria-valuenow"), String(context.usedTokens));
    // It is this tab's alone.
    assert.equal(await page.evaluate(() => sessionStorage.getItem("epitome.token")), TOKEN);
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage) + location.href + document.cookie)).includes(TOKEN));
    await page.reload();
    await page.locator(".message").first().waitFor();
  } finally {
    await service.kill();
  }
}

async function colours({ visit }) {
  const here = await visit({ colorScheme: "dark" });
  const { page } = here;
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: /^Colours: auto/ }).click();
  await page.getByRole("button", { name: /^Colours: light/ }).waitFor();
  const light = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  await page.getByRole("button", { name: /^Colours: light/ }).click();
  await until(ground, dark);
}

/** What the service would refuse is not offered, and the page says why. */
async function withoutStore({ bench, visit }) {
  const service = await bench.another({ store: "none" });
  try {
    const here = await visit({ service });
    here.expect("status of 404");
    const { page } = here;
    await page.getByText("This service stores no sessions: start it with --store").waitFor();
    assert.equal(await page.getByRole("button", { name: "New session" }).isDisabled(), true);
    assert.equal(await page.getByRole("button", { name: "Open a recorded session" }).count(), 0);
    await here.open("agents");
    await page.getByText("This service stores no agents").waitFor();
    await page.getByLabel("New agent").fill("reviewer");
    assert.equal(await page.getByRole("button", { name: "Add agent" }).isDisabled(), true);
    await here.open("channels");
    await page.getByText("No channel can be set up here").waitFor();
    assert.equal(await page.getByRole("form", { name: "New channel" }).count(), 0);
    await page.goto("about:blank");
  } finally {
    await service.kill();
  }
}

async function namesOnce({ bench, visit }) {
  const service = await bench.another({ channelHosts: ["127.0.0.1:*"] });
  try {
    const here = await visit({ service });
    await here.open("channels");
    const { page } = here;
    const form = page.getByRole("form", { name: "New channel" });
    const add = form.getByRole("button", { name: "Add channel" });
    const fill = async (name) => {
      await form.getByLabel("Name").fill(name);
      await form.getByLabel("Address").fill("http://127.0.0.1:9/v1");
    };
    await fill("local"); // the configuration's
    await form.getByText("There is a channel of this name.").waitFor();
    assert.equal(await add.isDisabled(), true);
    await page.getByLabel("Only those that may be used for compaction").check();
    await fill("chat"); // one that the filter hides
    await form.getByText("There is a channel of this name.").waitFor();
    await page.getByLabel("Only those that may be used for compaction").uncheck();
    await fill("mine");
    await add.click();
    await page.getByText("Channel mine saved").waitFor();
    await fill("mine");
    await form.getByText("There is a channel of this name.").waitFor();
    await service.call("PUT", "/v1/agents/reviewer", { settings: { keep_recent: 8 } });
    await here.open("agents");
    await page.getByRole("form", { name: "Settings of reviewer" }).waitFor();
    await page.getByLabel("New agent").fill("reviewer");
    await page.getByText("There is an agent of this name.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Add agent" }).isDisabled(), true);
    await page.getByLabel("New agent").press("Enter");
    assert.deepEqual((await service.call("GET", "/v1/agents/reviewer")).settings, { keep_recent: 8 }, "its settings stay");
    await page.goto("about:blank");
  } finally {
    await service.kill();
  }
}

async function notNow({ service, visit }) {
  const empty = await service.call("POST", "/v1/sessions", { title: "Empty" });
  const here = await visit();
  await here.open(`sessions/${empty.id}`);
  const { page } = here;
  const compact = page.getByRole("button", { name: "Compact…" });
  await compact.waitFor();
  assert.equal(await compact.isDisabled(), true);
  await until(() => compact.getAttribute("title"), "There is nothing to compact: the session has no messages.");
  // A compaction on which another is built is not undone before that one.
  const { id } = await service.session(talk(8, 2_000));
  for (const more of [talk(6, 1_400), []]) {
    await service.call("POST", `/v1/sessions/${id}/compact`, { target: 6_000, chain: ["structured-extraction"] });
    if (more.length > 0) await service.call("POST", `/v1/sessions/${id}/messages`, { messages: more });
  }
  const { epochs } = await service.call("GET", `/v1/sessions/${id}/history`);
  assert.deepEqual(epochs.map((epoch) => epoch.covered_by), [1, null]);
  await here.open(`sessions/${id}/compactions`);
  const undo = (number) => page.locator("li.card").filter({ hasText: `Compaction ${number} saved` }).getByRole("button", { name: "Undo" });
  await page.getByText("Compaction 1 is built on it: undo that one first.").waitFor();
  assert.equal(await undo(0).isDisabled(), true);
  await undo(1).click();
  await until(() => undo(0).isDisabled(), false);
  await undo(0).click();
  await until(() => page.locator("[data-undone]").count(), 2);
}

export const settings = [
  ["an agent's settings are edited with the keyboard and count for its sessions", agentSettings],
  ["channels are listed with their mark and filtered", channelList],
  ["without a store nothing is offered that needs one", withoutStore],
  ["a name that is taken is not saved over", namesOnce],
  ["what cannot be done now is not offered, with the reason", notNow],
  ["a service with a token is asked properly", token],
  ["the colours follow the system until somebody chooses", colours],
];
