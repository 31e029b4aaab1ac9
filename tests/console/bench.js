// What the cases need: a service with a store of its own, a model that is told what to do, and a browser that notices
// whatever should not happen.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { chromium } from "playwright-core";

const { EPITOME_BIN, CHROMIUM, SCRATCH } = process.env;

/** How long anything may take, in milliseconds. */
const PATIENCE = 20_000;

/** 18,000 usable tokens: the threshold is at 14,400, compactions go down to 9,000. */
const configuration = (model) => `
[budget]
window = 20_000
reserve_output = 2_000
soft = 0.8
target = 0.5

[summary]
fall_back_to_rules = false
on_failure = "stop"

[marks]
handles = true

[channels.local]
base_url = "${model}/v1"
models = ["small", "large"]
tries = 1

[channels.chat]
base_url = "${model}/v1"
models = ["chatty"]
compaction = false

[agents.writer]
summarizer = "llm"
channel = "local"
model = "small"
`;

/** The summary that a request asks for: what is given under the first of its headings, or alone where it names none. */
function summaryFor({ messages }, goal) {
  // What is of the session stands between marks, and may have headings of its own.
  const asked = messages.at(-1).content.split(/<\/(?:messages|summary)-[0-9a-f]{8}>/).at(-1);
  const headings = new Set([...asked.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading));
  const [first, ...rest] = headings;
  if (first === undefined) return goal;
  return [`## ${first}\n\n${goal}\n`, ...rest.map((name) => `## ${name}\n\n- nothing that would have to be told of\n`)].join("\n");
}

/** A running `epitome serve`. */
export class Service {
  static #count = 0;

  static async start(config, options = {}) {
    const folder = join(SCRATCH, `service-${++Service.#count}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "epitome.toml"), config);
    const service = new Service();
    service.folder = folder;
    service.options = options;
    await service.run(0);
    return service;
  }

  async run(port) {
    const { folder, options } = this;
    const args = ["serve", "--listen", `127.0.0.1:${port}`, "--config", join(folder, "epitome.toml")];
    args.push("--store", options.store ?? `sqlite:${join(folder, "store.sqlite")}`, "--log", "warn", "--requests-per-minute", "0");
    for (const host of options.channelHosts ?? []) args.push("--channel-host", host);
    if (options.upstream) args.push("--upstream", options.upstream);
    if (options.token) args.push("--token-variable", "CONSOLE_TOKEN");
    const env = { ...process.env, CONSOLE_TOKEN: options.token ?? "" };
    this.process = spawn(EPITOME_BIN, args, { env, stdio: ["ignore", "ignore", "pipe"] });
    this.address = await new Promise((resolve, reject) => {
      let said = "";
      this.process.stderr.on("data", (piece) => {
        said += piece;
        const address = /serves on (http:\S+)/.exec(said);
        if (address) resolve(address[1]);
      });
      this.process.on("exit", (code) => reject(new Error(`epitome ended with ${code}: ${said}`)));
      this.process.on("error", reject);
    });
  }

  /** Ends the process, where it still runs; the store stays, for `run` on the same port. */
  async kill() {
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGKILL");
    await ended;
  }

  async call(method, path, body, more = {}) {
    const headers = { ...more, "content-type": body instanceof Uint8Array ? "application/octet-stream" : "application/json" };
    if (this.options.token) headers.authorization = `Bearer ${this.options.token}`;
    const sent = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await fetch(this.address + path, { method, headers, body: sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  /** A session that begins with messages of an OpenAI request. */
  async session(messages, more = {}) {
    return this.call("POST", "/v1/sessions", { request: messages, format: "openai-chat", ...more });
  }
}

/** An OpenAI-compatible model that writes summaries with the goal and when it is told to. */
class Model {
  static async start() {
    const model = new Model();
    model.server = createServer((request, response) => void model.#answer(request, response));
    await new Promise((resolve) => model.server.listen(0, "127.0.0.1", resolve));
    model.address = `http://127.0.0.1:${model.server.address().port}`;
    model.reset();
    return model;
  }

  reset() {
    this.goal = "The **parser** is to be finished.";
    this.status = 200;
    this.held = null;
    this.usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
    this.release = () => undefined;
  }

  /** Requests wait from here on, until `release` is called. */
  hold() {
    this.held = new Promise((resolve) => (this.release = resolve));
  }

  async #answer(request, response) {
    let asked = "";
    for await (const piece of request.setEncoding("utf8")) asked += piece;
    await this.held;
    const summary = summaryFor(JSON.parse(asked), this.goal);
    const choice = { index: 0, message: { role: "assistant", content: summary }, finish_reason: "stop" };
    const whole = { id: "1", object: "chat.completion", created: 1, model: "small", choices: [choice] };
    const body = this.status === 200 ? whole : { error: { message: "the model is out", type: "server_error" } };
    response.writeHead(this.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...body, usage: this.usage }));
  }
}

export class Bench {
  static async start() {
    const bench = new Bench();
    bench.model = await Model.start();
    bench.service = await Service.start(configuration(bench.model.address));
    bench.browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
    return bench;
  }

  /** Another service, for cases that need one of their own. */
  another(options) {
    return Service.start(configuration(this.model.address), options);
  }

  async stop() {
    this.model.release();
    await this.browser.close();
    await this.service.kill();
    this.model.server.close();
  }

  /** Runs a case, and fails it where the page did what no page may do. */
  async run(work) {
    this.model.reset();
    const visits = [];
    const visit = async (options = {}) => {
      const made = await Visit.start(this, options);
      visits.push(made);
      return made;
    };
    try {
      const note = await work({ bench: this, service: this.service, model: this.model, visit });
      for (const made of visits) made.check();
      return note;
    } finally {
      this.model.release();
      for (const made of visits) await made.context.close();
    }
  }
}

/** A page in a browser that nobody has used before. */
class Visit {
  static async start(bench, { service = bench.service, at = "/", ...options }) {
    const visit = new Visit();
    visit.problems = [];
    visit.expected = [];
    visit.service = service;
    visit.context = await bench.browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
    visit.page = await visit.context.newPage();
    visit.page.setDefaultTimeout(PATIENCE);
    const problem = (text) => visit.problems.push(text);
    visit.page.on("pageerror", (error) => problem(`an error on the page: ${error.stack}`));
    visit.page.on("dialog", (dialog) => {
      problem(`a script opened a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    visit.page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problem(`the page says: ${message.text()}`);
    });
    visit.page.on("popup", () => problem("a window opened"));
    visit.context.on("request", (request) => {
      const { origin, search, pathname } = new URL(request.url());
      const isOurs = origin === service.address || request.url().startsWith("data:image/");
      if (!isOurs) problem(`a request to ${request.url()}`);
      if (service.options.token && `${pathname}${search}`.includes(service.options.token)) problem("a token in an address");
    });
    await visit.page.goto(service.address + at);
    return visit;
  }

  /** Messages of the browser that a case brings about on purpose. */
  expect(part) {
    this.expected.push(part);
  }

  /** The service is killed while the page is open: a request fails in one of these ways, by how far it was. */
  expectLoss() {
    for (const way of ["CONNECTION_REFUSED", "CONNECTION_RESET", "EMPTY_RESPONSE", "INCOMPLETE_CHUNKED_ENCODING"]) {
      this.expect(`ERR_${way}`);
    }
  }

  check() {
    const unexpected = this.problems.filter((problem) => !this.expected.some((part) => problem.includes(part)));
    if (unexpected.length > 0) throw new Error(unexpected.join("\n"));
  }

  /** Goes to a page of the console, such as `sessions/ID`. */
  async open(route) {
    await this.page.goto(`${this.service.address}/console/#/${route}`);
    await this.page.locator("h1").waitFor();
  }
}
