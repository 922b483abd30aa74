/** Blobs read and parsed while a head moves: each once, many at a time, all before the state changes. */
import type { ReadBlob } from "../domain/event.ts";
import type { BlobId, RepoPath } from "../domain/note.ts";
import type { Brief } from "./entry.ts";
import { readRecord, writeRecord } from "./file-record.ts";
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
  /** Bytes: it was shrunk. */
  readonly #parsed = new Map<string, ParsedFile | Uint8Array>();

  constructor(parse: ParseFile, read: ReadBlob) {
    this.#parse = parse;
    this.#read = read;
  }

  /** Read and parse what isn't held yet. @throws what `read` throws */
  async load(files: Iterable<FileBlob>): Promise<void> {
    const wanted = new Map<string, FileBlob>();
    for (const file of files) if (this.get(file) === undefined) wanted.set(keyOf(file), file);
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

  /** Undefined also where it was shrunk and its brief is not given. */
  get(file: FileBlob, brief?: Brief): ParsedFile | undefined {
    const held = this.#parsed.get(keyOf(file));
    if (!(held instanceof Uint8Array)) return held;
    return brief && readRecord(Buffer.from(held.buffer, held.byteOffset, held.length), brief);
  }

  /** The bytes that it was shrunk to. */
  record(file: FileBlob): Uint8Array | undefined {
    const held = this.#parsed.get(keyOf(file));
    return held instanceof Uint8Array ? held : undefined;
  }

  /** Hold a file's record only, which takes no room in the heap; its brief is the caller's to know. */
  shrink(file: FileBlob): void {
    const held = this.#parsed.get(keyOf(file));
    if (held && !(held instanceof Uint8Array)) this.#parsed.set(keyOf(file), writeRecord(held));
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
