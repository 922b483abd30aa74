/** Lines in an SVG, drawn by hand: readable on light and on dark, without a script or a font of its own. Pure. */

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {boolean} [log]
 * @property {readonly number[]} ticks  the first and the last are the ends
 * @property {(value: number) => string} text
 */
/** @typedef {{ label: string, points: readonly (readonly [number, number])[] }} Series */

const WIDTH = 760;
const HEIGHT = 440;
const FRAME = { left: 74, right: 566, top: 48, bottom: 384 };
/** Told apart also by who sees no colours: each has its own dash. */
const STYLES = [
  ["#2f7de1", ""],
  ["#12a594", ""],
  ["#e5732d", "6 4"],
  ["#9a5fe0", "2 4"],
  ["#d6408c", "10 4 2 4"],
];
const LABEL_GAP = 17;

/**
 * @param {{ title: string, x: Axis, y: Axis, series: readonly Series[], note?: string }} plot
 * @returns {string}
 */
export function plotSvg({ title, x, y, series, note = "" }) {
  const atX = scale(x, FRAME.left, FRAME.right);
  const atY = scale(y, FRAME.bottom, FRAME.top);
  const shown = series.filter(({ points }) => points.length > 0);
  const labels = apart(shown.map(({ points }) => atY(points.at(-1)[1])));
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${inXml(title)}">`,
    "<style>text{font:13px system-ui,sans-serif;fill:#3a3f47}.t{font-size:15px;font-weight:600}.n{font-size:11px}.g{stroke:#8b949e;stroke-opacity:.35}@media(prefers-color-scheme:dark){text{fill:#c9d1d9}}</style>",
    `<text class="t" x="${FRAME.left}" y="24">${inXml(title)}</text>`,
    ...x.ticks.map(
      (tick) =>
        `<line class="g" x1="${px(atX(tick))}" y1="${FRAME.top}" x2="${px(atX(tick))}" y2="${FRAME.bottom}"/><text x="${px(atX(tick))}" y="${FRAME.bottom + 20}" text-anchor="middle">${inXml(x.text(tick))}</text>`,
    ),
    ...y.ticks.map(
      (tick) =>
        `<line class="g" x1="${FRAME.left}" y1="${px(atY(tick))}" x2="${FRAME.right}" y2="${px(atY(tick))}"/><text x="${FRAME.left - 8}" y="${px(atY(tick) + 4)}" text-anchor="end">${inXml(y.text(tick))}</text>`,
    ),
    `<text x="${(FRAME.left + FRAME.right) / 2}" y="${FRAME.bottom + 40}" text-anchor="middle">${inXml(x.label)}</text>`,
    `<text transform="translate(18 ${(FRAME.top + FRAME.bottom) / 2}) rotate(-90)" text-anchor="middle">${inXml(y.label)}</text>`,
    ...shown.map(({ label, points }, i) =>
      lineOf(label, points, STYLES[i % STYLES.length], labels[i], atX, atY),
    ),
    `<text class="n" x="${FRAME.left}" y="${HEIGHT - 4}">${inXml(note)}</text>`,
    "</svg>",
  ];
  return `${parts.join("\n")}\n`;
}

function lineOf(label, points, [colour, dash], labelY, atX, atY) {
  const path = points.map(([x, y], n) => `${n === 0 ? "M" : "L"}${px(atX(x))} ${px(atY(y))}`).join(" ");
  const dots =
    points.length > 12
      ? ""
      : points
          .map(([x, y]) => `<circle cx="${px(atX(x))}" cy="${px(atY(y))}" r="3.5" fill="${colour}"/>`)
          .join("");
  const dashed = dash === "" ? "" : ` stroke-dasharray="${dash}"`;
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashed}/>${dots}<text x="${FRAME.right + 12}" y="${px(labelY + 4)}" style="fill:${colour}">${inXml(label)}</text>`;
}

function scale({ ticks, log = false }, from, to) {
  const of = log ? Math.log10 : (value) => value;
  const [low, high] = [of(ticks[0]), of(ticks.at(-1))];
  return (value) => from + ((of(value) - low) / (high - low)) * (to - from);
}

/** Move what would lie on each other apart, downwards. @param {readonly number[]} wanted */
function apart(wanted) {
  const order = wanted.map((at, i) => [at, i]).sort((a, b) => a[0] - b[0]);
  const placed = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const [at, i] of order) {
    last = Math.max(at, last + LABEL_GAP);
    placed[i] = last;
  }
  return placed;
}

/** Powers of ten around all values. @param {readonly number[]} values @returns {number[]} */
export function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

/** Round steps from zero to over the greatest value. @param {readonly number[]} values @returns {number[]} */
export function steps(values) {
  const greatest = Math.max(...values, 1);
  const unit = 10 ** Math.floor(Math.log10(greatest));
  const step = [0.2, 0.5, 1, 2].map((part) => part * unit).find((size) => greatest / size <= 6) ?? unit * 2;
  return Array.from({ length: Math.ceil(greatest / step) + 1 }, (_, i) => i * step);
}

const px = (value) => String(Math.round(value * 10) / 10);
const inXml = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
