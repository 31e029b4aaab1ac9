import type { VNode } from "preact";
import { useCallback, useState } from "preact/hooks";

import { Heading } from "../ui/heading";
import { useClient, useLoad } from "../ui/hooks";
import { Problem } from "../ui/problem";

/** The ways to models. Keys are named and never shown; channels are set up in the configuration or over HTTP. */
export function ChannelsScreen(): VNode {
  const client = useClient();
  const [onlyAuxiliary, setOnlyAuxiliary] = useState(false);
  const loaded = useLoad(
    useCallback(() => client.channels(onlyAuxiliary ? true : undefined), [client, onlyAuxiliary]),
  );
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
              </tr>
            </thead>
            <tbody>
              {loaded.value.map((channel) => (
                <tr key={channel.name}>
                  <th scope="row">
                    {channel.name} {channel.compaction && <span class="badge auxiliary">auxiliary</span>}
                  </th>
                  <td>{channel.kind}</td>
                  <td class="wrap">
                    {channel.base_url}
                    {channel.problem !== undefined && <p class="warning">{channel.problem}</p>}
                  </td>
                  <td>{channel.models.join(", ")}</td>
                  <td>{channel.has_key ? "named" : "none"}</td>
                  <td>{channel.source}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
