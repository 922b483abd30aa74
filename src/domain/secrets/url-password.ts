/**
 * `scheme://user:password@host`: the one rule that takes any value for a secret. So it is the last to be asked, and a
 * name that only stands for a password is none.
 */
import type { Rule } from "./rule.ts";

const USERINFO = /:\/\/[^\s:/?#@"'`<>]{0,256}:([^\s/?#@"'`]{1,512})@[\w[${<][\w.-]{0,252}/g;
const SCHEME = /[a-z][a-z0-9+.-]{0,30}$/i;
const SCHEME_CHARS = 31;

/** `$PASS`, `${…}`, `$(…)`, `{{ … }}`, `%PASS%`, `%s`, `<password>`, `[password]`, `***`, `xxx` */
const TEMPLATE =
  /^(?:\$[A-Z_][A-Z0-9_]*|\$\{.*\}|\$\(.*\)|\{.*\}|%[A-Z_]+%|%[sd]|<.*>|\[.*\]|\(.*\)|[*.•…_-]+|[xX]+)$/;
/** `DB_PASSWORD`, `YOUR_TOKEN_HERE`: in small letters the same word is a password that people do take. */
const NAME = /^(?:[A-Z]+_){0,4}(?:PASS|PASSWORD|PASSWD|PWD|PAT|TOKEN|SECRET|KEY)(?:_[A-Z]+){0,4}$/;

export const urlPassword: Rule = {
  markers: ["://"],
  hint: /:\/\/[^\s/@]{0,800}@/,
  *find(text) {
    for (const { 0: match, 1: password = "", index } of text.matchAll(USERINFO)) {
      const scheme = SCHEME.exec(text.slice(Math.max(0, index - SCHEME_CHARS), index))?.[0];
      if (scheme === undefined || TEMPLATE.test(password) || NAME.test(password)) continue;
      yield { kind: "url-password", start: index - scheme.length, end: index + match.length };
    }
  },
};
