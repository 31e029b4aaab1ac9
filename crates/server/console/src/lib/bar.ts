import type { ContextTokens } from "../api/types";
import { t } from "../lang";

export type BarState = "calm" | "near" | "above";

/** Where `near` begins, as a share of the threshold. */
const NEAR = 0.75;

/** How the context stands to the threshold; a threshold of 0 is none, and then only the window counts. */
export function barState(context: Pick<ContextTokens, "percent" | "thresholdPercent">): BarState {
  const threshold = context.thresholdPercent > 0 ? context.thresholdPercent : 100;
  if (context.percent > threshold) return "above";
  return context.percent < threshold * NEAR ? "calm" : "near";
}

export interface Bar {
  state: BarState;
  /** How far the bar is filled, from 0 to 100. */
  filled: number;
  /** Where the threshold's mark stands, from 0 to 100; null where there is none. */
  threshold: number | null;
  /** The figures in one line, with `≈` where they are estimates. */
  label: string;
  /** What the colour says, in words. */
  meaning: string;
}

/**
 * The figures with the threshold from which on a compaction is suggested. At the hard threshold the service names that
 * one; the mark on the bar stays where it was.
 */
export function atSoftThreshold(
  context: ContextTokens,
  budget: { soft: number | null; hard: number | null } | undefined,
): ContextTokens {
  const { soft = null, hard = null } = budget ?? {};
  if (soft === null || hard === null || context.usedTokens < hard || context.maxTokens <= 0) return context;
  return { ...context, thresholdPercent: Math.min(context.thresholdPercent, (soft / context.maxTokens) * 100) };
}

/** What the token bar shows. */
export function barOf(context: ContextTokens): Bar {
  const state = barState(context);
  const threshold = context.thresholdPercent > 0 ? Math.min(context.thresholdPercent, 100) : null;
  const at = threshold === null ? t.bar.window : t.bar.threshold(context.thresholdPercent);
  return {
    state,
    filled: Math.max(0, Math.min(context.percent, 100)),
    threshold,
    label: t.bar.label(context.estimated, context.usedTokens, context.maxTokens, context.percent),
    meaning: t.bar[state](at),
  };
}
