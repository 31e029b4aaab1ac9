import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import type { Channel } from "../api/types";
import { Heading } from "../ui/heading";
import { useAction, useAnnounce, useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";
import { ChannelForm } from "./channel-form";

/** The ways to models. Keys are named and never shown; those of the configuration cannot be changed here. */
export function ChannelsScreen(): VNode {
  const client = useClient();
  const announce = useAnnounce();
  const action = useAction();
  const [onlyAuxiliary, setOnlyAuxiliary] = useState(false);
  const [edited, setEdited] = useState<string | null>(null);
  const loaded = useLoad(
    useCallback(() => client.channels(onlyAuxiliary ? true : undefined), [client, onlyAuxiliary]),
  );
  const channel = loaded.value?.find(({ name }) => name === edited);
  const remove = ({ name }: Channel) =>
    action.run(async () => {
      await client.removeChannel(name);
      announce(`${name} removed`);
      if (edited === name) setEdited(null);
      loaded.reload();
    });
  return (
    <>
      <Heading title="Channels" />
      <label class="check">
        <input
          type="checkbox"
          checked={onlyAuxiliary}
          onChange={(event) => setOnlyAuxiliary(event.currentTarget.checked)}
        />
        Only those that may be used for compaction
      </label>
      {loaded.error && <Problem error={loaded.error} />}
      {action.error && <Problem error={action.error} />}
      {loaded.value?.length === 0 && (
        <p class="quiet-text">
          {onlyAuxiliary ? "No channel may be used for compaction." : "There are no channels."} Summaries are written by
          rules then, without a model.
        </p>
      )}
      {loaded.value && loaded.value.length > 0 && (
        <div class="table" tabIndex={0} role="group" aria-label="Channels">
          <table>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Kind</th>
                <th scope="col">Address</th>
                <th scope="col">Models</th>
                <th scope="col">Key</th>
                <th scope="col">Set up in</th>
                <th scope="col">Change</th>
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((channel) => (
                <tr key={channel.name}>
                  <th scope="row">
                    {channel.name} {channel.compaction && <span class="badge auxiliary">auxiliary</span>}{" "}
                    {channel.default && <span class="badge">default</span>}
                  </th>
                  <td>{channel.kind}</td>
                  <td class="wrap">
                    {channel.base_url}
                    {channel.problem !== undefined && <p class="warning">{channel.problem}</p>}
                  </td>
                  <td>{channel.models.join(", ")}</td>
                  <td>{channel.has_key ? "named" : "none"}</td>
                  <td>{channel.source}</td>
                  <td>
                    {channel.source === "stored" && (
                      <span class="buttons">
                        <button
                          type="button"
                          aria-label={`Edit ${channel.name}`}
                          onClick={() => setEdited(channel.name)}
                        >
                          Edit
                        </button>
                        <button
                          type="button"
                          class="danger"
                          aria-label={`Remove ${channel.name}`}
                          disabled={action.busy}
                          onClick={() => void remove(channel)}
                        >
                          Remove
                        </button>
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ChannelForm
        key={channel?.name ?? ""}
        channel={channel ?? null}
        others={(loaded.value ?? []).filter(({ name }) => name !== channel?.name)}
        onDone={() => {
          setEdited(null);
          loaded.reload();
        }}
        onCancel={() => setEdited(null)}
      />
    </>
  );
}
