import { defineConfig } from "vite";

/** Where `epitome serve` listens while the console is worked on with `npm run dev`. */
const service = process.env["EPITOME_URL"] ?? "http://127.0.0.1:7777";

export default defineConfig({
  // Relative, as are the addresses of the HTTP interface: a reverse proxy may put the service into a folder.
  base: "./",
  server: { proxy: { "^/(?:v1|readyz)": { target: service, changeOrigin: true } } },
  build: {
    target: "es2023",
    sourcemap: false,
    // The Content-Security-Policy allows no `data:` scripts or styles, and one file each is all there is to preload.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    license: { fileName: "licenses.md" }, // of the libraries that are part of the page
  },
});
