// The keyboard, narrow windows, and what assistive technology finds.

import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

import { assert, textOf, until } from "../check.js";
import { talk, toolWork } from "../sessions.js";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function keyboard({ service, visit }) {
  const { id } = await service.session(talk(6, 2_600), { title: "By keyboard" });
  const here = await visit();
  const { page } = here;
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await page.getByRole("link", { name: "By keyboard" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "MAIN");
  for (let tabs = 0; (await focused()) !== "By keyboard"; tabs += 1) {
    assert.ok(tabs < 12, "the session is not reached by Tab");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "By keyboard" }).waitFor();
  await until(focused, "By keyboard", "the heading of the new page has the focus");
  const compact = page.getByRole("button", { name: "Compact…" });
  for (let tabs = 0; (await focused()) !== "Compact…"; tabs += 1) {
    assert.ok(tabs < 12, "the button is not reached by Tab");
    await page.keyboard.press("Tab");
  }
  assert.notEqual(await compact.evaluate((button) => getComputedStyle(button).outlineStyle), "none", "the focus shows");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  for (let tabs = 0; tabs < 12; tabs += 1) {
    const isOutside = await page.evaluate(() => {
      const { activeElement } = document;
      return activeElement !== null && activeElement !== document.body && !activeElement.closest("dialog");
    });
    assert.equal(isOutside, false, "the dialog keeps the focus");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Escape");
  await until(() => dialog.count(), 0);
  assert.equal(await focused(), "Compact…", "the focus is back where it was");
  await page.keyboard.press("Enter");
  await page.keyboard.type("the parser");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Preview of a compaction" }).waitFor();
  const apply = page.getByRole("button", { name: "Apply" });
  await apply.focus();
  await page.keyboard.press("Enter");
  await page.locator(".bubble[data-state=done]").waitFor();
  assert.ok((await service.call("GET", `/v1/sessions/${id}`)).epochs === 1);
}

/** Every page of a session that has everything. */
async function pages(service) {
  const { id } = await service.session(toolWork(), { title: "Everything" });
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 1_500, chain: ["tool-results", "structured-extraction"] });
  const session = `sessions/${id}`;
  return ["", session, `${session}/preview`, `${session}/context`, `${session}/compactions`, `${session}/epochs/0`, "agents", "channels"];
}

async function axe({ service, visit }) {
  const routes = await pages(service);
  for (const colorScheme of ["light", "dark"]) {
    const here = await visit({ colorScheme });
    for (const route of [...routes, "proxy"]) {
      await here.open(route);
      await until(() => here.page.locator("[aria-busy=true]").count(), 0);
      await here.page.locator("main :is(.card, .message, .compare, table, .notice)").first().waitFor();
      await look(here.page, `${route} in ${colorScheme}`);
    }
    await here.open(routes[1]);
    await here.page.getByRole("button", { name: "Compact…" }).click();
    await look(here.page, `the dialog in ${colorScheme}`);
    await here.page.keyboard.press("Escape");
    await here.page.locator(".bubble").getByRole("button", { name: "Summary" }).click();
    await here.page.locator(".markdown").first().waitFor();
    await look(here.page, `the drawer in ${colorScheme}`);
    await here.page.getByRole("dialog").locator("button.mark").first().click();
    await here.page.getByRole("dialog", { name: /^Recalled/ }).locator(".message").first().waitFor();
    await look(here.page, `what was recalled in ${colorScheme}`);
  }
}

async function look(page, where) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html).join(" | ")}`);
  });
  assert.deepEqual(violations, [], where);
}

async function narrow({ service, visit }) {
  const routes = await pages(service);
  const here = await visit({ viewport: { width: 320, height: 640 } });
  for (const route of routes) {
    await here.open(route);
    await here.page.locator("main :is(.card, .message, .compare, table)").first().waitFor();
    const [wide, window] = await here.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `${route || "the list"} is ${wide} wide`);
  }
}

async function phone({ service, visit }) {
  const title = "A title that is much longer than a telephone is wide, as titles of real sessions are";
  const { id } = await service.session(talk(20, 400), { title });
  const here = await visit({ viewport: { width: 390, height: 844 } });
  await here.open(`sessions/${id}`);
  const { page } = here;
  await page.locator(".message").last().waitFor();
  const inSight = (locator) =>
    locator.evaluate((part) => {
      const { left, top, width, height } = part.getBoundingClientRect();
      const found = document.elementFromPoint(left + Math.min(width, innerWidth) / 2, top + height / 2);
      return top >= 0 && top + height <= innerHeight / 4 && (found === part || part.contains(found));
    });
  for (const place of ["the end", "the middle", "the beginning"]) {
    const at = { "the end": 1, "the middle": 0.5, "the beginning": 0.1 }[place];
    await page.evaluate((at) => scrollTo(0, document.documentElement.scrollHeight * at), at);
    await until(() => inSight(page.getByRole("heading", { level: 1, name: title })), true, `the title at ${place}`);
    await until(() => inSight(page.getByRole("meter")), true, `the bar at ${place}`);
  }
  for (const name of ["Sessions", "Proxy", "Agents", "Channels"]) {
    await page.evaluate(() => scrollTo(0, 0));
    const box = await page.getByRole("navigation").getByRole("link", { name }).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `${name} is on the page`);
  }
}

async function stillness({ service, model, visit }) {
  const { id } = await service.session(talk(6, 2_600), { agent: "writer" });
  const here = await visit({ reducedMotion: "reduce" });
  await here.open(`sessions/${id}`);
  model.hold();
  await here.page.getByRole("button", { name: "Compact…" }).click();
  await here.page.getByRole("button", { name: "Compact now" }).click();
  const glyph = here.page.locator(".bubble[data-state=running] .glyph");
  await glyph.waitFor();
  assert.equal(await glyph.evaluate((glyph) => getComputedStyle(glyph).animationName), "none");
  model.release();
  assert.match(await textOf(here.page.locator(".bubble[data-state=done]")), /saved/);
}

export const accessibility = [
  ["a session is found, previewed and compacted with the keyboard alone", keyboard],
  ["assistive technology finds nothing to complain about, in light and dark", axe],
  ["a window of 320 pixels is wide enough", narrow],
  ["on a telephone the title and the bar stay in sight", phone],
  ["nothing moves for those who do not want it", stillness],
];
