import { describe, expect, it } from "vitest";

import type { Channel } from "../api/types";
import { channelSettings, fieldsOf, withoutDefault } from "./channel";

const stored: Channel = {
  name: "house",
  kind: "anthropic",
  base_url: "https://models.example/v1",
  models: ["small", "large"],
  compaction: true,
  default: true,
  window: 9000,
  source: "stored",
  has_key: true,
  key: { environment: "EPITOME_KEY_DEFAULT_HOUSE" },
};

describe("channels", () => {
  it("are stored as they are typed", () => {
    const typed = { ...fieldsOf(null), name: "n", base_url: " https://a.example ", models: " one, ,two ", key: " K " };
    expect(channelSettings(typed)).toEqual({
      kind: "openai",
      base_url: "https://a.example",
      models: ["one", "two"],
      compaction: true,
      default: false,
      window: 0,
      key: { environment: "K" },
    });
  });

  it("keep what a form does not show", () => {
    const settings = {
      kind: "anthropic",
      base_url: "https://models.example/v1",
      models: ["small", "large"],
      compaction: true,
      default: true,
      window: 9000,
      key: { environment: "EPITOME_KEY_DEFAULT_HOUSE" },
    };
    expect(channelSettings(fieldsOf(stored))).toEqual(settings);
    expect(withoutDefault(stored)).toEqual({ ...settings, default: false });
  });

  it("are no default where they may not be used", () => {
    expect(channelSettings({ ...fieldsOf(stored), compaction: false }).default).toBe(false);
  });
});
