/** What a figure was measured on, in one line and as data. */
import { execFileSync } from "node:child_process";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";

/** @typedef {{ cpu: string, cores: number, memoryGb: number, node: string, git: string, fileSystem: string, platform: string }} Machine */

/** @returns {Machine} */
export function machine() {
  const cores = cpus();
  return {
    cpu: (cores[0]?.model ?? "unknown").replace(/\s+/g, " ").trim(),
    cores: cores.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    git: execFileSync("git", ["--version"], { encoding: "utf8" }).trim().replace("git version ", ""),
    fileSystem: fileSystem(tmpdir()),
    platform: `${process.platform} ${process.arch}`,
  };
}

function fileSystem(folder) {
  try {
    const rows = execFileSync("df", ["-PT", folder], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return rows.split("\n")[1]?.split(/\s+/)[1] ?? "unknown";
  } catch {
    // macOS has no -T.
    return "unknown";
  }
}

/** @param {Machine} of */
export const machineLine = ({ cores, cpu, memoryGb, node, git, fileSystem: fs, platform }) =>
  `${cores} × ${cpu}, ${memoryGb} GB, ${platform}, Node ${node}, Git ${git}, ${fs}`;

/** Processes that wanted to run in the last minute; over the number of cores the figures are of a busy machine. */
export const load = () => Math.round((loadavg()[0] ?? 0) * 10) / 10;
