/**
 * Other forms of an English word, guessed from its ending: asked for at query time, so that nothing but real words
 * is ever indexed. Light on purpose: a form that no note holds costs one look-up.
 */

const MIN_CHARS = 4;

/** Forms a note may hold instead of a folded word, without the word itself. Empty for other scripts and short words. */
export function wordForms(word: string): string[] {
  if (word.length < MIN_CHARS || !/^[a-z]+$/.test(word)) return [];
  const forms = new Set<string>();
  for (const base of basesOf(word)) {
    forms.add(base);
    for (const end of ["s", "es", "ed", "ing"]) forms.add(base + end);
    if (base.endsWith("e")) {
      forms.add(`${base}d`);
      forms.add(`${base.slice(0, -1)}ing`);
    }
    if (base.endsWith("y")) {
      forms.add(`${base.slice(0, -1)}ies`);
      forms.add(`${base.slice(0, -1)}ied`);
    }
  }
  forms.delete(word);
  return [...forms];
}

/** What the word may be a form of, itself included. */
function basesOf(word: string): string[] {
  const bases = [word];
  const without = (end: string, instead = "") => {
    const base = word.slice(0, -end.length) + instead;
    if (word.endsWith(end) && base.length >= MIN_CHARS - 1) bases.push(base);
  };
  without("ies", "y");
  without("ied", "y");
  without("ing");
  without("ing", "e");
  without("ed");
  without("ed", "e");
  without("es");
  if (!/(?:ss|us|is)$/.test(word)) without("s");
  return bases;
}
