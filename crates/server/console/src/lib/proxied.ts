import type { ProxiedConversation } from "../api/types";

/** The figures of several conversations together. */
export interface Sums {
  /** Tokens that were not sent, less those for summaries. */
  saved: number;
  /** Tokens that models read and wrote for summaries. */
  summaries: number;
  answers: number;
  unpriced: number;
  input: number;
  cached: number;
  output: number;
  /** In US dollars; null where no price is known. */
  price: number | null;
}

const NOTHING: Sums = { saved: 0, summaries: 0, answers: 0, unpriced: 0, input: 0, cached: 0, output: 0, price: null };

/** The sums of conversations. */
export function sumsOf(conversations: ProxiedConversation[]): Sums {
  return conversations.reduce<Sums>(
    (sums, { tokens_saved: saved, reported, summaries, price }) => ({
      saved: sums.saved + saved,
      summaries: sums.summaries + summaries.input + summaries.output,
      answers: sums.answers + reported.answers,
      unpriced: sums.unpriced + reported.unpriced + summaries.unpriced,
      input: sums.input + reported.input,
      cached: sums.cached + reported.cached,
      output: sums.output + reported.output,
      price: price === null ? sums.price : (sums.price ?? 0) + price,
    }),
    NOTHING,
  );
}

/** How much of the input came from the cache, as a percentage. */
export function cachedShare({ input, cached }: Pick<Sums, "input" | "cached">): number {
  return input > 0 ? (cached * 100) / input : 0;
}
