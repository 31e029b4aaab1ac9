// The engine, off the page's own thread. A question is { id, name, … }; its answer { id, value } or { id, error }.
import { compact, formats, init } from "../dist/esm/wasm.js";

const loaded = init();
/** The last result: what left it is asked for later. */
let compacted;

const calls = {
  formats: () => formats().filter((format) => format.writable),
  compact({ bytes, options }) {
    compacted = compact(bytes, options);
    const { data, format, report, warnings } = compacted;
    return { data, format, report, warnings };
  },
  retrieve: ({ handle }) => compacted.retrieve(handle),
};

self.onmessage = async ({ data: { id, name, ...words } }) => {
  try {
    await loaded;
    self.postMessage({ id, value: calls[name](words) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
