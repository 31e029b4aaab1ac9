// Compactions: running, done, failed; summaries; undo.

import { assert, textOf, until } from "../check.js";
import { talk } from "../sessions.js";

/** A session that a model writes summaries of. */
async function written(service, rounds = 6) {
  const { id, context } = await service.session(talk(rounds, 2_600), { agent: "writer" });
  return { id, tokens: context.usedTokens };
}

async function compactNow(page, focus = "") {
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill(focus);
  await page.getByRole("button", { name: "Compact now" }).click();
}

async function threeStates({ service, model, visit }) {
  const { id, tokens } = await written(service);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  await until(() => page.locator(".token-bar").getAttribute("data-state"), "above");

  model.hold();
  await compactNow(page, "the parser");
  const running = page.locator(".bubble[data-state=running]");
  await running.waitFor();
  await until(() => textOf(running), /Compacting 12 messages \(manual\)/);
  await until(() => textOf(running), /Summaries: 0 of [1-9]/);
  await until(() => page.getByRole("status").innerText(), "Compaction started");
  assert.equal(await page.getByRole("button", { name: "Compact…" }).isDisabled(), true);
  model.release();

  const done = page.locator(".bubble[data-state=done]");
  await done.waitFor();
  await until(() => running.count(), 0);
  assert.match(await textOf(done), /Compaction 0 saved [\d,]+ tokens \([\d.]+%\)/);
  await until(() => page.getByRole("status").innerText(), /Compaction done: [\d,]+ to [\d,]+ tokens/);
  await until(() => page.locator(".token-bar").getAttribute("data-state"), "calm");

  // The summary, as a page, with what is behind it.
  await done.getByRole("button", { name: "Summary" }).click();
  const drawer = page.getByRole("dialog", { name: "Summary" });
  const handOff = drawer.locator(".summary").filter({ has: page.getByRole("heading", { name: "Goal" }) });
  assert.equal(await textOf(handOff.locator("strong").first()), "parser");
  await handOff.getByText(/Messages behind it \(\d+\)/).click();
  await handOff.getByText(/^Question \d of talk/).first().waitFor();
  // What rules wrote beside it is a transcript, and its lines stay lines.
  const transcript = drawer.locator(".summary > .text").first();
  assert.match(await transcript.innerText(), /(^|\n)» Answer \d: .*\n/);
  await page.keyboard.press("Escape");
  await until(() => drawer.count(), 0);

  // The other view has everything, and says what became of it.
  const counted = page.locator(".counted");
  const fewer = Number(/\d+/.exec(await counted.innerText())[0]);
  assert.ok(fewer < 12, `${fewer}`);
  await page.getByRole("radio", { name: "Full history" }).check();
  await until(() => counted.innerText(), "12 messages");
  const left = page.locator(".message[data-left]");
  assert.ok((await left.count()) > 0);
  await left.last().getByRole("button", { name: "what stands in its place" }).click();
  await drawer.getByRole("heading", { name: "Goal" }).first().waitFor();
  await drawer.getByRole("button", { name: "Close" }).click();
  await page.getByRole("radio", { name: "Compacted view" }).check();
  await until(() => counted.innerText(), `${fewer} messages`);

  // And back.
  await done.getByRole("button", { name: "Undo" }).click();
  await page.locator(".bubble[data-state=undone]").waitFor();
  await until(() => counted.innerText(), "12 messages");
  await until(() => page.getByRole("meter").getAttribute("aria-valuenow"), String(tokens));
  await until(() => page.locator(".token-bar").getAttribute("data-state"), "above");
}

async function failsAndTriesAgain({ service, model, visit }) {
  const { id, tokens } = await written(service);
  const here = await visit();
  here.expect("status of 502");
  await here.open(`sessions/${id}`);
  const { page } = here;
  model.status = 503;
  await compactNow(page);
  const failed = page.locator(".bubble[data-state=failed]");
  await failed.waitFor();
  assert.match(await textOf(failed), /Compaction failed .*the model is out.* The session is as it was/);
  await until(() => page.getByRole("status").innerText(), /Compaction failed/);
  assert.equal(await page.getByRole("meter").getAttribute("aria-valuenow"), String(tokens));
  model.status = 200;
  await failed.getByRole("button", { name: "Try again" }).click();
  await page.locator(".bubble[data-state=done]").waitFor();
  await until(() => failed.count(), 0);
}

async function secondIsIgnored({ service, model, visit }) {
  const { id } = await written(service);
  const here = await visit();
  here.expect("status of 409");
  await here.open(`sessions/${id}`);
  const { page } = here;
  model.hold();
  await compactNow(page);
  await page.locator(".bubble[data-state=running]").waitFor();
  // Another page, opened in the middle of it, sees it too; a message that is sent meanwhile waits for its turn.
  const other = await visit();
  await other.open(`sessions/${id}`);
  await other.page.locator(".bubble[data-state=running]").waitFor();
  await page.getByRole("textbox", { name: /command/ }).fill("/compact");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByRole("textbox", { name: /command/ }).fill("Said meanwhile");
  await page.keyboard.press("Enter");
  model.release();
  for (const { page } of [here, other]) {
    await page.locator(".bubble[data-state=done]").waitFor();
    await page.locator(".message").getByText("Said meanwhile").waitFor();
  }
}

async function slashCommands({ service, visit }) {
  const { id } = await service.session(talk(6, 2_600));
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const type = async (text) => {
    await page.getByRole("textbox", { name: /command/ }).fill(text);
    await page.keyboard.press("Enter");
  };
  await type("/compact parser");
  await page.locator(".bubble[data-state=done]").waitFor();
  await type("/undo");
  await page.locator(".bubble[data-state=undone]").waitFor();
  const { total } = await service.call("GET", `/v1/sessions/${id}/messages?view=full`);
  assert.equal(total, 12, "commands are not stored");
  await type("/history");
  await page.getByRole("heading", { name: "Compactions" }).waitFor();
  await page.locator(".card").getByText("undone").waitFor();
  await page.locator(".card").getByText("behind message #11").waitFor();
  await page.getByText("Numbers count from 0").waitFor();
}

async function enteredMeanwhile({ service, model, visit }) {
  const { id } = await written(service);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const field = page.getByRole("textbox", { name: /command/ });
  model.hold();
  await field.fill("/compact");
  await field.press("Enter");
  await page.locator(".bubble[data-state=running]").waitFor();
  await field.press("Enter"); // the same once more is no second command
  await field.fill("/undo");
  await field.press("Enter");
  await field.fill("Not sent yet");
  model.release();
  await page.locator(".bubble[data-state=undone]").waitFor();
  await until(() => field.inputValue(), "Not sent yet");
  assert.equal((await service.call("GET", `/v1/sessions/${id}/history`)).epochs.length, 1);
}

async function mistypedCommands({ service, visit }) {
  const { id } = await service.session(talk(1, 100));
  const here = await visit();
  here.expect("status of 400");
  await here.open(`sessions/${id}`);
  const { page } = here;
  const field = page.getByRole("textbox", { name: /command/ });
  const type = async (text) => {
    await field.fill(text);
    await page.keyboard.press("Enter");
  };
  const alert = page.getByRole("alert");
  const total = async () => (await service.call("GET", `/v1/sessions/${id}/messages?view=full`)).total;
  await type("/compat the parser");
  await until(() => textOf(alert), /^There is no command \/compat\. The commands are \/compact \[focus\], .* Add it as a message$/);
  assert.equal(await total(), 2, "nothing is stored");
  await field.fill("/compat");
  await until(() => alert.count(), 0);
  await type("/undo everything");
  await until(() => textOf(alert), /is not what \/undo takes.* The commands are/);
  assert.doesNotMatch(await textOf(alert), /`"commands/);
  await type("/foo is what he said");
  await until(() => textOf(alert), /There is no command \/foo/);
  await alert.getByRole("button", { name: "Add it as a message" }).click();
  await page.locator(".message").getByText("/foo is what he said").waitFor();
  await until(() => alert.count(), 0);
  assert.equal(await field.evaluate((field) => field === document.activeElement), true);
  await type("/home/me is full");
  await page.locator(".message").getByText("/home/me is full").waitFor();
  assert.equal(await total(), 4);
}

async function nothingToDo({ service, visit }) {
  const { id, context } = await service.session(talk(1, 300));
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  const bubble = page.locator(".bubble[data-state=unchanged]");
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Target").fill("1000");
  await page.getByRole("button", { name: "Compact now" }).click();
  await bubble.waitFor();
  await until(() => textOf(bubble), /Nothing was compacted The session fits as it is\./);
  await bubble.getByRole("button", { name: "Dismiss" }).click();
  await until(() => page.locator(".bubble").count(), 0);
  const after = await service.call("GET", `/v1/sessions/${id}`);
  assert.deepEqual([after.epochs, after.context.usedTokens], [0, context.usedTokens]);
}

async function nothingMayLeave({ service, visit }) {
  const { id } = await service.session(talk(1, 300).slice(0, 1));
  const here = await visit();
  await here.open(`sessions/${id}`);
  await compactNow(here.page);
  const bubble = here.page.locator(".bubble[data-state=unchanged]");
  await bubble.waitFor();
  await until(() => textOf(bubble), /Not made: of \d+ tokens \d+ would stay \(newest-user \d+\)/);
}

async function tooMuchToStay({ service, visit }) {
  const { id } = await service.session([{ role: "system", content: talk(8, 3_000)[0].content.repeat(20) }, ...talk(1, 200)]);
  const here = await visit();
  here.expect("status of 422");
  await here.open(`sessions/${id}`);
  await compactNow(here.page);
  const failed = here.page.locator(".bubble[data-state=failed]");
  await failed.waitFor();
  assert.match(await textOf(failed), /what must stay/i);
  assert.equal(await failed.getByRole("button", { name: "Try again" }).count(), 0, "trying again changes nothing");
}

export const compacting = [
  ["a compaction runs and is done, its summary is read, the views are switched, it is undone", threeStates],
  ["a compaction fails and is tried again", failsAndTriesAgain],
  ["a second compaction is refused while one runs, a message waits, another page sees it", secondIsIgnored],
  ["slash commands are run and not stored", slashCommands],
  ["what is entered while a command runs comes after it, and what is typed stays", enteredMeanwhile],
  ["a mistyped command is no message until somebody says so", mistypedCommands],
  ["a session that fits says so", nothingToDo],
  ["a session of which nothing may leave says what stays", nothingMayLeave],
  ["a session that cannot fit names what must stay", tooMuchToStay],
];
