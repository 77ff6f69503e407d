/** Returns the first sentence of a text on one line, without its full stop, cut to a length. */
export function firstSentence(text: string, longest: number): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const sentence = (line.split(/\. /, 1)[0] ?? "").replace(/\.$/, "");
  if (sentence.length <= longest) return sentence;
  // Not in the middle of a character.
  return `${sentence.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
