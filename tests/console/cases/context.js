// What fills a context, what would leave it, and what has left.

import { assert, textOf, until } from "../check.js";
import { toolWork } from "../sessions.js";

async function toldByPart({ service, visit }) {
  const { id } = await service.session(toolWork(), { title: "Work with a log" });
  const context = await service.call("GET", `/v1/sessions/${id}/context`);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  await page.getByRole("link", { name: "Context" }).click();
  await page.getByRole("heading", { name: "Context", exact: true }).waitFor();
  await until(() => page.getByRole("meter").getAttribute("aria-valuenow"), String(context.fullness.current_tokens));
  const largest = page.locator(".context-part").first();
  assert.match(await textOf(largest), /^Tool results [\d,]+ tokens, [\d.]+% 1 message 1 tool$/);
  assert.equal(await page.locator(".context-part").count(), context.contents.parts.length);
  await largest.getByText("1 tool").click();
  await largest.getByText("read_log").waitFor();
  // A result that fills a fifth of the window deserves a look.
  await page.getByText(/One result of read_log \(#2\) fills \d+% of the usable window/).waitFor();
  const next = page.getByRole("heading", { name: "What would leave next" });
  await next.waitFor();
  const departures = page.locator("section", { has: next }).locator(".card");
  assert.equal(await departures.count(), context.next.departures.filter((it) => it.tokens_saved > 0).length);
  assert.match(await textOf(departures.first()), /saves [\d,]+ tokens/);
  await page.locator("section", { has: page.getByRole("heading", { name: "What has left" }) }).getByText("Nothing.").waitFor();
  await page.getByRole("link", { name: "Preview…" }).click();
  await page.getByRole("heading", { name: "Preview of a compaction" }).waitFor();
  assert.equal((await service.call("GET", `/v1/sessions/${id}`)).epochs, 0, "nothing was changed");
}

async function broughtBack({ service, visit }) {
  const { id } = await service.session(toolWork());
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 1_500, chain: ["tool-results", "structured-extraction"] });
  const here = await visit();
  await here.open(`sessions/${id}/context`);
  const { page } = here;
  const left = page.locator("section", { has: page.getByRole("heading", { name: "What has left" }) });
  await left.locator(".card").first().waitFor();
  await left.getByRole("button", { name: /^Recall/ }).first().click();
  const dialog = page.getByRole("dialog", { name: /^Recalled/ });
  await dialog.locator(":is(.message, pre, .diff)").first().waitFor();
  await page.keyboard.press("Escape");
  await left.getByRole("link", { name: "Before and after" }).first().click();
  await page.locator(".compare .receipt").first().waitFor();
}

async function lookedAtAgain({ service, visit }) {
  const { id } = await service.session([{ role: "user", content: "Only this." }]);
  const here = await visit();
  await here.open(`sessions/${id}/context`);
  const { page } = here;
  const parts = page.locator(".context-part");
  await until(() => parts.count(), 1);
  await service.call("POST", `/v1/sessions/${id}/messages`, { messages: [{ role: "assistant", content: "And this." }] });
  await page.getByRole("button", { name: "Look again" }).click();
  await until(() => parts.count(), 2);
  here.expect("404");
  await here.open("sessions/nobody/context");
  await page.getByRole("alert").waitFor();
}

export const context = [
  ["a context is told by part, with what would leave it", toldByPart],
  ["what has left a context is brought back", broughtBack],
  ["a context is looked at again", lookedAtAgain],
];
