/**
 * The rules of secretlint's recommended set, run one by one: only those whose literals a text has. secretlint's own
 * runner is not used, for it obeys directives inside the text and keeps a mark of every run for as long as the process
 * lives. Invariant: nothing in a text switches a rule off; the package is loaded when the first text needs it.
 */
import type { SecretLintRuleContext, SecretLintSourceCode } from "@secretlint/types";
import { slicer } from "../../lib/slicer.ts";
import type { Found } from "./rule.ts";

interface Known {
  readonly kind: string;
  /** As of a `Rule`. */
  readonly markers: readonly string[];
}

/** Of the name that a secret access key goes by. */
const ofAws = () =>
  ["SECRET", "Secret", "secret"].flatMap((secret) =>
    ["ACCESS", "Access", "access"].flatMap((access) => [`${secret}${access}`, `${secret}_${access}`]),
  );

/** By the end of the rule's id. A test holds this against the package's own list. */
export const LIBRARY_RULES: Readonly<Record<string, Known>> = {
  "1password": { kind: "1password-token", markers: ["ops_ey"] },
  anthropic: { kind: "anthropic-key", markers: ["sk-ant-"] },
  aws: {
    kind: "aws-access-key-id",
    markers: ["A3T", "AKIA", "AGPA", "AIDA", "AROA", "AIPA", "ANPA", "ANVA", "ASIA", ...ofAws()],
  },
  databricks: { kind: "databricks-token", markers: ["dapi"] },
  docker: { kind: "docker-token", markers: ["dckr_pat_"] },
  figma: { kind: "figma-token", markers: ["figd_"] },
  github: { kind: "github-token", markers: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"] },
  gitlab: { kind: "gitlab-token", markers: ["glpat-"] },
  grafana: { kind: "grafana-token", markers: ["glc_", "glsa_"] },
  groq: { kind: "groq-key", markers: ["gsk_"] },
  "hashicorp-vault": { kind: "vault-token", markers: ["hvs.", "hvb.", "hvr."] },
  huggingface: { kind: "huggingface-token", markers: ["hf_"] },
  linear: { kind: "linear-key", markers: ["lin_api_"] },
  notion: { kind: "notion-token", markers: ["ntn_"] },
  npm: { kind: "npm-token", markers: ["npm_"] },
  openai: { kind: "openai-key", markers: ["T3BlbkFJ"] },
  privatekey: { kind: "private-key", markers: ["PRIVATE KEY"] },
  sendgrid: { kind: "sendgrid-key", markers: ["SG."] },
  shopify: { kind: "shopify-token", markers: ["shppa_", "shpca_", "shpat_", "shpss_"] },
  slack: {
    kind: "slack-token",
    markers: ["xoxb-", "xoxp-", "xoxa-", "xoxo-", "xoxr-", "xapp-", "hooks.slack.com"],
  },
  vercel: { kind: "vercel-token", markers: ["vcp_", "vci_", "vca_", "vcr_", "vck_"] },
};

/** What a message of a rule means, where one rule has several. Null: it is no secret. */
const KINDS: Readonly<Record<string, string | null>> = {
  AWSSecretAccessKey: "aws-secret-access-key",
  AWSAccountID: null,
  IncomingWebhook: "slack-webhook",
};

const ID = "@secretlint/secretlint-rule-";
/** The ids of AWS keys are off by default, since they open nothing alone; beside them stands the key. */
const OPTIONS = { enableIDScanRule: true };

type Rules = typeof import("@secretlint/secretlint-rule-preset-recommend")["rules"];
let loading: Promise<Rules> | null = null;

async function load(): Promise<Rules> {
  loading ??= import("@secretlint/secretlint-rule-preset-recommend").then(({ rules }) => rules);
  return loading;
}

/**
 * What some of the library's rules find in a text.
 * @param names  of `LIBRARY_RULES`
 * @cost the first time, loading 200 kB of rules
 */
export async function libraryFinds(text: string, names: readonly string[]): Promise<Found[]> {
  if (names.length === 0) return [];
  const wanted = new Set(names.map((name) => `${ID}${name}`));
  const found: Found[] = [];
  const turn = slicer();
  // Of a source the rules here read no more than this.
  const source = {
    content: text,
    ext: ".md",
    filePath: "note.md",
    contentType: "text",
  } as SecretLintSourceCode;
  for (const rule of (await load()).filter(({ meta }) => wanted.has(meta.id))) {
    const pause = turn();
    if (pause !== null) await pause;
    const name = rule.meta.id.slice(ID.length);
    await rule.create(contextFor(LIBRARY_RULES[name]?.kind ?? name, text, found), OPTIONS).file?.(source);
  }
  return found;
}

function contextFor(kind: string, text: string, found: Found[]): SecretLintRuleContext {
  return {
    sharedOptions: {},
    createTranslator: () => (messageId, data) => ({ message: "", messageId: String(messageId), data }),
    ignore: () => {},
    report({ message, range: [start, end] }) {
      const told = KINDS[message.messageId];
      if (told === null) return;
      // The range of an AWS secret begins at its name, and its length is the value's.
      const value: unknown = message.messageId === "AWSSecretAccessKey" ? message.data?.KEY : undefined;
      const at = typeof value === "string" ? Math.max(start, text.indexOf(value, start)) : start;
      found.push({ kind: told ?? kind, start: at, end: at + (end - start) });
    },
  };
}
