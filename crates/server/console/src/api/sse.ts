/** One event of a `text/event-stream`. */
export interface SseEvent {
  event: string;
  data: string;
  /** The id of this event or of the last one that had one; null before the first. */
  id: string | null;
}

/** Takes a `text/event-stream` in pieces of any size, as the standard says to. */
export class SseParser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id: string | null = null;

  /** The events that `piece` completes. */
  push(piece: string): SseEvent[] {
    const events: SseEvent[] = [];
    this.rest += piece;
    // A carriage return at the end may be half of a line end.
    const held = this.rest.endsWith("\r") ? 1 : 0;
    const lines = this.rest.slice(0, this.rest.length - held).split(/\r\n|\r|\n/);
    this.rest = (lines.pop() ?? "") + this.rest.slice(this.rest.length - held);
    for (const line of lines) {
      const event = this.line(line);
      if (event) events.push(event);
    }
    return events;
  }

  private line(line: string): SseEvent | null {
    if (line === "") {
      const { event, data } = this;
      this.event = "";
      this.data = [];
      if (data.length === 0) return null;
      return { event: event === "" ? "message" : event, data: data.join("\n"), id: this.id };
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
    return null;
  }
}
