/** How answers tell of a secret that was found: never the value. */
import { z } from "zod";

export const SecretMatchOutput = z.strictObject({
  kind: z.string(),
  line: z.number().int(),
  fingerprint: z.string().describe("For notesd allow, where it is no secret."),
});
