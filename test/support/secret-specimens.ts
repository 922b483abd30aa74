/**
 * Values with the form of real credentials, one for each kind. Each is put together when the test runs, from numbers that
 * are the same in every run: no file of the repository holds one, and no scanner of a Git host is alarmed.
 */
import { wholeFrom } from "./random.ts";

const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdef`;
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ALNUM = `${DIGITS}${UPPER}${UPPER.toLowerCase()}`;
const URL_SAFE = `${ALNUM}_-`;
const BASE64 = `${ALNUM}+/`;

const whole = wholeFrom(42);
const chars = (alphabet: string, count: number) =>
  Array.from({ length: count }, () => alphabet[whole(alphabet.length)]).join("");
const lines = (count: number) => Array.from({ length: count }, () => chars(BASE64, 64)).join("\n");
const json = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const pem = (label: string, body: string) => {
  const dashes = "-".repeat(5);
  return `${dashes}BEGIN ${label}${dashes}\n${body}\n${dashes}END ${label}${dashes}`;
};

/** JSON whose last byte stands alone in its base64, as in a service account's token. */
const opsBody = () =>
  Buffer.from(JSON.stringify({ email: "a@b.c", k: chars(ALNUM, 103) })).toString("base64");

export interface Specimen {
  readonly kind: string;
  /** What it is of, where a kind has several forms. */
  readonly of: string;
  /** As it may stand in a note; its secret begins in the first line. */
  readonly text: string;
}

const one = (kind: string, text: string, of = kind): Specimen => ({ kind, of, text });

/** Made anew, so that no two tests share a value. */
export function secretSpecimens(): Specimen[] {
  return [
    one("github-token", ["gh", "p_", chars(ALNUM, 36)].join("")),
    one(
      "github-token",
      ["github", "_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59)].join(""),
      "fine-grained",
    ),
    one("gitlab-token", ["gl", "pat-", chars(URL_SAFE, 20)].join("")),
    one("atlassian-token", ["AT", "ATT3", chars(URL_SAFE, 180)].join("")),
    one("aws-access-key-id", ["AK", "IA", chars(`${UPPER}234567`, 16)].join("")),
    one("aws-secret-access-key", ["aws_secret", "_access_key = ", chars(ALNUM, 40)].join("")),
    one(
      "slack-token",
      ["xo", "xb-", chars(DIGITS, 12), "-", chars(DIGITS, 12), "-", chars(ALNUM, 24)].join(""),
    ),
    one(
      "slack-webhook",
      [
        "https://hooks.slack",
        ".com/services/T",
        chars(ALNUM, 8),
        "/B",
        chars(ALNUM, 8),
        "/",
        chars(ALNUM, 24),
      ].join(""),
    ),
    one(
      "openai-key",
      ["sk", "-proj-", chars(URL_SAFE, 58), "T3Blbk", "FJ", chars(URL_SAFE, 57), "a"].join(""),
    ),
    one("openai-key", ["sk", "-proj-", chars(URL_SAFE, 100)].join(""), "of another length"),
    one("openai-key", ["sk", "-", chars(ALNUM, 48)].join(""), "the old form"),
    one("anthropic-key", ["sk", "-ant-api03-", chars(URL_SAFE, 93), "AA"].join("")),
    one("anthropic-key", ["sk", "-ant-oat01-", chars(URL_SAFE, 95)].join(""), "OAuth"),
    one("groq-key", ["gs", "k_", chars(ALNUM, 52)].join("")),
    one("linear-key", ["lin", "_api_", chars(ALNUM, 40)].join("")),
    one("1password-token", `${["op", "s_"].join("")}${opsBody()}`),
    one("grafana-token", ["gl", "sa_", chars(ALNUM, 32), "_", chars(HEX, 8)].join("")),
    one("vault-token", ["hv", "s.", chars(URL_SAFE, 95)].join("")),
    one("vercel-token", ["vc", "p_", chars(ALNUM, 56)].join("")),
    one("databricks-token", ["da", "pi", chars(HEX, 32)].join("")),
    one("docker-token", ["dckr", "_pat_", chars(URL_SAFE, 27)].join("")),
    one("figma-token", ["fig", "d_", chars(URL_SAFE, 43)].join("")),
    one("gitlab-token", ["gl", "ptt-", chars(HEX, 40)].join(""), "trigger"),
    one("npm-token", ["npm", "_", chars(ALNUM, 36)].join("")),
    one("sendgrid-key", ["SG", ".", chars(URL_SAFE, 22), ".", chars(URL_SAFE, 43)].join("")),
    one("shopify-token", ["shp", "at_", chars(HEX, 32)].join("")),
    one("stripe-key", ["sk", "_live_", chars(ALNUM, 24)].join("")),
    one("stripe-key", ["wh", "sec_", chars(ALNUM, 32)].join(""), "webhook"),
    one("google-key", ["AI", "za", chars(URL_SAFE, 35)].join("")),
    one("google-key", ["GOC", "SPX-", chars(URL_SAFE, 28)].join(""), "OAuth client"),
    one("notion-token", ["nt", "n_", chars(ALNUM, 46)].join("")),
    one("digitalocean-token", ["do", "p_v1_", chars(HEX, 64)].join("")),
    one("pypi-token", ["py", "pi-Ag", "EIcHlwaS5vcmc", chars(URL_SAFE, 120)].join("")),
    one("telegram-token", [chars("123456789", 10), ":A", "A", chars(URL_SAFE, 33)].join("")),
    one("huggingface-token", ["h", "f_", chars(ALNUM, 34)].join("")),
    one("notesd-token", ["note", "sd_", chars(URL_SAFE, 43)].join("")),
    one("azure-key", `AccountKey=${chars(BASE64, 86)}==`),
    one("azure-key", `SharedAccessKey=${chars(BASE64, 43)}=`, "service bus"),
    one("azure-client-secret", [chars(ALNUM, 3), "8", "Q~", chars(ALNUM, 34)].join("")),
    one(
      "json-web-token",
      [json({ alg: "HS256" }), json({ sub: chars(DIGITS, 9) }), chars(URL_SAFE, 43)].join("."),
    ),
    one("private-key", pem("RSA PRIVATE KEY", lines(25)), "RSA"),
    one("private-key", pem("PRIVATE KEY", `MC4CAQAwBQYDK2VwBCIEI${chars(BASE64, 43)}`), "Ed25519"),
    one("private-key", pem("OPENSSH PRIVATE KEY", lines(6)), "OpenSSH"),
    one("private-key", pem("EC PRIVATE KEY", lines(2)).replaceAll("\n", "\\n"), "one line of JSON"),
    one("private-key", pem("PGP PRIVATE KEY BLOCK", `Version: GnuPG v2\n\n${lines(20)}`), "PGP"),
    one("url-password", `postgres://app:${chars(ALNUM, 12)}@db.internal:5432/app`),
    one("url-password", `redis://:${chars(ALNUM, 12)}@cache`, "without a user"),
  ];
}

/** What is near to one of them and is none: a word, a name, a template, an identifier. */
export const NO_SECRETS: readonly string[] = [
  "The password is in the vault, the token too; ask for the secret key.",
  "password: see 1Password, entry billing",
  "export API_TOKEN=$TOKEN and AWS_SECRET_ACCESS_KEY=$SECRET",
  ["AKIA", "IOSFODNN7", "EXAMPLE"].join(""),
  ["aws_secret_access_key = wJalrXUtnFEMI", "K7MDENG", "bPxRfiCYEXAMPLEKEY"].join("/"),
  `postgres://app:${"$"}{DB_PASSWORD}@db/app, `,
  "postgres://app:<password>@db/app, postgres://app:***@db/app",
  "postgres://app:{{ password }}@db, mysql://root:$MYSQL_ROOT_PASSWORD@db/x, amqp://u:%PASS%@h",
  "https://user:DB_PASSWORD@host/x",
  "http://localhost:3000/@scope/package and https://example.org:8080/a@b",
  "ssh://git@github.com:22/a/b.git and git@github.com:owner/repo.git and mailto:a@example.org",
  "see https://example.org/a?b=c:d@e and http://[::1]:80/",
  `It begins with ${"-".repeat(5)}BEGIN PRIVATE KEY${"-".repeat(5)} and goes on with base64 of the very many bytes that the key has`,
  `${"-".repeat(5)}BEGIN PRIVATE KEY${"-".repeat(5)}\n...\n${"-".repeat(5)}END PRIVATE KEY${"-".repeat(5)}`,
  `${"-".repeat(5)}BEGIN PUBLIC KEY${"-".repeat(5)}\n${"Q".repeat(64)}\n${"-".repeat(5)}END PUBLIC KEY${"-".repeat(5)}`,
  "ghp_ is what a personal token begins with, sk_live_ and xoxb- others; glpat-XXXX",
  "sk-learn, sk_test_one, task_live_view_1234567890123456, npm_config_registry, hf_hub_download",
  "eyJhbGciOiJIUzI1NiJ9 is the header of a JWT; eyJ.eyJ.eyJ",
  "commit 1f0e3dad99908345f7439f8ffabdffc4a1b2c3d4, note_20261130_101500_k3vq7a, f_abcdefghijklmnop",
  "550e8400-e29b-41d4-a716-446655440000 and sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
  "12:30:AAAA, 10:AABBCC, 1234567890:AAshort",
];
