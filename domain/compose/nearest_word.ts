/** The word of a list that is so near to another one that it was probably meant. */
export function nearestWord(word: string, words: Iterable<string>): string | undefined {
  if (word.length > 60) return undefined;
  const most = word.length <= 4 ? 1 : 2;
  let nearest: { readonly word: string; readonly distance: number } | undefined;
  for (const other of words) {
    const distance = distanceOf(plain(word), plain(other));
    if (distance <= most && distance < (nearest?.distance ?? Infinity)) nearest = { word: other, distance };
  }
  return nearest?.word;
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, "");
}

/** How many signs have to be put in, taken out, changed or swapped with the next to make one word of the other. */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const change = row[to - 1]! + (one[at - 1] === other[to - 1] ? 0 : 1);
      const swapped = at > 1 && to > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      next.push(Math.min(change, row[to]! + 1, next[to - 1]! + 1, swapped ? before[to - 2]! + 1 : Infinity));
    }
    before = row;
    row = next;
  }
  return row[other.length]!;
}
