/** What the lines of a transcript begin with: the assistant, the user, a call, its result. */
const SPEAKERS = "[»«▸→]";

/** A transcript's first line, behind the engine's heading and the line that says what the signs mean. */
const BEGINNING = new RegExp(String.raw`^(?:\[[^\n]*\]\n)?(?:[^\n]*${SPEAKERS} [^\n]*\n)?${SPEAKERS} `);

/** Whether a summary is a transcript, whose lines are to be read as they stand, and no Markdown. */
export function isTranscript(text: string): boolean {
  return BEGINNING.test(text);
}
