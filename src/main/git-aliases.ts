/**
 * `git notesd-log` and `git notesd-blame`: the history for people who look with Git itself, without a daemon.
 * They are aliases in the repository's own config; where a person has one of that name it stays theirs.
 */

/** The trailers that a program reads and a person does not. */
const TRAILERS =
  "Note-Id|Note-Action|Note-Type|Note-Source|Note-Proof|Agent|Agent-Id|Session|Request-Key|Request-Hash";

const FORMAT = "%C(auto)%h %C(reset)%ad  %C(bold)%an%C(reset)  %s%n%w(0,4,4)%b%w(0,0,0)";

/** As `git log` with its options: subject, who, and the reason, without trailers; through the pager at a terminal. */
const LOG = `!f() { cd -- "\${GIT_PREFIX:-.}" || exit; \
if [ -t 1 ]; then colour=always; [ -z "$NO_COLOR" ] || colour=never; pager=$(git var GIT_PAGER); \
else colour=never; pager=cat; fi; \
git log --color=$colour --date=format:'%Y-%m-%d %H:%M' --format='${FORMAT}' "$@" | \
sed -E '/^ {4}(${TRAILERS}): /d' | LESS=\${LESS:-FRX} sh -c "$pager"; }; f`;

/** Keys of Git's config. */
export const GIT_ALIASES = {
  "alias.notesd-log": LOG,
  "alias.notesd-blame": "blame --date=short -M",
} as const;
