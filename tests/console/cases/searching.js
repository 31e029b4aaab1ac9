// Searching everything that was said.

import { assert, until } from "../check.js";
import { talk } from "../sessions.js";

/** Whether the beginning of an element is seen, below the session's head. */
function isInSight(locator) {
  return locator.evaluate((element) => {
    const { top } = element.getBoundingClientRect();
    return top >= document.querySelector(".session-head").getBoundingClientRect().bottom && top < innerHeight;
  });
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
  await page.locator(".hit").first().getByRole("button", { name: "Show in history" }).click();
  await page.getByRole("radio", { name: "Full history" }).and(page.locator(":checked")).waitFor();
  await box.fill("xylophone");
  await box.press("Enter");
  await page.getByText("Nothing that was said matches").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator(".hit").count(), 0);
}

export const searching = [["searching finds what left the context", findsWhatLeft]];
