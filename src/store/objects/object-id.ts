/** Ids of Git objects with their brands. How they are computed is `lib/git-object.ts`. */
import { blobIdOf } from "../../domain/identity.ts";
import type { CommitId } from "../../domain/note.ts";
import { hashObject } from "../../lib/git-object.ts";

export { hashObject, type ObjectId, type ObjectType } from "../../lib/git-object.ts";

export const blobId = blobIdOf;
// The brand is given here and nowhere else: these bytes are that object.
export const commitId = (bytes: Uint8Array) => hashObject("commit", bytes) as CommitId;
