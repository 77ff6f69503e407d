/** Among more words than this, one suggestion would not help. */
const MOST_WORDS = 150;
const LONGEST = 40;

/** Returns the word that was probably meant, by edit distance. Only looks at the first words of a long list. */
export function nearestWord(word: string, words: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const most = word.length <= 4 ? 1 : 2;
  let nearest: { readonly word: string; readonly distance: number } | undefined;
  let looked = 0;
  for (const other of words) {
    looked += 1;
    if (looked > MOST_WORDS) break;
    if (Math.abs(other.length - word.length) > 2 * most) continue;
    const distance = distanceOf(plain(word), plain(other), most);
    if (distance <= most && distance < (nearest?.distance ?? Infinity)) nearest = { word: other, distance };
  }
  return nearest?.word;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, "");
}

/**
 * Edit distance (optimal string alignment): insertions, deletions, substitutions and swaps of neighbors. Returns any
 * value above `most` when the distance is larger.
 */
function distanceOf(one: string, other: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const change = row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1);
      const swapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      next.push(Math.min(change, row[to]! + 1, next[to - 1]! + 1, swapped ? before[to - 2]! + 1 : Infinity));
    }
    // When two consecutive rows exceed the limit, so do all later ones.
    if (Math.min(...row, ...next) > most) return Infinity;
    before = row;
    row = next;
  }
  return row[other.length]!;
}
