import { defineConfig } from "vitest/config";

const json = process.env["VITEST_JSON"];

/** Two projects: `fast` needs nothing outside Node and Git; `slow` kills processes and runs for minutes. */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for Git or for a disk: a worker a core, where the default leaves one core free.
    maxWorkers: "100%",
    reporters: json ? ["default", ["json", { outputFile: json }]] : ["default"],
    projects: [
      {
        extends: true,
        test: { name: "fast", include: ["test/**/*.test.ts"], exclude: ["test/**/*.slow.test.ts"] },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: ["test/**/*.slow.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
