/**
 * What a host's parts are to the engine: media in any form in which hosts have them, and parts that only the host and its provider
 * know. The latter are passed on as they are; the engine sees what they cost.
 */

/** A part of a message. */
export interface Part {
  type: string;
  [key: string]: any;
}

/** What is known of a medium. */
type Medium = Partial<Record<"data" | "url" | "id" | "mime" | "format" | "name", string>>;

/** Words in the kinds of parts that hold media, and in those of calls and results, which may hold them beside other things. */
const HOLDERS = /image|picture|video|audio|sound|file|document|media|blob|binary|data|uri/i;
const CALLS = /call|result|search|tool|output/i;
/** The types of media by the words in a kind, and the format of one that names none. */
const TYPES = [["image", "png"], ["video", "mp4"], ["audio", "mpeg"]] as const;
/** The fields that hosts have for what is known of a medium, in small letters without underscores. */
const FIELDS: Record<keyof Medium, readonly string[]> = {
  data: ["data", "base64", "bytes", "filedata", "image", "audio", "video", "file"],
  url: ["url", "uri", "href", "fileurl", "fileuri", "imageurl", "data", "image", "audio", "video", "file"],
  id: ["fileid"],
  mime: ["mimetype", "mediatype"],
  format: ["format"],
  name: ["filename", "name", "title"],
};
/** The fields whose objects have the id of a stored file as `id`. */
const WITH_IDS = new Set(["image", "file", "audio"]);
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Characters from which on a text in base64 is data: a provider does not read it as text. */
const DATA_LENGTH = 512;

/**
 * A part of a host's as a part of OpenAI's chat completions: a medium as what it is; any other as JSON, under its own kind, with the
 * length of data in place of the data.
 */
export function partOf(kind: string, value: object): Part {
  const medium: Medium = {};
  if (HOLDERS.test(kind) && !CALLS.test(kind)) look(value, medium, "");
  const mime = mimeOf(kind, medium);
  const isText = mime.startsWith("text/") && medium.url === undefined && medium.id === undefined;
  const url = medium.url ?? (medium.data === undefined ? undefined : `data:${mime};base64,${medium.data}`);
  if (isText || (url === undefined && medium.id === undefined)) return { ...(shown(value) as object), type: kind };
  const place = mime.split("/")[0]!;
  if (url !== undefined && /^(image|audio|video)$/.test(place)) return { type: `${place}_url`, [`${place}_url`]: { url } };
  const filename = medium.name ?? kind;
  if (url === undefined) return { type: "file", file: { filename, file_id: medium.id } };
  return { type: "file", file: { filename, [url.startsWith("data:") ? "file_data" : "file_url"]: url } };
}

function mimeOf(kind: string, { mime, url, format }: Medium): string {
  const known = mime ?? /^data:([^;,]*)/.exec(url ?? "")?.[1];
  if (known !== undefined && known.includes("/")) return known;
  const usual = TYPES.find(([name]) => `${known ?? ""} ${kind}`.toLowerCase().includes(name));
  return usual === undefined ? `application/${format ?? "octet-stream"}` : `${usual[0]}/${format ?? usual[1]}`;
}

/** Finds what is known of a medium in a value and in the objects within it; lists are other parts. */
function look(value: unknown, medium: Medium, key: string): void {
  if (value instanceof URL) note(key, value.href, medium);
  else if (typeof value === "string") note(key, value, medium);
  else if (isBytes(value)) medium.url ??= `data:${medium.mime ?? ""};length=${value.byteLength},`;
  else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    // What says the type first: bytes are named by it.
    const entries = Object.entries(value).sort(([one], [other]) => Number(isMime(other)) - Number(isMime(one)));
    for (const [name, inner] of entries) look(inner, medium, name === "id" && WITH_IDS.has(key) ? "fileid" : nameOf(name));
  }
}

function nameOf(field: string): string {
  return field.toLowerCase().replaceAll("_", "");
}

function isMime(field: string): boolean {
  return FIELDS.mime.includes(nameOf(field));
}

function isBytes(value: unknown): value is { byteLength: number } {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function note(key: string, text: string, medium: Medium): void {
  const isPlace = text.startsWith("data:") || text.slice(0, 24).includes("://");
  const fits = { data: !isPlace && BASE64.test(text), url: isPlace, id: true, mime: true, format: true, name: true };
  for (const [field, keys] of Object.entries(FIELDS) as [keyof Medium, readonly string[]][]) {
    if (text !== "" && fits[field] && keys.includes(key)) medium[field] ??= text;
  }
}

/** A value as JSON, without what is no text to a provider. */
function shown(value: unknown): unknown {
  if (isBytes(value)) return `(${value.byteLength} bytes)`;
  if (value instanceof URL) return value.href;
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "object" && value !== null) {
    const json: unknown = (value as { toJSON?: unknown }).toJSON === undefined ? value : JSON.parse(JSON.stringify(value));
    if (typeof json !== "object" || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, inner]) => [key, shown(inner)]));
  }
  const isData = typeof value === "string" && value.length >= DATA_LENGTH && BASE64.test(value.split(",").at(-1)!);
  return isData ? `(${value.length} characters)` : value;
}

/** The parts of OpenAI's chat completions that are media. */
const MEDIA = new Set(["image_url", "audio_url", "video_url", "input_audio", "file"]);

/** Where the medium of a part is: its address, its id, or its data; `undefined` of a part that is none. */
export function sourceOf(part: Part): string | undefined {
  if (!MEDIA.has(part.type)) return undefined;
  const inner: unknown = part[part.type];
  const fields = (typeof inner === "object" && inner !== null ? inner : { url: inner }) as Record<string, unknown>;
  const source = ["url", "file_data", "file_url", "file_id", "data"].map((key) => fields[key]).find((it) => typeof it === "string");
  return (source as string | undefined)?.split(";base64,").at(-1);
}
