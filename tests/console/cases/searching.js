// Searching everything that was said.

import { assert, textOf, until } from "../check.js";
import { talk } from "../sessions.js";

/** Whether the beginning of an element is seen, below the session's head. */
function isInSight(locator) {
  return locator.evaluate((element) => {
    const { top } = element.getBoundingClientRect();
    return top >= document.querySelector(".session-head").getBoundingClientRect().bottom && top < innerHeight;
  });
}

/** Whether the message of this text is highlighted, has the focus and begins in sight. */
async function isAimedAt(page, text) {
  const aimed = page.locator(".message[data-aimed]").filter({ hasText: text });
  await aimed.waitFor();
  await until(() => aimed.evaluate((element) => element === document.activeElement), true, `${text} has the focus`);
  assert.equal(await page.locator(".message[data-aimed]").count(), 1);
  assert.notEqual(await aimed.evaluate((element) => getComputedStyle(element).outlineStyle), "none", "it is highlighted");
  await until(() => isInSight(aimed), true, `${text} is in sight`);
}

async function findsWhatLeft({ service, visit }) {
  const { id } = await service.session([
    { role: "user", content: "Never touch partner HLV-2209, whatever else you do to the importer." },
    ...talk(30, 60),
    { role: "user", content: "The newest word is armadillo." },
  ]);
  const { page } = await visit({ at: `/console/#/sessions/${id}` });
  // A session opens at its end: what is searched before that is out of sight again.
  await page.locator(".message").getByText("The newest word is armadillo.").waitFor();
  const box = page.getByRole("searchbox", { name: "Search in the full history" });
  await box.fill("armadillo");
  await box.press("Enter");
  const hit = page.locator(".hit").first();
  await hit.getByText("The newest word is armadillo.").waitFor();
  await hit.getByText("in the context", { exact: true }).waitFor();
  await until(() => isInSight(hit), true, "the best hit is in sight");
  await service.call("POST", `/v1/sessions/${id}/compact`, { target: 600 });
  await box.fill("Answer 3");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.locator(".hit .place.out").first().waitFor();
  await page.locator(".hit").first().getByRole("button", { name: "Show in full history" }).click();
  await page.getByRole("radio", { name: "Full history" }).and(page.locator(":checked")).waitFor();
  const aimed = page.locator(".message[data-aimed]");
  await isAimedAt(page, "Answer 3:");
  // In the view that is shown already, and in one window as in another.
  await page.setViewportSize({ width: 1200, height: 500 });
  await box.fill("HLV-2209");
  await box.press("Enter");
  const first = page.locator(".hit").filter({ hasText: "HLV-2209" }).first();
  await first.getByText("#0", { exact: true }).waitFor();
  await first.getByRole("button", { name: "Show in full history" }).click();
  await isAimedAt(page, "Never touch partner HLV-2209");
  await until(() => textOf(aimed.locator(".number")), "#0", "the number that the hit has");
  await box.fill("xylophone");
  await box.press("Enter");
  await page.getByText("Nothing that was said matches").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator(".hit").count(), 0);
}

export const searching = [["searching finds what left the context", findsWhatLeft]];
