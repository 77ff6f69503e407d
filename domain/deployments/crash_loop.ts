/** A program that exits this many times in a row without staying up is in a crash loop. */
export const CRASH_LOOP = 5;
