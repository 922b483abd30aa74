/** A person's name and address as commits may have them. */
import { NotesError } from "../../domain/errors.ts";

// Git's commit header is a line of `name <email> time`: these would end it early or forge another.
const HEADER_BREAKING = /[<>\p{Cc}\p{Zl}\p{Zp}]/u;
/** Commits of agents are written so; nobody is one by their address. */
const AGENTS_ADDRESS = /@agents\.notesd\.invalid$/i;

/** @throws NotesError INVALID_PARAMS */
export function parsePerson({ name, email }: { name: string; email: string }): {
  name: string;
  email: string;
} {
  const wrong = (path: string, message: string): never => {
    throw new NotesError("INVALID_PARAMS", `A person's ${path} ${message}.`, { issues: [{ path, message }] });
  };
  const trimmed = name.normalize("NFC").trim();
  if (trimmed === "" || trimmed.length > 200) wrong("name", "has 1 to 200 characters");
  if (HEADER_BREAKING.test(trimmed)) wrong("name", "holds no control character, < or >");
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254 || HEADER_BREAKING.test(email)) {
    wrong("email", "is an address such as pat@example.org");
  }
  if (AGENTS_ADDRESS.test(email)) wrong("email", "is none of agents.notesd.invalid, where agents are");
  return { name: trimmed, email };
}
