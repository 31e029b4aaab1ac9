import type { Fitted } from "./fitted.js";
import type { FitReport, Floor, Report } from "./report.js";

/** The base of this package's errors; thrown itself where none of the others says more. */
export class EpitomeError extends Error {
  override name = "EpitomeError";
}

/** A configuration, or an option of a call, is wrong. */
export class ConfigError extends EpitomeError {
  override name = "ConfigError";

  constructor(
    message: string,
    /** Every problem. */
    readonly problems: readonly string[] = [message],
  ) {
    super(message);
  }
}

/** Throws what is wrong with an option, where something is. */
export function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new ConfigError(problem);
}

/** What was given cannot be read as a session, or not be written in the format that was asked for. */
export class FormatError extends EpitomeError {
  override name = "FormatError";
}

/** What must stay is larger than the budget: nothing was changed. */
export class Infeasible extends EpitomeError {
  override name = "Infeasible";

  constructor(
    message: string,
    /** The tokens of what must stay, and its parts, the largest first; `null` where it was not worked out. */
    readonly floor: Floor | null,
    /** The tokens that the messages may take. */
    readonly budget: number,
    /** All that there is to say of the attempt. */
    readonly report: Report | FitReport,
    /** Of `fit`: what earlier decisions make of the list. */
    readonly fitted?: Fitted<any>,
  ) {
    super(message);
  }
}

interface Failure {
  kind: "config" | "format" | "infeasible" | "other";
  message: string;
  problems?: string[];
  floor?: Floor;
  budget?: number;
  report?: Report;
}

/** The error that a failed call tells of. */
export function errorOf(json: string): EpitomeError {
  const failure = JSON.parse(json) as Failure;
  switch (failure.kind) {
    case "config":
      return new ConfigError(failure.message, failure.problems);
    case "format":
      return new FormatError(failure.message);
    case "infeasible":
      return new Infeasible(failure.message, failure.floor!, failure.budget!, failure.report!);
    default:
      return new EpitomeError(failure.message);
  }
}
