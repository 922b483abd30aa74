/** What the notebook offers to the disk door and to Git's hooks: the people's side of it. */
import type { RepoPath } from "../../domain/note.ts";
import type { NoteIndex } from "../../index/note-index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { NoteStore } from "../../store/note-store.ts";
import type { StateWatch } from "../state-watch.ts";
import type { Follower } from "../writing/follow.ts";
import type { Rescue } from "../writing/rescue.ts";
import type { Writer } from "../writing/writer.ts";
import type { FirstLook } from "./first-look.ts";
import type { Reconciler } from "./reconciler.ts";

export interface DiskSide extends Pick<Reconciler, "hint" | "scanAll"> {
  /** HEAD, a branch, the Git index or an operation's state changed. */
  headMoved(): Promise<void>;
  /**
   * Before a person's commit: files and Git index hold what the branch holds, so that the commit takes no note out.
   * @returns paths that could not be put level, because that very commit holds the index
   */
  levelForCommit(): Promise<readonly RepoPath[]>;
  /** Held notes whose file misses what the branch has gained: a person's commit of it would take that back. */
  parted(): readonly RepoPath[];
  /** Folders that hold notes. */
  folders(): Iterable<string>;
  noteCount(): number;
  /** The daemon stops: whoever waits for the first look is told, and the look itself ends where it is. */
  close(): void;
}

const LOCKED_AGAIN_MS = 100;

/** Put together what the disk door and Git's hooks may ask. */
export function createDiskSide(parts: {
  readonly store: NoteStore;
  readonly index: NoteIndex;
  readonly writer: Pick<Writer, "alone">;
  readonly follower: Follower;
  readonly reconciler: Reconciler;
  readonly firstLook: FirstLook;
  readonly rescue: Rescue;
  readonly stateWatch: Pick<StateWatch, "look">;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}): DiskSide {
  const { store, index, writer, follower, reconciler, rescue, stateWatch, clock } = parts;
  let cancelAgain = () => {};

  /** A lock that keeps the index from being put level comes and goes without a word, so it is looked at again. */
  async function levelIndex(): Promise<void> {
    cancelAgain();
    const left = await store.levelIndex();
    if (left.length > 0)
      cancelAgain = clock.after(LOCKED_AGAIN_MS, () => void disk.headMoved().catch(parts.failed));
  }

  const lagging = async () => [...(await store.laggingIndex()), ...(await reconciler.lagging())];
  const disk: DiskSide = {
    hint: reconciler.hint,
    scanAll: (reason) => parts.firstLook.follow(reconciler.scanAll(reason)),
    async headMoved() {
      // First: what people's Git is doing is told at once, also where the queue waits for it.
      await stateWatch.look();
      await writer.alone(() => follower.catchUp());
      await levelIndex();
      await reconciler.onHeadMoved();
      await rescue.retry();
    },
    async levelForCommit() {
      if ((await lagging()).length === 0) return [];
      await store.levelIndex();
      await reconciler.onHeadMoved();
      return lagging();
    },
    parted: reconciler.parted,
    folders: () => index.folders(),
    noteCount: () => index.size(),
    close() {
      cancelAgain();
      parts.firstLook.close();
      // Before it is done nothing is settled at the stop.
      if (!parts.firstLook.done) void reconciler.close().catch(parts.failed);
    },
  };
  return disk;
}
