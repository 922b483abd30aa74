/** The files of a note repository that a client looks at, without Git, and the daemon that they announce. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answer, type FakeDaemon, fakeDaemon, type Sent } from "./fake-daemon.ts";

const NONCE = "ab".repeat(32);

export interface FakeRepository {
  readonly root: string;
  /** Start a daemon on a port of its own and announce it, as a restart does. */
  serve(answer: (sent: Sent) => Answer | Promise<Answer>): Promise<FakeDaemon>;
  /** Close what was started, and remove the files. */
  dispose(): Promise<void>;
}

/** Make one. Its person's token is `persons-token`. */
export function fakeRepository(): FakeRepository {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "notesd-client-")));
  const root = join(top, "repo");
  mkdirSync(join(root, ".git/notesd"), { recursive: true });
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(root, ".git/config"), "[notesd]\n\tmarked = true\n");
  writeFileSync(join(root, ".git/notesd/token"), "persons-token\n");
  const daemons: FakeDaemon[] = [];
  return {
    root,
    async serve(answer) {
      const daemon = await fakeDaemon(NONCE, answer);
      daemons.push(daemon);
      const { port, url } = daemon;
      const about = { pid: 1, host: "127.0.0.1", started_at: "", version: "0", protocol: "1" };
      const file = JSON.stringify({ ...about, port, url, nonce: NONCE });
      writeFileSync(join(root, ".git/notesd/daemon.json"), file);
      return daemon;
    },
    async dispose() {
      await Promise.all(daemons.map((daemon) => daemon.close()));
      rmSync(top, { recursive: true, force: true });
    },
  };
}
