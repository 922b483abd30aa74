/** Blobs read and parsed while a head moves: each once, many at a time, all before the state changes. */
import type { ReadBlob } from "../domain/event.ts";
import type { BlobId, RepoPath } from "../domain/note.ts";
import type { ParsedFile, ParseFile } from "./parsed-file.ts";

const READS_AT_ONCE = 16;
const PARSED_A_TURN = 128;

export interface FileBlob {
  readonly path: RepoPath;
  readonly blob: BlobId;
}

export class ParsedCache {
  readonly #parse: ParseFile;
  readonly #read: ReadBlob;
  readonly #parsed = new Map<string, ParsedFile>();

  constructor(parse: ParseFile, read: ReadBlob) {
    this.#parse = parse;
    this.#read = read;
  }

  /** Read and parse what isn't held yet. @throws what `read` throws */
  async load(files: Iterable<FileBlob>): Promise<void> {
    const wanted = new Map<string, FileBlob>();
    for (const file of files) if (!this.#parsed.has(keyOf(file))) wanted.set(keyOf(file), file);
    const queue = wanted.entries();
    let parsed = 0;
    const work = async () => {
      for (const [key, file] of queue) {
        // Reads from a cache never leave the current turn; others shall have one too.
        if (++parsed % PARSED_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
        this.#parsed.set(key, this.#parse(file.path, await this.#read(file.blob)));
      }
    };
    await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, wanted.size) }, work));
  }

  get(file: FileBlob): ParsedFile | undefined {
    return this.#parsed.get(keyOf(file));
  }

  /** @throws RangeError  it was not loaded */
  must(file: FileBlob): ParsedFile {
    const parsed = this.get(file);
    if (parsed === undefined) throw new RangeError(`${file.path} was not read in blob ${file.blob}`);
    return parsed;
  }

  drop(file: FileBlob): void {
    this.#parsed.delete(keyOf(file));
  }
}

const keyOf = ({ path, blob }: FileBlob) => `${blob}${path}`;
