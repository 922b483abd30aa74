/**
 * The week that `week.ts` plays: three agents and two people build a login service, from monday the 23rd to sunday
 * the 29th of November 2026. Who did what and why, as a list; no code that runs.
 */
export type Who = "planner" | "coder" | "tester" | "Pat" | "Ada";

/** One write. `note` names a note of the story, `day` is 0 for monday, `hour` with fractions. */
export interface Act {
  readonly day: number;
  readonly hour: number;
  readonly who: Who;
  readonly does: "create" | "update" | "append" | "edit" | "delete" | "restore" | "save file" | "commit file";
  readonly note: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const act = (
  at: `${number} ${number}`,
  who: Who,
  does: Act["does"],
  note: string,
  params: Act["params"] = {},
): Act => {
  const [day = 0, hour = 0] = at.split(" ").map(Number);
  return { day, hour, who, does, note, params };
};

const DESIGN = `# Login service

Access tokens live for one hour.
Refresh tokens are kept in Redis, one key a user.
A logout deletes the refresh token and waits for the access token to end.
Every login is logged with the address it came from.
`;

const RUNBOOK = `# When logins fail

1. Look at the error rate of /token.
2. Restart the token service.
3. Call Ada.
`;

/** What was there before the week. */
export const BEFORE: readonly Act[] = [
  act("-3 9", "Pat", "create", "design", {
    title: "Design of the login service",
    note_type: "reference",
    content: DESIGN,
    tags: ["auth"],
    reason: "Agreed with Ada on friday",
  }),
  act("-3 10", "Ada", "create", "runbook", {
    title: "Runbook: logins fail",
    note_type: "reference",
    content: RUNBOOK,
    tags: ["ops"],
  }),
  act("-3 11", "planner", "create", "staging", {
    title: "Staging has no Redis",
    note_type: "blocker",
    content: "The staging cluster can't run Redis; nobody knows why.\n",
    reason: "Found while deploying the skeleton",
  }),
  act("-3 12", "planner", "create", "old plan", {
    title: "Plan for the week, first draft",
    note_type: "general",
    content: "Redis first, then the tokens.\n",
  }),
];

/** The week's own events; `week.ts` fills it up with the agents' daily work. */
export const STORY: readonly Act[] = [
  act("0 9", "planner", "create", "sessions", {
    title: "Refresh tokens go into Postgres, not Redis",
    note_type: "conclusion",
    tags: ["auth", "storage"],
    content:
      "Refresh tokens are rows of one table, with an index on the user.\n\n40,000 rows fit in memory.\n",
    reason: "One store fewer to run, and staging can't run Redis",
  }),
  act("0 9.5", "coder", "edit", "design", {
    old_str: "Refresh tokens are kept in Redis, one key a user.",
    new_str: "Refresh tokens are rows of the table refresh_token.",
    reason: "Follows the decision on Postgres",
  }),
  act("0 10", "planner", "update", "staging", {
    status: "resolved",
    reason: "Not needed any more: refresh tokens go into Postgres",
  }),
  act("0 11", "planner", "delete", "old plan", { reason: "Superseded by the decision on Postgres" }),
  act("1 9", "tester", "create", "race", {
    title: "Two refreshes at once log the user out",
    note_type: "blocker",
    content: "Both read the same token; the second finds it spent.\n",
    reason: "Seen in 3 of 500 runs of the load test",
  }),
  act("1 14", "coder", "create", "grace", {
    title: "A spent refresh token stays good for 10 seconds",
    note_type: "conclusion",
    tags: ["auth"],
    content:
      "- The second refresh in that time gets the same new token.\n- After it, all tokens of the user end.\n",
    reason: "Mobile clients send two refreshes on waking; locking the row made them wait 2 s",
  }),
  act("1 16", "tester", "update", "race", {
    status: "resolved",
    reason: "0 of 20,000 runs with the grace of 10 seconds",
  }),
  act("2 9", "Pat", "save file", "design", {
    old_str: "Every login is logged with the address it came from.",
    new_str: "Every login is logged with the address it came from.\nAddresses are kept for 30 days.",
  }),
  act("2 10", "tester", "create", "clock", {
    title: "Tokens end early on two hosts",
    note_type: "blocker",
    content: "Their clocks are 70 seconds ahead.\n",
    reason: "The smoke test fails on web-3 and web-4",
  }),
  act("2 15", "Ada", "create", "hour", {
    title: "Access tokens live for 15 minutes",
    note_type: "conclusion",
    tags: ["auth"],
    content: "A stolen token is of use for a quarter of an hour at most.\n",
    reason: "The audit asks for it",
  }),
  act("2 15.5", "coder", "edit", "design", {
    old_str: "Access tokens live for one hour.",
    new_str: "Access tokens live for 15 minutes.",
    reason: "As Ada decided for the audit",
  }),
  act("3 9", "tester", "edit", "runbook", {
    old_str: "2. Restart the token service.\n3. Call Ada.",
    new_str: "2. Compare the clocks of the hosts.\n3. Restart the token service.\n4. Call Ada.",
    reason: "The clocks were the cause on wednesday",
  }),
  act("3 10", "Ada", "update", "clock", { status: "resolved", reason: "chrony runs on all hosts now" }),
  act("3 11", "coder", "create", "library", {
    title: "We write the token check ourselves",
    note_type: "conclusion",
    content: "80 lines on node:crypto.\n",
    reason: "Both libraries take the algorithm from the token",
  }),
  act("4 9", "coder", "update", "library", {
    title: "The token check stays with the library, with the algorithm fixed",
    content: "jose 6 takes the list of algorithms from us.\n",
    reason: "Version 6 lets us name the one algorithm; our own check had no review",
  }),
  act("4 10", "coder", "create", "certificate", {
    title: "The certificate of staging ends on the 2nd of December",
    note_type: "blocker",
    content: "Only Ada can renew it.\n",
    reason: "The browser tests begin to warn",
  }),
  act("4 16", "Ada", "commit file", "runbook", {
    old_str: "4. Call Ada.",
    new_str: "4. Call Ada, or Pat at night.",
  }),
  act("5 10", "planner", "create", "launch", {
    title: "We launch on thursday for one in ten users",
    note_type: "conclusion",
    tags: ["launch"],
    content: "One in ten for two days, then all.\n",
    reason: "Every blocker but the certificate is closed, and support is staffed until friday",
  }),
  act("5 11", "Pat", "update", "launch", {
    pinned: true,
    reason: "So that every agent sees it",
  }),
];

/** Where a note lies in a working tree is told by the daemon; these are the agents that keep a log each day. */
export const AGENTS = ["planner", "coder", "tester"] as const;

/** What the daily logs are filled with: work and why. */
export const WORK: readonly (readonly [string, string])[] = [
  ["wrote the migration of refresh_token", "the table comes first"],
  ["read the traces of /token", "p99 was over the budget"],
  ["asked Ada about the limits of the database", "the pool has 20 connections"],
  ["ran the load test with 500 users", "to see the race again"],
  ["moved the check of the password off the loop", "it held everyone up for 80 ms"],
  ["renamed the metrics", "the dashboards want one prefix"],
  ["wrote the test of a stolen token", "the audit asks for it"],
  ["tried the rollback on staging", "nobody had"],
];
