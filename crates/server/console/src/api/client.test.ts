import { expect, test, vi } from "vitest";

import { Client, errorOf } from "./client";
import { TokenStore } from "./token";

function storage(token?: string) {
  const kept = new Map(token === undefined ? [] : [["epitome.token", token]]);
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

/** Answers 200 to the right token and 401 to everything else; notes what it was asked. */
function service(right: string | null) {
  const asked: { address: string; token: string | null }[] = [];
  vi.stubGlobal("fetch", (address: string, init: RequestInit) => {
    const token = new Headers(init.headers).get("authorization");
    asked.push({ address, token });
    const isRight = right === null || token === `Bearer ${right}`;
    const error = { error: { code: "unauthorized", message: "no token", help: "send one" } };
    return Promise.resolve(Response.json(isRight ? { epochs: [] } : error, { status: isRight ? 200 : 401 }));
  });
  return asked;
}

test("a token is asked for once, kept, and never part of an address", async () => {
  const asked = service("secret");
  const tokens = new TokenStore(storage());
  const question = vi.fn(() => Promise.resolve<string | null>("secret"));
  tokens.question = question;
  const client = new Client(tokens);
  await Promise.all([client.history("a"), client.history("b/c")]);
  expect(question).toHaveBeenCalledTimes(1);
  await client.history("a");
  expect(asked.at(-1)).toEqual({ address: "../v1/sessions/a/history", token: "Bearer secret" });
  expect(asked.every(({ address }) => !address.includes("secret"))).toBe(true);
  expect(asked.some(({ address }) => address === "../v1/sessions/b%2Fc/history")).toBe(true);
});

test("a wrong token is asked for again; who gives up gets the error", async () => {
  service("secret");
  const kept = storage("old");
  const tokens = new TokenStore(kept);
  const answers = ["wrong", null];
  const wasRefused: boolean[] = [];
  tokens.question = (refused) => {
    wasRefused.push(refused);
    return Promise.resolve(answers.shift() ?? null);
  };
  await expect(new Client(tokens).history("a")).rejects.toMatchObject({ status: 401, code: "unauthorized" });
  expect(wasRefused).toEqual([true, true]);
  expect(tokens.current()).toBeNull();
});

test("a service that is not there", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  const error = await new Client(new TokenStore(storage())).history("a").catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 0, retryable: true });
});

test("who leaves breaks off what is being read, and finishes what is being changed", async () => {
  const signals: (AbortSignal | null | undefined)[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    signals.push(init.signal);
    if (init.signal?.aborted) return Promise.reject(new DOMException("left", "AbortError"));
    return Promise.resolve(Response.json({ epochs: [] }));
  });
  const life = new AbortController();
  const client = new Client(new TokenStore(storage())).until(life.signal);
  await client.history("a");
  life.abort();
  await expect(client.history("a")).rejects.toMatchObject({ name: "AbortError" });
  await client.undo("a", 1);
  expect(signals).toEqual([life.signal, life.signal, undefined]);
});

test("errors of any shape", () => {
  const report = { status: "infeasible" };
  expect(errorOf(422, { error: { code: "infeasible", message: "too much" }, report })).toMatchObject({
    code: "infeasible",
    message: "too much",
    help: "choose a larger target or a model with a larger window, or shorten the system prompt",
    report,
    retryable: false,
  });
  for (const body of [null, "text", [], { error: "text" }, { error: { code: 1 } }]) {
    expect(errorOf(503, body)).toMatchObject({ code: "unknown", status: 503, retryable: true });
  }
});
