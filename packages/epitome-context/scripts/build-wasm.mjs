// Builds native/epitome-context.wasm and says how large it is.
//
//   node scripts/build-wasm.mjs [--module FILE] [--cargo PROGRAM]
//
// It needs a Rust toolchain with the target wasm32-unknown-unknown (`rustup target add wasm32-unknown-unknown`; Debian has it in
// libstd-rust-dev-wasm32). `--module` takes a module that was built elsewhere: cargo build --profile wasm --target
// wasm32-unknown-unknown --package epitome-wasm --features packed-vocabularies. `wasm-opt` of binaryen makes it smaller where it is there.
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";

/** What a page may have to fetch, compressed. */
const MOST_BYTES = 6_000_000;

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const workspace = join(home, "../..");
const target = "wasm32-unknown-unknown";
const { values: options } = parseArgs({
  options: { module: { type: "string" }, cargo: { type: "string", default: "cargo" } },
});

mkdirSync(join(home, "native"), { recursive: true });
const place = join(home, "native/epitome-context.wasm");
copyFileSync(options.module ?? build(), `${place}.new`);
shrink(`${place}.new`);
renameSync(`${place}.new`, place);

const module = readFileSync(place);
const imports = WebAssembly.Module.imports(new WebAssembly.Module(module));
if (imports.length > 0) fail(`the module asks its host for ${imports.map(({ name }) => name).join(", ")}`);
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } };
const compressed = brotliCompressSync(module, quality).length;
console.log(`${place}: ${module.length} bytes, ${compressed} compressed`);
if (compressed > MOST_BYTES) fail(`more than ${MOST_BYTES} bytes compressed: leave a table out (features of crates/wasm)`);

function build() {
  const words = ["build", "--locked", "--profile", "wasm", "--target", target, "--package", "epitome-wasm", "--features", "packed-vocabularies"];
  const { status } = spawnSync(options.cargo, words, { cwd: workspace, stdio: "inherit" });
  if (status !== 0) {
    fail(`cargo cannot build for ${target}: rustup target add ${target}, or name a cargo that can with --cargo`);
  }
  const folder = process.env.CARGO_TARGET_DIR ?? join(workspace, "target");
  return join(folder, target, "wasm/epitome_wasm.wasm");
}

function shrink(path) {
  if (spawnSync("wasm-opt", ["--version"]).status !== 0) return;
  // What rustc assumes of every host for this target, and no more.
  const features = ["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int", "reference-types", "sign-ext"];
  execFileSync("wasm-opt", ["-O3", ...features.map((name) => `--enable-${name}`), path, "-o", path], { stdio: "inherit" });
}

function fail(problem) {
  console.error(problem);
  process.exit(1);
}
