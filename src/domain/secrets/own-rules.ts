/**
 * Rules of ours for credentials that the library's rules miss. Each knows a form that its issuer gives, never a word
 * such as "password". Invariant: every pattern begins where its own characters begin and repeats nothing that can be
 * read in two ways, so the time is linear in the text, whatever it holds.
 */
import type { Rule } from "./rule.ts";

/**
 * A form whose whole match is the secret.
 * @param markers  literals of which each match has one
 * @param hint     where the literals are common: what a text must have beside
 */
function form(kind: string, markers: readonly string[], pattern: RegExp, hint?: RegExp): Rule {
  return {
    markers,
    ...(hint === undefined ? {} : { hint }),
    *find(text) {
      for (const { 0: value, index } of text.matchAll(pattern))
        yield { kind, start: index, end: index + value.length };
    },
  };
}

const PEM = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
/** RFC 1421 and PGP say things of the key line by line before it. */
const PEM_HEADERS = /(?:(?:[\s>]|\\[nr])*[A-Z][A-Za-z-]{1,30}: [^\n\\]{0,200}(?=\s|\\[nr]))*/y;
/** Base64, as it stands in a file, in a quote or in a string of a program. Its first line has more than any word. */
const PEM_BODY = /(?:[\s>"',]|\\[nr])*[A-Za-z0-9+/=]{40,}(?:(?:[\s>"',]|\\[nr])+[A-Za-z0-9+/=]{16,})*/y;

/** Also keys that the library takes for too short: one of Ed25519 has 64 characters. */
const privateKey: Rule = {
  markers: ["PRIVATE KEY"],
  *find(text) {
    for (const { 0: header, index } of text.matchAll(PEM)) {
      PEM_HEADERS.lastIndex = index + header.length;
      PEM_HEADERS.test(text);
      PEM_BODY.lastIndex = PEM_HEADERS.lastIndex;
      if (PEM_BODY.test(text)) yield { kind: "private-key", start: index, end: PEM_BODY.lastIndex };
    }
  },
};

const JWT = /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/g;
/** Longer headers than this are none of a token that a service takes. */
const JWT_HEADER_CHARS = 4_096;

/** A signed one. Its header is read, for much begins with the base64 of `{"`. */
const jsonWebToken: Rule = {
  markers: [".eyJ"],
  *find(text) {
    for (const { 0: value, index } of text.matchAll(JWT)) {
      const [header = ""] = value.split(".", 1);
      const words = Buffer.from(header.slice(0, JWT_HEADER_CHARS), "base64url").toString("latin1");
      if (words.includes('"alg"')) yield { kind: "json-web-token", start: index, end: index + value.length };
    }
  },
};

const AZURE_NAMED =
  /(?:Account|Shared|Primary|Secondary)(?:Access)?Key["']?\s{0,4}[=:]\s{0,4}["']?([A-Za-z0-9+/]{43}(?:=|[A-Za-z0-9+/]{43}==))/g;

/** Storage, service bus and database keys are plain base64: what names them tells them. */
const azureKey: Rule = {
  markers: ["AccountKey", "AccessKey", "PrimaryKey", "SecondaryKey", "SharedKey"],
  *find(text) {
    for (const { 0: match, 1: value = "", index } of text.matchAll(AZURE_NAMED)) {
      const end = index + match.length;
      yield { kind: "azure-key", start: end - value.length, end };
    }
  },
};

/** Some are the library's in another length: issuers change that sooner than the beginning. */
export const OWN_RULES: readonly Rule[] = [
  // The library wants no underscore beside it, which is how Markdown slants a word.
  form(
    "github-token",
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g,
  ),
  form(
    "stripe-key",
    ["k_live_", "k_test_", "whsec_"],
    /(?<![\w-])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})/g,
  ),
  form("google-key", ["AIza", "GOCSPX-"], /(?<![\w-])(?:AIza[\w-]{35}|GOCSPX-[\w-]{28})(?![\w-])/g),
  form("sendgrid-key", ["SG."], /(?<![\w-])SG\.[\w-]{16,32}\.[\w-]{32,64}(?![\w-])/g),
  form("digitalocean-token", ["_v1_"], /(?<![\w-])do[opr]_v1_[a-f0-9]{64}/g),
  form("pypi-token", ["pypi-Ag"], /(?<![\w-])pypi-Ag[\w-]{70,}/g),
  form("telegram-token", [":AA"], /(?<![\w-])\d{8,10}:AA[\w-]{33}(?![\w-])/g),
  form(
    "gitlab-token",
    ["gldt-", "glptt-", "glrt-", "glcbt-", "glft-", "glimt-", "glagent-", "glsoat-", "gloas-"],
    /(?<![\w-])gl(?:dt|ptt|rt|cbt|ft|imt|agent|soat|oas)-[\w-]{20,}/g,
  ),
  form(
    "openai-key",
    ["sk-"],
    /(?<![\w-])sk-(?:(?:proj|svcacct|admin)-[\w-]{40,}|[A-Za-z0-9]{48}(?![\w-]))/g,
    /sk-(?:proj-|svcacct-|admin-|[A-Za-z0-9]{48})/,
  ),
  form("anthropic-key", ["sk-ant-"], /(?<![\w-])sk-ant-[a-z]{2,10}\d\d-[\w-]{80,}/g),
  form("notion-token", ["ntn_"], /(?<![\w-])ntn_[A-Za-z0-9]{40,}/g),
  form("huggingface-token", ["hf_"], /(?<![\w-])hf_[A-Za-z0-9]{34,}/g),
  form(
    "atlassian-token",
    ["ATATT3", "ATBB"],
    /(?<![\w-])(?:ATATT3[\w=-]{100,}|ATBB[A-Za-z0-9]{32}(?![\w-]))/g,
  ),
  form("notesd-token", ["notesd_"], /(?<![\w-])notesd_[\w-]{43}(?![\w-])/g),
  form("azure-client-secret", ["Q~"], /(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/g),
  azureKey,
  jsonWebToken,
  privateKey,
];
