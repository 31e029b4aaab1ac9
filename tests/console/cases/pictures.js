// The pictures in the documents: PICTURES names the folder that they are written to.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { until } from "../check.js";
import { talk } from "../sessions.js";

const EXAMPLE = new URL("../../../examples/session.jsonl", import.meta.url);

async function take({ bench, model, visit }) {
  const folder = process.env.PICTURES ?? join(process.env.SCRATCH, "pictures");
  await mkdir(folder, { recursive: true });
  const service = await bench.another({ upstream: model.address });
  try {
    model.usage = { prompt_tokens: 12_000, completion_tokens: 240, prompt_tokens_details: { cached_tokens: 9_600 } };
    for (const [question, model, rounds] of [
      ["Why does the parser stop at a brace?", "gpt-5.4", 7],
      ["Write the release notes.", "claude-sonnet-5", 1],
    ]) {
      const messages = talk(rounds, 2_600);
      messages[0].content = `${question}\n${messages[0].content}`;
      messages.push({ role: "user", content: "And now?" });
      await service.call("POST", "/v1/chat/completions", { model, messages });
    }
    let id;
    for (const colorScheme of ["light", "dark"]) {
      const here = await visit({ service, at: "/console/", colorScheme, viewport: { width: 1100, height: 720 } });
      here.expectLoss();
      if (id === undefined) {
        await here.page.locator("input[type=file]").setInputFiles(EXAMPLE.pathname);
        await here.page.waitForURL(/#\/sessions\/\w+$/);
        id = here.page.url().split("/").at(-1);
        await service.call("PATCH", `/v1/sessions/${id}`, { title: "A release, step by step" });
        await service.call("POST", `/v1/sessions/${id}/compact`, { target: 6_000 });
      }
      const shoot = async (name) => {
        await until(() => here.page.locator("[aria-busy=true]").count(), 0);
        await here.page.screenshot({ path: join(folder, `console-${name}-${colorScheme}.png`), animations: "disabled" });
      };
      await here.open(`sessions/${id}`);
      await here.page.reload(); // what is told in the corner is gone
      await here.page.locator(".bubble").first().scrollIntoViewIfNeeded();
      await shoot("session");
      await here.open("proxy");
      await here.page.getByText("$0").first().waitFor();
      await shoot("proxy");
      await here.page.goto("about:blank");
    }
    const phone = await visit({ service, at: "/console/", locale: "zh-CN", viewport: { width: 390, height: 720 } });
    phone.expectLoss();
    await phone.open(`sessions/${id}`);
    await phone.page.getByRole("button", { name: "第一次压缩" }).click();
    await phone.page.locator(".bubble").first().waitFor();
    await until(() => phone.page.locator("[aria-busy=true]").count(), 0);
    await phone.page.screenshot({ path: join(folder, "console-phone-chinese.png"), animations: "disabled" });
    await phone.page.goto("about:blank");
  } finally {
    await service.kill();
  }
}

export const pictures = [["the pictures of the documents are taken", take]];
