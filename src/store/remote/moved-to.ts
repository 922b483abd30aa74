/** Where a host that moved a repository sends us, and where we don't follow: what comes next may be a login. */
import { RemoteFailure } from "./remote.ts";
import { scrub } from "./remote-url.ts";

/**
 * The URL that a redirect leads to.
 *
 * @param from the URL that was asked @param location the header
 * @throws RemoteFailure broken: to another host, from https to http, or to no URL
 */
export function movedTo(from: string, location: string | null, shown: string): string {
  const before = new URL(from);
  const after = location === null || !URL.canParse(location, from) ? null : new URL(location, from);
  if (after === null || !/^https?:$/.test(after.protocol))
    throw new RemoteFailure("broken", `${shown} redirects to what is no URL of a Git host`);
  after.username = "";
  after.password = "";
  if (before.protocol === "https:" && after.protocol !== "https:")
    throw new RemoteFailure(
      "broken",
      `${shown} redirects from https to http, where anybody could read along; it is not followed`,
    );
  if (
    after.hostname !== before.hostname ||
    (after.port !== before.port && after.protocol === before.protocol)
  )
    throw new RemoteFailure("broken", `${shown} has moved to ${scrub(after.href)}; set that URL`);
  return after.href;
}
