import type { Channel, ChannelBody } from "../api/types";

/** A channel as it is typed. */
export interface ChannelFields {
  name: string;
  kind: Channel["kind"];
  base_url: string;
  /** With commas between them. */
  models: string;
  compaction: boolean;
  default: boolean;
  window: number;
  /** The variable that holds the key; empty for none. */
  key: string;
}

/** What a form begins with: a channel's own values, or those of a new one. */
export function fieldsOf(channel: Channel | null): ChannelFields {
  return {
    name: channel?.name ?? "",
    kind: channel?.kind ?? "openai",
    base_url: channel?.base_url ?? "",
    models: channel?.models.join(", ") ?? "",
    compaction: channel?.compaction ?? true,
    default: channel?.default ?? false,
    window: channel?.window ?? 0,
    key: channel?.key?.environment ?? "",
  };
}

/** What is stored of a form. A channel that may not be used for compaction is no default. */
export function channelSettings(fields: ChannelFields): ChannelBody {
  const models = fields.models.split(",").map((model) => model.trim());
  const key = fields.key.trim();
  return {
    kind: fields.kind,
    base_url: fields.base_url.trim(),
    models: models.filter((model) => model !== ""),
    compaction: fields.compaction,
    default: fields.default && fields.compaction,
    window: fields.window,
    ...(key === "" ? {} : { key: { environment: key } }),
  };
}

/** A stored channel that is the default no more. */
export function withoutDefault(channel: Channel): ChannelBody {
  return channelSettings({ ...fieldsOf(channel), default: false });
}
