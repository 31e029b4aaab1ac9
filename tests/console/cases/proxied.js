// The proxy's conversations.

import { assert, textOf, until } from "../check.js";
import { talk } from "../sessions.js";

async function live({ bench, model, visit }) {
  const service = await bench.another({ upstream: model.address });
  try {
    const here = await visit({ service, at: "/console/" });
    await here.open("proxy");
    const { page } = here;
    await page.getByText("No conversation has gone through the proxy yet").waitFor();
    model.usage = { prompt_tokens: 10_000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 8_000 } };
    const messages = talk(6, 3_000);
    messages[0].content = `Why does the parser stop? ${messages[0].content}`;
    messages.push({ role: "user", content: "And now?" });
    const say = () => service.call("POST", "/v1/chat/completions", { model: "gpt-5.4-mini", messages });
    await say();
    // Nobody loads the page again.
    const card = page.locator("li.card");
    await until(() => textOf(card.first()).catch(() => ""), /^Why does the parser stop\? .* gpt-5\.4-mini 1 request 1 compaction /);
    const figure = (name) => textOf(card.locator(".account > div").filter({ hasText: name }).first());
    const [one] = (await service.call("GET", "/v1/proxy/conversations")).items;
    assert.ok(one.tokens_before > one.tokens_after && one.tokens_saved === one.tokens_before - one.tokens_after);
    const count = (value) => value.toLocaleString("en");
    assert.equal(await figure("Context"), `Context ${count(one.tokens_after)} of ${count(one.tokens_usable)} came as ${count(one.tokens_before)} (−${Number((100 * (1 - one.tokens_after / one.tokens_before)).toFixed(1))}%)`);
    assert.equal(await figure("Not sent"), `Not sent ${count(one.tokens_saved)} tokens`);
    await until(() => figure("From the cache"), "From the cache 8,000 80%");
    // 2,000 tokens at 0.75 dollars a million, 8,000 at 0.075, 100 at 4.5.
    assert.equal(await figure("Price"), "Price $0.0026");
    messages.push({ role: "assistant", content: "Because of a brace." }, { role: "user", content: "Mend it." });
    await say();
    await until(() => textOf(card.first()), / 2 requests /);
    await until(() => figure("Input"), "Input 20,000");
    assert.equal(await card.count(), 1, "two requests are one conversation");
    // Another one, of a model whose price nobody knows.
    await service.call("POST", "/v1/chat/completions", { model: "unheard-of", messages: [{ role: "user", content: "Good morning!" }] });
    await until(() => card.count(), 2);
    await until(() => textOf(card.first()), /^Good morning! .*Price not known$/);
    const sums = page.getByRole("region", { name: "All of these together" });
    await until(() => textOf(sums), /Input 30,000 .*Price \$0\.0051 without 1 answer of models without a known price$/);
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    const saved = (await service.call("GET", "/v1/proxy/conversations")).items.reduce((sum, { tokens_saved }) => sum + tokens_saved, 0);
    assert.ok(saved > 0 && metrics.includes(`epitome_tokens_saved_total{of="proxy"} ${saved}\n`), `${saved} in ${metrics}`);
    here.expectLoss();
    await service.kill();
    await page.getByText("The list is not up to date").waitFor();
    assert.equal(await card.count(), 2, "what was known stays");
  } finally {
    await service.kill();
  }
}

async function withoutProxy({ visit }) {
  const here = await visit();
  await here.open("proxy");
  await here.page.getByText("This service sends no requests on: start it with --upstream").waitFor();
}

export const proxied = [
  ["the proxy's conversations are listed as they go on, with what they cost and save", live],
  ["a service without a proxy says how to get one", withoutProxy],
];
