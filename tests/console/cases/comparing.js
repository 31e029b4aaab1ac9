// Before and after: previews, receipts, recall.

import { assert, textOf, until } from "../check.js";
import { talk, toolWork } from "../sessions.js";

async function previewAndEdit({ service, visit }) {
  const { id, context } = await service.session(talk(6, 2_600), { agent: "writer" });
  const here = await visit();
  here.expect("status of 409");
  await here.open(`sessions/${id}`);
  const { page } = here;
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill("the parser");
  await page.getByRole("button", { name: "Preview first" }).click();
  await page.getByRole("heading", { name: "Preview of a compaction" }).waitFor();
  const fold = page.getByText(/^Change the (summary|\d+ summaries) \(optional\)$/);
  await fold.waitFor();
  const editor = page.getByLabel(/^Summary/).first();
  assert.equal(await editor.isVisible(), false, "editing is optional, and folded until it is wanted");
  assert.doesNotMatch(page.url(), /focus|parser/, "what was typed is in no address");
  assert.equal((await service.call("GET", `/v1/sessions/${id}`)).context.usedTokens, context.usedTokens);

  // The session goes on meanwhile: the draft is no longer one of this session.
  await service.call("POST", `/v1/sessions/${id}/messages`, { messages: [{ role: "assistant", content: "Meanwhile" }] });
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Preview again" }).click();
  await until(() => page.getByRole("alert").count(), 0);

  await fold.click();
  await editor.fill("## Corrected\n\nThe parser is **finished**, as a person says. ".repeat(6));
  await page.getByRole("button", { name: "Apply with 1 changed summary" }).click();
  await page.locator(".bubble[data-state=done]").waitFor();
  await page.locator(".bubble").getByRole("button", { name: "Summary" }).click();
  await page.getByRole("dialog").getByRole("heading", { name: "Corrected" }).first().waitFor();
}

async function aboveTheTarget({ service, visit }) {
  const { id } = await service.session(talk(6, 500));
  const { report } = await service.call("POST", `/v1/sessions/${id}/preview`, { target: 50 });
  const above = report.tokens_after - 50;
  assert.ok(above > 0);
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Target").fill("50");
  await page.getByRole("button", { name: "Preview first" }).click();
  const apply = page.getByRole("button", { name: /^Apply/ });
  const over = above.toLocaleString("en");
  await until(() => textOf(apply), `Apply, ${over} above the target`);
  const left = report.tokens_after.toLocaleString("en");
  await page.getByText(`The target is not reached: ${left} tokens would be left, ${over} above the target of 50.`).waitFor();
  await apply.click();
  await page.locator(".bubble[data-state=done]").waitFor();
}

async function receipts({ service, visit }) {
  const { id } = await service.session(toolWork());
  const { report, epoch } = await service.call("POST", `/v1/sessions/${id}/compact`, {
    target: 1_500,
    chain: ["tool-results", "structured-extraction"],
  });
  assert.equal(report.status, "compacted");
  const here = await visit();
  await here.open(`sessions/${id}/compactions`);
  const { page } = here;
  assert.match(await textOf(page.locator(".card")), /trigger: manual/);
  await page.getByRole("link", { name: "Before and after" }).click();
  await page.locator(".compare").waitFor();
  // Every message once, with its outcome.
  const filters = page.locator(".filters label");
  const told = await filters.allInnerTexts();
  const counts = told.map((text) => Number(/\d+/.exec(text)[0]));
  assert.equal(counts.reduce((sum, count) => sum + count, 0), report.messages_before, told.join("; "));
  // Every edit with its code and its strategy.
  const { edits } = await service.call("GET", `/v1/sessions/${id}/epochs/${epoch}`);
  const shown = await textOf(page.locator(".compare"));
  for (const { reason, strategy, messages } of edits.filter((edit) => edit.messages.length > 0)) {
    assert.ok(shown.includes(reason.code) && shown.includes(strategy), `${reason.code} by ${strategy} of ${messages}`);
  }
  // A filter hides what it says.
  const kept = page.locator(".kept");
  assert.ok((await kept.count()) > 0);
  await page.getByRole("checkbox", { name: /^kept/ }).uncheck();
  if ((await page.getByRole("checkbox", { name: /^pinned/ }).count()) === 0) await until(() => kept.count(), 0);
}

async function recall({ service, visit }) {
  const { id } = await service.session(toolWork());
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 3_000, chain: ["tool-results"] });
  const here = await visit();
  await here.open(`sessions/${id}`);
  const { page } = here;
  // In the message itself.
  const result = page.locator(".message[data-role=tool]").first();
  await result.getByText("shortened").waitFor();
  await result.locator("summary").click();
  const mark = result.locator("button.mark").first();
  assert.match(await textOf(mark), /lines, [\d,]+ tokens elided · recall [0-9a-f]{8}/);
  await mark.click();
  const dialog = page.getByRole("dialog", { name: /^Recalled/ });
  const left = dialog.locator("del.lines");
  await left.first().waitFor();
  assert.match(await textOf(left.first()), /step \d+ of the build took/);
  await dialog.getByLabel("Highlight what left").uncheck();
  const whole = await dialog.locator("pre").innerText();
  assert.equal(whole.split("\n").length, 900);
  assert.ok(whole.includes("error: the parser stopped at a brace"));
  await page.keyboard.press("Escape");
  await until(() => dialog.count(), 0);
  // Beside each other: what is gone on the left, what stands for it on the right.
  await page.getByRole("link", { name: "Before and after" }).click();
  const pair = page.locator(".pair").first();
  await pair.locator("del.lines").first().waitFor();
  assert.match(await textOf(pair.locator("ins.lines").first()), /elided · recall/);
  await pair.getByRole("button", { name: "Recall" }).first().click();
  await left.first().waitFor();
}

async function unknownHandle({ service, visit }) {
  const { id } = await service.session([{ role: "user", content: "[… 3 lines elided · recall 0123456789abcdef]" }]);
  const here = await visit();
  here.expect("status of 404");
  await here.open(`sessions/${id}`);
  await here.page.locator("button.mark").click();
  await here.page.getByRole("dialog").getByRole("alert").waitFor();
}

export const comparing = [
  ["a preview is stale after a message, made again, its summary edited and applied", previewAndEdit],
  ["a preview above its target says so, and so does the button", aboveTheTarget],
  ["before and after tell of every message once, with reason and strategy", receipts],
  ["an elided part is recalled, and what left is highlighted", recall],
  ["a handle that nobody knows is told as such", unknownHandle],
];
