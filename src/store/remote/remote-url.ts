/** What a remote's URL says: which way it is reached, and how it is shown to people. */
import { isAbsolute } from "node:path";
import { NotesError } from "../../domain/errors.ts";

export type RemoteUrl =
  | { readonly kind: "http"; readonly url: string }
  /** Native Git reaches it: SSH, another folder. */
  | { readonly kind: "native"; readonly url: string };

const SCP = /^(?:[^/:@\s-][^/:@\s]*@)?[A-Za-z0-9[][^/:\s]*:(?!\/\/)\S/;

// Credential helpers read lines: a line break in a name would give them another host's.
const CONTROL = /\p{Cc}/u;

/** The URL, when its names can be told to a credential helper. */
function checked(text: string): string {
  const refuse = (why: string) => {
    const message = `${JSON.stringify(scrub(text))} is no URL that can be synced with: ${why}`;
    return new NotesError("INVALID_PARAMS", `${message}.`, { issues: [{ path: "remote", message }] });
  };
  if (CONTROL.test(text)) throw refuse("it holds a control character");
  if (/%(?:[01][0-9a-f]|7f)/i.test(text)) throw refuse("it holds a control character, written with %");
  let names: string[];
  try {
    const { username, password, hostname } = new URL(text);
    names = [username, password, hostname].map(decodeURIComponent);
  } catch {
    throw refuse(
      "a % stands for the two hex digits of a byte (write %25 for itself), and the host must be one",
    );
  }
  if (names.some((name) => CONTROL.test(name))) throw refuse("it holds a control character, written with %");
  return text;
}

/** @throws NotesError INVALID_PARAMS a transport that runs programs, or what is no URL */
export function parseRemoteUrl(text: string): RemoteUrl {
  if (/^https?:\/\//i.test(text)) return { kind: "http", url: checked(text) };
  const isNative =
    /^(?:ssh|git\+ssh|file):\/\//i.test(text) || isAbsolute(text) || /^\.\.?\//.test(text) || SCP.test(text);
  // `ext::` and other helpers run what the URL says; what begins with - would be an option.
  if (isNative && !text.includes("::") && !text.startsWith("-") && !/[\0\n\r]/.test(text))
    return { kind: "native", url: text };
  const message = `${JSON.stringify(scrub(text))} is no remote that can be synced with: give https://…, ssh://…, user@host:path or a path`;
  throw new NotesError("INVALID_PARAMS", `${message}.`, { issues: [{ path: "remote", message }] });
}

/** Whether a URL, anywhere in the text, says a password; an empty one counts, for a token may stand before it. */
export const holdsPassword = (text: string): boolean =>
  /[a-z][a-z0-9+.-]*:\/\/[^/?#\\]*:[^/?#\\]*@/i.test(text);

/** What to do instead, for messages. */
export const PASSWORD_REMEDY =
  "leave it out, and let Git's credential helper keep it (git help credentials) or give it in NOTESD_REMOTE_TOKEN";

/** A text without the user and password of any URL in it, nor what looks like a token's header. */
export function scrub(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/]+@/gi, "$1")
    .replace(/(authorization:\s*\S+\s+)\S+/gi, "$1…");
}
