// Shows the page at http://127.0.0.1:7780/page/ (another port: `--port N`). It gives the files that the page needs, and takes
// nothing.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values: options } = parseArgs({ options: { port: { type: "string", default: "7780" } } });
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm" };
const SHOWN = /^\/(page\/[\w.-]+|dist\/esm\/[\w.-]+|native\/epitome-context\.wasm)$/;

for (const needed of ["dist/esm/wasm.js", "native/epitome-context.wasm"]) {
  if (!existsSync(join(home, needed))) {
    console.error(`${needed} is not there: run scripts/build.mjs and scripts/build-wasm.mjs first`);
    process.exit(1);
  }
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://127.0.0.1");
  if (pathname === "/" || pathname === "/page") return response.writeHead(302, { location: "/page/" }).end();
  const path = pathname === "/page/" ? "/page/index.html" : pathname;
  const type = TYPES[extname(path)];
  if (!SHOWN.test(path) || type === undefined || !existsSync(join(home, path))) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": `${type}; charset=utf-8`, "cache-control": "no-cache" });
  createReadStream(join(home, path)).pipe(response);
});
server.listen(Number(options.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/page/ (Ctrl-C stops it)`);
});
