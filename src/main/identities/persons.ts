/**
 * The persons of one repository and their tokens, in `persons.json`; the owner's own token lies in the file `token`.
 * Invariant: the token in that file is the owner's, whatever happens while it is changed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NotesError } from "../../domain/errors.ts";
import type { Identities as KeptIdentities } from "../../doors/cli/host.ts";
import { orAbsent, writeDurablySync } from "../../lib/durable-file.ts";
import {
  type Alone,
  changeIdentities,
  newToken,
  type PersonEntry,
  PersonsFile,
  readIdentities,
  type ShowToken,
  tokenHash,
  withoutToken,
} from "./identity-files.ts";
import { parsePerson } from "./parse-person.ts";

export interface Persons
  extends Pick<KeptIdentities, "addPerson" | "persons" | "revokePerson" | "rotatePerson"> {
  readonly file: string;
  read(): readonly PersonEntry[];
  /** Make sure that the file `token` names the owner, who is `person` from now on. @returns its token */
  ownerToken(person: { name: string; email: string }): Promise<string>;
}

/** As `openAgents`. */
export function openPersons(folder: string, at: () => string, shown: () => ShowToken, alone: Alone): Persons {
  const file = join(folder, "persons.json");
  const ownerFile = join(folder, "token");
  const none: PersonsFile = { persons: [] };
  const read = () => readIdentities(file, PersonsFile, none).persons;
  const change = (changed: (now: readonly PersonEntry[]) => PersonEntry[]) =>
    alone(() => changeIdentities(file, PersonsFile, none, ({ persons }) => ({ persons: changed(persons) })));
  const entryOf = (token: string) => ({ hash: tokenHash(token), created_at: at() });

  /** Change the one that is meant; null: gone. @returns it as it was @throws NotesError NOT_FOUND, CONFLICT */
  async function changeOne(
    ref: string,
    owner: "too" | "never",
    changed: (person: PersonEntry) => PersonEntry | null,
  ): Promise<PersonEntry> {
    let before: PersonEntry | null = null;
    await change((all) => {
      const found = named(all, ref, owner);
      before = found;
      const after = changed(found);
      return all.flatMap((person) => (person !== found ? [person] : after === null ? [] : [after]));
    });
    return before ?? named(read(), ref, owner);
  }

  return {
    file,
    read,
    async addPerson(person) {
      const { name, email } = parsePerson(person);
      const token = newToken();
      const entry = entryOf(token);
      await change((persons) => {
        refuseOwners(persons, email);
        const known = persons.find((other) => other.email === email && !other.owner);
        if (!known) return [...persons, { name, email, owner: false, tokens: [entry] }];
        return persons.map((other) =>
          other === known ? { ...known, name, tokens: [...known.tokens, entry] } : other,
        );
      });
      return { name, email, token };
    },
    persons() {
      const show = shown();
      return read().map(({ tokens, ...person }) => ({
        ...person,
        tokens: tokens.length,
        token_list: tokens.map(show),
      }));
    },
    async revokePerson(ref, id) {
      const { name, email } = await changeOne(ref, "never", (person) => {
        const tokens = id === undefined ? [] : withoutToken(person.tokens, id);
        return tokens.length === 0 ? null : { ...person, tokens };
      });
      return { name, email };
    },
    async rotatePerson(ref) {
      const token = newToken();
      const entry = entryOf(token);
      const { name, email, owner } = await changeOne(ref, "too", (person) => ({
        ...person,
        // Until the owner's file has the new one the old one counts, whatever happens between.
        tokens: person.owner ? [entry, ...person.tokens] : [entry],
      }));
      if (owner) {
        writeDurablySync(ownerFile, `${token}\n`, { mode: 0o600 });
        await change((all) => all.map((one) => (one.owner ? { ...one, tokens: [entry] } : one)));
      }
      return { name, email, owner, token };
    },
    async ownerToken(person) {
      const kept = orAbsent(() => readFileSync(ownerFile, "utf8").trim()) ?? "";
      const token = kept === "" ? newToken() : kept;
      const owner = read().find((p) => p.owner);
      const entry = entryOf(token);
      const same = owner?.tokens.length === 1 && owner.tokens[0]?.hash === entry.hash;
      if (!same || owner.name !== person.name || owner.email !== person.email) {
        const known = owner?.tokens.find(({ hash }) => hash === entry.hash) ?? entry;
        const now = { ...person, owner: true, tokens: [known] };
        await change((persons) => [now, ...persons.filter((p) => !p.owner)]);
      }
      if (kept === "") writeDurablySync(ownerFile, `${token}\n`, { mode: 0o600 });
      return token;
    },
  };
}

/** The one of this address, or of this name where it is one person's. @throws NotesError NOT_FOUND, CONFLICT */
function named(all: readonly PersonEntry[], ref: string, owner: "too" | "never"): PersonEntry {
  const may = all.filter((person) => owner === "too" || !person.owner);
  // The owner stands first, and may have been added as a further person too.
  const byEmail = may.find((person) => person.email === ref);
  if (byEmail) return byEmail;
  const [only, second] = may.filter((person) => person.name === ref);
  const who = JSON.stringify(ref.slice(0, 80));
  if (!only) throw new NotesError("NOT_FOUND", `No person ${who} was added. See: notesd person list`);
  if (second) throw new NotesError("CONFLICT", `Several persons are called ${who}. Give the address.`);
  return only;
}

/** Commits and remembered requests are by address: a second person of that one would be the owner in all but the token. */
function refuseOwners(persons: readonly PersonEntry[], email: string): void {
  const owner = persons.find((one) => one.owner);
  if (owner === undefined || owner.email.toLowerCase() !== email.toLowerCase()) return;
  const message = "is the address of the owner, whose token is in the file token beside this list";
  throw new NotesError(
    "INVALID_PARAMS",
    `${email} ${message}. Give another address, or rotate the owner's token: notesd person rotate ${owner.email}.`,
    { issues: [{ path: "email", message }] },
  );
}
