// English and Chinese.

import { assert, until } from "../check.js";
import { talk, toolWork } from "../sessions.js";

async function byTheBrowser({ service, visit }) {
  const { id } = await service.session(talk(1, 100), { title: "In two languages" });
  const here = await visit({ locale: "zh-CN" });
  const { page } = here;
  await page.getByRole("heading", { name: "会话", exact: true }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  assert.equal(await page.title(), "会话 · epitome");
  // What is being typed stays when the language changes.
  await here.open(`sessions/${id}`);
  const field = page.getByRole("textbox", { name: /compact parser/ });
  await field.fill("Not sent yet");
  await page.getByText("共 2 条消息").or(page.getByText("2 条消息")).first().waitFor();
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("button", { name: "Compact…" }).waitFor();
  assert.equal(await field.inputValue(), "Not sent yet");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  await page.reload();
  await page.getByRole("button", { name: "Compact…" }).waitFor();
  await page.getByRole("button", { name: "中文" }).click();
  await page.getByRole("button", { name: "压缩…" }).waitFor();
}

/** What a page says in Chinese: letters of another alphabet are names, code and what the session itself holds. */
async function everyPage({ service, visit }) {
  const { id } = await service.session(toolWork(), { title: "所有页面" });
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 1_500, chain: ["tool-results", "structured-extraction"] });
  const here = await visit({ locale: "zh-CN" });
  const session = `sessions/${id}`;
  for (const route of ["", "proxy", session, `${session}/preview`, `${session}/context`, `${session}/compactions`, `${session}/epochs/0`, "agents", "channels"]) {
    await here.open(route);
    await until(() => here.page.locator("[aria-busy=true]").count(), 0);
    const headings = await here.page.locator("h1, h2:not(.markdown *), main button, main label > span, th[scope=col], dt").allInnerTexts();
    const english = headings.filter((text) => /[a-z]{3}/i.test(text) && !/[\u4e00-\u9fff]/.test(text));
    // Titles of other sessions are as they were given, and marks are the engine's.
    assert.deepEqual(english.filter((text) => !/\[…|^Recall|· recall/.test(text)), [], route);
  }
}

async function errors({ visit }) {
  const here = await visit({ locale: "zh-CN" });
  here.expect("status of 404");
  await here.open("sessions/nobody/compactions");
  await here.page.getByRole("alert").getByText("没有这个会话。").waitFor();
  await here.page.getByRole("alert").getByText("“会话”页面列出了现有的会话").waitFor();
}

export const languages = [
  ["the console speaks the browser's language until somebody chooses", byTheBrowser],
  ["every page speaks Chinese", everyPage],
  ["what is wrong is told in Chinese", errors],
];
