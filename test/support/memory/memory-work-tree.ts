/** A working tree in a Map: what tests edit in place of a person, and the base table beside it. */
import { isUtf8 } from "node:buffer";
import { blobIdOf } from "../../../src/domain/identity.ts";
import type { BlobId, RepoPath } from "../../../src/domain/note.ts";
import { byBytes } from "../../../src/lib/byte-order.ts";
import type { DiskFile, WorkTree } from "../../../src/store/note-store.ts";
import type { PathFilter } from "../../../src/store/trees/tree-diff.ts";

export class MemoryWorkTree implements WorkTree {
  readonly root = "/memory";
  readonly #files = new Map<RepoPath, { bytes: Uint8Array; mtimeMs: number }>();
  readonly #base = new Map<RepoPath, BlobId>();
  readonly #notes: PathFilter;
  readonly #now: () => number;
  /** False while HEAD is elsewhere: files are not ours to touch. */
  readonly #atOurBranch: () => boolean;

  constructor(notes: PathFilter, now: () => number, atOurBranch: () => boolean) {
    this.#notes = notes;
    this.#now = now;
    this.#atOurBranch = atOurBranch;
  }

  /** Save a file as a person would; null deletes it. */
  put(path: RepoPath, bytes: Uint8Array | null): void {
    if (bytes === null) this.#files.delete(path);
    else this.#files.set(path, { bytes, mtimeMs: this.#now() });
  }

  blob(path: RepoPath): BlobId | null {
    const file = this.#files.get(path);
    return file === undefined ? null : blobIdOf(file.bytes);
  }

  /** The file's text, or null. */
  text(path: RepoPath): string | null {
    const file = this.#files.get(path);
    return file === undefined ? null : Buffer.from(file.bytes).toString();
  }

  base(path: RepoPath): BlobId | null {
    return this.#base.get(path) ?? null;
  }

  basePaths(under?: string): Iterable<RepoPath> {
    const paths = [...this.#base.keys()];
    return under === undefined ? paths : paths.filter((path) => path.startsWith(`${under}/`));
  }

  async scan(paths?: Iterable<RepoPath>): Promise<DiskFile[]> {
    const all = () => [...this.#files.keys(), ...this.#base.keys()];
    const wanted = [...new Set(paths ?? all())].filter((path) => this.#notes.file(path));
    return wanted.sort(byBytes).map((path) => this.#look(path));
  }

  async *sweep(): AsyncGenerator<readonly DiskFile[]> {
    yield await this.scan();
  }

  #look(path: RepoPath): DiskFile {
    const file = this.#files.get(path);
    if (file === undefined) return { kind: "absent", path };
    if (!isUtf8(file.bytes)) return { kind: "unfit", path, reason: "not UTF-8" };
    return { kind: "file", path, blob: blobIdOf(file.bytes), mtimeMs: file.mtimeMs };
  }

  async under(folder: string): Promise<RepoPath[]> {
    const inside = folder === "" || folder === "." ? "" : `${folder.replace(/\/$/, "")}/`;
    return [...this.#files.keys()].filter((p) => p.startsWith(inside) && this.#notes.file(p)).sort(byBytes);
  }

  async read(path: RepoPath): Promise<Uint8Array | null> {
    return this.#files.get(path)?.bytes ?? null;
  }

  accept(path: RepoPath, blob: BlobId | null): void {
    if (blob === null) this.#base.delete(path);
    else this.#base.set(path, blob);
  }

  /** Bytes of a tip's blob, given by the store that owns this tree. */
  blobBytes: (id: BlobId) => Uint8Array = () => new Uint8Array();

  async bringForward(path: RepoPath, tip: BlobId | null, expected: BlobId | null): Promise<boolean> {
    if (!this.#atOurBranch() || this.blob(path) !== expected) return false;
    this.put(path, tip === null ? null : this.blobBytes(tip));
    this.accept(path, tip);
    return true;
  }

  async flush(): Promise<void> {}
}
