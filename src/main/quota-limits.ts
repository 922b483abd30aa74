/** What each principal may ask at most, from the settings. */
import type { QuotaLimits } from "../actions/gate/quota.ts";
import type { Settings } from "./settings.ts";

/** Far above what one machine carries out: they stop what runs wild. */
const DEFAULTS = { reads_per_second: 20_000, writes_per_second: 10_000, in_flight: 2_048 };

/** The limits that hold; 0 is none. */
export function quotaLimits({ limits = {} }: Settings): QuotaLimits {
  return {
    readsPerSecond: limits.reads_per_second ?? DEFAULTS.reads_per_second,
    writesPerSecond: limits.writes_per_second ?? DEFAULTS.writes_per_second,
    inFlight: limits.in_flight ?? DEFAULTS.in_flight,
  };
}
