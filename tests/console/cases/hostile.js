// Sessions that try to be pages.

import { assert, until } from "../check.js";
import { hostileSession, hostileText } from "../sessions.js";

/** Elements that no text of a session may make. */
const MARKUP = "img, svg, iframe, script, style, object, embed, base";

/** The console's own forms on these pages. */
const OWN = ".composer, section.history-search > [role=search]";

/** Elements that only markup in a session could have made. */
const FOREIGN = `main :is(${MARKUP}, form:not(${OWN})), dialog :is(${MARKUP}), form[action]`;

async function nothingRuns(page) {
  assert.equal(await page.locator(FOREIGN).count(), 0);
  const addresses = await page.locator("a[href]").evaluateAll((links) => links.map((link) => link.protocol));
  for (const protocol of addresses) assert.match(protocol, /^(https?|mailto):$/);
  assert.equal(await page.locator("main :is([onerror], [onload], [onmouseover], [onclick])").count(), 0);
}

async function everyPage({ service, model, visit }) {
  model.goal = `${hostileText}\n\n# <img src=x onerror=alert(1)>`;
  const title = "<img src=x onerror=alert(1)>";
  const { id } = await service.session(hostileSession(), { title, agent: "writer" });
  const here = await visit();
  const { page } = here;
  await page.getByRole("link", { name: title }).waitFor();
  await nothingRuns(page);
  await here.open(`sessions/${id}`);
  await page.getByRole("heading", { name: title }).waitFor();
  // Everything that can be opened.
  for (const fold of await page.locator("main summary").all()) await fold.click();
  await page.locator(".message").getByText("<script>alert(1)</script>").first().waitFor();
  await page.locator(".message .markdown").first().waitFor();
  await nothingRuns(page);
  assert.equal(await page.locator(".message .markdown a").count(), 0, "no address of these is one to follow");
  await page.getByRole("button", { name: /^Raw text/ }).first().click();
  await nothingRuns(page);

  const box = page.getByRole("searchbox");
  await box.fill("alert script iframe");
  await box.press("Enter");
  await page.locator(".hit").getByText("<script>alert(1)</script>").first().waitFor();
  await nothingRuns(page);

  await page.getByRole("button", { name: "Compact…" }).click();
  await page.getByLabel("Focus").fill(title);
  await page.getByRole("button", { name: "Preview first" }).click();
  await page.getByText(/^Change the .*\(optional\)$/).click();
  await page.getByLabel(/^Summary/).first().waitFor();
  await nothingRuns(page);
  await page.getByRole("button", { name: "Apply" }).click();
  await page.locator(".bubble[data-state=done]").getByRole("button", { name: "Summary" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByText("<iframe srcdoc=").first().waitFor();
  await nothingRuns(page);
  assert.equal(await drawer.locator(".markdown a").count(), 0, "no address of these is one to follow");
  await page.keyboard.press("Escape");
  await until(() => drawer.count(), 0);
  await page.getByRole("link", { name: "Before and after" }).click();
  await page.locator(".compare .receipt").first().waitFor();
  await nothingRuns(page);
  // Everything that left.
  const recalled = [];
  for (const button of await page.locator(".compare").getByRole("button", { name: "Recall", exact: true }).all()) {
    await button.click();
    const left = page.getByRole("dialog").locator(".messages, pre, .diff");
    await left.first().waitFor();
    await nothingRuns(page);
    recalled.push(await left.first().innerText());
    await page.keyboard.press("Escape");
    await until(() => page.getByRole("dialog").count(), 0);
  }
  assert.ok(recalled.some((text) => text.includes("<script>alert(1)</script>")), `${recalled.length} were recalled`);
}

async function policy({ service, visit }) {
  const here = await visit();
  here.expect("TrustedHTML");
  const { page } = here;
  const answer = await page.request.get(`${service.address}/console/`);
  const policy = answer.headers()["content-security-policy"];
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(part), part);
  }
  // And the browser holds the page to it.
  const made = await page.evaluate(() => {
    try {
      document.body.insertAdjacentHTML("beforeend", "<img src=x>");
      return "markup";
    } catch {
      return "refused";
    }
  });
  assert.equal(made, "refused");
}

export const hostile = [
  ["nothing that a session or a summary holds becomes markup or runs", everyPage],
  ["the browser is told to refuse what the page does not do", policy],
];
