import type { VNode } from "preact";
import { useState } from "preact/hooks";

import type { Channel } from "../api/types";
import { t } from "../lang";
import { channelSettings, fieldsOf, withoutDefault } from "../lib/channel";
import type { ChannelFields } from "../lib/channel";
import { useAction, useAnnounce, useClient } from "../ui/hooks";
import { Problem } from "../ui/problem";

interface FormProperties {
  /** The channel that is changed; null for a new one. */
  channel: Channel | null;
  others: Channel[];
  onDone: () => void;
  onCancel: () => void;
}

/** A new channel, or one that was stored. No key is typed here: the service reads it from its environment. */
export function ChannelForm({ channel, others, onDone, onCancel }: FormProperties): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [fields, setFields] = useState<ChannelFields>(() => fieldsOf(channel));
  const change = (changes: Partial<ChannelFields>) => setFields((fields) => ({ ...fields, ...changes }));
  const name = fields.name.trim();
  const exists = channel === null && others.some((other) => other.name === name); // adding it would replace it
  const save = () =>
    action.run(async () => {
      await client.saveChannel(name, channelSettings(fields));
      // One mark only: two of them would mean nothing.
      for (const other of fields.default ? others.filter((known) => known.default && known.source === "stored") : []) {
        await client.saveChannel(other.name, withoutDefault(other));
      }
      announce(t.channels.saved(name));
      setFields(fieldsOf(null));
      onDone();
    });
  return (
    <form
      class="card form"
      aria-label={channel ? t.channels.one(channel.name) : t.channels.new}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>{channel ? t.channels.one(channel.name) : t.channels.new}</h2>
      {action.error && <Problem error={action.error} />}
      <fieldset disabled={action.busy} class="fields">
        {!channel && (
          <label>
            <span>{t.channels.name}</span>
            <input
              type="text"
              required
              maxLength={200}
              value={fields.name}
              onInput={(event) => change({ name: event.currentTarget.value })}
            />
          </label>
        )}
        <label>
          <span>{t.channels.kind}</span>
          <select value={fields.kind} onChange={(event) => change({ kind: event.currentTarget.value as ChannelFields["kind"] })}>
            <option value="openai">{t.channels.kinds.openai}</option>
            <option value="anthropic">{t.channels.kinds.anthropic}</option>
          </select>
        </label>
        <label>
          <span>{t.channels.address}</span>
          <input
            type="url"
            required
            maxLength={2000}
            placeholder="https://api.openai.com/v1"
            value={fields.base_url}
            onInput={(event) => change({ base_url: event.currentTarget.value })}
          />
        </label>
        <label>
          <span>{t.channels.models}</span>
          <input
            type="text"
            value={fields.models}
            onInput={(event) => change({ models: event.currentTarget.value })}
          />
        </label>
        <label>
          <span>{t.channels.key}</span>
          <input
            type="text"
            maxLength={128}
            placeholder="EPITOME_KEY_DEFAULT_OPENAI"
            value={fields.key}
            onInput={(event) => change({ key: event.currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={fields.compaction}
            onChange={(event) => change({ compaction: event.currentTarget.checked })}
          />
          {t.channels.compaction}
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={fields.default}
            disabled={!fields.compaction}
            onChange={(event) => change({ default: event.currentTarget.checked })}
          />
          {t.channels.default}
        </label>
      </fieldset>
      {exists && <p class="field-problem" role="alert">{t.channels.exists}</p>}
      <div class="buttons end">
        {channel && (
          <button type="button" onClick={onCancel}>
            {t.words.cancel}
          </button>
        )}
        <button type="submit" class="primary" disabled={action.busy || name === "" || exists}>
          {channel ? t.channels.save : t.channels.add}
        </button>
      </div>
    </form>
  );
}
